/* sparse.c - checks and sorts the indices of sparse tensors. */
#include "kernels/sparse/sparse.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "kernels/array/index.h"
#include "kernels/array/radix_sort.h"
#include <stdlib.h>
#include <string.h>

weft_err weft__sparse_check(const kernel *k, const weft_tensor *indices, const weft_tensor *values,
                            const weft_tensor *dims) {
  if (indices->shape.rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input indices should be a matrix but received shape %s",
                             weft__shape_text(&indices->shape));
  if (values && (values->shape.rank != 1 || values->shape.dim[0] != indices->shape.dim[0]))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Input values should be a vector as long as the %lld indices but received shape %s",
                             (long long)indices->shape.dim[0], weft__shape_text(&values->shape));
  if (dims->shape.rank != 1 || dims->shape.dim[0] != indices->shape.dim[1])
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "Input shape should be a vector of the %lld dimensions of the indices but received shape %s",
        (long long)indices->shape.dim[1], weft__shape_text(&dims->shape));
  return WEFT_OK;
}

weft_err weft__sparse_inside(const kernel *k, const weft_tensor *indices, const weft_tensor *dims) {
  WEFT_ASSERT(indices->shape.rank == 2 && dims->shape.rank == 1); /* see weft__sparse_check */
  const int64_t depth = indices->shape.dim[1], *d = TENSOR_DATA(dims, int64_t);
  char row[128];
  for (int64_t i = 0; i < indices->shape.dim[0]; i++)
    if (weft__index_row(indices, i, depth, d) < 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Sparse index tuple indices[%lld, :] = %s is out of bounds",
                               (long long)i, weft__index_text(indices, i, depth, row, sizeof row));
  return WEFT_OK;
}

int weft__sparse_compare(const int64_t *a, const int64_t *b, int64_t depth) {
  for (int64_t i = 0; i < depth; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

static int by_row(const void *a, const void *b) {
  const sparse_entry *x = a, *y = b;
  const int order = weft__sparse_compare(x->row, y->row, x->depth);
  return order ? order : x->at < y->at ? -1 : x->at > y->at;
}

enum { KEY_DEPTH = 16, FEW_ENTRIES = 64 };

/* Sets the keys of the items to flat indices in the smallest shape that has room for all rows.  Returns the number of
 * bytes of the largest key, or 0 if a row has another length, a negative index, or no flat index of 64 bits. */
static int sparse_keys(const sparse_entry *entries, int64_t n, radix_item *items) {
  WEFT_ASSERT(n > 0);
  const int64_t depth = entries[0].depth;
  uint64_t size[KEY_DEPTH] = {0}, all = 1;
  if (depth > KEY_DEPTH) return 0;
  for (int64_t i = 0; i < n; i++)
    for (int64_t d = 0; d < depth; d++) {
      const int64_t x = entries[i].depth == depth ? entries[i].row[d] : -1;
      if (x < 0) return 0;
      if ((uint64_t)x >= size[d]) size[d] = (uint64_t)x + 1;
    }
  for (int64_t d = 0; d < depth; d++)
    if (__builtin_mul_overflow(all, size[d], &all)) return 0;
  for (int64_t i = 0; i < n; i++) {
    items[i] = (radix_item){0, i};
    for (int64_t d = 0; d < depth; d++) items[i].key = items[i].key * size[d] + (uint64_t)entries[i].row[d];
  }
  int bytes = 1;
  while (bytes < 8 && all >> 8 * bytes) bytes++;
  return bytes;
}

/* Sorts by flat indices, in time that grows with n only.  Returns false if that cannot be done. */
static bool sparse_sort_by_keys(sparse_entry *entries, int64_t n) {
  radix_item *items = weft__alloc((size_t)n * 2 * sizeof *items);
  sparse_entry *copy = weft__alloc((size_t)n * sizeof *copy);
  const int bytes = items && copy ? sparse_keys(entries, n, items) : 0;
  if (bytes) {
    const radix_item *sorted = weft__radix_sort(items, items + n, n, bytes);
    memcpy(copy, entries, (size_t)n * sizeof *copy);
    for (int64_t i = 0; i < n; i++) entries[i] = copy[sorted[i].at];
  }
  weft__free(items);
  weft__free(copy);
  return bytes > 0;
}

/* The entries of equal rows are in the order of `at`.  Radix sort keeps their order, so it needs them in it. */
static bool sparse_in_order_of_at(const sparse_entry *entries, int64_t n) {
  for (int64_t i = 1; i < n; i++)
    if (entries[i - 1].at > entries[i].at) return false;
  return true;
}

void weft__sparse_sort(sparse_entry *entries, int64_t n) {
  if (n >= FEW_ENTRIES && sparse_in_order_of_at(entries, n) && sparse_sort_by_keys(entries, n)) return;
  qsort(entries, (size_t)n, sizeof *entries, by_row);
}

weft_err weft__sparse_infer(infer *s) {
  s->out[0] = SHAPE2(-1, -1);
  s->out[1] = s->out[2] = SHAPE1(-1);
  return WEFT_OK;
}

weft_err weft__sparse_matrix_infer(infer *s) {
  s->out[0] = SHAPE2(-1, 2);
  s->out[1] = SHAPE1(-1);
  s->out[2] = SHAPE1(2);
  return WEFT_OK;
}
