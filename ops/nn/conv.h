/* conv.h - functions that the convolution ops share with each other, and Conv2D with its epilogue. */
#ifndef WEFT_OPS_NN_CONV_H
#define WEFT_OPS_NN_CONV_H

#include "graph/gradient.h"
#include "kernels/conv/conv.h"

/* The shape rule of Conv2D and QuantizedConv2D: input 0 is an image (NHWC, or NCHW with that data_format), input 1 a
 * filter [height, width, in, out].  Returns INVALID_ARGUMENT with TensorFlow's text. */
weft_err weft__conv2d_infer(infer *s);
/* The shape rule of a convolution of each channel by itself. */
weft_err weft__depthwise_infer(infer *s);
/* Runs Conv2D; `after` may be NULL. */
weft_err weft__conv2d(kernel *k, conv_after *after);
extern const fusion weft__conv2d_fusion; /* ops/nn/conv_epilogue.c */

/* Check the attributes and the gradient of all kinds of convolutions, whose state is a window
 * (weft__window_prepare). */
weft_err weft__conv_check_attrs(const kernel *k, const window *w);
weft_err weft__conv_check_dy(const kernel *k, const window *w, const conv *c); /* input 2, against the sizes */
shape weft__image_shape(const window *w, int64_t batch, int64_t h, int64_t width, int64_t channels);
/* Reads input i, a vector with the sizes of a shape.  The caller checks the rank. */
weft_err weft__conv_shape_input(const kernel *k, int i, const char *name, shape *out);
/* Adds a node of this type with the window attributes of b's node; z may be WEFT_NONE. */
weft_out weft__conv_like(backprop *b, const char *type, weft_out x, weft_out y, weft_out z);

#endif
