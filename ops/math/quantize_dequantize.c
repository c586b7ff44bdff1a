/* quantize_dequantize.c - rounds floats to the values that an integer of a given number of bits can represent.
 *
 * The range is an argument or that of the input, for the whole tensor or for each slice along an axis.  All types
 * are computed in float, except double. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "kernels/work/long_work.h"
#include "ops/math/cast.h"
#include <float.h>
#include <math.h>
#include <string.h>

typedef struct rounding {
  bool is_signed, given, narrow, half_up;
  int64_t bits;
  int64_t outer, slices, inner; /* the input as (outer, slices, inner): each slice has its own range */
} rounding;

/* For a double tensor everything is in double, for the others in float. */
#define DEFINE_ROUND(T, LARGEST, ROUND, FLOOR)                                                                         \
  static weft_err round_slice_##T(const kernel *k, const rounding *r, int64_t slice, const T *x, T low, T high,        \
                                  T *y) {                                                                              \
    const int64_t n = r->outer * r->inner;                                                                             \
    for (int64_t e = 0; e < n && !r->given; e++) {                                                                     \
      WEFT_TRY(weft__long_turn(k, e));                                                                                 \
      const T v = x[(e / r->inner * r->slices + slice) * r->inner + e % r->inner];                                     \
      low = e == 0 || v < low ? v : low;                                                                               \
      high = e == 0 || v > high ? v : high;                                                                            \
    }                                                                                                                  \
    const T least = r->is_signed ? -(T)(INT64_C(1) << (r->bits - 1)) + (r->narrow ? 1 : 0) : 0;                        \
    const T most = (T)((INT64_C(1) << (r->is_signed ? r->bits - 1 : r->bits)) - 1);                                    \
    const T from_low = least * low > 0 ? least / low : LARGEST, from_high = most * high > 0 ? most / high : LARGEST;   \
    T scale, inverse;                                                                                                  \
    if (from_low < from_high) {                                                                                        \
      scale = from_low, inverse = low / least;                                                                         \
      high = most * inverse;                                                                                           \
    } else {                                                                                                           \
      scale = from_high, inverse = high / most;                                                                        \
      low = least * inverse;                                                                                           \
    }                                                                                                                  \
    for (int64_t e = 0; e < n; e++) {                                                                                  \
      WEFT_TRY(weft__long_turn(k, e));                                                                                 \
      const int64_t at = (e / r->inner * r->slices + slice) * r->inner + e % r->inner;                                 \
      T v = x[at];                                                                                                     \
      if (r->given) v = v < low ? low : v > high ? high : v;                                                           \
      y[at] = (r->half_up ? FLOOR(v * scale + (T)0.5) : ROUND(v * scale)) * inverse;                                   \
    }                                                                                                                  \
    return WEFT_OK;                                                                                                    \
  }
DEFINE_ROUND(float, FLT_MAX, rintf, floorf)
DEFINE_ROUND(double, DBL_MAX, rint, floor)

/* ---- arguments ---- */

static weft_err round_slices(const kernel *k, const shape *s, rounding *r) {
  const int64_t axis = weft__node_int(k->node, "axis", -1);
  r->outer = 1, r->slices = 1, r->inner = weft__shape_count(s);
  if (axis < -1 || axis >= s->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Axis should be at least -1 and below the rank %d, got %lld",
                             s->rank, (long long)axis);
  if (axis < 0) return WEFT_OK;
  const int at = weft__int_sat(axis);
  r->outer = weft__shape_product(s, 0, at), r->slices = s->dim[at], r->inner = weft__shape_product(s, at + 1, s->rank);
  return WEFT_OK;
}

/* Reads the range of a slice: inputs 1 and 2, or the attributes of version 1. */
static weft_err round_range(const kernel *k, const rounding *r, int64_t slice, double *low, double *high) {
  *low = (double)weft__node_float(k->node, "input_min", 0), *high = (double)weft__node_float(k->node, "input_max", 0);
  for (int i = 0; i < 2 && k->n_in > 1; i++) {
    const weft_tensor *t = k->in[i + 1];
    const int64_t n = weft__tensor_count(t);
    if (!r->given) continue;
    if (n != r->slices)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s has %lld elements, but there are %lld slices",
                               i ? "input_max" : "input_min", (long long)n, (long long)r->slices);
    *(i ? high : low) = weft__tensor_double(t, slice);
  }
  if (!r->given || *low <= *high) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Invalid range: input_min %g > input_max %g", *low, *high);
}

static weft_err round_read(const kernel *k, rounding *r) {
  const weft_node *n = k->node;
  *r = (rounding){.is_signed = weft__node_bool(n, "signed_input", true),
                  .given = weft__node_bool(n, "range_given", false),
                  .narrow = weft__node_bool(n, "narrow_range", false),
                  .half_up = weft__node_str_is(n, "round_mode", "HALF_UP"),
                  .bits = weft__node_int(n, "num_bits", 8)};
  if (k->n_in > 3) {
    WEFT_TRY(weft__kernel_scalar(k, 3, "num_bits"));
    r->bits = weft__tensor_int(k->in[3], 0);
  }
  if (r->bits < 1 || r->bits >= (r->is_signed ? 62 : 63))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "num_bits is out of range: %lld with signed_input %d",
                             (long long)r->bits, r->is_signed);
  return round_slices(k, &k->in[0]->shape, r);
}

/* An empty input may have any number of slices: one is enough to check the range. */
static weft_err round_all(const kernel *k, const rounding *r, const weft_tensor *x, weft_tensor *y) {
  const int64_t n = weft__tensor_count(x) ? r->slices : r->slices > 0;
  for (int64_t s = 0; s < n; s++) {
    double low, high;
    WEFT_TRY(round_range(k, r, s, &low, &high));
    if (x->dtype == WEFT_DOUBLE)
      WEFT_TRY(round_slice_double(k, r, s, x->data, low, high, y->data));
    else
      WEFT_TRY(round_slice_float(k, r, s, x->data, (float)low, (float)high, y->data));
  }
  return WEFT_OK;
}

static weft_err round_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  rounding r;
  WEFT_TRY(round_read(k, &r));
  weft_tensor *y = weft__out(k, 0, &x->shape), from = {0}, to = {0};
  if (!y) return WEFT_OOM;
  if (x->dtype == WEFT_FLOAT || x->dtype == WEFT_DOUBLE) return round_all(k, &r, x, y);
  weft_err err = weft__scratch(k, &from, WEFT_FLOAT, &x->shape);
  if (!err) err = weft__scratch(k, &to, WEFT_FLOAT, &x->shape);
  if (!err) err = weft__cast_elements(k, x, &from);
  if (!err) err = round_all(k, &r, &from, &to);
  if (!err) err = weft__cast_elements(k, &to, y);
  weft__tensor_clear(&from), weft__tensor_clear(&to);
  return err;
}

/* The range is two scalars, or two vectors if there is an axis. */
static weft_err round_infer(infer *s) {
  const int rank = weft__node_int(s->node, "axis", -1) == -1 ? 0 : 1;
  for (int i = 1; i < 3 && i < s->n_in; i++) WEFT_TRY(weft__infer_rank(s, i, rank, NULL));
  return weft__infer_same(s);
}

/* ---- the gradient of version 4: passes where the input was in the range ---- */

static weft_err round_grad_cpu(kernel *k) {
  const weft_tensor *g = k->in[0], *x = k->in[1], *low = k->in[2], *high = k->in[3];
  rounding r = {0};
  if (!weft__shape_equal(&g->shape, &x->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "gradient and input tensor are not equal, but %s and %s",
                             weft__shape_text(&g->shape), weft__shape_text(&x->shape));
  WEFT_TRY(round_slices(k, &x->shape, &r));
  if (weft__tensor_count(low) != r.slices || weft__tensor_count(high) != r.slices)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input_min and input_max must have %lld elements, not %s and %s",
                             (long long)r.slices, weft__shape_text(&low->shape), weft__shape_text(&high->shape));
  weft_tensor *dx = weft__out(k, 0, &x->shape), *dlow = dx ? weft__out(k, 1, &low->shape) : NULL;
  weft_tensor *dhigh = dlow ? weft__out(k, 2, &high->shape) : NULL;
  if (!dhigh) return WEFT_OOM;
  const size_t size = weft__dtype_size(x->dtype);
  memset(dlow->data, 0, weft__tensor_bytes(dlow));
  memset(dhigh->data, 0, weft__tensor_bytes(dhigh));
  memset(dx->data, 0, weft__tensor_bytes(dx));
  for (int64_t e = 0, n = weft__tensor_count(x); e < n; e++) {
    const int64_t slice = e / r.inner % r.slices;
    const double v = weft__tensor_double(x, e);
    if (v >= weft__tensor_double(low, slice) && v <= weft__tensor_double(high, slice))
      memcpy((char *)dx->data + (size_t)e * size, (const char *)g->data + (size_t)e * size, size);
  }
  return WEFT_OK;
}

static weft_err round_grad_infer(infer *s) {
  s->out[0] = s->in[0];
  s->out[1] = s->in[2];
  s->out[2] = s->in[3];
  return WEFT_OK;
}

/* ---- gradients ---- */

static weft_err round_through(backprop *b) {
  b->din[0] = GRAD_DENSE(b->dout[0]);
  return WEFT_OK;
}

static weft_err round_v4_grad(backprop *b) {
  const weft_out in[] = {b->dout[0], b->in[0], b->in[1], b->in[2]};
  const attr *axis = weft__node_attr(b->node, "axis");
  const weft_out made = weft__b_node(b->graph, "QuantizeAndDequantizeV4Grad", NULL, 4, in, axis ? 1 : 0, axis);
  for (int i = 0; i < 3; i++) b->din[i] = GRAD_DENSE(weft__b_slot(made, i));
  return weft__b_ok(b->graph);
}

/* ---- cases ---- */

static const op_case round_v1_cases[] = {
    {"f32[3] -1 0.3 1", NULL, "num_bits=4", CASE_NO_GRAD | CASE_NO_PARITY},
    {0},
};
static const op_case round_v2_cases[] = {
    {"f32[3] -1 0 127; f32[] 0; f32[] 0", "f32[3] -1 0 127", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,9] rand; f32[] 0; f32[] 0", NULL, "num_bits=4", CASE_NO_GRAD},
    {"f32[2,9] rand; f32[] 0; f32[] 0", NULL, "num_bits=4 signed_input=false round_mode='HALF_UP'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,9] rand; f32[] -0.5; f32[] 0.7", NULL, "range_given=true narrow_range=true",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,9] rand; f32[] 0; f32[] 0", NULL, "range_given=true", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,2,4] rand; f32[2] -0.5 -0.1; f32[2] 0.7 0.2", NULL, "range_given=true num_bits=5 axis=1",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,2,4] rand; f32[2] 0; f32[2] 0", NULL, "num_bits=5 axis=1", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3] 1; f32[] 1; f32[] 0", "error INVALID_ARGUMENT", "range_given=true", CASE_FIXED_TYPE},
    {"f32[3] 1; f32[] 1; f32[] 0", "error INVALID_ARGUMENT", "num_bits=64", CASE_FIXED_TYPE},
    {0},
};
static const op_case round_v3_cases[] = {
    {"f32[2,9] rand; f32[] -1; f32[] 1; i32[] 5", NULL, NULL, CASE_NO_GRAD},
    {"f32[2,9] rand; f32[] -1; f32[] 1; i32[] 5", NULL, "range_given=false signed_input=false",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case round_v4_grad_cases[] = {
    {"f32[4] 1 2 3 4; f32[4] -1 0 0.5 2; f32[] -0.5; f32[] 1", "f32[4] 0 2 3 0; f32[] 0; f32[] 0", NULL, CASE_NO_GRAD},
    {"f32[3,2] rand; f32[3,2] rand; f32[2] -0.5 -0.1; f32[2] 0.7 0.2", NULL, "axis=1", CASE_NO_GRAD},
    {0},
};

#define ROUND_TYPES "T:type{bfloat16,half,float,double}"
#define ROUND_TAIL                                                                                                     \
  ROUND_TYPES " round_mode:string{'HALF_TO_EVEN','HALF_UP'}='HALF_TO_EVEN' narrow_range:bool=false axis:int=-1"
#define ROUND_V2 "signed_input:bool=true num_bits:int=8 range_given:bool=false " ROUND_TAIL

OPS(quantize_dequantize) = {
    {"QuantizeAndDequantize(input:T) -> (output:T) | signed_input:bool=true num_bits:int=8 range_given:bool=false "
     "input_min:float=0 input_max:float=0 " ROUND_TYPES,
     "Floats rounded as if they had been integers, the range an attribute.", .infer = round_infer, .cpu = round_cpu,
     .grad = round_through, .cases = round_v1_cases},
    {"QuantizeAndDequantizeV2(input:T, input_min:T, input_max:T) -> (output:T) | " ROUND_V2,
     "Floats rounded as if they had been integers.", .infer = round_infer, .cpu = round_cpu, .grad = round_through,
     .cases = round_v2_cases},
    {"QuantizeAndDequantizeV3(input:T, input_min:T, input_max:T, num_bits:int32) -> (output:T) | "
     "signed_input:bool=true range_given:bool=true " ROUND_TYPES " narrow_range:bool=false axis:int=-1",
     "Floats rounded as if they had been integers, the number of bits an input.", .infer = round_infer,
     .cpu = round_cpu, .grad = round_through, .cases = round_v3_cases},
    {"QuantizeAndDequantizeV4(input:T, input_min:T, input_max:T) -> (output:T) | " ROUND_V2,
     "Floats rounded as if they had been integers; the gradient stops outside the range.", .infer = round_infer,
     .cpu = round_cpu, .grad = round_v4_grad, .cases = round_v2_cases},
    {"QuantizeAndDequantizeV4Grad(gradients:T, input:T, input_min:T, input_max:T) -> (input_backprop:T, "
     "input_min_backprop:T, input_max_backprop:T) | " ROUND_TYPES " axis:int=-1",
     "The gradient of QuantizeAndDequantizeV4.", .infer = round_grad_infer, .cpu = round_grad_cpu,
     .grad = round_through, .cases = round_v4_grad_cases},
    {0},
};
