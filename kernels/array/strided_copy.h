/* strided_copy.h - copies an n-dimensional array of elements between two strided layouts.
 *
 * Slices, concatenations, transposes, tiles, paddings, reversals and broadcasts are this one copy with different
 * strides, so they share one set of fast paths. */
#ifndef WEFT_KERNELS_ARRAY_STRIDED_COPY_H
#define WEFT_KERNELS_ARRAY_STRIDED_COPY_H

#include "graph/kernel.h"

#define STRIDED_COPY_MAX_RANK (2 * WEFT_MAX_RANK + 2)

typedef struct strided_copy {
  int rank;                           /* axes in the destination's order, outermost first */
  int64_t dim[STRIDED_COPY_MAX_RANK]; /* elements along each axis */
  int64_t src[STRIDED_COPY_MAX_RANK],
      dst[STRIDED_COPY_MAX_RANK]; /* strides in elements; a source stride may be 0 or negative */
} strided_copy;

/* Adds an inner axis; an axis of size 1 is left out. */
static inline void weft__strided_copy_axis(strided_copy *b, int64_t dim, int64_t src, int64_t dst) {
  if (dim == 1) return;
  b->dim[b->rank] = dim;
  b->src[b->rank] = src;
  b->dst[b->rank++] = dst;
}
/* Stores the row-major strides of a known shape. */
void weft__shape_steps(const shape *s, int64_t *steps);
/* Runs the copy.  The elements of the destination are distinct and do not overlap the source.  The work is split
 * over the step's threads.  On a device with its own memory (k->device) both buffers are there, and the copy is only
 * enqueued.  A NULL src, with strides of 0, writes zeros.  Returns RESOURCE_EXHAUSTED, for strings and objects only,
 * or the device's error. */
weft_err weft__strided_copy_run(const kernel *k, weft_dtype type, void *dst, const void *src, const strided_copy *b);
/* Sets every element of a plain tensor to zero, in host or device memory. */
weft_err weft__strided_zero(const kernel *k, weft_tensor *t);
/* Returns the address of element i. */
static inline void *weft__element(weft_dtype type, void *data, int64_t i) {
  return (char *)data + i * (int64_t)weft__dtype_size(type);
}
static inline const void *weft__element_const(weft_dtype type, const void *data, int64_t i) {
  return (const char *)data + i * (int64_t)weft__dtype_size(type);
}

#endif
