/* segment.h - combining rows that belong to the same segment. */
#ifndef WEFT_OPS_MATH_SEGMENT_H
#define WEFT_OPS_MATH_SEGMENT_H

#include "kernels/elementwise/binary.h"
#include "kernels/simd/widen.h"

/* Row i of x goes to row id[i] of z; rows are combined by `loop`. */
typedef struct segment_job {
  elem_loop *loop;
  size_t size; /* of an element */
  const char *x;
  char *z;
  const int64_t *id;   /* negative: the row is left out */
  const int64_t *from; /* row of x to take for i; NULL: i itself */
  int64_t rows, inner;
} segment_job;

void weft__segment_run(const kernel *k, segment_job *j);

/* The ids of input i as int64; *ids is a scratch to be cleared. */
weft_err weft__segment_ids(kernel *k, int i, weft_tensor *ids);
/* All of z's `count` elements are set to v (the type is one with loops: float for the 16-bit ones). */
void weft__segment_fill(weft_dtype type, void *z, int64_t count, double v);
/* Row r of z divided by count[r], or by its square root; a count of 0 leaves the row alone. */
void weft__segment_divide(weft_dtype type, void *z, const int64_t *count, int64_t rows, int64_t inner, bool root);

#endif
