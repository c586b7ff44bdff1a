/* index.h - reads index tensors of any integer type, and rows of indices that address an element of a tensor.
 *
 * The functions have no state; any thread may call them. */
#ifndef WEFT_KERNELS_ARRAY_INDEX_H
#define WEFT_KERNELS_ARRAY_INDEX_H

#include "graph/kernel.h"
#include <string.h>

/* Returns element i of an index tensor, without a call for int32 and int64. */
static inline int64_t weft__index_at(const weft_tensor *t, int64_t i) {
  if (t->dtype == WEFT_INT32) return TENSOR_DATA(t, int32_t)[i];
  if (t->dtype == WEFT_INT64) return TENSOR_DATA(t, int64_t)[i];
  return weft__tensor_int(t, i);
}
/* Copies a row of a plain type.  Rows of one number take one load and one store instead of a call of memcpy, short
 * rows of whole cache lines a few. */
static inline void weft__row_copy(void *d, const void *s, size_t size) {
  if (size == 4)
    memcpy(d, s, 4);
  else if (size == 8)
    memcpy(d, s, 8);
  else if (size % 64 == 0 && size <= 512)
    for (size_t i = 0; i < size; i += 64) memcpy((char *)d + i, (const char *)s + i, 64);
  else
    memcpy(d, s, size);
}
/* Stores element i of an int32 or int64 tensor. */
static inline void weft__index_put(weft_tensor *t, int64_t i, int64_t v) {
  if (t->dtype == WEFT_INT64)
    TENSOR_DATA(t, int64_t)[i] = v;
  else
    TENSOR_DATA(t, int32_t)[i] = (int32_t)v; /* fits: the op has checked it */
}
/* Returns row `row` of an index tensor (rows of n) as an offset in [0, product of dims); -1 if an index is out of
 * range. */
static inline int64_t weft__index_row(const weft_tensor *t, int64_t row, int64_t n, const int64_t *dims) {
  int64_t at = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t v = weft__index_at(t, row * n + i);
    if (v < 0 || v >= dims[i]) return -1;
    if (__builtin_mul_overflow(at, dims[i], &at) || __builtin_add_overflow(at, v, &at)) return -1; /* no such tensor */
  }
  return at;
}
/* Formats the position of element i in a tensor of shape s as "[1,0]"; "" for a scalar.  Returns buf. */
const char *weft__index_where(const shape *s, int rank, int64_t i, char *buf, size_t size);
/* Formats row `row` of n indices as "[3, 5]".  Returns buf. */
const char *weft__index_text(const weft_tensor *t, int64_t row, int64_t n, char *buf, size_t size);
/* The same without spaces, "[3,5]", as in the messages of sparse tensors. */
const char *weft__index_tight_text(const weft_tensor *t, int64_t row, int64_t n, char *buf, size_t size);

#endif
