/* pooling.h - the loops of pooling, for every type they are compiled for (pooling.c). */
#ifndef WEFT_KERNELS_CONV_POOLING_H
#define WEFT_KERNELS_CONV_POOLING_H

#include "kernels/conv/window.h"

typedef struct pool_job {
  window_axis h, w;
  int64_t batch, channels; /* images are (batch, height, width, channels) */
  const void *x;           /* of the input's size; not read by an average's gradient */
  const void *g;           /* a gradient: of the output's size, or of the input's for `choose` */
  const void *best;        /* for `choose`: the greatest of each window, as it was */
  void *out;
  void *index;  /* of the output's size: int32 or int64 */
  bool index64; /* which of the two */
  bool batched; /* indices count over the whole batch, not one image */
  bool cleared; /* out is zero, and a gradient is added to it: windows overlap or leave gaps */
} pool_job;

/* Each takes [begin, end) of rows: batch times output height.  Gradients with `cleared` take images instead, since
 * the rows of one image write to the same places. */
typedef struct pooling {
  pool_loop *max;     /* out = the greatest of each window */
  pool_loop *grad;    /* out (of the input's size) = g where the greatest was, the first of equals */
  pool_loop *choose;  /* out = the element of g where x equals best; 0 where none does */
  pool_loop *arg_max; /* out = the greatest, index = its place */
} pooling;

const pooling *weft__pooling(weft_dtype t); /* NULL: none for that type */

/* The mean of each window, padding left out of the count; float and double (is_double). */
pool_loop *weft__pooling_mean(bool is_double);
pool_loop *weft__pooling_mean_grad(bool is_double);

#endif
