/* conv.h - one convolution with its sizes known, and the fast way to compute it (conv_fast.c). */
#ifndef WEFT_OPS_CONV_H
#define WEFT_OPS_CONV_H

#include "ops/window.h"

/* Called for every part of a forward result once it is there: n floats, whole pixels, on any thread. */
typedef struct conv_after {
  void (*part)(const void *arg, float *part, int64_t n);
  const void *arg;
  bool done; /* set if it was called for all of the result */
} conv_after;

typedef struct conv {
  int64_t batch, in_ch, out_ch;
  int64_t groups;          /* the filter is (height, width, in_ch / groups, out_ch) */
  window_axis at[2];       /* height, width */
  const conv_after *after; /* NULL: nothing to do */
} conv;

/* Conv2D's kernel; `after` may be NULL. */
weft_err weft__conv2d(kernel *k, conv_after *after);

/* x (batch, height, width, in_ch), f (height, width, in_ch, out_ch), y (batch, height, width, out_ch), all
 * float and dense; groups is 1.  The work is split over the step's threads. */
weft_err weft__conv_forward(kernel *k, const conv *c, const float *x, const float *f, float *y);
weft_err weft__conv_input(kernel *k, const conv *c, const float *f, const float *dy, float *dx);
weft_err weft__conv_filter(kernel *k, const conv *c, const float *x, const float *dy, float *df);

/* What convolutions of every kind share: a window is their state (.prepare, .unprepare). */
weft_err weft__conv_prepare(const weft_node *node, void **state);
void weft__conv_unprepare(void *state);
weft_err weft__conv_check_attrs(const kernel *k, const window *w);
weft_err weft__conv_check_dy(const kernel *k, const window *w, const conv *c); /* input 2, against the sizes */
shape weft__image_shape(const window *w, int64_t batch, int64_t h, int64_t width, int64_t channels);
/* The shape that input i holds; who uses it checks the rank. */
weft_err weft__conv_shape_input(const kernel *k, int i, const char *name, shape *out);
/* A node with the window of b's node; z may be WEFT_NONE. */
weft_out weft__conv_like(backprop *b, const char *type, weft_out x, weft_out y, weft_out z);

#endif
