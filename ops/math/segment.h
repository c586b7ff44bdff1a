/* segment.h - combines the rows that belong to the same segment. */
#ifndef WEFT_OPS_MATH_SEGMENT_H
#define WEFT_OPS_MATH_SEGMENT_H

#include "kernels/elementwise/binary.h"
#include "kernels/simd/widen.h"

/* Combines row i of x into row id[i] of z with `loop`. */
typedef struct segment_work {
  elem_loop *loop;
  size_t size; /* of an element */
  const char *x;
  char *z;
  const int64_t *id;   /* negative: the row is skipped */
  const int64_t *from; /* the row of x to use for i; NULL: i itself */
  int64_t rows, inner;
} segment_work;

/* Returns an error if the step ended first (segment_rows.c). */
weft_err weft__segment_run(const kernel *k, const segment_work *j);

/* Stores the ids of input i as int64 in *ids, a scratch tensor that the caller clears. */
weft_err weft__segment_ids(kernel *k, int i, weft_tensor *ids);
/* Sets all `count` elements of z to v.  The type is one with loops: float for the 16-bit types. */
void weft__segment_fill(weft_dtype type, void *z, int64_t count, double v);

/* Divides row r of z by count[r] or, with `root`, by its square root.  A count of 0 leaves the row unchanged. */
typedef struct segment_division {
  weft_dtype type;
  void *z;
  const int64_t *count;
  int64_t inner;
  bool root;
} segment_division;

/* Divides all rows, over the step's threads. */
void weft__segment_divide(const kernel *k, segment_division *d, int64_t rows);

#endif
