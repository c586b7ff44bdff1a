/* ragged_rows.c - RaggedFillEmptyRows, which puts a default value into each empty row, and its gradient.
 *
 * The row numbers of the values are sorted, so one pass writes the values of each row in order, or the default. */
#include "base/alloc.h"
#include "graph/build.h"
#include "kernels/array/strided_copy.h"
#include "kernels/ragged/ragged.h"

static weft_err ragged_rows_fill_infer(infer *s) {
  shape ids;
  WEFT_TRY(weft__infer_rank(s, 0, 1, &ids));
  WEFT_TRY(weft__infer_rank(s, 1, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, 2, 0, NULL));
  WEFT_TRY(weft__infer_rank(s, 3, 0, NULL));
  const weft_tensor *rows = weft__infer_value(s, 2);
  s->out[0] = s->out[1] = SHAPE1(-1);
  s->out[2] = SHAPE1(rows ? weft__tensor_int(rows, 0) : -1);
  if (s->out[2].dim[0] < -1) s->out[2].dim[0] = -1;
  s->out[3] = ids;
  return WEFT_OK;
}

static weft_err ragged_rows_check(const kernel *k, int64_t *rows, int64_t *empty) {
  const weft_tensor *ids = k->in[0];
  WEFT_TRY(weft__kernel_vector(k, 0, "value_rowids"));
  WEFT_TRY(weft__kernel_vector(k, 1, "values"));
  WEFT_TRY(weft__kernel_scalar(k, 2, "nrows"));
  WEFT_TRY(weft__kernel_scalar(k, 3, "default_value"));
  const int64_t n = ids->shape.dim[0];
  *rows = TENSOR_DATA(k->in[2], int64_t)[0];
  if (n != k->in[1]->shape.dim[0])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "there are %lld value_rowids for %lld values", (long long)n,
                             (long long)k->in[1]->shape.dim[0]);
  if (*rows < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "nrows must not be below 0, saw: %lld", (long long)*rows);
  *empty = *rows;
  for (int64_t i = 0, last = -1; i < n; i++) {
    const int64_t row = TENSOR_DATA(ids, int64_t)[i];
    if (row < 0 || row >= *rows || row < last)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "value_rowids must be sorted and in [0, %lld): element %lld is %lld", (long long)*rows,
                               (long long)i, (long long)row);
    *empty -= row != last;
    last = row;
  }
  return WEFT_OK;
}

static weft_err ragged_rows_fill_cpu(kernel *k) {
  int64_t rows, empty, next = 0, at = 0;
  WEFT_TRY(ragged_rows_check(k, &rows, &empty));
  const int64_t n = k->in[0]->shape.dim[0], *ids = TENSOR_DATA(k->in[0], int64_t);
  if (empty > INT64_MAX / 64 - n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "nrows %lld is too large", (long long)rows);
  weft_tensor *out_ids = weft__out(k, 0, &SHAPE1(n + empty)), *values = weft__out(k, 1, &SHAPE1(n + empty)),
              *is_empty = weft__out(k, 2, &SHAPE1(rows)), *back = weft__out(k, 3, &SHAPE1(n));
  if (!out_ids || !values || !is_empty || !back) return WEFT_OOM;
  for (int64_t r = 0; r < rows; r++) {
    const bool none = at == n || ids[at] != r;
    TENSOR_DATA(is_empty, bool)[r] = none;
    const void *from = k->in[3]->data;
    do {
      if (!none) from = weft__element_const(values->dtype, k->in[1]->data, at), TENSOR_DATA(back, int64_t)[at++] = next;
      TENSOR_DATA(out_ids, int64_t)[next] = r;
      WEFT_TRY(weft__elements_copy(values->dtype, weft__element(values->dtype, values->data, next++), from, 1));
    } while (!none && at < n && ids[at] == r);
  }
  return WEFT_OK;
}

static weft_err ragged_rows_fill_grad(backprop *b) {
  const weft_out in[] = {weft__b_slot(b->out[0], 3), weft__backprop_dout(b, 1)};
  const weft_out made = weft__b_node(b->graph, "RaggedFillEmptyRowsGrad", NULL, 2, in, 0, NULL);
  b->din[1] = GRAD_DENSE(made);
  b->din[3] = GRAD_DENSE(weft__b_slot(made, 1));
  return WEFT_OK;
}

static const op_case fill_cases[] = {
    {"i64[4] 0 0 2 2; f32[4] 1 2 3 4; i64[] 4; f32[] 9",
     "i64[6] 0 0 1 2 2 3; f32[6] 1 2 9 3 4 9; bool[4] false true false true; i64[4] 0 1 3 4", NULL, CASE_FIXED_TYPE},
    {"i64[0]; f32[0]; i64[] 2; f32[] 9", NULL, NULL, CASE_FIXED_TYPE},
    {"i64[2] 1 1; str[2] \"a\" \"b\"; i64[] 2; str[] \"-\"", NULL, NULL, 0},
    {"i64[1] 2; f32[1] 1; i64[] 2; f32[] 9", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"i64[1] -1; f32[1] 1; i64[] 2; f32[] 9", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};

OPS(ragged_rows) = {
    {"RaggedFillEmptyRows(value_rowids:int64, values:T, nrows:int64, default_value:T) -> (output_value_rowids:int64, "
     "output_values:T, empty_row_indicator:bool, reverse_index_map:int64) | T:type",
     "A ragged tensor with a default value in each empty row.", .infer = ragged_rows_fill_infer,
     .cpu = ragged_rows_fill_cpu, .grad = ragged_rows_fill_grad, .cases = fill_cases},
    {0},
};
