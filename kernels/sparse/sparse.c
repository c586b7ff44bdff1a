/* sparse.c - checks and sorts the indices of sparse tensors. */
#include "kernels/sparse/sparse.h"

#include "kernels/array/index.h"
#include <stdlib.h>

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

void weft__sparse_sort(sparse_entry *entries, int64_t n) { qsort(entries, (size_t)n, sizeof *entries, by_row); }

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
