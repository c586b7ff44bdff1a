/* uniform_quantize.c - integers that stand for (integer - zero point) * scale: UniformQuantize, UniformDequantize,
 * UniformRequantize and UniformQuantizedClipByValue.
 *
 * There is one scale and zero point for all elements, or one for each index of an axis.  Numbers are rounded to the
 * nearest integer, and halves up. */
#include "base/alloc.h"
#include "base/cast.h"
#include "kernels/work/long_work.h"
#include "ops/math/quantized.h"
#include "ops/math/uniform.h"
#include <math.h>

weft_err weft__uniform_read(const kernel *k, const shape *x, int at, const char *attr_name, uniform_scale *u) {
  const shape *s = &k->in[at]->shape;
  const int64_t axis = weft__node_int(k->node, attr_name, -1);
  if (axis < -1 || axis >= x->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be -1 or in range [0, input.rank), but given %lld",
                             attr_name, (long long)axis);
  if (!weft__shape_equal(s, &k->in[at + 1]->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "scales and zero_points shape must be same, but given scales shape %s and zero_points "
                             "shape %s",
                             weft__shape_text(s), weft__shape_text(&k->in[at + 1]->shape));
  if (axis < 0 ? s->rank != 0 : s->rank != 1 || s->dim[0] != x->dim[axis])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "with %s %lld and an input of shape %s, scales and zero_points must be %s, but have shape "
                             "%s",
                             attr_name, (long long)axis, weft__shape_text(x),
                             axis < 0 ? "scalars" : "vectors of that dimension's size", weft__shape_text(s));
  *u = (uniform_scale){TENSOR_DATA(k->in[at], float), TENSOR_DATA(k->in[at + 1], int32_t), 1, 1};
  if (axis >= 0)
    u->n = x->dim[axis] > 0 ? x->dim[axis] : 1, u->inner = weft__shape_product(x, weft__int_sat(axis + 1), x->rank);
  if (u->inner < 1) u->inner = 1;
  return WEFT_OK;
}

int64_t weft__uniform_clamp(double x, int64_t low, int64_t high) {
  const int64_t below = x < (double)high ? x > (double)low ? (int64_t)x : low : high;
  return below > low ? below : low;
}

weft_err weft__uniform_check(const kernel *k, int at) {
  const float *scale = TENSOR_DATA(k->in[at], float);
  for (int64_t i = 0, n = weft__tensor_count(k->in[at]); i < n; i++)
    if (!(scale[i] > 0) || isinf(scale[i]))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input %d, scales, must be positive, but element %lld is %g",
                               at, (long long)i, (double)scale[i]);
  return WEFT_OK;
}

void weft__uniform_range_add(uniform_range *r, float x) {
  if (x < r->low) r->low = x;
  if (x > r->high) r->high = x;
}

float weft__uniform_range_end(uniform_range *r) {
  const double spacing = ((double)r->high - (double)r->low) / 255;
  r->scale = (float)spacing;
  r->inverse = 1 / r->scale;
  r->zero = r->scale > 0 ? floor(-128 - (double)r->low / spacing + 0.5) : 0;
  return r->scale;
}

int64_t weft__uniform_near(const uniform_range *r, float x) {
  const double at = r->scale > 0 ? (double)floorf(x * r->inverse + 0.5F) + r->zero : 0;
  return weft__uniform_clamp(at, -128, 127) - weft__uniform_clamp(r->zero, -128, 127);
}

static weft_err quantize_cpu(kernel *k) {
  uniform_scale u;
  WEFT_TRY(weft__uniform_read(k, &k->in[0]->shape, 1, "quantization_axis", &u));
  if (k->node->out_type[0] != WEFT_QINT8 && k->node->out_type[0] != WEFT_QINT32)
    return weft__kernel_no_type(k, k->node->out_type[0]);
  const int64_t low = weft__node_int(k->node, "quantization_min_val", 0),
                high = weft__node_int(k->node, "quantization_max_val", 0);
  weft_tensor *y = weft__out(k, 0, &k->in[0]->shape);
  if (!y) return WEFT_OOM;
  for (int64_t i = 0, n = weft__tensor_count(y); i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const int64_t p = weft__uniform_place(&u, i);
    const float steps = floorf(TENSOR_DATA(k->in[0], float)[i] * (1 / u.scale[p]) + 0.5F);
    const double at = isnan(steps) ? 0 : (double)steps;
    weft__quantized_put(y, i, weft__uniform_clamp(at + u.zero[p], low, high));
  }
  return WEFT_OK;
}

static weft_err dequantize_cpu(kernel *k) {
  uniform_scale u;
  WEFT_TRY(weft__uniform_read(k, &k->in[0]->shape, 1, "quantization_axis", &u));
  weft_tensor *y = weft__out(k, 0, &k->in[0]->shape);
  if (!y) return WEFT_OOM;
  for (int64_t i = 0, n = weft__tensor_count(y); i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const int64_t p = weft__uniform_place(&u, i);
    TENSOR_DATA(y, float)[i] = (float)(weft__quantized_get(k->in[0], i) - u.zero[p]) * u.scale[p];
  }
  return WEFT_OK;
}

static weft_err uniform_quantize_requantize_cpu(kernel *k) {
  uniform_scale from, to;
  WEFT_TRY(weft__uniform_read(k, &k->in[0]->shape, 1, "input_quantization_axis", &from));
  WEFT_TRY(weft__uniform_read(k, &k->in[0]->shape, 3, "output_quantization_axis", &to));
  if (k->node->out_type[0] != WEFT_QINT8) return weft__kernel_no_type(k, k->node->out_type[0]);
  const int64_t low = weft__node_int(k->node, "output_quantization_min_val", 0),
                high = weft__node_int(k->node, "output_quantization_max_val", 0);
  weft_tensor *y = weft__out(k, 0, &k->in[0]->shape);
  if (!y) return WEFT_OOM;
  for (int64_t i = 0, n = weft__tensor_count(y); i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const int64_t a = weft__uniform_place(&from, i), b = weft__uniform_place(&to, i);
    const double steps =
        (double)(weft__quantized_get(k->in[0], i) - from.zero[a]) * ((double)from.scale[a] / (double)to.scale[b]);
    weft__quantized_put(y, i, weft__uniform_clamp(floor(steps + 0.5) + to.zero[b], low, high));
  }
  return WEFT_OK;
}

static weft_err clip_cpu(kernel *k) {
  uniform_scale u;
  WEFT_TRY(weft__uniform_read(k, &k->in[0]->shape, 3, "quantization_axis", &u));
  for (int i = 1; i < 3; i++)
    if (!weft__shape_equal(&k->in[i]->shape, &k->in[3]->shape))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Input %s shape must be same as scales/zero_points. Given %s of shape %s and "
                               "scales/zero_points of shape %s",
                               i == 1 ? "min" : "max", i == 1 ? "min" : "max", weft__shape_text(&k->in[i]->shape),
                               weft__shape_text(&k->in[3]->shape));
  weft_tensor *y = weft__out(k, 0, &k->in[0]->shape);
  if (!y) return WEFT_OOM;
  for (int64_t i = 0, n = weft__tensor_count(y); i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const int64_t p = weft__uniform_place(&u, i), v = weft__quantized_get(k->in[0], i);
    const int64_t low = weft__quantized_get(k->in[1], p), high = weft__quantized_get(k->in[2], p);
    const int64_t above = v > low ? v : low;
    weft__quantized_put(y, i, above < high ? above : high);
  }
  return WEFT_OK;
}

#define AXIS(prefix_)                                                                                                  \
  " " prefix_ "quantization_axis:int=-1 " prefix_ "quantization_min_val:int " prefix_ "quantization_max_val:int"
#define RULE .infer = weft__infer_same

OPS(uniform_quantize) = {
    {"UniformQuantize(input:Tin, scales:float, zero_points:int32) -> (output:Tout) | Tin:type{float} "
     "Tout:type{qint8,qint32}" AXIS(""),
     "Numbers as integers of one scale and zero point, or of one for each index of an axis.", RULE,
     .cpu = quantize_cpu},
    {"UniformDequantize(input:Tin, scales:float, zero_points:int32) -> (output:Tout) | Tin:type{qint8,qint32} "
     "Tout:type{float}" AXIS(""),
     "The numbers that integers stand for.", RULE, .cpu = dequantize_cpu},
    {"UniformRequantize(input:Tin, input_scales:float, input_zero_points:int32, output_scales:float, "
     "output_zero_points:int32) -> (output:Tout) | Tin:type{qint8,qint32} Tout:type{qint8,qint32}" AXIS("input_")
         AXIS("output_"),
     "Integers as those of another scale and zero point.", RULE, .cpu = uniform_quantize_requantize_cpu},
    {"UniformQuantizedClipByValue(operand:T, min:T, max:T, scales:float, zero_points:int32) -> (output:T) | "
     "T:type{qint32}" AXIS(""),
     "Integers, none below min or above max.", RULE, .cpu = clip_cpu},
    {.scenario = "tests/parity/test_quantize.py"},
};
