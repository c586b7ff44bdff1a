/* xent.c - the cross entropy of a softmax, with its gradient as a second output.
 *
 * Let t = x - max and s = log sum exp(t).  The loss of a row is the sum over j of l[j] (s - t[j]), and the gradient
 * by x is softmax(x) - l.  The sparse op has one class number in place of l.  Logits and labels of the dense op
 * broadcast to two axes. */
#include "base/alloc.h"
#include "base/target_clones.h"
#include "base/text.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/reduce/row.h"
#include "kernels/simd/vmath.h"
#include "kernels/simd/widen.h"

typedef struct xent_work {
  int64_t n;          /* number of classes */
  const void *x, *l;  /* logits and labels: (rows, n) */
  const int64_t *cls; /* the sparse op: (rows) */
  void *loss, *dx;    /* (rows), (rows, n); dx may share memory with x */
} xent_work;

/* Computes for each row log sum exp (the loss without the labels) and dx = softmax. */
#define XENT_ROW(T, EXP, LOG, x, dx, n, max, log_sum)                                                                  \
  T sum;                                                                                                               \
  WEFT_IVDEP for (int64_t i = 0; i < n; i++) dx[i] = EXP(x[i] - max);                                                  \
  ROW_SUM(T, dx, n, sum);                                                                                              \
  const T scale = 1 / sum, log_sum = LOG(sum)

#define DEFINE_XENT(name, T, EXP, LOG)                                                                                 \
  WEFT_TARGET_CLONES static void name##_dense(void *arg, int64_t begin, int64_t end) {                                 \
    const xent_work *j = arg;                                                                                          \
    const int64_t n = j->n;                                                                                            \
    for (int64_t r = begin; r < end; r++) {                                                                            \
      const T *x = (const T *)j->x + r * n, *l = (const T *)j->l + r * n;                                              \
      T *dx = (T *)j->dx + r * n, max, weight, dot;                                                                    \
      ROW_MAX(T, x, n, max);                                                                                           \
      ROW_SUM(T, l, n, weight);                                                                                        \
      ROW_REDUCE(T, n, 0, l[at] * (x[at] - max), a + v, dot);                                                          \
      XENT_ROW(T, EXP, LOG, x, dx, n, max, log_sum);                                                                   \
      WEFT_IVDEP for (int64_t i = 0; i < n; i++) dx[i] = dx[i] * scale - l[i];                                         \
      ((T *)j->loss)[r] = n ? weight * log_sum - dot : 0;                                                              \
    }                                                                                                                  \
  }                                                                                                                    \
  WEFT_TARGET_CLONES static void name##_sparse(void *arg, int64_t begin, int64_t end) {                                \
    const xent_work *j = arg;                                                                                          \
    const int64_t n = j->n;                                                                                            \
    for (int64_t r = begin; r < end; r++) {                                                                            \
      const T *x = (const T *)j->x + r * n;                                                                            \
      T *dx = (T *)j->dx + r * n, max;                                                                                 \
      ROW_MAX(T, x, n, max);                                                                                           \
      const T chosen = x[j->cls[r]] - max;                                                                             \
      XENT_ROW(T, EXP, LOG, x, dx, n, max, log_sum);                                                                   \
      for (int64_t i = 0; i < n; i++) dx[i] *= scale;                                                                  \
      dx[j->cls[r]] -= 1;                                                                                              \
      ((T *)j->loss)[r] = log_sum - chosen;                                                                            \
    }                                                                                                                  \
  }
DEFINE_XENT(xent_float, float, vexpf, logf)
DEFINE_XENT(xent_double, double, exp, log)

/* Runs the float or the double loop; 16-bit types are computed in float.  x: the logits; l: the labels, NULL for the
 * sparse op. */
static weft_err xent_run(kernel *k, xent_work *j, const weft_tensor *x, const weft_tensor *l, weft_tensor *loss,
                         weft_tensor *dx) {
  const int64_t rows = loss->shape.dim[0];
  if (x->dtype == WEFT_DOUBLE) {
    j->x = x->data, j->l = l ? l->data : NULL, j->loss = loss->data, j->dx = dx->data;
    weft__kernel_loop(k, rows, j->n * 12 + 20, l ? xent_double_dense : xent_double_sparse, j);
    return WEFT_OK;
  }
  widened wx = {0}, wl = {0}, wloss = {0}, wdx = {0};
  weft_err err = weft__widened_load(&wx, x);
  if (!err && l) err = weft__widened_load(&wl, l);
  if (!err) err = weft__widened_output(&wloss, loss);
  if (!err) err = weft__widened_output(&wdx, dx);
  if (!err) {
    j->x = wx.data, j->l = wl.data, j->loss = wloss.data, j->dx = wdx.data;
    weft__kernel_loop(k, rows, j->n * 2 + 20, l ? xent_float_dense : xent_float_sparse, j);
    weft__widened_store(&wloss, loss);
    weft__widened_store(&wdx, dx);
  }
  weft__widened_finish(&wx), weft__widened_finish(&wl), weft__widened_finish(&wloss), weft__widened_finish(&wdx);
  return err;
}

/* ---- the dense op ---- */

/* Broadcasts t (of at most two axes) to the shape `to`.  If t has that shape, out shares its buffer. */
static weft_err xent_broadcast(kernel *k, weft_tensor *out, const weft_tensor *t, const shape *to) {
  if (weft__shape_equal(&t->shape, to)) {
    weft__tensor_share(out, t);
    return WEFT_OK;
  }
  WEFT_TRY(weft__scratch(k, out, t->dtype, to));
  const int64_t rows = to->dim[0], cols = to->dim[1];
  const int64_t t_cols = t->shape.rank ? t->shape.dim[t->shape.rank - 1] : 1;
  const int64_t row_step = t->shape.rank == 2 && t->shape.dim[0] == rows ? t_cols : 0, col_step = t_cols == cols;
  const size_t size = weft__dtype_size(t->dtype);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < cols; c++)
      memcpy((char *)out->data + (size_t)(r * cols + c) * size,
             (const char *)t->data + (size_t)(r * row_step + c * col_step) * size, size);
  return WEFT_OK;
}

static weft_err xent_cpu(kernel *k) {
  const weft_tensor *x = k->in[0], *l = k->in[1];
  shape s;
  if (weft__shape_broadcast(&s, &x->shape, &l->shape) != WEFT_OK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "logits and labels must be broadcastable: logits_size=%s labels_size=%s",
                             weft__shape_text(&x->shape), weft__shape_text(&l->shape));
  if (s.rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional");
  weft_tensor bx = {0}, bl = {0};
  weft_err err = xent_broadcast(k, &bx, x, &s);
  if (!err) err = xent_broadcast(k, &bl, l, &s);
  weft_tensor *loss = err ? NULL : weft__out(k, 0, &SHAPE1(s.dim[0]));
  weft_tensor *dx = loss ? weft__out(k, 1, &s) : NULL;
  if (!err && !dx) err = WEFT_OOM;
  if (!err) err = xent_run(k, &(xent_work){.n = s.dim[1]}, &bx, &bl, loss, dx);
  weft__tensor_clear(&bx), weft__tensor_clear(&bl);
  return err;
}

static weft_err xent_infer(infer *s) {
  shape all;
  if (weft__shape_broadcast(&all, &s->in[0], &s->in[1]) != WEFT_OK) {
    const shape *a = &s->in[0], *b = &s->in[1];
    int i = 1; /* from the end, the first axis in which they differ */
    while (i < a->rank && i < b->rank) {
      const int64_t p = a->dim[a->rank - i], q = b->dim[b->rank - i];
      if (p != q && p >= 0 && q >= 0 && p != 1 && q != 1) break;
      i++;
    }
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)a->dim[a->rank - i],
                            (long long)b->dim[b->rank - i]);
  }
  if (all.rank >= 0 && all.rank != 2)
    return weft__infer_fail(s, "Shape must be broadcasted with rank 2, but is rank %d", all.rank);
  s->out[0] = SHAPE1(all.rank < 0 ? -1 : all.dim[0]);
  s->out[1] = all.rank < 0 ? SHAPE2(-1, -1) : all;
  return WEFT_OK;
}

/* ---- the sparse op ---- */

static weft_err xent_classes(kernel *k, int64_t *out, int64_t n) {
  const weft_tensor *l = k->in[1];
  const int64_t rows = weft__tensor_count(l);
  for (int64_t r = 0; r < rows; r++) {
    out[r] = weft__tensor_int(l, r);
    if (out[r] >= 0 && out[r] < n) continue;
    text all = {0};
    for (int64_t i = 0; i < rows && i < 1000; i++) weft__text_printf(&all, " %lld", (long long)weft__tensor_int(l, i));
    weft_err err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                                     "Received a label value of %lld which is outside the valid range of [0, %lld).  "
                                     "Label values:%s",
                                     (long long)out[r], (long long)n, weft__text_get(&all));
    weft__text_finish(&all);
    return err;
  }
  return WEFT_OK;
}

static weft_err sparse_check(const kernel *k) {
  const shape *x = &k->in[0]->shape, *l = &k->in[1]->shape;
  if (x->rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "logits must be 2-D, but got shape %s", weft__shape_text(x));
  if (l->rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "labels must be 1-D, but got shape %s", weft__shape_text(l));
  if (x->dim[0] != l->dim[0])
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "logits and labels must have the same first dimension, got logits shape %s and labels shape %s",
        weft__shape_text(x), weft__shape_text(l));
  if (x->dim[1] <= 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Must have at least one class, but got logits shape %s",
                             weft__shape_text(x));
  return WEFT_OK;
}

static weft_err xent_sparse_cpu(kernel *k) {
  WEFT_TRY(sparse_check(k));
  const weft_tensor *x = k->in[0];
  weft_tensor classes = {0}, *loss = weft__out(k, 0, &k->in[1]->shape), *dx = NULL;
  weft_err err = loss ? weft__scratch(k, &classes, WEFT_INT64, &k->in[1]->shape) : WEFT_OOM;
  if (!err) err = xent_classes(k, classes.data, x->shape.dim[1]);
  if (!err && !(dx = weft__out_over(k, 1, 0, &x->shape))) err = WEFT_OOM;
  if (!err) err = xent_run(k, &(xent_work){.n = x->shape.dim[1], .cls = classes.data}, x, NULL, loss, dx);
  weft__tensor_clear(&classes);
  return err;
}

static weft_err sparse_infer(infer *s) {
  shape x, l;
  WEFT_TRY(weft__infer_rank(s, 0, 2, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &l));
  if (x.dim[0] >= 0 && l.dim[0] >= 0 && x.dim[0] != l.dim[0])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)x.dim[0],
                            (long long)l.dim[0]);
  if (x.dim[0] < 0) x.dim[0] = l.dim[0];
  s->out[0] = SHAPE1(x.dim[0]);
  s->out[1] = x;
  return WEFT_OK;
}

/* ---- gradients ---- */

static weft_out scale_rows(weft_graph *g, weft_out rows, weft_out x) {
  const weft_out in[] = {rows, weft__b_scalar(g, WEFT_INT32, -1)};
  return weft__b_mul(g, weft__b_node(g, "ExpandDims", NULL, 2, in, 0, NULL), x);
}

/* Builds the gradient by the logits: dloss times the second output, plus a second-order term if that output has a
 * gradient too. */
static weft_out logits_grad(backprop *b) {
  weft_graph *g = b->graph;
  weft_out dx = scale_rows(g, weft__backprop_dout(b, 0), b->out[1]);
  if (b->dout[1].node < 0) return dx;
  const weft_out softmax = weft__b_unary(g, "Softmax", b->in[0]), dd = b->dout[1];
  const weft_out sum = weft__b_sum(g, weft__b_mul(g, dd, softmax), weft__b_ints(g, (int64_t[]){-1}, 1), true);
  return weft__b_add(g, dx, weft__b_mul(g, weft__b_sub(g, dd, sum), softmax));
}

static weft_err xent_grad(backprop *b) {
  weft_graph *g = b->graph;
  b->din[0] = GRAD_DENSE(logits_grad(b));
  const weft_out minus_log = weft__b_neg(g, weft__b_unary(g, "LogSoftmax", b->in[0]));
  b->din[1] = GRAD_DENSE(scale_rows(g, weft__backprop_dout(b, 0), minus_log));
  return weft__b_ok(g);
}

static weft_err sparse_grad(backprop *b) {
  b->din[0] = GRAD_DENSE(logits_grad(b));
  return weft__b_ok(b->graph);
}

static const op_case xent_cases[] = {
    {"f32[1,3] 1 2 3; f32[1,3] 0 1 0", "f32[1] 1.4076059; f32[1,3] .09003057 -.75527153 .66524094", NULL, CASE_NO_GRAD},
    {"f32[4,5] rand; f32[4,5] unit", NULL, NULL, CASE_NO_GRAD}, /* its gradient is correct for labels that sum to 1 */
    {"f32[3,4] rand; f32[1,4] unit", NULL, NULL, CASE_NO_GRAD},
    {"f32[1,4] rand; f32[3,4] unit", NULL, NULL, CASE_NO_GRAD},
    {"f32[2,4] rand; f32[4] unit", NULL, NULL, CASE_NO_GRAD},
    {"f32[1,3] rand; f32[2,1] unit", NULL, NULL, CASE_NO_GRAD},
    {"f32[0,3] 0; f32[0,3] 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[2,0] 0; f32[2,0] 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[128,1001] normal; f32[128,1001] unit", NULL, NULL, CASE_NO_GRAD},
    {"f32[2,3] rand; f32[3,3] unit", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[3] rand; f32[3] unit", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[1,2,3] rand; f32[1,2,3] unit", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case sparse_cases[] = {
    {"f32[1,3] 1 2 3; i32[1] 1", "f32[1] 1.4076059; f32[1,3] .09003057 -.75527153 .66524094", NULL, CASE_NO_GRAD},
    {"f32[4,5] rand; i64[4] below:5", NULL, NULL, 0},
    {"f32[4,5] rand; i32[4] below:5", NULL, NULL, 0},
    {"f32[0,3] 0; i64[0] 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[5,1] rand; i64[5] 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[128,1001] normal; i64[128] below:1001", NULL, NULL, CASE_NO_GRAD},
    {"f32[2,3] rand; i64[2] 0 3", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,3] rand; i64[2] -1 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,3] rand; i64[1] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,0] 0; i64[2] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[3] rand; i64[3] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(xent) = {
    {"SoftmaxCrossEntropyWithLogits(features:T, labels:T) -> (loss:T, backprop:T) | "
     "T:type{half,bfloat16,float,double}",
     "The cross entropy of softmax(features) and a distribution for each row, and its gradient.", .infer = xent_infer,
     .cpu = xent_cpu, .grad = xent_grad, .cases = xent_cases, .amp = AMP_DENY},
    {"SparseSoftmaxCrossEntropyWithLogits(features:T, labels:Tlabels) -> (loss:T, backprop:T) | "
     "T:type{half,bfloat16,float,double} Tlabels:type{int32,int64}=int64",
     "The cross entropy of softmax(features) and one class for each row, and its gradient.", .infer = sparse_infer,
     .cpu = xent_sparse_cpu, .grad = sparse_grad, .cases = sparse_cases, .amp = AMP_DENY},
    {0},
};
