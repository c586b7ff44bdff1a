/* window.h - the sliding window of convolutions and pooling over the two spatial axes of an image.
 *
 * A `window` has the attributes of a node (strides, dilations, ksize, padding, data_format).  With the sizes of an
 * image it gives the padding and the output size of each axis, as TensorFlow computes them. */
#ifndef WEFT_KERNELS_CONV_WINDOW_H
#define WEFT_KERNELS_CONV_WINDOW_H

#include "graph/kernel.h"

typedef enum padding { PAD_VALID, PAD_SAME, PAD_EXPLICIT } padding;

/* One spatial axis.  Unknown numbers are -1. */
typedef struct window_axis {
  int64_t size, stride, dilation; /* of the window */
  int64_t in, out;
  int64_t before, after; /* padding: given if explicit, computed otherwise */
} window_axis;

typedef struct window {
  bool channels_second; /* NCHW */
  int axis[2], channel; /* positions of height, width and channels in the shape of an image */
  padding padding;
  window_axis at[2];                  /* height, width */
  int64_t batch_stride, depth_stride; /* most kernels need 1 */
  int64_t batch_dilation, depth_dilation;
  int64_t batch_size, depth_size; /* of a pool's ksize */
} window;

/* Reads the attributes of the node.  Returns INVALID_ARGUMENT in TensorFlow's words.  For a node without ksize the
 * caller sets the sizes. */
weft_err weft__window_read(window *w, const weft_node *node);
/* A window as the state of a kernel (.prepare, .unprepare). */
weft_err weft__window_prepare(const weft_node *node, void **state);
void weft__window_unprepare(void *state);
/* As weft__window_read inside a shape rule: the message names the node and its shapes. */
weft_err weft__window_infer(window *w, infer *s);
/* For pooling ops that get ksize and strides at run time: four values each, in the order of the data format. */
weft_err weft__window_set(window *w, const int64_t *ksize, const int64_t *strides);

/* Returns the most positions along the axis that a window has inside the image. */
static inline int64_t weft__window_most(const window_axis *a) { return a->size < a->in ? a->size : a->in; }
/* Computes out, before and after from size, stride, dilation, in and explicit padding.  Unknown numbers stay -1. */
weft_err weft__window_place(window_axis *a, padding p);
/* As weft__window_place inside a shape rule.  Returns INVALID_ARGUMENT if the window does not fit. */
weft_err weft__window_infer_place(window_axis *a, padding p, infer *s);
/* Returns INVALID_ARGUMENT, with the name of the input, unless input i has the shape. */
weft_err weft__window_expect_shape(const kernel *k, int i, const char *name, const shape *want);

#endif
