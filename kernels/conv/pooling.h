/* pooling.h - the loops of max pooling for float, double and integers, and those of mean pooling for float and double.
 *
 * ops/nn/pool.c converts half and bfloat16 to float around them. */
#ifndef WEFT_KERNELS_CONV_POOLING_H
#define WEFT_KERNELS_CONV_POOLING_H

#include "kernels/conv/window.h"
#include "kernels/work/long_work.h"

typedef struct pool_work {
  window_axis h, w;
  int64_t batch, channels; /* images are (batch, height, width, channels) */
  const void *x;           /* of the input's size; the gradient of an average does not read it */
  const void *g;           /* a gradient, of the output's size; for `choose` of the input's size */
  const void *best;        /* for `choose`: the former output, the maximum of each window */
  void *out;
  void *index;  /* of the output's size: int32 or int64 */
  bool index64; /* true: int64 */
  bool batched; /* indices count over the whole batch instead of one image */
  bool cleared; /* out is zero, and gradients are added to it, because windows overlap or leave gaps */
  long_work *work;
} pool_work;

/* Each loop runs over [begin, end) of the rows: batch times output height.  Gradients with `cleared` run over images
 * instead, because the rows of one image write to the same elements. */
typedef struct pooling {
  pool_loop *max;     /* out = the maximum of each window */
  pool_loop *grad;    /* out (of the input's size) = g at the first maximum of each window */
  pool_loop *choose;  /* out = the element of g at which x equals best; 0 if there is none */
  pool_loop *arg_max; /* out = the maximum, index = its position */
} pooling;

const pooling *weft__pooling(weft_dtype t); /* returns NULL if there are none for that type */

/* Return the loops of the mean of each window, without its padding, and of the gradient; for float, or double
 * (is_double). */
pool_loop *weft__pooling_mean(bool is_double);
pool_loop *weft__pooling_mean_grad(bool is_double);

#endif
