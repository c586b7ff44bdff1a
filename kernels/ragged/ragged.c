/* ragged.c - checks row splits, and writes them in either index type. */
#include "kernels/ragged/ragged.h"
#include "kernels/array/index.h"

weft_err weft__ragged_check_splits(const kernel *k, const weft_tensor *splits, int64_t limit) {
  if (splits->shape.rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "row splits must be a vector, not of shape %s",
                             weft__shape_text(&splits->shape));
  const int64_t n = splits->shape.dim[0];
  if (n == 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "row splits are empty; they need at least one element");
  if (weft__index_at(splits, 0) != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "row splits must start with 0, not %lld",
                             (long long)weft__index_at(splits, 0));
  for (int64_t i = 1; i < n; i++)
    if (weft__index_at(splits, i) < weft__index_at(splits, i - 1))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "row splits must be sorted: element %lld is %lld, after %lld",
                               (long long)i, (long long)weft__index_at(splits, i),
                               (long long)weft__index_at(splits, i - 1));
  const int64_t last = weft__index_at(splits, n - 1);
  if (limit >= 0 && last != limit)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "row splits end at %lld, but there are %lld values",
                             (long long)last, (long long)limit);
  return WEFT_OK;
}

weft_err weft__ragged_check(const kernel *k, int first, int n) {
  const weft_tensor *values = k->in[first + n];
  if (values->shape.rank < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "the values of a ragged tensor must have at least one dimension");
  for (int i = 0; i < n; i++) {
    const weft_tensor *next = k->in[first + i + 1];
    if (next->shape.rank < 1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "row splits must be a vector, not of shape []");
    WEFT_TRY(weft__ragged_check_splits(k, k->in[first + i], next->shape.dim[0] - (i + 1 < n)));
  }
  return WEFT_OK;
}
