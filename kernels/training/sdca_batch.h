/* sdca_batch.h - the examples of a batch and the weights of a linear model, as the SDCA ops get them.
 *
 * Features come in groups.  A sparse group lists entries in order of their examples; the scan for an example starts
 * where that of the one before ended, so an entry that is out of order is never reached (as in TensorFlow).  A dense
 * group has a row for each example. */
#ifndef WEFT_KERNELS_TRAINING_SDCA_BATCH_H
#define WEFT_KERNELS_TRAINING_SDCA_BATCH_H

#include "graph/kernel.h"

typedef struct sdca_sparse {
  int64_t *start;      /* n + 1: the entries of example i are start[i] .. start[i + 1] - 1 */
  int64_t *slot;       /* per entry: the index of its weight */
  const float *values; /* per entry; NULL: all are 1 */
  const float *weights;
  float *delta;
} sdca_sparse;

typedef struct sdca_dense {
  const float *x; /* n rows of `width` */
  int64_t width;
  const float *weights;
  float *delta;
} sdca_dense;

typedef struct sdca_batch {
  int64_t n;
  int n_sparse, n_dense;
  sdca_sparse *sparse;
  sdca_dense *dense;
  const float *weights, *labels, *state; /* per example; state has four columns */
  float *out_state;
} sdca_batch;

/* The margin of an example, before and after the changes so far, and the squared norm of its features. */
typedef struct sdca_margin {
  double before, now, norm;
} sdca_margin;

/* Checks the inputs of the kernel and makes its outputs: the state is a copy, and the changes are zeros.
 * weft__sdca_batch_finish frees the lists, also after an error. */
weft_err weft__sdca_batch_init(sdca_batch *b, kernel *k);
void weft__sdca_batch_finish(sdca_batch *b);
/* Weights act after soft thresholding by `shrink`; changes of weights count `times` times. */
sdca_margin weft__sdca_margin(const sdca_batch *b, int64_t example, double shrink, double times);
/* Adds `by` times the features of the example to the changes. */
void weft__sdca_add(const sdca_batch *b, int64_t example, double by);

#endif
