/* quantized_norm.c - normalization of quantized integers: QuantizedInstanceNorm and
 * QuantizedBatchNormWithGlobalNormalization.
 *
 * QuantizedInstanceNorm converts the integers to float, normalizes them and quantizes the result.  The op for batches
 * computes in fixed point, as TensorFlow does: its output has the range [-2^20, 2^20], and so has each factor. */
#include "base/alloc.h"
#include "kernels/work/long_work.h"
#include "ops/math/quantized.h"
#include <math.h>

/* ---- QuantizedInstanceNorm ---- */

typedef struct instances {
  int64_t batch, pixels, channels;
} instances;

/* Writes the normalized numbers to y. */
static weft_err instance_normalize(const kernel *k, const instances *of, const quantized *q, float epsilon, float *y) {
  for (int64_t b = 0; b < of->batch; b++)
    for (int64_t c = 0; c < of->channels; c++) {
      const int64_t first = b * of->pixels * of->channels + c;
      double sum = 0, squares = 0;
      for (int64_t p = 0; p < of->pixels; p++) {
        WEFT_TRY(weft__long_turn(k, p));
        sum += (double)weft__quantized_number(q, weft__quantized_get(k->in[0], first + p * of->channels));
      }
      const double mean = sum / (double)of->pixels;
      for (int64_t p = 0; p < of->pixels; p++) {
        WEFT_TRY(weft__long_turn(k, p));
        const double v =
            (double)weft__quantized_number(q, weft__quantized_get(k->in[0], first + p * of->channels)) - mean;
        y[first + p * of->channels] = (float)v;
        squares += v * v;
      }
      const double scale = 1 / sqrt(squares / (double)of->pixels + (double)epsilon);
      for (int64_t p = 0; p < of->pixels; p++)
        y[first + p * of->channels] = (float)((double)y[first + p * of->channels] * scale);
    }
  return WEFT_OK;
}

static void instance_range(const kernel *k, const float *y, int64_t n, float *min, float *max) {
  if (weft__node_bool(k->node, "output_range_given", false)) {
    *min = weft__node_float(k->node, "given_y_min", 0);
    *max = weft__node_float(k->node, "given_y_max", 0);
    return;
  }
  const float apart = weft__node_float(k->node, "min_separation", 1e-3f);
  *min = INFINITY, *max = -INFINITY;
  for (int64_t i = 0; i < n; i++) {
    *min = y[i] < *min ? y[i] : *min;
    *max = y[i] > *max ? y[i] : *max;
  }
  if (*max - *min < apart) *max = *min + apart;
}

static weft_err instance_check(const kernel *k, instances *of) {
  const shape *x = &k->in[0]->shape;
  if (x->rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be 4-dimensional: %s", weft__shape_text(x));
  if (k->in[0]->dtype != WEFT_QUINT8) return weft__kernel_no_type(k, k->in[0]->dtype);
  *of = (instances){x->dim[0], x->dim[1] * x->dim[2], x->dim[3]};
  const float low = weft__node_float(k->node, "given_y_min", 0), high = weft__node_float(k->node, "given_y_max", 0);
  if (weft__node_bool(k->node, "output_range_given", false) && !(low < high))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "given_y_min must be less than given_y_max : %g >= %g",
                             (double)low, (double)high);
  return WEFT_OK;
}

static weft_err instance_cpu(kernel *k) {
  instances of = {0};
  quantized q, to;
  weft_tensor floats = {0};
  WEFT_TRY(instance_check(k, &of));
  WEFT_TRY(weft__quantized_read(k, 0, 1, &q));
  if (!(q.min < q.max))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input_min must be less than input_max : %g >= %g",
                             (double)q.min, (double)q.max);
  weft_tensor *y = weft__out(k, 0, &k->in[0]->shape);
  if (!y) return WEFT_OOM;
  weft_err err = weft__scratch(k, &floats, WEFT_FLOAT, &k->in[0]->shape);
  if (!err) {
    const float epsilon = weft__node_float(k->node, "variance_epsilon", 1e-5f);
    err = instance_normalize(k, &of, &q, epsilon, TENSOR_DATA(&floats, float));
  }
  if (!err) {
    const int64_t n = weft__tensor_count(y);
    float min = 0, max = 0;
    instance_range(k, TENSOR_DATA(&floats, float), n, &min, &max);
    err = weft__quantized_write(k, 0, min, max, &to);
    for (int64_t i = 0; i < n && !err; i++) {
      weft__quantized_put(y, i, weft__quantized_within(&to, TENSOR_DATA(&floats, float)[i]));
      err = weft__long_turn(k, i);
    }
  }
  weft__tensor_clear(&floats);
  return err;
}

static weft_err instance_infer(infer *s) {
  WEFT_TRY(weft__quantized_infer(s, 1, 1));
  return weft__infer_rank(s, 0, 4, &s->out[0]);
}

/* ---- QuantizedBatchNormWithGlobalNormalization ---- */

enum { BATCH_T, BATCH_M = 3, BATCH_V = 6, BATCH_BETA = 9, BATCH_GAMMA = 12 };

static float batch_number(const kernel *k, int i, const quantized *q, int64_t c) {
  return weft__quantized_number(q, weft__quantized_get(k->in[i], c));
}

static weft_err batch_check(const kernel *k, quantized q[5]) {
  const shape *x = &k->in[0]->shape;
  static const char *const names[] = {"input", "mean", "var", "beta", "gamma"};
  if (x->rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be 4-dimensional: %s", weft__shape_text(x));
  for (int i = 0; i < 5; i++) {
    const shape *p = &k->in[3 * i]->shape;
    WEFT_TRY(weft__quantized_read(k, 3 * i, 3 * i + 1, &q[i]));
    if (i && (p->rank != 1 || p->dim[0] != x->dim[3]))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be 1-dimensional with %lld elements: %s", names[i],
                               (long long)x->dim[3], weft__shape_text(p));
  }
  if (k->in[0]->dtype != WEFT_QUINT8) return weft__kernel_no_type(k, k->in[0]->dtype);
  return k->node->out_type[0] == WEFT_QINT32 ? WEFT_OK : weft__kernel_no_type(k, k->node->out_type[0]);
}

static weft_err quantized_norm_batch_cpu(kernel *k) {
  quantized q[5], to;
  WEFT_TRY(batch_check(k, q));
  WEFT_TRY(weft__quantized_write(k, 0, -1048576, 1048576, &to));
  weft_tensor *y = weft__out(k, 0, &k->in[0]->shape);
  if (!y) return WEFT_OOM;
  const float epsilon = weft__node_float(k->node, "variance_epsilon", 0);
  const bool scales = weft__node_bool(k->node, "scale_after_normalization", false);
  const int64_t depth = y->shape.dim[3], one = weft__quantized_within(&to, 1);
  for (int64_t i = 0, n = weft__tensor_count(y); i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const int64_t c = i % depth;
    float scale = 1 / sqrtf(batch_number(k, BATCH_V, &q[2], c) + epsilon);
    if (scales) scale *= batch_number(k, BATCH_GAMMA, &q[4], c);
    const float offset = -batch_number(k, BATCH_M, &q[1], c) * scale + batch_number(k, BATCH_BETA, &q[3], c);
    const int64_t v = weft__quantized_within(&to, batch_number(k, BATCH_T, &q[0], i));
    weft__quantized_put(y, i, v * weft__quantized_within(&to, scale) / one + weft__quantized_within(&to, offset));
  }
  return WEFT_OK;
}

static weft_err quantized_norm_batch_infer(infer *s) {
  shape channels, unused;
  WEFT_TRY(weft__infer_rank(s, 0, 4, &s->out[0]));
  for (int i = 3; i < 15; i += 3) WEFT_TRY(weft__infer_rank(s, i, 1, &channels));
  for (int i = 1; i < 15; i++)
    if (i % 3) WEFT_TRY(weft__infer_rank(s, i, 0, &unused));
  s->out[1] = s->out[2] = SHAPE_SCALAR;
  return WEFT_OK;
}

static const op_case instance_cases[] = {
    {"qu8[1,2,2,1] 0 255 0 255; f32[] -1; f32[] 1", "qu8[1,2,2,1] 0 255 0 255; f32[] -.999995; f32[] .999995", NULL,
     CASE_NO_PARITY},
    {"qu8[1,2,2,1] 7; f32[] -1; f32[] 1", "qu8[1,2,2,1] 0; f32[] 0; f32[] .001", NULL, CASE_NO_PARITY},
    {"qu8[2,2] 7; f32[] -1; f32[] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY},
    {0},
};
static const op_case batch_cases[] = {
    {"qu8[1,1,1,2] 0 255; f32[] 0; f32[] 1; qu8[2] 0; f32[] 0; f32[] 1; qu8[2] 255; f32[] 0; f32[] 1; qu8[2] 0; f32[] "
     "0; f32[] 1; qu8[2] 255; f32[] 0; f32[] 1",
     "qi32[1,1,1,2] 0 2048; f32[] -1048576; f32[] 1048576",
     "out_type=qint32 variance_epsilon=0 scale_after_normalization=true", CASE_NO_PARITY},
    {0},
};

#define INTEGER "type{qint8,quint8,qint32,qint16,quint16}"
#define RANGED(name) name ":Tinput, " name "_min:float, " name "_max:float"

OPS(quantized_norm) = {
    {"QuantizedInstanceNorm(x:T, x_min:float, x_max:float) -> (y:T, y_min:float, y_max:float) | T:" INTEGER
     " output_range_given:bool=false given_y_min:float=0 given_y_max:float=0 variance_epsilon:float=9.99999975e-06 "
     "min_separation:float=0.00100000005",
     "Images whose channels have mean 0 and variance 1.", .infer = instance_infer, .cpu = instance_cpu,
     .cases = instance_cases},
    {"QuantizedBatchNormWithGlobalNormalization(" RANGED("t") ", " RANGED("m") ", " RANGED("v") ", " RANGED(
         "beta") ", " RANGED("gamma") ") -> (result:out_type, result_min:float, result_max:float) | Tinput:" INTEGER
                                      " out_type:" INTEGER " variance_epsilon:float scale_after_normalization:bool",
     "Images normalized by given means and variances.", .infer = quantized_norm_batch_infer,
     .cpu = quantized_norm_batch_cpu, .cases = batch_cases},
    {.scenario = "tests/parity/test_quantize.py"},
};
