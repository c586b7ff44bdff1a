/* index.h - reading indices of any integer type, and rows of them that name a place in a tensor. */
#ifndef WEFT_KERNELS_ARRAY_INDEX_H
#define WEFT_KERNELS_ARRAY_INDEX_H

#include "graph/kernel.h"

/* Element i of an index tensor: int32 and int64 without a call. */
static inline int64_t weft__index_at(const weft_tensor *t, int64_t i) {
  if (t->dtype == WEFT_INT32) return TENSOR_DATA(t, int32_t)[i];
  if (t->dtype == WEFT_INT64) return TENSOR_DATA(t, int64_t)[i];
  return weft__tensor_int(t, i);
}
/* Stores element i of an int32 or int64 tensor. */
static inline void weft__index_put(weft_tensor *t, int64_t i, int64_t v) {
  if (t->dtype == WEFT_INT64)
    TENSOR_DATA(t, int64_t)[i] = v;
  else
    TENSOR_DATA(t, int32_t)[i] = (int32_t)v; /* fits: the op has checked it */
}
/* Row `row` of indices (rows of n) as a number in [0, product of dims); -1 if outside. */
static inline int64_t weft__index_row(const weft_tensor *t, int64_t row, int64_t n, const int64_t *dims) {
  int64_t at = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t v = weft__index_at(t, row * n + i);
    if (v < 0 || v >= dims[i]) return -1;
    if (__builtin_mul_overflow(at, dims[i], &at) || __builtin_add_overflow(at, v, &at)) return -1; /* no such tensor */
  }
  return at;
}
/* "[1,0]" for element i of a tensor of shape s; "" for a scalar's.  Returns buf. */
const char *weft__index_where(const shape *s, int rank, int64_t i, char *buf, size_t size);
/* "[3, 5]": row `row` of n indices.  Returns buf. */
const char *weft__index_text(const weft_tensor *t, int64_t row, int64_t n, char *buf, size_t size);
/* Without blanks, "[1,2]", as the checks of sparse tensors spell it. */
const char *weft__index_tight_text(const weft_tensor *t, int64_t row, int64_t n, char *buf, size_t size);

#endif
