/* softmax.c - y = exp(x) / sum exp(x) along the last axis, and its logarithm.
 *
 * The maximum of each row is subtracted first, so that no finite input overflows.  Row sums use several accumulators
 * (lanes), because the compiler may not reorder a float sum. */
#include "base/alloc.h"
#include "base/target_clones.h"
#include "graph/build.h"
#include "graph/fusion.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/reduce/row.h"
#include "kernels/simd/vmath.h"
#include "kernels/simd/widen.h"

typedef struct softmax_work {
  const void *x;
  void *y;
  int64_t n; /* elements in a row */
} softmax_work;

#define DEFINE_SOFTMAX(name, T, EXP, LOG)                                                                              \
  WEFT_TARGET_CLONES static void name(void *arg, int64_t begin, int64_t end) {                                         \
    const softmax_work *j = arg;                                                                                       \
    const int64_t n = j->n;                                                                                            \
    for (int64_t r = begin; r < end; r++) {                                                                            \
      const T *x = (const T *)j->x + r * n;                                                                            \
      T *y = (T *)j->y + r * n, max;                                                                                   \
      ROW_MAX(T, x, n, max);                                                                                           \
      WEFT_IVDEP for (int64_t i = 0; i < n; i++) y[i] = EXP(x[i] - max);                                               \
      T sum;                                                                                                           \
      ROW_SUM(T, y, n, sum);                                                                                           \
      const T scale = 1 / sum;                                                                                         \
      for (int64_t i = 0; i < n; i++) y[i] *= scale;                                                                   \
    }                                                                                                                  \
  }                                                                                                                    \
  WEFT_TARGET_CLONES static void name##_log(void *arg, int64_t begin, int64_t end) {                                   \
    const softmax_work *j = arg;                                                                                       \
    const int64_t n = j->n;                                                                                            \
    for (int64_t r = begin; r < end; r++) {                                                                            \
      const T *x = (const T *)j->x + r * n;                                                                            \
      T *y = (T *)j->y + r * n, max, sum;                                                                              \
      ROW_MAX(T, x, n, max);                                                                                           \
      ROW_SUM_EXP(T, EXP, x, max, n, sum);                                                                             \
      const T log_sum = LOG(sum);                                                                                      \
      WEFT_IVDEP for (int64_t i = 0; i < n; i++) y[i] = (x[i] - max) - log_sum;                                        \
    }                                                                                                                  \
  }
DEFINE_SOFTMAX(softmax_float, float, vexpf, logf)
DEFINE_SOFTMAX(softmax_double, double, exp, log)

static weft_err softmax_run(kernel *k, pool_loop *in_float, pool_loop *in_double) {
  const weft_tensor *x = k->in[0];
  const shape *s = &x->shape;
  if (s->rank < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "logits must have >= 1 dimension, got []");
  weft_tensor *y = weft__out_over(k, 0, 0, s);
  if (!y) return WEFT_OOM;
  const int64_t n = s->dim[s->rank - 1], rows = weft__shape_product(s, 0, s->rank - 1);
  if (n == 0) return WEFT_OK;
  if (x->dtype == WEFT_DOUBLE) {
    weft__kernel_loop(k, rows, n * 12 + 10, in_double, &(softmax_work){x->data, y->data, n});
    return WEFT_OK;
  }
  widened wx = {0}, wy = {0};
  weft_err err = weft__widened_load(&wx, x);
  if (!err) err = weft__widened_output(&wy, y);
  if (!err) {
    weft__kernel_loop(k, rows, n + 10, in_float, &(softmax_work){wx.data, wy.data, n});
    weft__widened_store(&wy, y);
  }
  weft__widened_finish(&wx), weft__widened_finish(&wy);
  return err;
}

static weft_err softmax_cpu(kernel *k) { return softmax_run(k, softmax_float, softmax_double); }

static weft_err log_softmax_cpu(kernel *k) { return softmax_run(k, softmax_float_log, softmax_double_log); }

static weft_err softmax_infer(infer *s) {
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 1));
  return weft__infer_same(s);
}

static weft_out sum_last(weft_graph *g, weft_out x) {
  return weft__b_sum(g, x, weft__b_ints(g, (int64_t[]){-1}, 1), true);
}

static weft_err softmax_grad(backprop *b) { /* dx = (dy - sum(y dy)) y */
  weft_graph *g = b->graph;
  const weft_out y = b->out[0], dy = b->dout[0], sum = sum_last(g, weft__b_mul(g, dy, y));
  b->din[0] = GRAD_DENSE(weft__b_mul(g, weft__b_sub(g, dy, sum), y));
  return weft__b_ok(g);
}

static weft_err log_softmax_grad(backprop *b) { /* dx = dy - sum(dy) exp(y) */
  weft_graph *g = b->graph;
  const weft_out dy = b->dout[0], softmax = weft__b_unary(g, "Exp", b->out[0]);
  b->din[0] = GRAD_DENSE(weft__b_sub(g, dy, weft__b_mul(g, sum_last(g, dy), softmax)));
  return weft__b_ok(g);
}

static const op_case softmax_cases[] = {
    {"f32[1,2] 0 0", "f32[1,2] .5 .5", NULL, 0},
    {"f32[2,3] 1 2 3 1000 0 0", "f32[2,3] .09003057 .24472847 .66524096 1 0 0", NULL, CASE_NO_GRAD},
    {"f32[7] rand", NULL, NULL, 0},
    {"f32[2,3,5] rand", NULL, NULL, 0},
    {"f32[0,4] 0", NULL, NULL, 0},
    {"f32[2,0] 0", NULL, NULL, 0},
    {"f32[3,1] rand", "f32[3,1] 1", NULL, CASE_NO_GRAD},
    {"f32[100,1003] normal", NULL, NULL, CASE_NO_GRAD},
    {"f32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case log_softmax_cases[] = {
    {"f32[1,2] 0 0", "f32[1,2] -.69314718", NULL, 0},
    {"f32[2,3] 1 2 3 1000 0 0", "f32[2,3] -2.40760596 -1.40760596 -.40760596 0 -1000 -1000", NULL, CASE_NO_GRAD},
    {"f32[7] rand", NULL, NULL, 0},
    {"f32[2,3,5] rand", NULL, NULL, 0},
    {"f32[0,4] 0", NULL, NULL, 0},
    {"f32[2,0] 0", NULL, NULL, 0},
    {"f32[100,1003] normal", NULL, NULL, CASE_NO_GRAD},
    {"f32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const fusion softmaxes = {.rows = ROWS_SOFTMAX};

OPS(softmax) = {
    {"Softmax(logits:T) -> (softmax:T) | T:type{half,bfloat16,float,double}",
     "Normalized exponentials along the last axis.", .flags = OP_INPLACE, .infer = softmax_infer, .cpu = softmax_cpu,
     .grad = softmax_grad, .cases = softmax_cases, .fusion = &softmaxes, .amp = AMP_INFER},
    {"LogSoftmax(logits:T) -> (logsoftmax:T) | T:type{half,bfloat16,float,double}",
     "The logarithm of the normalized exponentials along the last axis.", .flags = OP_INPLACE, .infer = softmax_infer,
     .cpu = log_softmax_cpu, .grad = log_softmax_grad, .cases = log_softmax_cases, .amp = AMP_INFER},
    {0},
};
