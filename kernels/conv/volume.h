/* volume.h - convolution over up to three spatial axes by matrix products, in any layout and with groups.
 *
 * Conv3D and Conv use it.  Windows are gathered into the rows of a matrix, block by block, and each block is one
 * product with the filter.  Two-dimensional images are volumes of depth 1.  Floats with the channels last and without
 * groups are convolved in place instead (conv_volume.c).  conv_fast.c is faster for Conv2D. */
#ifndef WEFT_KERNELS_CONV_VOLUME_H
#define WEFT_KERNELS_CONV_VOLUME_H

#include "kernels/conv/window.h"

/* The window of a node whose images have five dimensions. */
typedef struct volume_window {
  bool channels_second; /* NCDHW */
  int axis[3], channel; /* positions of depth, height, width and channels in the shape */
  padding padding;
  window_axis at[3]; /* depth, height, width */
  int64_t batch_stride, channel_stride, batch_dilation, channel_dilation;
  int64_t batch_size, channel_size; /* of a pool's ksize */
} volume_window;

/* Reads strides, dilations, ksize, padding and data_format.  Returns INVALID_ARGUMENT in TensorFlow's words. */
weft_err weft__volume_window_read(volume_window *w, const weft_node *node);
/* As above inside a shape rule. */
weft_err weft__volume_window_infer(volume_window *w, infer *s);
/* A volume_window as the state of a kernel (.prepare, .unprepare). */
weft_err weft__volume_prepare(const weft_node *node, void **state);
void weft__volume_unprepare(void *state);
/* Returns the shape of a volume in the window's layout. */
shape weft__volume_shape(const volume_window *w, int64_t batch, const int64_t *sizes, int64_t channels);

typedef struct volume {
  weft_dtype type; /* float, double or int32 */
  bool channels_second;
  int64_t batch, in_ch, out_ch, groups; /* the filter is (depth, height, width, in_ch / groups, out_ch) */
  window_axis at[3];
} volume;

/* Check a convolution of shapes x and f with the node's window and store its sizes, all but v->type.  Return
 * INVALID_ARGUMENT in TensorFlow's words. */
weft_err weft__volume_conv(const kernel *k, const volume_window *w, const shape *x, const shape *f, volume *v);
weft_err weft__volume_groups(const kernel *k, volume *v, int64_t filter_in); /* stores v->groups */
/* Checks a pool over a volume of shape s and stores its axes.  Returns INVALID_ARGUMENT or UNIMPLEMENTED likewise. */
weft_err weft__volume_pool(const kernel *k, const volume_window *w, const shape *s, window_axis at[3]);

/* x and dx have the input's shape, y and dy the output's, f and df the filter's; all are dense and of v->type.  The
 * work is split over the step's threads.  Returns RESOURCE_EXHAUSTED if there is no memory for a block. */
weft_err weft__volume_forward(kernel *k, const volume *v, const void *x, const void *f, void *y);
weft_err weft__volume_input(kernel *k, const volume *v, const void *f, const void *dy, void *dx);
weft_err weft__volume_filter(kernel *k, const volume *v, const void *x, const void *dy, void *df);

#endif
