/* quantize.c - QuantizeV2 and Dequantize: convert floats to small integers with a range, and back.
 *
 * MIN_COMBINED spaces the integers evenly over [min, max].  MIN_FIRST does the same, but first rounds min to a step,
 * so that zero is a step.  SCALED maps zero to zero and uses the wider side of the range.  The arithmetic is in
 * float, in TensorFlow's order.  A value that is too large for the type becomes its highest number (TensorFlow's
 * qint32 wraps around). */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/kernel.h"
#include "kernels/work/long_work.h"
#include "ops/math/quantized.h"
#include <float.h>
#include <math.h>
#include <string.h>

typedef enum mode { MIN_COMBINED, MIN_FIRST, SCALED } mode;

typedef struct limits {
  double low, high; /* bounds of the integer type */
} limits;

static bool limits_of(weft_dtype t, limits *l) {
  switch (t) {
  case WEFT_QINT8: *l = (limits){INT8_MIN, INT8_MAX}; return true;
  case WEFT_QUINT8: *l = (limits){0, UINT8_MAX}; return true;
  case WEFT_QINT16: *l = (limits){INT16_MIN, INT16_MAX}; return true;
  case WEFT_QUINT16: *l = (limits){0, UINT16_MAX}; return true;
  case WEFT_QINT32: *l = (limits){INT32_MIN, INT32_MAX}; return true;
  default: return false;
  }
}

static mode mode_of(const weft_node *n) {
  const char *name = weft__node_str(n, "mode").data;
  return !name || strcmp(name, "MIN_COMBINED") == 0 ? MIN_COMBINED
         : strcmp(name, "MIN_FIRST") == 0           ? MIN_FIRST
                                                    : SCALED;
}

static void quantize_put(weft_tensor *t, int64_t i, double x) {
  switch (t->dtype) {
  case WEFT_QINT8: TENSOR_DATA(t, int8_t)[i] = (int8_t)x; break;
  case WEFT_QUINT8: TENSOR_DATA(t, uint8_t)[i] = (uint8_t)x; break;
  case WEFT_QINT16: TENSOR_DATA(t, int16_t)[i] = (int16_t)x; break;
  case WEFT_QUINT16: TENSOR_DATA(t, uint16_t)[i] = (uint16_t)x; break;
  default: TENSOR_DATA(t, int32_t)[i] = (int32_t)x;
  }
}

/* ---- one range, or one for each slice along an axis ---- */
typedef struct quantize_work {
  mode mode;
  limits of;
  int64_t outer, slices, inner; /* elements: outer x slices x inner */
  const weft_tensor *in;
  weft_tensor *out;
} quantize_work;

static weft_err read_axis(const kernel *k, quantize_work *j) {
  const shape *x = &k->in[0]->shape;
  const int64_t axis = weft__node_int(k->node, "axis", -1);
  if (axis >= x->rank || axis < -1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Axis must be less than input dimension(%d), got %lld", x->rank,
                             (long long)axis);
  j->outer = axis < 0 ? 1 : weft__shape_product(x, 0, weft__int_sat(axis));
  j->slices = axis < 0 ? 1 : x->dim[axis];
  j->inner = axis < 0 ? weft__shape_count(x) : weft__shape_product(x, weft__int_sat(axis) + 1, x->rank);
  for (int i = 1; i < 3; i++)
    if (weft__tensor_count(k->in[i]) != j->slices)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s has shape %s, %lld elements are needed",
                               i == 1 ? "min_range" : "max_range", weft__shape_text(&k->in[i]->shape),
                               (long long)j->slices);
  return WEFT_OK;
}

static weft_err infer_range(infer *s, int i, int64_t axis) {
  shape range;
  WEFT_TRY(weft__infer_rank(s, i, axis < 0 ? 0 : 1, &range));
  if (axis < 0 || s->in[0].rank < 0) return WEFT_OK;
  if (axis >= s->in[0].rank)
    return weft__infer_fail(s, "axis is %lld, the input has %d dimensions", (long long)axis, s->in[0].rank);
  const int64_t want = s->in[0].dim[axis], have = range.dim[0];
  if (want >= 0 && have >= 0 && want != have)
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)have, (long long)want);
  return WEFT_OK;
}

static weft_err infer_axis(infer *s) {
  const int64_t axis = weft__node_int(s->node, "axis", -1);
  if (axis < -1) return weft__infer_fail(s, "axis should be at least -1, got %lld", (long long)axis);
  s->out[0] = s->in[0];
  for (int i = 1; i < 3; i++) {
    WEFT_TRY(infer_range(s, i, axis));
    if (s->n_out > i) s->out[i] = axis < 0 ? SHAPE_SCALAR : SHAPE1(s->in[0].rank < 0 ? -1 : s->in[0].dim[axis]);
  }
  return WEFT_OK;
}

/* ---- QuantizeV2 ---- */
typedef struct scale {
  float min, max, by; /* by: integers per unit */
  float offset;       /* MIN_FIRST: subtracted from the rounded steps */
  double low, high;   /* integers allowed */
  bool to_even;
} scale;

/* Sets the scale from the wider side of the range, so that zero stays zero. */
static void set_scaled(scale *s) {
  const float from_min = s->low * (double)s->min > 0 ? (float)s->low / s->min : FLT_MAX;
  const float from_max = s->high * (double)s->max > 0 ? (float)s->high / s->max : FLT_MAX;
  s->by = from_min < from_max ? from_min : from_max;
  s->min = (float)s->low / s->by;
  s->max = (float)s->high / s->by;
}

static scale scale_of(const kernel *k, const quantize_work *j, float min, float max) {
  const float least = weft__node_float(k->node, "ensure_minimum_range", 0.01f);
  const bool narrow = weft__node_bool(k->node, "narrow_range", false) && j->mode == SCALED;
  const char *rounding = weft__node_str(k->node, "round_mode").data;
  scale s = {.low = j->of.low + (narrow ? 1 : 0), .high = j->of.high};
  s.to_even = rounding && strcmp(rounding, "HALF_TO_EVEN") == 0;
  s.min = fminf(0, min);
  const float gap = fmaxf(1, fmaxf(fabsf(min), fabsf(max))) * least;
  s.max = fmaxf(0, fmaxf(max, s.min + gap));
  const float whole = (float)(j->of.high - j->of.low);
  s.by = whole / (s.max - s.min);
  if (j->mode == MIN_FIRST) s.offset = roundf(s.min * s.by) - (float)j->of.low;
  if (j->mode == SCALED) set_scaled(&s);
  return s;
}

static double quantize_quantized(const quantize_work *j, const scale *s, float x) {
  double q;
  if (isnan(x)) return 0;
  const float inside = fmaxf(fminf(x, s->max), s->min);
  if (j->mode == MIN_FIRST) {
    q = (double)(roundf(x * s->by) - s->offset);
  } else if (j->mode == MIN_COMBINED) {
    const float steps = (inside - s->min) * s->by;
    q = (double)roundf(j->of.low < 0 ? steps + (float)j->of.low : steps);
  } else {
    q = s->to_even ? (double)rintf(inside * s->by) : (double)roundf(inside * s->by);
  }
  return q < j->of.low ? j->of.low : q > j->of.high ? j->of.high : q;
}

static weft_err check_quantize(const kernel *k, const quantize_work *j) {
  const char *rounding = weft__node_str(k->node, "round_mode").data;
  if (rounding && strcmp(rounding, "HALF_TO_EVEN") == 0 && j->mode != SCALED)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED'");
  if (j->slices > 1 && j->mode == MIN_FIRST)
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "MIN_FIRST mode is not implemented for Quantize with axis != -1.");
  for (int64_t i = 0; i < j->slices; i++)
    if (TENSOR_DATA(k->in[1], float)[i] > TENSOR_DATA(k->in[2], float)[i])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input_max_range must be larger than input_min_range: %g, %g",
                               (double)TENSOR_DATA(k->in[2], float)[i], (double)TENSOR_DATA(k->in[1], float)[i]);
  return WEFT_OK;
}

static weft_err quantize_cpu(kernel *k) {
  quantize_work j = {.mode = mode_of(k->node), .in = k->in[0]};
  const weft_dtype type = weft__node_type(k->node, "T");
  if (!limits_of(type, &j.of)) return weft__kernel_no_type(k, type);
  WEFT_TRY(read_axis(k, &j));
  WEFT_TRY(check_quantize(k, &j));
  weft_tensor *mins = weft__out(k, 1, &k->in[1]->shape), *maxs = weft__out(k, 2, &k->in[2]->shape);
  j.out = weft__out(k, 0, &j.in->shape);
  if (!mins || !maxs || !j.out) return WEFT_OOM;
  for (int64_t c = 0; c < j.slices; c++) {
    const scale s = scale_of(k, &j, TENSOR_DATA(k->in[1], float)[c], TENSOR_DATA(k->in[2], float)[c]);
    TENSOR_DATA(mins, float)[c] = s.min;
    TENSOR_DATA(maxs, float)[c] = s.max;
    for (int64_t o = 0; o < j.outer; o++)
      for (int64_t i = 0, at = (o * j.slices + c) * j.inner; i < j.inner; i++) {
        WEFT_TRY(weft__long_turn(k, i));
        quantize_put(j.out, at + i, quantize_quantized(&j, &s, TENSOR_DATA(j.in, float)[at + i]));
      }
  }
  return WEFT_OK;
}

/* ---- Dequantize ---- */

/* x = base + (q - first) * step */
typedef struct quantize_line {
  float base, step;
  double first;
} quantize_line;

static quantize_line line_of(const kernel *k, const quantize_work *j, float min, float max) {
  const double whole = j->of.high - j->of.low;
  quantize_line l = {.base = min, .first = j->of.low};
  if (j->mode == MIN_COMBINED) {
    l.step = (max - min) / (float)whole;
  } else if (j->mode == MIN_FIRST) {
    l.step = (float)((double)(max - min) / whole);
    l.base = min == max ? min : roundf(min / l.step) * l.step;
  } else {
    const double low = j->of.low + (weft__node_bool(k->node, "narrow_range", false) ? 1 : 0);
    const float from_max = max / (float)j->of.high;
    l.step = j->of.low < 0 ? fmaxf(min / (float)low, from_max) : from_max;
    l.base = 0;
    l.first = 0;
  }
  return l;
}

static weft_err dequantize_cpu(kernel *k) {
  quantize_work j = {.mode = mode_of(k->node), .in = k->in[0]};
  if (!limits_of(j.in->dtype, &j.of)) return weft__kernel_no_type(k, j.in->dtype);
  WEFT_TRY(read_axis(k, &j));
  if (!(j.out = weft__out(k, 0, &j.in->shape))) return WEFT_OOM;
  const bool narrow = j.out->dtype == WEFT_BFLOAT16;
  if (narrow && j.mode != MIN_COMBINED)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "When output type is bfloat16, Mode string must be 'MIN_COMBINED'");
  if (j.slices > 1 && j.mode == MIN_FIRST)
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED,
                             "MIN_FIRST mode is not implemented for Dequantize with axis != -1.");
  for (int64_t c = 0; c < j.slices; c++) {
    const quantize_line l = line_of(k, &j, TENSOR_DATA(k->in[1], float)[c], TENSOR_DATA(k->in[2], float)[c]);
    for (int64_t o = 0; o < j.outer; o++)
      for (int64_t i = 0, at = (o * j.slices + c) * j.inner; i < j.inner; i++) {
        WEFT_TRY(weft__long_turn(k, i));
        const float x = (float)((double)weft__quantized_get(j.in, at + i) - l.first) * l.step + l.base;
        if (narrow)
          TENSOR_DATA(j.out, uint16_t)[at + i] = weft__bfloat16_from_float(x);
        else
          TENSOR_DATA(j.out, float)[at + i] = x;
      }
  }
  return WEFT_OK;
}

/* If the range is that of the type itself, each integer stands for its own value. */
static const op_case quantize_cases[] = {
    {"f32[4] -1 0 5.4 300; f32[] 0; f32[] 255", "qu8[4] 0 0 5 255; f32[] 0; f32[] 255", "T=quint8", CASE_NO_PARITY},
    {"f32[2,2] -128 -1 1.5 127; f32[] -128; f32[] 127", "qi8[2,2] -128 -1 2 127; f32[] -128; f32[] 127",
     "T=qint8 mode='MIN_FIRST'", CASE_NO_PARITY},
    {"f32[3] -127 0 127; f32[] -127; f32[] 127", "qi8[3] -127 0 127; f32[] -127; f32[] 127",
     "T=qint8 mode='SCALED' narrow_range=true", CASE_NO_PARITY},
    {"f32[2] 1 2; f32[] 2; f32[] 1", "error INVALID_ARGUMENT", "T=quint8", CASE_NO_PARITY},
    {0},
};

static const op_case dequantize_cases[] = {
    {"qu8[3] 0 5 255; f32[] 0; f32[] 255", "f32[3] 0 5 255", NULL, CASE_NO_PARITY},
    {"qi8[2,2] -127 -1 2 127; f32[] -127; f32[] 127", "f32[2,2] -127 -1 2 127", "mode='SCALED' narrow_range=true",
     CASE_NO_PARITY},
    {"qi16[3] -32768 0 32767; f32[] -32768; f32[] 32767", "f32[3] -32768 0 32767", "mode='MIN_FIRST'", CASE_NO_PARITY},
    {"qu8[2] 0 255; f32[] -1; f32[] 1", "bf16[2] -1 1", "dtype=bfloat16", CASE_NO_PARITY},
    {0},
};

#define RANGE                                                                                                          \
  "T:type{qint8,quint8,qint32,qint16,quint16} mode:string{'MIN_COMBINED','MIN_FIRST','SCALED'}='MIN_COMBINED' "

OPS(quantize) = {
    {"QuantizeV2(input:float, min_range:float, max_range:float) -> (output:T, output_min:float, output_max:float) "
     "| " RANGE "round_mode:string{'HALF_AWAY_FROM_ZERO','HALF_TO_EVEN'}='HALF_AWAY_FROM_ZERO' "
     "narrow_range:bool=false axis:int=-1 ensure_minimum_range:float=0.00999999978",
     "Floats as small integers, and the range these stand for.", .infer = infer_axis, .cpu = quantize_cpu,
     .cases = quantize_cases},
    {"Dequantize(input:T, min_range:float, max_range:float) -> (output:dtype) | " RANGE
     "narrow_range:bool=false axis:int=-1 dtype:type{bfloat16,float}=float",
     "The floats that small integers stand for.", .infer = infer_axis, .cpu = dequantize_cpu,
     .cases = dequantize_cases},
    {.scenario = "tests/parity/test_quantize.py"},
};
