/* global_norm.c - BatchNormWithGlobalNormalization and its gradient, for graphs before version 9.
 *
 * y = (t - m) / sqrt(v + epsilon), times gamma if scale_after_normalization, plus beta. m, v, beta and gamma have
 * one number for each channel, the last dimension of t.  Sums are in double. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include <math.h>

static weft_err norm_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 4, NULL));
  for (int i = 1; i < s->n_in; i++) WEFT_TRY(weft__infer_rank(s, i, i == 4 && s->n_out > 1 ? 4 : 1, NULL));
  int64_t channels = s->in[0].rank < 0 ? -1 : s->in[0].dim[3];
  for (int i = 1; i < s->n_in; i++) {
    const int rank = s->in[i].rank;
    const int64_t n = rank < 1 ? -1 : s->in[i].dim[rank - 1];
    if (n >= 0 && channels >= 0 && n != channels)
      return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)channels, (long long)n);
    channels = channels < 0 ? n : channels;
  }
  s->out[0] = s->in[0];
  if (s->out[0].rank == 4) s->out[0].dim[3] = channels;
  for (int i = 1; i < s->n_out; i++) s->out[i] = SHAPE1(channels);
  return WEFT_OK;
}

/* Checks that input 0 has rank 4 and that inputs 1 to n have one number for each of its channels. */
static weft_err global_norm_check(kernel *k, int n, int64_t *channels) {
  const shape *t = &k->in[0]->shape;
  if (k->in[0]->dtype != WEFT_FLOAT && k->in[0]->dtype != WEFT_DOUBLE) return weft__kernel_no_type(k, k->in[0]->dtype);
  if (t->rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be 4-dimensional, got shape %s",
                             weft__shape_text(t));
  *channels = t->dim[3];
  for (int i = 1; i <= n; i++) {
    const shape *s = &k->in[i]->shape;
    if (s->rank != 1 || s->dim[0] != *channels)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input %d must be a vector of %lld channels, got shape %s", i,
                               (long long)*channels, weft__shape_text(s));
  }
  return WEFT_OK;
}

static double norm_get(const weft_tensor *t, int64_t i) {
  return t->dtype == WEFT_DOUBLE ? TENSOR_DATA(t, double)[i] : (double)TENSOR_DATA(t, float)[i];
}

/* Returns the factor for the elements of channel c. */
static double norm_scale(const kernel *k, const weft_tensor *gamma, int64_t c) {
  const double root = 1 / sqrt(norm_get(k->in[2], c) + (double)weft__node_float(k->node, "variance_epsilon", 0));
  return weft__node_bool(k->node, "scale_after_normalization", false) ? root * norm_get(gamma, c) : root;
}

static weft_err global_norm_cpu(kernel *k) {
  int64_t channels = 0;
  WEFT_TRY(global_norm_check(k, 4, &channels));
  weft_tensor *y = weft__out(k, 0, &k->in[0]->shape);
  if (!y) return WEFT_OOM;
  const int64_t rows = channels ? weft__tensor_count(y) / channels : 0;
  for (int64_t c = 0; c < channels; c++) {
    const double scale = norm_scale(k, k->in[4], c), mean = norm_get(k->in[1], c), beta = norm_get(k->in[3], c);
    for (int64_t r = 0; r < rows; r++)
      weft__tensor_set_real(y, r * channels + c, (norm_get(k->in[0], r * channels + c) - mean) * scale + beta);
  }
  return WEFT_OK;
}

/* Computes one channel of the gradients by t, m, v, beta and gamma. */
static void norm_grad_channel(kernel *k, weft_tensor *const *out, int64_t rows, int64_t channels, int64_t c) {
  const bool scaled = weft__node_bool(k->node, "scale_after_normalization", false);
  const double scale = norm_scale(k, k->in[3], c), mean = norm_get(k->in[1], c);
  const double variance = norm_get(k->in[2], c) + (double)weft__node_float(k->node, "variance_epsilon", 0);
  const double gamma = scaled ? norm_get(k->in[3], c) : 1;
  double sum = 0, product = 0;
  for (int64_t r = 0; r < rows; r++) {
    const double dy = norm_get(k->in[4], r * channels + c);
    sum += dy;
    product += dy * (norm_get(k->in[0], r * channels + c) - mean);
    weft__tensor_set_real(out[0], r * channels + c, dy * scale);
  }
  weft__tensor_set_real(out[1], c, -sum * scale);
  weft__tensor_set_real(out[2], c, -0.5 * product * gamma / (variance * sqrt(variance)));
  weft__tensor_set_real(out[3], c, sum);
  weft__tensor_set_real(out[4], c, scaled ? product / sqrt(variance) : 0);
}

static weft_err norm_grad_cpu(kernel *k) {
  int64_t channels = 0;
  WEFT_TRY(global_norm_check(k, 3, &channels));
  if (!weft__shape_equal(&k->in[0]->shape, &k->in[4]->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "backprop has shape %s, but the input has shape %s",
                             weft__shape_text(&k->in[4]->shape), weft__shape_text(&k->in[0]->shape));
  weft_tensor *out[5];
  for (int i = 0; i < 5; i++)
    if (!(out[i] = weft__out(k, i, i ? &k->in[1]->shape : &k->in[0]->shape))) return WEFT_OOM;
  const int64_t rows = channels ? weft__tensor_count(k->in[0]) / channels : 0;
  for (int64_t c = 0; c < channels; c++) norm_grad_channel(k, out, rows, channels, c);
  return WEFT_OK;
}

static weft_err norm_grad(backprop *b) {
  const weft_out in[] = {b->in[0], b->in[1], b->in[2], b->in[4], b->dout[0]};
  const attr kept[] = {*weft__node_attr(b->node, "variance_epsilon"),
                       *weft__node_attr(b->node, "scale_after_normalization")};
  const weft_out made = weft__b_node(b->graph, "BatchNormWithGlobalNormalizationGrad", NULL, 5, in, 2, kept);
  for (int i = 0; i < 5; i++) b->din[i] = GRAD_DENSE(weft__b_slot(made, i));
  return WEFT_OK;
}

#define NORM_SCALED "variance_epsilon=.1 scale_after_normalization=true"
#define NORM_PLAIN "variance_epsilon=.1 scale_after_normalization=false"
static const op_case norm_cases[] = {
    {"f32[1,1,1,2] 1 2; f32[2] 0 1; f32[2] .9 .9; f32[2] 1 1; f32[2] 2 3", "f32[1,1,1,2] 3 4", NORM_SCALED,
     CASE_FIXED_TYPE},
    {"f64[2,3,2,3] rand; f64[3] rand; f64[3] pos; f64[3] rand; f64[3] rand", NULL, NORM_SCALED, CASE_FIXED_TYPE},
    {"f64[2,3,2,3] rand; f64[3] rand; f64[3] pos; f64[3] rand; f64[3] rand", NULL, NORM_PLAIN, CASE_FIXED_TYPE},
    {"f32[2,3,2,3] rand; f32[3] rand; f32[3] pos; f32[3] rand; f32[3] rand", NULL, NORM_SCALED,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,3,2,3] rand; f32[3] rand; f32[3] pos; f32[3] rand; f32[3] rand", NULL, NORM_PLAIN,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[1,1,1,2] 1 2; f32[3] 0; f32[2] 1; f32[2] 1; f32[2] 2", "error INVALID_ARGUMENT", NORM_SCALED,
     CASE_FIXED_TYPE},
    {0},
};
static const op_case norm_grad_cases[] = {
    {"f32[2,3,2,3] rand; f32[3] rand; f32[3] pos; f32[3] rand; f32[2,3,2,3] rand", NULL, NORM_SCALED, CASE_FIXED_TYPE},
    {"f32[2,3,2,3] rand; f32[3] rand; f32[3] pos; f32[3] rand; f32[2,3,2,3] rand", NULL, NORM_PLAIN, CASE_FIXED_TYPE},
    {"f32[1,1,1,2] 1 2; f32[2] 0; f32[2] 1; f32[2] 1; f32[1,1,1,1] 2", "error INVALID_ARGUMENT", NORM_PLAIN,
     CASE_FIXED_TYPE},
    {0},
};

#define NORM_ATTRS "T:type{number} variance_epsilon:float scale_after_normalization:bool"
OPS(global_norm) = {
    {"BatchNormWithGlobalNormalization(t:T, m:T, v:T, beta:T, gamma:T) -> (result:T) | " NORM_ATTRS,
     "Normalizes each channel by a given mean and variance.", .infer = norm_infer, .cpu = global_norm_cpu,
     .grad = norm_grad, .cases = norm_cases},
    {"BatchNormWithGlobalNormalizationGrad(t:T, m:T, v:T, gamma:T, backprop:T) -> (dx:T, dm:T, dv:T, db:T, dg:T) "
     "| " NORM_ATTRS,
     "The gradients of BatchNormWithGlobalNormalization.", .infer = norm_infer, .cpu = norm_grad_cpu,
     .cases = norm_grad_cases},
    {0},
};
