/* ragged_range.c - RaggedRange: an arithmetic sequence in each row.
 *
 * A row is empty if its limit is not beyond its start.  Each number is the previous one plus delta, in the type
 * itself. */
#include "base/alloc.h"
#include "kernels/ragged/ragged.h"
#include "kernels/array/index.h"
#include "kernels/work/long_work.h"
#include <math.h>

static weft_err ragged_range_infer(infer *s) {
  int64_t rows = -1;
  bool scalars = true;
  for (int i = 0; i < 3; i++) {
    if (s->in[i].rank > 1) return weft__infer_fail(s, "Shape must be at most rank 1 but is rank %d", s->in[i].rank);
    scalars &= s->in[i].rank == 0;
    if (s->in[i].rank != 1 || s->in[i].dim[0] < 0) continue;
    if (rows >= 0 && rows != s->in[i].dim[0])
      return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)rows,
                              (long long)s->in[i].dim[0]);
    rows = s->in[i].dim[0];
  }
  if (scalars) rows = 1;
  s->out[0] = SHAPE1(rows < 0 ? -1 : rows + 1);
  s->out[1] = SHAPE1(-1);
  return WEFT_OK;
}

static int64_t element_of(const weft_tensor *t, int64_t row) { return t->shape.rank ? row : 0; }

/* Returns the number of values of a row, or -1 if it overflows. */
static int64_t ragged_range_row_size(const kernel *k, int64_t row) {
  const int64_t at[3] = {element_of(k->in[0], row), element_of(k->in[1], row), element_of(k->in[2], row)};
  if (weft__dtype_class(k->in[0]->dtype) == CLASS_FLOAT) {
    const double start = weft__tensor_double(k->in[0], at[0]), limit = weft__tensor_double(k->in[1], at[1]),
                 delta = weft__tensor_double(k->in[2], at[2]);
    if ((delta > 0 && start > limit) || (delta < 0 && start < limit)) return 0;
    const double n = ceil(fabs((limit - start) / delta));
    return n < 0x1p62 ? (int64_t)n : -1;
  }
  const int64_t start = weft__tensor_int(k->in[0], at[0]), limit = weft__tensor_int(k->in[1], at[1]),
                delta = weft__tensor_int(k->in[2], at[2]);
  if ((delta > 0 && start >= limit) || (delta < 0 && start <= limit)) return 0;
  const uint64_t way = delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
  const uint64_t pace = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta;
  if (pace == 0) return -1; /* it was checked before, but a peer may have changed it */
  const uint64_t n = way / pace + (way % pace != 0);
  return n > INT64_MAX ? -1 : (int64_t)n;
}

#define FILL(T, A)                                                                                                     \
  do {                                                                                                                 \
    A v = (A)TENSOR_DATA(k->in[0], T)[element_of(k->in[0], row)];                                                      \
    const A d = (A)TENSOR_DATA(k->in[2], T)[element_of(k->in[2], row)];                                                \
    for (int64_t i = from; i < to; i++, v += d) TENSOR_DATA(out, T)[i] = (T)v;                                         \
    return;                                                                                                            \
  } while (0)

static void fill_row(const kernel *k, weft_tensor *out, int64_t row, int64_t from, int64_t to) {
  switch (out->dtype) {
  case WEFT_FLOAT: FILL(float, float);
  case WEFT_DOUBLE: FILL(double, double);
  case WEFT_INT32: FILL(int32_t, uint32_t);
  case WEFT_INT64: FILL(int64_t, uint64_t);
  default: break;
  }
  uint16_t v = TENSOR_DATA(k->in[0], uint16_t)[element_of(k->in[0], row)];
  const float d = weft__bfloat16_to_float(TENSOR_DATA(k->in[2], uint16_t)[element_of(k->in[2], row)]);
  for (int64_t i = from; i < to; i++) {
    TENSOR_DATA(out, uint16_t)[i] = v;
    v = weft__bfloat16_from_float(weft__bfloat16_to_float(v) + d);
  }
}

static weft_err ragged_range_count_rows(const kernel *k, int64_t rows, weft_tensor *splits, int64_t *total) {
  *total = 0;
  weft__index_put(splits, 0, 0);
  for (int64_t r = 0; r < rows; r++) {
    WEFT_TRY(weft__long_turn(k, r));
    if (weft__tensor_double(k->in[2], element_of(k->in[2], r)) == 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Requires delta != 0");
    const int64_t n = ragged_range_row_size(k, r), most = splits->dtype == WEFT_INT32 ? INT32_MAX : INT64_MAX;
    if (n < 0 || __builtin_add_overflow(*total, n, total) || *total > most)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "The total range size overflowed. Consider using int64 instead of int32 for row splits: "
                               "row %lld is too long",
                               (long long)r);
    weft__index_put(splits, r + 1, *total);
  }
  return WEFT_OK;
}

static weft_err ragged_range_cpu(kernel *k) {
  static const char *const names[] = {"starts", "limits", "deltas"};
  int64_t rows = -1, total = 0;
  for (int i = 0; i < 3; i++) {
    const shape *s = &k->in[i]->shape;
    if (s->rank > 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be a scalar or vector", names[i]);
    if (s->rank == 1 && rows >= 0 && rows != s->dim[0])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "starts, limits, and deltas must have the same shape");
    if (s->rank == 1) rows = s->dim[0];
  }
  if (rows < 0) rows = 1;
  weft_tensor *splits = weft__out(k, 0, &SHAPE1(rows + 1));
  if (!splits) return WEFT_OOM;
  WEFT_TRY(ragged_range_count_rows(k, rows, splits, &total));
  weft_tensor *out = weft__out(k, 1, &SHAPE1(total));
  if (!out) return weft__out_refused(&SHAPE1(total));
  for (int64_t r = 0; r < rows; r++) fill_row(k, out, r, weft__tensor_int(splits, r), weft__tensor_int(splits, r + 1));
  return WEFT_OK;
}

static const op_case range_cases[] = {
    {"i32[3] 0 5 8; i32[3] 3 5 12; i32[3] 1 1 2", "i64[4] 0 3 3 5; i32[5] 0 1 2 8 10", NULL, 0},
    {"i64[3] 0 5 8; i64[] 12; i64[] 3", NULL, "Tsplits=int32", 0},
    {"i32[] 5; i32[] 0; i32[] -2", NULL, NULL, 0},
    {"i32[2] 5 1; i32[2] 0 3; i32[2] 2 1", NULL, NULL, 0},
    {"f32[2] 0 1; f32[2] 1 2; f32[] .1", NULL, NULL, CASE_NO_GRAD},
    {"f64[2] 0 1; f64[2] -1 2; f64[] -.3", NULL, NULL, CASE_NO_GRAD},
    {"bf16[2] 0 1; bf16[2] 1 5; bf16[] .3", NULL, NULL, CASE_NO_GRAD},
    {"i32[0]; i32[0]; i32[] 1", "i64[1] 0; i32[0]", NULL, 0},
    {"i32[2] 0 1; i32[3] 1 2 3; i32[] 1", "error INVALID_ARGUMENT", NULL, 0},
    {"i32[1] 0; i32[1] 3; i32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"i32[1,1] 0; i32[1] 3; i32[] 1", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[] 0; f32[] 1e30; f32[] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD | CASE_NO_PARITY},
    {0},
};

OPS(ragged_range) = {
    {"RaggedRange(starts:T, limits:T, deltas:T) -> (rt_nested_splits:Tsplits, rt_dense_values:T) | "
     "T:type{bfloat16,float,double,int32,int64}=int32 Tsplits:type{int32,int64}=int64",
     "A range of numbers in each row.", .infer = ragged_range_infer, .cpu = ragged_range_cpu, .no_grad = true,
     .cases = range_cases},
    {0},
};
