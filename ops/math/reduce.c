/* reduce.c - Sum, Mean, Prod, Max, Min, All, Any and EuclideanNorm along any axes.
 *
 * Each type accumulates in itself.  Integers wrap around, except in Mean, which uses 64 bits.  Half and bfloat16 are
 * widened first.  If any element is NaN, the maximum and the minimum are NaN. reduce_grad.c has the gradients. */
#include "base/alloc.h"
#include "graph/fusion.h"
#include "kernels/reduce/reduction.h"
#include "ops/math/reduce.h"
#include "kernels/simd/widen.h"
#include <float.h>
#include <tgmath.h>

/* ---- reduction loops ---- */
DEFINE_REDUCTION(sum_f32, float, float, 0, e, a + v)
DEFINE_REDUCTION(sum_f64, double, double, 0, e, a + v)
DEFINE_REDUCTION_PLAIN(sum_c64, float complex, float complex, 0, e, a + v)
DEFINE_REDUCTION_PLAIN(sum_c128, double complex, double complex, 0, e, a + v)
DEFINE_REDUCTION_PLAIN(sum_u8, uint8_t, uint8_t, 0, e, a + v)
DEFINE_REDUCTION_PLAIN(sum_u16, uint16_t, uint16_t, 0, e, a + v)
DEFINE_REDUCTION(sum_u32, uint32_t, uint32_t, 0, e, a + v)
DEFINE_REDUCTION(sum_u64, uint64_t, uint64_t, 0, e, a + v)
DEFINE_REDUCTION(prod_f32, float, float, 1, e, a *v)
DEFINE_REDUCTION_PLAIN(prod_f64, double, double, 1, e, a *v)
DEFINE_REDUCTION_PLAIN(prod_c64, float complex, float complex, 1, e, a *v)
DEFINE_REDUCTION_PLAIN(prod_c128, double complex, double complex, 1, e, a *v)
DEFINE_REDUCTION_PLAIN(prod_u8, uint8_t, uint8_t, 1, e, (uint32_t)a *v)
DEFINE_REDUCTION_PLAIN(prod_u16, uint16_t, uint16_t, 1, e, (uint32_t)a *v)
DEFINE_REDUCTION_PLAIN(prod_u32, uint32_t, uint32_t, 1, e, a *v)
DEFINE_REDUCTION_PLAIN(prod_u64, uint64_t, uint64_t, 1, e, a *v)

/* Sums of integers for Mean, in 64 bits. */
DEFINE_REDUCTION_PLAIN(wide_i8, int8_t, uint64_t, 0, e, a + v)
DEFINE_REDUCTION_PLAIN(wide_i16, int16_t, uint64_t, 0, e, a + v)
DEFINE_REDUCTION(wide_i32, int32_t, uint64_t, 0, e, a + v)
DEFINE_REDUCTION_PLAIN(wide_u8, uint8_t, uint64_t, 0, e, a + v)
DEFINE_REDUCTION_PLAIN(wide_u16, uint16_t, uint64_t, 0, e, a + v)
DEFINE_REDUCTION_PLAIN(wide_u32, uint32_t, uint64_t, 0, e, a + v)

#define DEFINE_EXTREMES(DEFINE, suffix, T, lowest, highest)                                                            \
  DEFINE(max_##suffix, T, T, lowest, e, v > a || v != v ? v : a)                                                       \
  DEFINE(min_##suffix, T, T, highest, e, v < a || v != v ? v : a)
DEFINE_EXTREMES(DEFINE_REDUCTION_CHAINED, f32, float, -INFINITY, INFINITY)
DEFINE_EXTREMES(DEFINE_REDUCTION_CHAINED, f64, double, -INFINITY, INFINITY)
DEFINE_EXTREMES(DEFINE_REDUCTION_PLAIN, i8, int8_t, INT8_MIN, INT8_MAX)
DEFINE_EXTREMES(DEFINE_REDUCTION_PLAIN, i16, int16_t, INT16_MIN, INT16_MAX)
DEFINE_EXTREMES(DEFINE_REDUCTION_CHAINED, i32, int32_t, INT32_MIN, INT32_MAX)
DEFINE_EXTREMES(DEFINE_REDUCTION_CHAINED, i64, int64_t, INT64_MIN, INT64_MAX)
DEFINE_EXTREMES(DEFINE_REDUCTION_PLAIN, u8, uint8_t, 0, UINT8_MAX)
DEFINE_EXTREMES(DEFINE_REDUCTION_PLAIN, u16, uint16_t, 0, UINT16_MAX)
DEFINE_EXTREMES(DEFINE_REDUCTION_PLAIN, u32, uint32_t, 0, UINT32_MAX)
DEFINE_EXTREMES(DEFINE_REDUCTION_PLAIN, u64, uint64_t, 0, UINT64_MAX)

DEFINE_REDUCTION(all_b, bool, bool, true, e, a &v)
DEFINE_REDUCTION(any_b, bool, bool, false, e, a | v)

/* Sums of squares.  For integers they are in double, which holds the square of a 32-bit integer. */
DEFINE_REDUCTION(squares_f32, float, float, 0, e *e, a + v)
DEFINE_REDUCTION(squares_f64, double, double, 0, e *e, a + v)
DEFINE_REDUCTION_PLAIN(squares_c64, float complex, float complex, 0, e *conj(e), a + v)
DEFINE_REDUCTION_PLAIN(squares_c128, double complex, double complex, 0, e *conj(e), a + v)
#define DEFINE_SQUARES(suffix, T) DEFINE_REDUCTION_PLAIN(squares_##suffix, T, double, 0, (double)e *(double)e, a + v)
DEFINE_SQUARES(i8, int8_t)
DEFINE_SQUARES(i16, int16_t)
DEFINE_SQUARES(i32, int32_t)
DEFINE_SQUARES(i64, int64_t)
DEFINE_SQUARES(u8, uint8_t)
DEFINE_SQUARES(u16, uint16_t)
DEFINE_SQUARES(u32, uint32_t)
DEFINE_SQUARES(u64, uint64_t)

/* ---- the loop of each type ---- */
#define SAME(type, fn) [type] = {type, fn, fn}
#define KINDS_FLOAT(name) SAME(WEFT_FLOAT, name##_f32), SAME(WEFT_DOUBLE, name##_f64)
#define KINDS_COMPLEX(name) SAME(WEFT_COMPLEX64, name##_c64), SAME(WEFT_COMPLEX128, name##_c128)
#define KINDS_UNSIGNED(name)                                                                                           \
  SAME(WEFT_UINT8, name##_u8), SAME(WEFT_UINT16, name##_u16), SAME(WEFT_UINT32, name##_u32),                           \
      SAME(WEFT_UINT64, name##_u64)
#define KINDS_SIGNED(name)                                                                                             \
  SAME(WEFT_INT8, name##_i8), SAME(WEFT_INT16, name##_i16), SAME(WEFT_INT32, name##_i32), SAME(WEFT_INT64, name##_i64)
#define KINDS_WRAPPING(name) /* signed ones as unsigned ones of their size */                                          \
  KINDS_UNSIGNED(name), SAME(WEFT_INT8, name##_u8), SAME(WEFT_INT16, name##_u16), SAME(WEFT_INT32, name##_u32),        \
      SAME(WEFT_INT64, name##_u64)

const reduction_kind weft__reduce_sum[WEFT_DTYPE_COUNT] = {KINDS_FLOAT(sum), KINDS_COMPLEX(sum), KINDS_WRAPPING(sum)};
static const reduction_kind prod_kinds[WEFT_DTYPE_COUNT] = {KINDS_FLOAT(prod), KINDS_COMPLEX(prod),
                                                            KINDS_WRAPPING(prod)};
static const reduction_kind max_kinds[WEFT_DTYPE_COUNT] = {KINDS_FLOAT(max), KINDS_SIGNED(max), KINDS_UNSIGNED(max)};
static const reduction_kind min_kinds[WEFT_DTYPE_COUNT] = {KINDS_FLOAT(min), KINDS_SIGNED(min), KINDS_UNSIGNED(min)};
static const reduction_kind all_kinds[WEFT_DTYPE_COUNT] = {SAME(WEFT_BOOL, all_b)};
static const reduction_kind any_kinds[WEFT_DTYPE_COUNT] = {SAME(WEFT_BOOL, any_b)};
static const reduction_kind mean_kinds[WEFT_DTYPE_COUNT] = {
    KINDS_FLOAT(sum),
    KINDS_COMPLEX(sum),
    [WEFT_INT8] = {WEFT_INT64, wide_i8, sum_u64},
    [WEFT_INT16] = {WEFT_INT64, wide_i16, sum_u64},
    [WEFT_INT32] = {WEFT_INT64, wide_i32, sum_u64},
    [WEFT_INT64] = {WEFT_INT64, sum_u64, sum_u64},
    [WEFT_UINT8] = {WEFT_UINT64, wide_u8, sum_u64},
    [WEFT_UINT16] = {WEFT_UINT64, wide_u16, sum_u64},
    [WEFT_UINT32] = {WEFT_UINT64, wide_u32, sum_u64},
    [WEFT_UINT64] = {WEFT_UINT64, sum_u64, sum_u64},
};
const reduction_kind weft__reduce_squares[WEFT_DTYPE_COUNT] = {
    [WEFT_FLOAT] = {WEFT_FLOAT, squares_f32, sum_f32},
    [WEFT_DOUBLE] = {WEFT_DOUBLE, squares_f64, sum_f64},
    [WEFT_COMPLEX64] = {WEFT_COMPLEX64, squares_c64, sum_c64},
    [WEFT_COMPLEX128] = {WEFT_COMPLEX128, squares_c128, sum_c128},
    [WEFT_INT8] = {WEFT_DOUBLE, squares_i8, sum_f64},
    [WEFT_INT16] = {WEFT_DOUBLE, squares_i16, sum_f64},
    [WEFT_INT32] = {WEFT_DOUBLE, squares_i32, sum_f64},
    [WEFT_INT64] = {WEFT_DOUBLE, squares_i64, sum_f64},
    [WEFT_UINT8] = {WEFT_DOUBLE, squares_u8, sum_f64},
    [WEFT_UINT16] = {WEFT_DOUBLE, squares_u16, sum_f64},
    [WEFT_UINT32] = {WEFT_DOUBLE, squares_u32, sum_f64},
    [WEFT_UINT64] = {WEFT_DOUBLE, squares_u64, sum_f64},
};

/* ---- finishing: accumulators to results ---- */
#define FINISH(T, A, expr)                                                                                             \
  do {                                                                                                                 \
    const A *a_ = acc;                                                                                                 \
    T *z_ = out;                                                                                                       \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      const A a = a_[i];                                                                                               \
      z_[i] = (T)(expr);                                                                                               \
    }                                                                                                                  \
    return;                                                                                                            \
  } while (0)

/* Divides acc by count.  The mean of no integers or no complex numbers is 0. out may be acc. */
static void reduce_divide(weft_dtype type, void *out, const void *acc, int64_t n, int64_t count) {
  const int64_t some = count > 0 ? count : 1;
  switch (type) {
  case WEFT_FLOAT: FINISH(float, float, a / (float)count);
  case WEFT_DOUBLE: FINISH(double, double, a / (double)count);
  case WEFT_COMPLEX64: FINISH(float complex, float complex, a / (float)some);
  case WEFT_COMPLEX128: FINISH(double complex, double complex, a / (double)some);
  case WEFT_INT8: FINISH(int8_t, int64_t, a / some);
  case WEFT_INT16: FINISH(int16_t, int64_t, a / some);
  case WEFT_INT32: FINISH(int32_t, int64_t, a / some);
  case WEFT_INT64: FINISH(int64_t, int64_t, a / some);
  case WEFT_UINT8: FINISH(uint8_t, uint64_t, a / (uint64_t)some);
  case WEFT_UINT16: FINISH(uint16_t, uint64_t, a / (uint64_t)some);
  case WEFT_UINT32: FINISH(uint32_t, uint64_t, a / (uint64_t)some);
  default: FINISH(uint64_t, uint64_t, a / (uint64_t)some);
  }
}

static void take_root(weft_dtype type, void *out, const void *acc, int64_t n, int64_t count) {
  (void)count;
  switch (type) {
  case WEFT_FLOAT: FINISH(float, float, sqrt(a));
  case WEFT_DOUBLE: FINISH(double, double, sqrt(a));
  case WEFT_COMPLEX64: FINISH(float complex, float complex, sqrt(a));
  case WEFT_COMPLEX128: FINISH(double complex, double complex, sqrt(a));
  case WEFT_INT8: FINISH(int8_t, double, (int64_t)sqrt(a));
  case WEFT_INT16: FINISH(int16_t, double, (int64_t)sqrt(a));
  case WEFT_INT32: FINISH(int32_t, double, (int64_t)sqrt(a));
  case WEFT_INT64: FINISH(int64_t, double, (int64_t)sqrt(a));
  case WEFT_UINT8: FINISH(uint8_t, double, (uint64_t)sqrt(a));
  case WEFT_UINT16: FINISH(uint16_t, double, (uint64_t)sqrt(a));
  case WEFT_UINT32: FINISH(uint32_t, double, (uint64_t)sqrt(a));
  default: FINISH(uint64_t, double, (uint64_t)sqrt(a));
  }
}

/* ---- kernels ---- */
typedef void finish_fn(weft_dtype type, void *out, const void *acc, int64_t n, int64_t count);

/* Reads the axes as a mask, and computes the shape of the result. */
static weft_err read_axes(const kernel *k, uint32_t *mask, shape *out) {
  const shape *s = &k->in[0]->shape;
  const weft_tensor *axes = k->in[1];
  const bool keep = weft__node_bool(k->node, "keep_dims", false);
  const int64_t n = weft__tensor_count(axes);
  if (axes->shape.rank > 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected a scalar or a vector of axes, but their shape is %s",
                             weft__shape_text(&axes->shape));
  *mask = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t axis = weft__tensor_int(axes, i);
    if (axis < -s->rank || axis >= s->rank)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Invalid reduction dimension (%lld for input with %d dimension(s)", (long long)axis,
                               s->rank);
    if (axis < 0) axis += s->rank;
    if (*mask >> axis & 1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Invalid reduction arguments: Axes contains duplicate dimension: %lld", (long long)axis);
    *mask |= 1u << axis;
  }
  out->rank = 0;
  for (int d = 0; d < s->rank; d++)
    if (!(*mask >> d & 1))
      out->dim[out->rank++] = s->dim[d];
    else if (keep)
      out->dim[out->rank++] = 1;
  return WEFT_OK;
}

static int64_t reduced_count(const shape *s, uint32_t mask) {
  int64_t n = 1;
  for (int d = 0; d < s->rank; d++) n *= mask >> d & 1 ? s->dim[d] : 1;
  return n;
}

/* Reduces x to out, both of one type that has a loop. acc is scratch memory if accumulators have another type than
 * results. */
static weft_err fold_into(kernel *k, const reduction_kind *kind, finish_fn *finish, const weft_tensor *x, uint32_t mask,
                          int64_t n, void *out) {
  weft_tensor scratch = {0};
  void *acc = out;
  weft_err err = WEFT_OK;
  if (kind->acc != x->dtype) {
    WEFT_TRY(weft__scratch(k, &scratch, kind->acc, &SHAPE1(n)));
    acc = scratch.data;
  }
  err = weft__reduce_axes(k, kind, x, mask, acc);
  if (!err && finish) finish(x->dtype, out, acc, n, reduced_count(&x->shape, mask));
  weft__tensor_clear(&scratch);
  return err;
}

static weft_err fold_widened(kernel *k, const reduction_kind *kinds, finish_fn *finish, uint32_t mask,
                             weft_tensor *out) {
  widened x = {0}, z = {0};
  weft_err err = weft__widened_load(&x, k->in[0]);
  if (!err) err = weft__widened_output(&z, out);
  if (!err) err = fold_into(k, &kinds[WEFT_FLOAT], finish, &x.scratch, mask, weft__tensor_count(out), z.data);
  if (!err) weft__widened_store(&z, out);
  weft__widened_finish(&x);
  weft__widened_finish(&z);
  return err;
}

static weft_err reduce_run(kernel *k, const reduction_kind *kinds, finish_fn *finish) {
  const weft_tensor *x = k->in[0];
  uint32_t mask;
  shape s;
  WEFT_TRY(read_axes(k, &mask, &s));
  if (!weft__is_16bit(x->dtype) && !kinds[x->dtype].first) return weft__kernel_no_type(k, x->dtype);
  if (mask == 0 && finish != take_root) return weft__forward(k, 0, 0, &s); /* nothing is reduced */
  weft_tensor *out = weft__out(k, 0, &s);
  if (!out) return WEFT_OOM;
  if (weft__is_16bit(x->dtype)) return fold_widened(k, kinds, finish, mask, out);
  return fold_into(k, &kinds[x->dtype], finish, x, mask, weft__tensor_count(out), out->data);
}

static weft_err reduce_sum_cpu(kernel *k) { return reduce_run(k, weft__reduce_sum, NULL); }
static weft_err reduce_mean_cpu(kernel *k) { return reduce_run(k, mean_kinds, reduce_divide); }
static weft_err prod_cpu(kernel *k) { return reduce_run(k, prod_kinds, NULL); }
static weft_err reduce_max_cpu(kernel *k) { return reduce_run(k, max_kinds, NULL); }
static weft_err reduce_min_cpu(kernel *k) { return reduce_run(k, min_kinds, NULL); }
static weft_err all_cpu(kernel *k) { return reduce_run(k, all_kinds, NULL); }
static weft_err any_cpu(kernel *k) { return reduce_run(k, any_kinds, NULL); }
static weft_err reduce_norm_cpu(kernel *k) { return reduce_run(k, weft__reduce_squares, take_root); }

/* ---- shapes ---- */
static weft_err reduce_infer(infer *s) {
  const shape *x = &s->in[0];
  const weft_tensor *axes = weft__infer_value(s, 1);
  const bool keep = weft__node_bool(s->node, "keep_dims", false);
  if (s->in[1].rank > 1) return weft__infer_fail(s, "Shape must be at most rank 1 but is rank %d", s->in[1].rank);
  if (x->rank < 0) return WEFT_OK;
  bool gone[WEFT_MAX_RANK] = {false};
  const int64_t n = axes ? weft__tensor_count(axes) : 0;
  for (int64_t i = 0; i < n; i++) {
    const int64_t axis = weft__tensor_int(axes, i);
    if (axis < -x->rank || axis >= x->rank)
      return weft__infer_fail(s, "Invalid reduction dimension %lld for input with %d dimensions.", (long long)axis,
                              x->rank);
    gone[axis < 0 ? axis + x->rank : axis] = true;
  }
  if (!axes && !keep) return WEFT_OK;
  shape *out = &s->out[0];
  out->rank = 0;
  for (int d = 0; d < x->rank; d++)
    if (!gone[d])
      out->dim[out->rank++] = axes ? x->dim[d] : -1;
    else if (keep)
      out->dim[out->rank++] = 1;
  return WEFT_OK;
}

/* ---- cases ---- */
static const op_case number_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; i32[1] 0"},
    {"f32[2,3] 1 2 3 4 5 6; i32[1] 1"},
    {"f32[2,3] 1 2 3 4 5 6; i32[] -1", NULL, "keep_dims=true"},
    {"f32[2,3] 1 2 3 4 5 6; i32[2] 0 1"},
    {"f32[2,3] 1 2 3 4 5 6; i32[0]"},
    {"f32[] 5; i32[0]"},
    {"f32[2,3,4,5] rand; i64[2] 0 2"},
    {"f32[2,3,4,5] rand; i32[2] 1 -1", NULL, "keep_dims=true"},
    {"f32[3,4,5] rand; i32[3] 2 0 1"},
    {"f32[2,9001] rand; i32[1] 1", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE}, /* a GPU folds slices, and their sums */
    {"f32[9001,3] rand; i32[1] 0", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[0,3]; i32[1] 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[3,0]; i32[1] 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[2] 1 2; i32[1] 5", "error INVALID_ARGUMENT"},
    {"f32[2] 1 2; i32[2] 0 0", "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY},
    {"f32[300,400] unit; i32[2] 0 1", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3000,7] unit; i32[1] 0", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[4,5000] unit; i32[1] 0", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[17,5000] unit; i32[1] 1", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[9,65,3,33] unit; i32[3] 0 1 3", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

static const op_case prod_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; i32[1] 0", "f32[3] 4 10 18"},
    {"f32[2,3] 1 2 3 4 5 6; i32[] -1", "f32[2,1] 6 120", "keep_dims=true"},
    {"f32[] 5; i32[0]", "f32[] 5"},
    {"f32[2,3] 0 2 3 4 0 0; i32[1] 1"},
    {"f32[2,3,4,5] pos; i32[2] 0 2", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[0,3]; i32[1] 0", "f32[3] 1", NULL, CASE_NO_GRAD},
    {"f32[2] 1 2; i32[1] 5", "error INVALID_ARGUMENT"},
    {"f32[3000,7] pos; i32[1] 1", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

static const op_case extreme_cases[] = {
    {"f32[2,3] 1 5 3 4 2 6; i32[1] 0"},
    {"f32[2,3] 1 5 3 4 2 6; i32[] -1", NULL, "keep_dims=true"},
    {"f32[2,3] 1 5 3 4 2 6; i32[2] 0 1"},
    {"f32[] 5; i32[0]"},
    {"f32[2,3,4,5] rand; i64[2] 0 2", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[0,3]; i32[1] 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[3,3] 1 nan 3 2 3 4 nan 1 1; i32[1] 1", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[4] 1 3 3 2; i32[1] 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[300,400] normal; i32[2] 0 1", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3000,7] normal; i32[1] 0", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2] 1 2; i32[1] 5", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case logic_cases[] = {
    {"bool[2,2] true false true true; i32[1] 1"},
    {"bool[2,2] true false true true; i32[1] 0", NULL, "keep_dims=true"},
    {"bool[2,2] true false true true; i32[2] 0 1"},
    {"bool[] true; i32[0]", "bool[] true"},
    {"bool[0,2]; i32[1] 0"},
    {"bool[3000] true; i32[1] 0", "bool[] true"},
    {"bool[2] true; i32[1] 1", "error INVALID_ARGUMENT"},
    {0},
};

#define ROW(name_, types_, doc_, cpu_, grad_, ...)                                                                     \
  {                                                                                                                    \
    name_ "(input:T, reduction_indices:Tidx) -> (output:T) | keep_dims:bool=false T:type{" types_                      \
          "} Tidx:type{int32,int64}=int32",                                                                            \
        doc_, .infer = reduce_infer, .cpu = cpu_, .grad = grad_, .cases = __VA_ARGS__                                  \
  }
#define BOOL_ROW(name_, doc_, cpu_)                                                                                    \
  {                                                                                                                    \
    name_ "(input:bool, reduction_indices:Tidx) -> (output:bool) | keep_dims:bool=false Tidx:type{int32,int64}=int32", \
        doc_, .infer = reduce_infer, .cpu = cpu_, .cases = logic_cases                                                 \
  }
#define REAL_QUANTIZED                                                                                                 \
  "float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64,qint8,quint8,qint32,qint16,quint16"

/* A sum over no axes, as the gradient of an addition without broadcasting has it. */
static bool sum_hands_on(const shape *x, const weft_tensor *axes) {
  (void)x;
  return weft__tensor_count(axes) == 0;
}

static const fusion sums = {.rows = ROWS_SUM, .hands_on = sum_hands_on}, means = {.rows = ROWS_MEAN};

OPS(reduce) = {
    ROW("Sum", "number", "The sum along axes.", reduce_sum_cpu, weft__sum_grad, number_cases, .fusion = &sums,
        .amp = AMP_DENY),
    ROW("Mean", "number", "The mean along axes.", reduce_mean_cpu, weft__mean_grad, number_cases, .fusion = &means,
        .amp = AMP_DENY),
    ROW("Prod", "number", "The product along axes.", prod_cpu, weft__prod_grad, prod_cases, .amp = AMP_INFER),
    ROW("Max", REAL_QUANTIZED, "The greatest along axes.", reduce_max_cpu, weft__extreme_grad, extreme_cases,
        .amp = AMP_CLEAR),
    ROW("Min", REAL_QUANTIZED, "The least along axes.", reduce_min_cpu, weft__extreme_grad, extreme_cases,
        .amp = AMP_CLEAR),
    ROW("EuclideanNorm", "number", "The square root of the sum of squares along axes.", reduce_norm_cpu,
        weft__norm_grad, number_cases),
    BOOL_ROW("All", "Are all true along axes?", all_cpu),
    BOOL_ROW("Any", "Is any true along axes?", any_cpu),
    {0},
};
