/* requantize_channel.c - integers whose range differs from channel to channel, as integers of one range.
 *
 * The channels are the last dimension.  A range is symmetric here: the largest magnitude of its bounds is the number
 * that the largest integer stands for. */
#include "base/alloc.h"
#include "kernels/work/long_work.h"
#include "ops/math/quantized.h"
#include <math.h>

/* Stores the number of channels, which input_min and input_max must have too. */
static weft_err channel_count(const kernel *k, int64_t *out) {
  const shape *x = &k->in[0]->shape;
  if (x->rank < 1 || k->in[0]->dtype != WEFT_QINT32)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "the input must be qint32 and have channels, but is %s of shape %s",
                             weft__dtype_name(k->in[0]->dtype), weft__shape_text(x));
  *out = x->dim[x->rank - 1];
  for (int i = 1; i < 3; i++)
    if (weft__tensor_count(k->in[i]) != *out)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s has incorrect size, expected %lld was %lld",
                               i == 1 ? "input_min" : "input_max", (long long)*out,
                               (long long)weft__tensor_count(k->in[i]));
  return WEFT_OK;
}

static float channel_range(const kernel *k, int64_t c) {
  return fmaxf(fabsf(TENSOR_DATA(k->in[1], float)[c]), fabsf(TENSOR_DATA(k->in[2], float)[c]));
}

static weft_err requantize_channel_range_cpu(kernel *k) {
  int64_t channels = 0;
  WEFT_TRY(channel_count(k, &channels));
  weft_tensor *low = weft__out(k, 0, &SHAPE_SCALAR), *high = weft__out(k, 1, &SHAPE_SCALAR);
  if (!low || !high) return WEFT_OOM;
  const int32_t *x = TENSOR_DATA(k->in[0], int32_t);
  float most = 0;
  bool is_positive = true;
  for (int64_t i = 0, n = weft__tensor_count(k->in[0]); i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const float v = fabsf((float)x[i]) * (channel_range(k, i % channels) / 2147483648.0f);
    most = v > most ? v : most;
    is_positive = is_positive && x[i] >= 0;
  }
  const float limit = weft__node_float(k->node, "clip_value_max", 0);
  most = most > limit ? limit : most;
  TENSOR_DATA(low, float)[0] = is_positive ? 0 : -most;
  TENSOR_DATA(high, float)[0] = most;
  return WEFT_OK;
}

static weft_err requantize_channel_range_infer(infer *s) {
  shape unused;
  for (int i = 1; i < 3; i++) WEFT_TRY(weft__infer_rank(s, i, 1, &unused));
  s->out[0] = s->out[1] = SHAPE_SCALAR;
  return WEFT_OK;
}

static weft_err requantize_channel_cpu(kernel *k) {
  int64_t channels = 0;
  WEFT_TRY(channel_count(k, &channels));
  WEFT_TRY(weft__kernel_scalar(k, 3, "requested_output_min"));
  WEFT_TRY(weft__kernel_scalar(k, 4, "requested_output_max"));
  const weft_dtype type = k->node->out_type[0];
  const float asked_min = TENSOR_DATA(k->in[3], float)[0], asked_max = TENSOR_DATA(k->in[4], float)[0];
  if (type != WEFT_QINT8 && type != WEFT_QUINT8) return weft__kernel_no_type(k, type);
  if (type == WEFT_QINT8 && asked_min >= 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "If out_type is QINT8, requested_output_max must be non negative and requested_output_min "
                             "negative, got %g and %g",
                             (double)asked_min, (double)asked_max);
  weft_tensor *y = weft__out(k, 0, &k->in[0]->shape), *low = weft__out(k, 1, &SHAPE_SCALAR),
              *high = weft__out(k, 2, &SHAPE_SCALAR);
  if (!y || !low || !high) return WEFT_OOM;
  const float asked = fmaxf(fabsf(asked_min), fabsf(asked_max));
  const double steps = type == WEFT_QINT8 ? 127 : 255, least = type == WEFT_QINT8 ? -128 : 0;
  for (int64_t i = 0, n = weft__tensor_count(y); i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const double scale = (double)channel_range(k, i % channels) / (double)asked * steps / 2147483648.0;
    const double v = rint(TENSOR_DATA(k->in[0], int32_t)[i] * scale);
    weft__quantized_put(y, i, (int64_t)(isnan(v) ? 0 : v < least ? least : v > least + 255 ? least + 255 : v));
  }
  TENSOR_DATA(low, float)[0] = asked_min;
  TENSOR_DATA(high, float)[0] = asked_max;
  return WEFT_OK;
}

static weft_err requantize_infer(infer *s) {
  shape unused;
  for (int i = 1; i < 3; i++) WEFT_TRY(weft__infer_rank(s, i, 1, &unused));
  for (int i = 3; i < 5; i++) WEFT_TRY(weft__infer_rank(s, i, 0, &unused));
  s->out[0] = s->in[0];
  s->out[1] = s->out[2] = SHAPE_SCALAR;
  return WEFT_OK;
}

#define X "qi32[1,1,2,3] -1073741824 5 9 1073741824 1000000000 -2000000000; f32[3] -1 -2 -3; f32[3] 1 2 3"
static const op_case range_cases[] = {
    {X, "f32[] -2.7939677; f32[] 2.7939677", "clip_value_max=100", CASE_NO_PARITY},
    {"qi32[2,1] 1073741824 5; f32[1] -4; f32[1] 2", "f32[] 0; f32[] .5", "clip_value_max=0.5", CASE_NO_PARITY},
    {"qi32[2,1] 1 5; f32[2] -4; f32[1] 2", "error INVALID_ARGUMENT", "clip_value_max=0.5", CASE_NO_PARITY},
    {0},
};
static const op_case requantize_cases[] = {
    {X "; f32[] -3; f32[] 3", "qi8[1,1,2,3] -21 0 0 21 39 -118; f32[] -3; f32[] 3", "out_type=qint8", CASE_NO_PARITY},
    {X "; f32[] 0; f32[] 1", "qu8[1,1,2,3] 0 0 0 128 237 0; f32[] 0; f32[] 1", "out_type=quint8", CASE_NO_PARITY},
    {X "; f32[] 0; f32[] 1", "error INVALID_ARGUMENT", "out_type=qint8", CASE_NO_PARITY},
    {0},
};

#define INTEGER "type{qint8,quint8,qint32,qint16,quint16}"

OPS(requantize_channel) = {
    {"RequantizationRangePerChannel(input:T, input_min:float, input_max:float) -> (output_min:float, output_max:float) "
     "| T:" INTEGER "=qint32 clip_value_max:float",
     "The range that the integers of all channels use.", .infer = requantize_channel_range_infer,
     .cpu = requantize_channel_range_cpu, .cases = range_cases},
    {"RequantizePerChannel(input:T, input_min:float, input_max:float, requested_output_min:float, "
     "requested_output_max:float) -> (output:out_type, output_min:float, output_max:float) | T:" INTEGER
     "=qint32 out_type:" INTEGER "=quint8",
     "Integers with a range for each channel as integers of one range.", .infer = requantize_infer,
     .cpu = requantize_channel_cpu, .cases = requantize_cases},
    {.scenario = "tests/parity/test_quantize.py"},
};
