/* cumulative.c - cumulative sums and products along an axis: Cumsum, Cumprod, CumulativeLogsumexp.
 *
 * A tensor is seen as (outer, n, inner).  The sum runs along n, for all of inner at once. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/simd/widen.h"
#include "kernels/work/long_work.h"

typedef struct cumulative_work {
  long_work work;
  const void *x;
  void *y;
  int64_t n, inner;
  bool exclusive, reverse;
} cumulative_work;

/* Computes the running reduction y of x. `step` is an expression in a (the value so far) and v (the next element). */
#define DEFINE_RUN(name, T, init, step)                                                                                \
  static void name(void *arg, int64_t begin, int64_t end) {                                                            \
    cumulative_work *j = arg;                                                                                          \
    const int64_t inner = j->inner, way = j->reverse ? -inner : inner;                                                 \
    int64_t spent = 0;                                                                                                 \
    for (int64_t o = begin; o < end; o++) {                                                                            \
      const int64_t first = o * j->n * inner + (j->reverse ? (j->n - 1) * inner : 0);                                  \
      const T *x = (const T *)j->x + first;                                                                            \
      T *y = (T *)j->y + first;                                                                                        \
      for (int64_t i = 0; i < inner; i++) y[i] = j->exclusive ? (T)(init) : x[i];                                      \
      for (int64_t r = 1; r < j->n; r++, x += way, y += way) {                                                         \
        if (weft__long_work_spent(&j->work, &spent, inner)) return;                                                    \
        const T *next = j->exclusive ? x : x + way;                                                                    \
        for (int64_t i = 0; i < inner; i++) {                                                                          \
          const T a = y[i], v = next[i];                                                                               \
          y[i + way] = (T)(step);                                                                                      \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }
DEFINE_RUN(sum_f32, float, 0, a + v)
DEFINE_RUN(sum_f64, double, 0, a + v)
DEFINE_RUN(sum_f16, float, 0, ROUND_HALF(a + v)) /* 16-bit types round at every step, as in TF */
DEFINE_RUN(sum_b16, float, 0, ROUND_BFLOAT16(a + v))
DEFINE_RUN(sum_c64, float complex, 0, a + v)
DEFINE_RUN(sum_c128, double complex, 0, a + v)
DEFINE_RUN(sum_u8, uint8_t, 0, a + v)
DEFINE_RUN(sum_u16, uint16_t, 0, a + v)
DEFINE_RUN(sum_u32, uint32_t, 0, a + v)
DEFINE_RUN(sum_u64, uint64_t, 0, a + v)
DEFINE_RUN(prod_f32, float, 1, a *v)
DEFINE_RUN(prod_f64, double, 1, a *v)
DEFINE_RUN(prod_f16, float, 1, ROUND_HALF(a *v))
DEFINE_RUN(prod_b16, float, 1, ROUND_BFLOAT16(a *v))
DEFINE_RUN(prod_c64, float complex, 1, a *v)
DEFINE_RUN(prod_c128, double complex, 1, a *v)
DEFINE_RUN(prod_u8, uint8_t, 1, (uint32_t)a *v)
DEFINE_RUN(prod_u16, uint16_t, 1, (uint32_t)a *v)
DEFINE_RUN(prod_u32, uint32_t, 1, a *v)
DEFINE_RUN(prod_u64, uint64_t, 1, a *v)

/* Returns log(e^a + e^v), relative to the larger of the two so that it does not overflow. */
static inline double log_sum(double a, double v) {
  const double top = a > v ? a : v, low = a > v ? v : a;
  if (top == -INFINITY || a != a || v != v) return a + v;
  return top + log1p(exp(low - top));
}
DEFINE_RUN(log_f32, float, -INFINITY, log_sum((double)a, (double)v))
DEFINE_RUN(log_f64, double, -INFINITY, log_sum(a, v))

#define BY_TYPE(name)                                                                                                  \
  {                                                                                                                    \
    [WEFT_FLOAT] = name##_f32, [WEFT_DOUBLE] = name##_f64, [WEFT_HALF] = name##_f16, [WEFT_BFLOAT16] = name##_b16,     \
    [WEFT_COMPLEX64] = name##_c64, [WEFT_COMPLEX128] = name##_c128, [WEFT_INT8] = name##_u8, [WEFT_UINT8] = name##_u8, \
    [WEFT_INT16] = name##_u16, [WEFT_UINT16] = name##_u16, [WEFT_INT32] = name##_u32, [WEFT_UINT32] = name##_u32,      \
    [WEFT_INT64] = name##_u64, [WEFT_UINT64] = name##_u64                                                              \
  }
static pool_loop *const sum_by_type[WEFT_DTYPE_COUNT] = BY_TYPE(sum);
static pool_loop *const prod_by_type[WEFT_DTYPE_COUNT] = BY_TYPE(prod);
static pool_loop *const log_by_type[WEFT_DTYPE_COUNT] = {
    [WEFT_FLOAT] = log_f32, [WEFT_HALF] = log_f32, [WEFT_BFLOAT16] = log_f32, [WEFT_DOUBLE] = log_f64};

static weft_err cumulative_run(const kernel *k, pool_loop *fn, cumulative_work *j, int64_t outer) {
  j->work = weft__long_work(k);
  weft__kernel_loop(k, outer, j->n * j->inner + 10, fn, j);
  return weft__kernel_in(k, weft__long_work_end(&j->work));
}

static weft_err run_widened(const kernel *k, pool_loop *fn, cumulative_work *j, int64_t outer, weft_tensor *y) {
  widened in = {0}, out = {0};
  weft_err err = weft__widened_load(&in, k->in[0]);
  if (!err) err = weft__widened_output(&out, y);
  if (!err) {
    j->x = in.data;
    j->y = out.data;
    err = cumulative_run(k, fn, j, outer);
    if (!err) weft__widened_store(&out, y);
  }
  weft__widened_finish(&in);
  weft__widened_finish(&out);
  return err;
}

static weft_err cumulative_scan(kernel *k, pool_loop *const *by_type) {
  const weft_tensor *x = k->in[0];
  const shape *s = &x->shape;
  if (k->in[1]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "ScanOp: axis must be a scalar, not %s",
                             weft__shape_text(&k->in[1]->shape));
  int64_t axis = weft__tensor_int(k->in[1], 0);
  if (axis < -s->rank || axis >= s->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "ScanOp: Expected scan axis in the range [%d, %d), but got %lld",
                             -s->rank, s->rank, (long long)axis);
  if (axis < 0) axis += s->rank;
  if (!by_type[x->dtype]) return weft__kernel_no_type(k, x->dtype);
  weft_tensor *y = weft__out(k, 0, s);
  if (!y) return WEFT_OOM;
  if (weft__tensor_count(y) == 0) return WEFT_OK;
  cumulative_work j = {.x = x->data,
                       .y = y->data,
                       .n = s->dim[axis],
                       .inner = weft__shape_product(s, weft__int_sat(axis) + 1, s->rank),
                       .exclusive = weft__node_bool(k->node, "exclusive", false),
                       .reverse = weft__node_bool(k->node, "reverse", false)};
  const int64_t outer = weft__shape_product(s, 0, weft__int_sat(axis));
  if (weft__is_16bit(x->dtype)) return run_widened(k, by_type[x->dtype], &j, outer, y);
  return cumulative_run(k, by_type[x->dtype], &j, outer);
}

static weft_err cumsum_cpu(kernel *k) { return cumulative_scan(k, sum_by_type); }
static weft_err cumprod_cpu(kernel *k) { return cumulative_scan(k, prod_by_type); }
static weft_err cumlog_cpu(kernel *k) { return cumulative_scan(k, log_by_type); }

/* ---- gradients ---- */
static weft_out cumulative_again(backprop *b, const char *type, weft_out x, bool reverse) {
  const bool flip = weft__node_bool(b->node, "reverse", false) != reverse;
  return weft__b_node(
      b->graph, type, NULL, 2, (weft_out[]){x, b->in[1]}, 2,
      (attr[]){A_BOOL("exclusive", weft__node_bool(b->node, "exclusive", false)), A_BOOL("reverse", flip)});
}

static weft_err cumsum_grad(backprop *b) {
  b->din[0] = GRAD_DENSE(cumulative_again(b, "Cumsum", b->dout[0], true));
  return WEFT_OK;
}

static weft_err cumprod_grad(backprop *b) { /* the sum of all products that contain x[i], divided by x[i] */
  weft_graph *g = b->graph;
  const weft_out products = cumulative_again(b, "Cumprod", b->in[0], false);
  const weft_out sums = cumulative_again(b, "Cumsum", weft__b_mul(g, products, b->dout[0]), true);
  b->din[0] = GRAD_DENSE(weft__b_binary(g, "DivNoNan", sums, b->in[0]));
  return WEFT_OK;
}

/* dx = e^x times the reverse cumulative sum of dy e^-y, computed with logarithms, separately for positive and
 * negative dy. */
static weft_err cumlog_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out dy = b->dout[0], y = b->out[0];
  const weft_out zero = weft__b_scalar_like(g, dy, 0), lowest = weft__b_scalar_like(g, dy, -INFINITY);
  weft_out part[2];
  for (int i = 0; i < 2; i++) {
    const weft_out signed_dy = i ? weft__b_neg(g, dy) : dy;
    const weft_out positive = weft__b_binary(g, "Greater", signed_dy, zero);
    const weft_out log_dy = weft__b_node(g, "SelectV2", NULL, 3,
                                         (weft_out[]){positive, weft__b_unary(g, "Log", signed_dy), lowest}, 0, NULL);
    const weft_out sum = cumulative_again(b, "CumulativeLogsumexp", weft__b_sub(g, log_dy, y), true);
    part[i] = weft__b_unary(g, "Exp", weft__b_add(g, sum, b->in[0]));
  }
  b->din[0] = GRAD_DENSE(weft__b_sub(g, part[0], part[1]));
  return WEFT_OK;
}

/* ---- cases ---- */
static const op_case scan_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; i32[] 1"},
    {"f32[2,3] 1 2 3 4 5 6; i32[] 0"},
    {"f32[2,3] 1 2 3 4 5 6; i32[] -1", NULL, "exclusive=true"},
    {"f32[2,3] 1 2 3 4 5 6; i32[] 1", NULL, "reverse=true"},
    {"f32[2,3] 1 2 3 4 5 6; i64[] 1", NULL, "exclusive=true reverse=true"},
    {"f32[1] 3; i32[] 0"},
    {"f32[0,3]; i32[] 0", "f32[0,3]", NULL, CASE_NO_GRAD},
    {"f32[4,5,6] pos; i32[] 1", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[40,50,6] unit; i32[] 1", NULL, "reverse=true", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[3] 1; i32[] 1", "error INVALID_ARGUMENT"},
    {"f32[] 1; i32[] 0", "error INVALID_ARGUMENT"},
    {0},
};

#define ROW(name_, types_, doc_, cpu_, grad_)                                                                          \
  {                                                                                                                    \
    name_ "(x:T, axis:Tidx) -> (out:T) | exclusive:bool=false reverse:bool=false T:type{" types_                       \
          "} Tidx:type{int32,int64}=int32",                                                                            \
        doc_, .infer = weft__infer_same, .cpu = cpu_, .grad = grad_, .cases = scan_cases                               \
  }

OPS(cumulative) = {
    ROW("Cumsum", "number", "Running sums along an axis.", cumsum_cpu, cumsum_grad),
    ROW("Cumprod", "number", "Running products along an axis.", cumprod_cpu, cumprod_grad),
    ROW("CumulativeLogsumexp", "bfloat16,half,float,double", "Logarithms of running sums of exponentials.", cumlog_cpu,
        cumlog_grad),
    {0},
};
