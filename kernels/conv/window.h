/* window.h - a window that slides over the two spatial axes of an image: what convolutions and pools share.
 *
 * The attributes of a node (strides, dilations, ksize, padding, data_format) become a `window`; with
 * the sizes of an image it gives the padding and the output size of each axis, as TensorFlow
 * computes them. */
#ifndef WEFT_KERNELS_CONV_WINDOW_H
#define WEFT_KERNELS_CONV_WINDOW_H

#include "graph/kernel.h"

typedef enum padding { PAD_VALID, PAD_SAME, PAD_EXPLICIT } padding;

/* One spatial axis.  What is not known yet is -1. */
typedef struct window_axis {
  int64_t size, stride, dilation; /* of the window */
  int64_t in, out;
  int64_t before, after; /* padding: given when explicit, computed otherwise */
} window_axis;

typedef struct window {
  bool channels_second; /* NCHW */
  int axis[2], channel; /* where height, width and channels stand in the shape of an image */
  padding padding;
  window_axis at[2];                  /* height, width */
  int64_t batch_stride, depth_stride; /* most kernels want 1 */
  int64_t batch_dilation, depth_dilation;
  int64_t batch_size, depth_size; /* of a pool's ksize */
} window;

/* Reads what the node says; INVALID_ARGUMENT in TensorFlow's words when it makes no sense.  A node without
 * a ksize leaves the sizes to the caller. */
weft_err weft__window_read(window *w, const weft_node *node);
/* A window as the state of a kernel (.prepare, .unprepare). */
weft_err weft__window_prepare(const weft_node *node, void **state);
void weft__window_unprepare(void *state);
/* As above inside a shape rule: the message gets the node and its shapes. */
weft_err weft__window_infer(window *w, infer *s);
/* For pools that are told ksize and strides at run time: four values each, in the order of the data format. */
weft_err weft__window_set(window *w, const int64_t *ksize, const int64_t *strides);

/* From size, stride, dilation, in (and explicit padding): out, before, after.  Unknowns stay -1. */
weft_err weft__window_place(window_axis *a, padding p);
/* As above inside a shape rule, where a window that does not fit is refused. */
weft_err weft__window_infer_place(window_axis *a, padding p, infer *s);
/* Returns INVALID_ARGUMENT, with the name of the input, unless input i has the shape. */
weft_err weft__window_expect_shape(const kernel *k, int i, const char *name, const shape *want);

#endif
