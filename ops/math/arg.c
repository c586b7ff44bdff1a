/* arg.c - ArgMax and ArgMin, the positions of extremes, and InTopK, which tests whether a class is among the k best.
 *
 * As in TensorFlow, ties go to the first element, and NaN is never selected. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/target_clones.h"
#include "graph/kernel.h"
#include "kernels/simd/vmath.h"
#include "kernels/simd/widen.h"
#include "kernels/work/long_work.h"
#include <float.h>

typedef struct arg_work {
  const void *x; /* (outer, n, inner) */
  int64_t *at;   /* (outer, inner) */
  int64_t n, inner;
} arg_work;

enum { ARG_LANES = 16, ARG_LONG = 128 }; /* lanes of a column, and elements that are worth them */

/* Scans one column at a time if columns are contiguous, otherwise a row of neighboring columns at a time.  A contiguous
 * column is scanned as ARG_LANES interleaved ones, of which the best is taken; the first of equals wins. */
#define DEFINE_ARG_COLUMN(name, T, worst, better)                                                                      \
  static inline __attribute__((always_inline)) int64_t name##_column(const T *x, int64_t n) {                          \
    T best[ARG_LANES];                                                                                                 \
    int32_t row[ARG_LANES];                                                                                            \
    const bool lanes = n >= ARG_LONG && n < INT32_MAX;                                                                 \
    const int32_t rows = lanes ? (int32_t)(n / ARG_LANES) : 0; /* fits: checked */                                     \
    for (int i = 0; i < ARG_LANES && lanes; i++) best[i] = (T)(worst), row[i] = 0;                                     \
    for (int32_t r = 0; r < rows; r++)                                                                                 \
      for (int i = 0; i < ARG_LANES; i++) {                                                                            \
        const T v = x[(int64_t)r * ARG_LANES + i], b = best[i];                                                        \
        const bool wins = better;                                                                                      \
        best[i] = wins ? v : b;                                                                                        \
        row[i] = wins ? r : row[i];                                                                                    \
      }                                                                                                                \
    T b = (T)(worst);                                                                                                  \
    int64_t at = 0;                                                                                                    \
    for (int i = 0; i < ARG_LANES && lanes; i++) {                                                                     \
      const T v = best[i];                                                                                             \
      const int64_t here = (int64_t)row[i] * ARG_LANES + i;                                                            \
      at = better || (v == b && here < at) ? here : at;                                                                \
      b = better ? v : b;                                                                                              \
    }                                                                                                                  \
    for (int64_t r = (int64_t)rows * ARG_LANES; r < n; r++) {                                                          \
      const T v = x[r];                                                                                                \
      at = better ? r : at;                                                                                            \
      b = better ? v : b;                                                                                              \
    }                                                                                                                  \
    return at;                                                                                                         \
  }

#define DEFINE_ARG(name, T, worst, better)                                                                             \
  WEFT_TARGET_CLONES static void name(void *arg, int64_t begin, int64_t end) {                                         \
    enum { STRIP = 256 };                                                                                              \
    const arg_work *j = arg;                                                                                           \
    for (int64_t o = begin; o < end && j->inner == 1; o++) {                                                           \
      j->at[o] = name##_column((const T *)j->x + o * j->n, j->n);                                                      \
    }                                                                                                                  \
    for (int64_t o = begin; o < end && j->inner > 1; o++)                                                              \
      for (int64_t i0 = 0; i0 < j->inner; i0 += STRIP) {                                                               \
        const int64_t m = j->inner - i0 < STRIP ? j->inner - i0 : STRIP;                                               \
        const T *x = (const T *)j->x + o * j->n * j->inner + i0;                                                       \
        T best[STRIP];                                                                                                 \
        int64_t at[STRIP];                                                                                             \
        for (int64_t i = 0; i < m; i++) best[i] = (T)(worst), at[i] = 0;                                               \
        for (int64_t r = 0; r < j->n; r++, x += j->inner)                                                              \
          for (int64_t i = 0; i < m; i++) {                                                                            \
            const T v = x[i], b = best[i];                                                                             \
            const bool wins = better;                                                                                  \
            best[i] = wins ? v : b;                                                                                    \
            at[i] = wins ? r : at[i];                                                                                  \
          }                                                                                                            \
        memcpy(j->at + o * j->inner + i0, at, (size_t)m * sizeof *at);                                                 \
      }                                                                                                                \
  }
#define DEFINE_ARGS(suffix, T, lowest, highest)                                                                        \
  DEFINE_ARG_COLUMN(max_##suffix, T, lowest, v > b)                                                                    \
  DEFINE_ARG_COLUMN(min_##suffix, T, highest, v < b)                                                                   \
  DEFINE_ARG(max_##suffix, T, lowest, v > b)                                                                           \
  DEFINE_ARG(min_##suffix, T, highest, v < b)
DEFINE_ARGS(f32, float, -INFINITY, INFINITY)
DEFINE_ARGS(f64, double, -INFINITY, INFINITY)
DEFINE_ARGS(i8, int8_t, INT8_MIN, INT8_MAX)
DEFINE_ARGS(i16, int16_t, INT16_MIN, INT16_MAX)
DEFINE_ARGS(i32, int32_t, INT32_MIN, INT32_MAX)
DEFINE_ARGS(i64, int64_t, INT64_MIN, INT64_MAX)
DEFINE_ARGS(u8, uint8_t, 0, UINT8_MAX)
DEFINE_ARGS(u16, uint16_t, 0, UINT16_MAX)
DEFINE_ARGS(u32, uint32_t, 0, UINT32_MAX)
DEFINE_ARGS(u64, uint64_t, 0, UINT64_MAX)

#define BY_TYPE(name)                                                                                                  \
  {                                                                                                                    \
    [WEFT_FLOAT] = name##_f32, [WEFT_DOUBLE] = name##_f64, [WEFT_HALF] = name##_f32, [WEFT_BFLOAT16] = name##_f32,     \
    [WEFT_INT8] = name##_i8, [WEFT_INT16] = name##_i16, [WEFT_INT32] = name##_i32, [WEFT_INT64] = name##_i64,          \
    [WEFT_UINT8] = name##_u8, [WEFT_UINT16] = name##_u16, [WEFT_UINT32] = name##_u32, [WEFT_UINT64] = name##_u64,      \
    [WEFT_BOOL] = name##_u8                                                                                            \
  }
static pool_loop *const max_by_type[WEFT_DTYPE_COUNT] = BY_TYPE(max);
static pool_loop *const min_by_type[WEFT_DTYPE_COUNT] = BY_TYPE(min);

static void arg_store(weft_tensor *out, const int64_t *at, int64_t n) {
  for (int64_t i = 0; i < n; i++) switch (out->dtype) {
    case WEFT_INT32: TENSOR_DATA(out, int32_t)[i] = (int32_t)at[i]; break;
    case WEFT_INT64: TENSOR_DATA(out, int64_t)[i] = at[i]; break;
    default: TENSOR_DATA(out, uint16_t)[i] = (uint16_t)at[i];
    }
}

/* Finds the positions in x (outer, n, inner), whose elements have `type` itself or float. */
static weft_err arg_find(kernel *k, pool_loop *fn, const void *x, int64_t outer, int64_t n, int64_t inner,
                         weft_tensor *out) {
  weft_tensor scratch = {0};
  arg_work j = {.x = x, .at = out->data, .n = n, .inner = inner};
  if (out->dtype != WEFT_INT64) {
    WEFT_TRY(weft__scratch(k, &scratch, WEFT_INT64, &SHAPE1(outer * inner)));
    j.at = scratch.data;
  }
  const weft_err err = weft__long_loop(k, outer, n * inner / 2 + 10, fn, &j);
  if (!err && out->dtype != WEFT_INT64) arg_store(out, j.at, outer * inner);
  weft__tensor_clear(&scratch);
  return err;
}

static weft_err arg_extreme(kernel *k, pool_loop *const *by_type) {
  const weft_tensor *x = k->in[0];
  const shape *s = &x->shape;
  WEFT_TRY(weft__kernel_scalar(k, 1, "dimension"));
  int64_t axis = weft__tensor_int(k->in[1], 0);
  if (axis < -s->rank || axis >= s->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected dimension in the range [%d, %d), but got %lld",
                             -s->rank, s->rank, (long long)axis);
  if (axis < 0) axis += s->rank;
  if (s->dim[axis] == 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Reduction axis %lld is empty in shape %s", (long long)axis,
                             weft__shape_text(s));
  if (!by_type[x->dtype]) return weft__kernel_no_type(k, x->dtype);
  shape kept = *s;
  kept.rank--;
  for (int d = weft__int_sat(axis); d < kept.rank; d++) kept.dim[d] = s->dim[d + 1];
  weft_tensor *out = weft__out(k, 0, &kept);
  if (!out) return WEFT_OOM;
  const int64_t outer = weft__shape_product(s, 0, weft__int_sat(axis)),
                inner = weft__shape_product(s, weft__int_sat(axis) + 1, s->rank);
  if (!weft__is_16bit(x->dtype)) return arg_find(k, by_type[x->dtype], x->data, outer, s->dim[axis], inner, out);
  widened floats = {0};
  weft_err err = weft__widened_load(&floats, x);
  if (!err) err = arg_find(k, by_type[x->dtype], floats.data, outer, s->dim[axis], inner, out);
  weft__widened_finish(&floats);
  return err;
}

static weft_err argmax_cpu(kernel *k) { return arg_extreme(k, max_by_type); }
static weft_err argmin_cpu(kernel *k) { return arg_extreme(k, min_by_type); }

static weft_err arg_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 1, 0, NULL));
  const shape *x = &s->in[0];
  const weft_tensor *dimension = weft__infer_value(s, 1);
  if (x->rank < 0) return WEFT_OK;
  if (x->rank <= 1) { /* also for a scalar, for which the kernel fails */
    s->out[0] = SHAPE_SCALAR;
    return WEFT_OK;
  }
  s->out[0].rank = x->rank - 1;
  for (int d = 0; d < x->rank - 1; d++) s->out[0].dim[d] = -1;
  if (!dimension) return WEFT_OK;
  int64_t axis = weft__tensor_int(dimension, 0);
  if (axis < -x->rank || axis >= x->rank)
    return weft__infer_fail(
        s, "Dimension (%lld) must be in the range [%d, %d), where %d is the number of dimensions in the input.",
        (long long)axis, -x->rank, x->rank, x->rank);
  if (axis < 0) axis += x->rank;
  for (int d = 0; d < x->rank - 1; d++) s->out[0].dim[d] = x->dim[d < axis ? d : d + 1];
  return WEFT_OK;
}

/* ---- InTopK ---- */

/* Returns true if the target is among the k highest.  Ties count in its favor.  False if any element of the row is not
 * finite. */
static bool in_top(const float *row, int64_t classes, int64_t target, int64_t top) {
  enum { BLOCK = 1 << 20 }; /* counters of 32 bits are vectorized */
  if (target < 0 || target >= classes) return false;
  const float best = row[target];
  int64_t higher = 0, odd = 0;
  for (int64_t at = 0; at < classes; at += BLOCK) {
    const int64_t end = classes - at < BLOCK ? classes : at + BLOCK;
    int32_t above = 0, infinite = 0;
    for (int64_t i = at; i < end; i++) {
      above += row[i] > best;
      infinite += !(fabsf(row[i]) <= FLT_MAX);
    }
    higher += above, odd += infinite;
  }
  return odd == 0 && higher < top;
}

static weft_err in_top_k(kernel *k, int64_t top) {
  const shape *p = &k->in[0]->shape, *t = &k->in[1]->shape;
  if (p->rank != 2) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "predictions must be 2-dimensional");
  if (t->rank != 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "targets must be 1-dimensional");
  if (p->dim[0] != t->dim[0])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "First dimension of predictions %lld must match length of targets %lld",
                             (long long)p->dim[0], (long long)t->dim[0]);
  weft_tensor *out = weft__out(k, 0, t);
  if (!out) return WEFT_OOM;
  for (int64_t b = 0; b < p->dim[0]; b++) TENSOR_DATA(out, bool)
  [b] = in_top(TENSOR_DATA(k->in[0], float) + b * p->dim[1], p->dim[1], weft__tensor_int(k->in[1], b), top);
  return WEFT_OK;
}

static weft_err in_top_k_cpu(kernel *k) { return in_top_k(k, weft__node_int(k->node, "k", 0)); }

static weft_err in_top_k_v2_cpu(kernel *k) {
  if (k->in[2]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "k must be 0-D, got shape %s",
                             weft__shape_text(&k->in[2]->shape));
  return in_top_k(k, weft__tensor_int(k->in[2], 0));
}

static weft_err in_top_k_infer(infer *s) {
  shape p, t;
  WEFT_TRY(weft__infer_rank(s, 0, 2, &p));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &t));
  if (p.dim[0] >= 0 && t.dim[0] >= 0 && p.dim[0] != t.dim[0])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)p.dim[0],
                            (long long)t.dim[0]);
  s->out[0] = SHAPE1(p.dim[0] >= 0 ? p.dim[0] : t.dim[0]);
  return WEFT_OK;
}

/* ---- cases ---- */
/* The case names Tidx so that it is not repeated with int16: TensorFlow accepts int16 and then reads it as int32. */
static const op_case arg_cases[] = {
    {"f32[2,3] 1 5 3 4 2 6; i32[] 1", NULL, "Tidx=int32"},
    {"f32[2,3] 1 5 3 4 2 6; i32[] 0", NULL, "Tidx=int32"},
    {"f32[2,3] 1 5 3 4 2 6; i32[] -1", NULL, "Tidx=int32 output_type=int32"},
    {"f32[5] 3 1 3 1 2; i64[] 0", NULL, "Tidx=int64"},
    {"f32[4] nan 1 3 nan; i32[] 0", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[200] 1; i32[] 0", "i64[] 0", NULL, CASE_FIXED_TYPE},
    {"f32[200] nan; i32[] 0", "i64[] 0", NULL, CASE_FIXED_TYPE},
    {"f32[200] -inf; i32[] 0", "i64[] 0", NULL, CASE_FIXED_TYPE},
    {"f32[4] -inf nan -inf nan; i32[] 0", NULL, NULL, CASE_FIXED_TYPE},
    {"bool[3] false true true; i32[] 0", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[3,0]; i32[] 0", "i64[0]", "Tidx=int32"},
    {"f32[3,0]; i32[] 1", "error INVALID_ARGUMENT", "Tidx=int32"},
    {"f32[3]; i32[] 1", "error INVALID_ARGUMENT", "Tidx=int32"},
    {"f32[30,40,50] rand; i32[] 1", NULL, "Tidx=int32"},
    {"f32[9,300] rand; i32[] 1", NULL, "Tidx=int32"},
    {"i32[9,300] below:10; i32[] 1", NULL, "Tidx=int32"},
    {"f32[300,40] rand; i32[] 1", NULL, "Tidx=int32"},
    {0},
};

static const op_case in_top_k_cases[] = {
    {"f32[3,3] 1 2 3 3 2 1 1 1 1; i32[3] 1 1 2", "bool[3] true true true", "k=2"},
    {"f32[3,3] 1 2 3 3 2 1 1 1 1; i64[3] 1 0 2", "bool[3] false true true", "k=1"},
    {"f32[3,3] 1 nan 3 inf 2 1 1 2 3; i32[3] 2 0 9", "bool[3] false false false", "k=2"},
    {"f32[0,3]; i32[0]", "bool[0]", "k=2"},
    {"f32[2,3] 1; i32[3] 1", "error INVALID_ARGUMENT", "k=2"},
    {"f32[50,10] rand; i32[50] below:10", NULL, "k=3"},
    {0},
};

static const op_case in_top_k_v2_cases[] = {
    {"f32[3,3] 1 2 3 3 2 1 1 1 1; i32[3] 1 1 2; i32[] 2", "bool[3] true true true"},
    {"f32[3,3] 1 2 3 3 2 1 1 1 1; i64[3] 1 0 2; i64[] 1", "bool[3] false true true"},
    {"f32[0,3]; i32[0]; i32[] 1", "bool[0]"},
    {"f32[2,3] 1; i32[3] 1; i32[] 1", "error INVALID_ARGUMENT"},
    {"f32[50,10] rand; i32[50] below:10; i32[] 3"},
    {0},
};

#define SUBJECTS                                                                                                       \
  "T:type{float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64,qint8,quint8,qint32,qint16,"    \
  "quint16,bool}"

OPS(arg) = {
    {"ArgMax(input:T, dimension:Tidx) -> (output:output_type) | " SUBJECTS
     " Tidx:type{int16,int32,int64}=int32 output_type:type{int16,uint16,int32,int64}=int64",
     "Where the greatest is along a dimension.", .infer = arg_infer, .cpu = argmax_cpu, .grad = weft__backprop_none,
     .cases = arg_cases, .amp = AMP_CLEAR},
    {"ArgMin(input:T, dimension:Tidx) -> (output:output_type) | " SUBJECTS
     " Tidx:type{int32,int64}=int32 output_type:type{int32,int64}=int64",
     "Where the least is along a dimension.", .infer = arg_infer, .cpu = argmin_cpu, .grad = weft__backprop_none,
     .cases = arg_cases, .amp = AMP_CLEAR},
    {"InTopK(predictions:float, targets:T) -> (precision:bool) | k:int T:type{int32,int64}=int32",
     "Is each target among the k highest predictions of its row?", .infer = in_top_k_infer, .cpu = in_top_k_cpu,
     .cases = in_top_k_cases},
    {"InTopKV2(predictions:float, targets:T, k:T) -> (precision:bool) | T:type{int32,int64}=int32",
     "Is each target among the k highest predictions of its row?", .infer = in_top_k_infer, .cpu = in_top_k_v2_cpu,
     .cases = in_top_k_v2_cases},
    {0},
};
