/* conv.h - a convolution whose sizes are known, and its three directions on dense floats (conv_fast.c). */
#ifndef WEFT_KERNELS_CONV_CONV_H
#define WEFT_KERNELS_CONV_CONV_H

#include "kernels/conv/window.h"

/* A function that is called for every part of a forward result when the part is complete: n floats, whole pixels, on
 * any thread. */
typedef struct conv_after {
  void (*part)(const void *arg, float *part, int64_t n);
  const void *arg;
  bool done; /* set if it was called for all of the result */
} conv_after;

typedef struct conv {
  int64_t batch, in_ch, out_ch;
  int64_t groups;          /* the filter is (height, width, in_ch / groups, out_ch) */
  window_axis depth;       /* of a volume; all zero for an image */
  window_axis at[2];       /* height, width */
  const conv_after *after; /* NULL: nothing to do */
} conv;

/* x is (batch, height, width, in_ch), f is (height, width, in_ch, out_ch), y is (batch, height, width, out_ch), all
 * float and dense; groups is 1.  The work is split over the step's threads.  Returns RESOURCE_EXHAUSTED if there is
 * no scratch memory. */
weft_err weft__conv_forward(kernel *k, const conv *c, const float *x, const float *f, float *y);
weft_err weft__conv_input(kernel *k, const conv *c, const float *f, const float *dy, float *dx);
weft_err weft__conv_filter(kernel *k, const conv *c, const float *x, const float *dy, float *df);

/* The same for volumes, (batch, depth, height, width, channels) with a filter (depth, height, width, in_ch, out_ch);
 * `after` is not called.  weft__conv_filter computes the gradient by the filter of both. */
weft_err weft__conv_volume_forward(kernel *k, const conv *c, const float *x, const float *f, float *y);
weft_err weft__conv_volume_input(kernel *k, const conv *c, const float *f, const float *dy, float *dx);

#endif
