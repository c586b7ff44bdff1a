/* lrn.c - local response normalization: y = x / (bias + alpha * sum of x^2 over nearby channels) ^ beta.
 *
 * It processes one pixel at a time, along its channels.  The sums over the window read a copy with `radius` zeros at
 * both ends, so that no channel is a special case and the loops vectorize. */
#include "base/alloc.h"
#include "base/target_clones.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/simd/vmath.h"
#include "kernels/simd/widen.h"
#include "kernels/work/long_work.h"

typedef struct lrn_work {
  int64_t channels, radius;
  float bias, alpha, beta;
  const float *x, *y, *dy; /* y and dy: only for the gradient */
  float *out;
  long_work *work;
  bool failed; /* out of memory; any thread may set it to true */
} lrn_work;

/* sum[c] = the sum of padded[c .. c + 2 radius]. */
WEFT_TARGET_CLONES static void window_sums(const lrn_work *j, const float *restrict padded, float *restrict sum) {
  const int64_t n = j->channels;
  int64_t spent = 0;
  for (int64_t c = 0; c < n; c++) sum[c] = padded[c];
  for (int64_t o = 1; o <= 2 * j->radius && !weft__long_work_spent(j->work, &spent, n); o++)
    for (int64_t c = 0; c < n; c++) sum[c] += padded[c + o];
}

/* norm[c] = bias + alpha * sum of squares of the channels within radius of c. */
WEFT_TARGET_CLONES static void lrn_norms(const lrn_work *j, const float *restrict x, float *restrict padded,
                                         float *restrict norm) {
  const int64_t n = j->channels;
  for (int64_t c = 0; c < n; c++) padded[j->radius + c] = x[c] * x[c];
  window_sums(j, padded, norm);
  for (int64_t c = 0; c < n; c++) norm[c] = j->bias + j->alpha * norm[c];
}

WEFT_TARGET_CLONES static void forward_row(const lrn_work *j, const float *x, const float *norm, float *y) {
  if (j->beta == 0.5f) /* the default */
    WEFT_IVDEP for (int64_t c = 0; c < j->channels; c++) y[c] = x[c] / sqrtf(norm[c]);
  else if (j->beta == 0.75f) /* AlexNet's */
    WEFT_IVDEP for (int64_t c = 0; c < j->channels; c++) y[c] = x[c] / (sqrtf(norm[c]) * sqrtf(sqrtf(norm[c])));
  else
    WEFT_IVDEP for (int64_t c = 0; c < j->channels; c++) y[c] = x[c] * vexpf(-j->beta * vlogf(norm[c]));
}

/* dx = dy norm^-beta - 2 alpha beta x * sum over nearby channels of dy y / norm. */
WEFT_TARGET_CLONES static void grad_row(const lrn_work *j, int64_t at, const float *norm, float *padded, float *sum) {
  const int64_t n = j->channels;
  const float *x = j->x + at, *y = j->y + at, *dy = j->dy + at;
  float *dx = j->out + at;
  WEFT_IVDEP for (int64_t c = 0; c < n; c++) padded[j->radius + c] = dy[c] * y[c] / norm[c];
  window_sums(j, padded, sum);
  const float factor = 2 * j->alpha * j->beta;
  WEFT_IVDEP for (int64_t c = 0; c < n; c++) dx[c] = dy[c] * vexpf(-j->beta * vlogf(norm[c])) - factor * x[c] * sum[c];
}

static void lrn_rows(void *arg, int64_t begin, int64_t end) {
  lrn_work *j = arg;
  const int64_t n = j->channels, room = n + 2 * j->radius;
  float *padded = weft__alloc_zero((size_t)(room + 2 * n), sizeof *padded);
  if (!padded) {
    __atomic_store_n(&j->failed, true, __ATOMIC_RELAXED);
    return;
  }
  float *norm = padded + room, *sum = norm + n;
  int64_t spent = 0;
  for (int64_t r = begin; r < end && !weft__long_work_spent(j->work, &spent, n * (2 * j->radius + 1)); r++) {
    lrn_norms(j, j->x + r * n, padded, norm);
    if (j->dy)
      grad_row(j, r * n, norm, padded, sum);
    else
      forward_row(j, j->x + r * n, norm, j->out + r * n);
  }
  weft__free(padded);
}

static weft_err lrn_attrs(const kernel *k, const shape *s, lrn_work *j) {
  const int64_t radius = weft__node_int(k->node, "depth_radius", 5);
  if (s->rank != 4) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "in must be 4-dimensional");
  if (radius < 0 || radius > INT32_MAX)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "depth_radius = %lld larger than int max", (long long)radius);
  *j = (lrn_work){.channels = s->dim[3],
                  .radius = radius < s->dim[3] ? radius : s->dim[3],
                  .bias = weft__node_float(k->node, "bias", 1),
                  .alpha = weft__node_float(k->node, "alpha", 1),
                  .beta = weft__node_float(k->node, "beta", 0.5f)};
  return WEFT_OK;
}

static weft_err lrn_run(kernel *k, lrn_work *j, const shape *s) {
  const int64_t rows = weft__shape_product(s, 0, 3);
  long_work work = weft__long_work(k);
  j->work = &work;
  if (j->channels) weft__kernel_loop(k, rows, j->channels * (j->radius / 4 + 4), lrn_rows, j);
  j->work = NULL;
  WEFT_TRY(weft__long_work_end(&work));
  return j->failed ? weft__fail(WEFT_OOM, "%s '%s' needs memory for a row", k->node->op_name, k->node->name) : WEFT_OK;
}

static weft_err lrn_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  lrn_work j;
  WEFT_TRY(lrn_attrs(k, &x->shape, &j));
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  widened wx = {0}, wy = {0};
  weft_err err = weft__widened_load(&wx, x);
  if (!err) err = weft__widened_output(&wy, y);
  j.x = wx.data, j.out = wy.data;
  if (!err) err = lrn_run(k, &j, &x->shape);
  if (!err) weft__widened_store(&wy, y);
  weft__widened_finish(&wx), weft__widened_finish(&wy);
  return err;
}

static weft_err lrn_grad_cpu(kernel *k) {
  const weft_tensor *dy = k->in[0], *x = k->in[1], *y = k->in[2];
  lrn_work j;
  WEFT_TRY(lrn_attrs(k, &dy->shape, &j));
  if (!weft__shape_equal(&dy->shape, &x->shape) || !weft__shape_equal(&dy->shape, &y->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "input_grads, input_image, and out_image should have the same shape");
  weft_tensor *dx = weft__out(k, 0, &dy->shape);
  if (!dx) return WEFT_OOM;
  widened w[4] = {0};
  weft_err err = weft__widened_load(&w[0], dy);
  if (!err) err = weft__widened_load(&w[1], x);
  if (!err) err = weft__widened_load(&w[2], y);
  if (!err) err = weft__widened_output(&w[3], dx);
  j.dy = w[0].data, j.x = w[1].data, j.y = w[2].data, j.out = w[3].data;
  if (!err) err = lrn_run(k, &j, &dy->shape);
  if (!err) weft__widened_store(&w[3], dx);
  for (int i = 0; i < 4; i++) weft__widened_finish(&w[i]);
  return err;
}

static weft_err lrn_infer(infer *s) { return weft__infer_rank(s, 0, 4, &s->out[0]); }

static weft_err lrn_grad_infer(infer *s) {
  shape all = SHAPE4(-1, -1, -1, -1), one;
  for (int i = 0; i < 3; i++) {
    WEFT_TRY(weft__infer_rank(s, i, 4, &one));
    if (weft__shape_merge(&all, &all, &one) != WEFT_OK) return weft__infer_fail(s, "%s", weft__error_message());
  }
  s->out[0] = all;
  return WEFT_OK;
}

static weft_err lrn_grad(backprop *b) {
  const weft_out in[] = {b->dout[0], b->in[0], b->out[0]};
  const attr attrs[] = {A_INT("depth_radius", weft__node_int(b->node, "depth_radius", 5)),
                        A_FLOAT("bias", weft__node_float(b->node, "bias", 1)),
                        A_FLOAT("alpha", weft__node_float(b->node, "alpha", 1)),
                        A_FLOAT("beta", weft__node_float(b->node, "beta", 0.5f))};
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, "LRNGrad", NULL, 3, in, 4, attrs));
  return weft__b_ok(b->graph);
}

static const op_case lrn_cases[] = {
    {"f32[1,1,1,2] 3 4", "f32[1,1,1,2] .58834841 .78446454", NULL, 0},
    {"f32[2,3,2,9] rand", NULL, "depth_radius=2 bias=1.5 alpha=0.3 beta=0.7", 0},
    {"f32[2,3,2,5] rand", NULL, "depth_radius=0", 0},
    {"f32[0,3,2,5] 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[4,13,13,96] normal", NULL, "depth_radius=4 bias=1.0 alpha=0.000111 beta=0.75", CASE_NO_GRAD},
    {"f32[3,2,5] rand", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case lrn_grad_cases[] = {
    {"f32[2,3,2,9] rand; f32[2,3,2,9] rand; f32[2,3,2,9] rand", NULL, "depth_radius=2 bias=1.5 alpha=0.3 beta=0.7",
     CASE_NO_GRAD},
    {"f32[4,13,13,96] normal; f32[4,13,13,96] normal; f32[4,13,13,96] normal", NULL,
     "depth_radius=4 bias=1.0 alpha=0.000111 beta=0.75", CASE_NO_GRAD},
    {"f32[1,1,1,9] rand; f32[1,1,2,9] rand; f32[1,1,2,9] rand", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

#define LRN_ATTRS "depth_radius:int=5 bias:float=1 alpha:float=1 beta:float=0.5 T:type{half,bfloat16,float}=float"

OPS(lrn) = {
    {"LRN(input:T) -> (output:T) | " LRN_ATTRS, "Each channel over the energy of those near it.", .infer = lrn_infer,
     .cpu = lrn_cpu, .grad = lrn_grad, .cases = lrn_cases},
    {"LRNGrad(input_grads:T, input_image:T, output_image:T) -> (output:T) | " LRN_ATTRS, "The gradient of LRN.",
     .infer = lrn_grad_infer, .cpu = lrn_grad_cpu, .cases = lrn_grad_cases},
    {0},
};
