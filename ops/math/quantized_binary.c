/* quantized_binary.c - sums and products of quantized integers, as 32-bit integers with a wider range.
 *
 * QuantizedAdd converts each operand to the range of the sum with an integer factor per operand; QuantizedBiasAdd
 * converts the value of each integer.  In QuantizedBiasAdd TensorFlow rounds in float, which shifts all results by
 * up to 2^-23 of the range; this file rounds in double.  QuantizedAdd and QuantizedMul broadcast the smaller operand
 * as other ops do; TensorFlow repeats its elements in order, whatever its shape. */
#include "base/alloc.h"
#include "base/cast.h"
#include "kernels/work/long_work.h"
#include "ops/math/quantized.h"
#include <math.h>

/* Returns the greatest absolute value in the ranges of both. */
static float quantized_largest(const quantized *a, const quantized *b) {
  return fmaxf(fmaxf(fabsf(a->min), fabsf(a->max)), fmaxf(fabsf(b->min), fabsf(b->max)));
}

/* ---- QuantizedAdd, QuantizedMul ---- */
static weft_err binary_infer(infer *s) {
  WEFT_TRY(weft__quantized_infer(s, 2, 1));
  WEFT_TRY(weft__quantized_infer(s, 4, 1));
  return weft__infer_broadcast(s);
}

/* The strides of a and b along each axis of the result. */
typedef struct pairing {
  shape out;
  int64_t by[2][WEFT_MAX_RANK];
} pairing;

static weft_err pairing_of(const kernel *k, pairing *p) {
  const shape *in[2] = {&k->in[0]->shape, &k->in[1]->shape};
  if (weft__shape_broadcast(&p->out, in[0], in[1]) != WEFT_OK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Incompatible shapes: %s vs. %s", weft__shape_text(in[0]),
                             weft__shape_text(in[1]));
  for (int i = 0; i < 2; i++) {
    int64_t by = 1;
    for (int d = p->out.rank - 1; d >= 0; d--) {
      const int at = d - (p->out.rank - in[i]->rank);
      const int64_t size = at < 0 ? 1 : in[i]->dim[at];
      p->by[i][d] = size == 1 ? 0 : by;
      by *= size;
    }
  }
  return WEFT_OK;
}

static int64_t quantized_binary_place_of(const pairing *p, int which, int64_t i) {
  int64_t at = 0;
  for (int d = p->out.rank - 1; d >= 0; d--) {
    at += i % p->out.dim[d] * p->by[which][d];
    i /= p->out.dim[d];
  }
  return at;
}

static weft_err binary_ranges(const kernel *k, quantized *x, quantized *y) {
  WEFT_TRY(weft__quantized_read(k, 0, 2, x));
  WEFT_TRY(weft__quantized_read(k, 1, 4, y));
  for (int i = 0; i < 2; i++) {
    const quantized *q = i ? y : x;
    if (k->in[i]->dtype != WEFT_QUINT8) return weft__kernel_no_type(k, k->in[i]->dtype);
    if (!(q->max > q->min))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "max_%s must be larger than min_%s: %g, %g", i ? "y" : "x",
                               i ? "y" : "x", (double)q->max, (double)q->min);
  }
  return k->node->out_type[0] == WEFT_QINT32 ? WEFT_OK : weft__kernel_no_type(k, k->node->out_type[0]);
}

/* Returns the number that v stands for, with the step in float.  If min is half a step, the lowest integer may
 * differ from that in double. */
static float number_in_float(const quantized *q, int64_t v) {
  const float by = weft__quantized_step(q);
  return roundf(q->min / by) * by + (float)v * by;
}

/* The position of an operand's integers in the range of the sum: first + v * by.  A single element is converted by
 * itself. */
typedef struct moved {
  int64_t first, by;
} moved;

static moved moved_of(const weft_tensor *t, const quantized *from, const quantized *to, bool alone) {
  const int64_t v = alone ? TENSOR_DATA(t, uint8_t)[0] : 0;
  const int64_t first = weft__quantized_within(to, number_in_float(from, v));
  return (moved){first, alone ? 0 : weft__quantized_within(to, number_in_float(from, 1)) - first};
}

static weft_err quantized_binary_add_cpu(kernel *k) {
  quantized x, y, z;
  pairing p;
  WEFT_TRY(binary_ranges(k, &x, &y));
  WEFT_TRY(pairing_of(k, &p));
  const float most = quantized_largest(&x, &y) * 0x1p14f;
  WEFT_TRY(weft__quantized_write(k, 0, -most, most, &z));
  weft_tensor *out = weft__out(k, 0, &p.out);
  if (!out) return weft__out_refused(&p.out);
  const bool x_alone = weft__tensor_count(k->in[0]) == 1, y_alone = !x_alone && weft__tensor_count(k->in[1]) == 1;
  const moved a = moved_of(k->in[0], &x, &z, x_alone), b = moved_of(k->in[1], &y, &z, y_alone);
  for (int64_t i = 0, n = weft__tensor_count(out); i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const int64_t v = TENSOR_DATA(k->in[0], uint8_t)[quantized_binary_place_of(&p, 0, i)];
    const int64_t w = TENSOR_DATA(k->in[1], uint8_t)[quantized_binary_place_of(&p, 1, i)];
    TENSOR_DATA(out, int32_t)[i] = weft__int_sat(a.first + b.first + v * a.by + w * b.by);
  }
  return WEFT_OK;
}

static weft_err quantized_binary_mul_cpu(kernel *k) {
  quantized x, y, z;
  pairing p;
  float min, max;
  WEFT_TRY(binary_ranges(k, &x, &y));
  WEFT_TRY(pairing_of(k, &p));
  weft__quantized_product(&x, &y, &min, &max);
  WEFT_TRY(weft__quantized_write(k, 0, min, max, &z));
  weft_tensor *out = weft__out(k, 0, &p.out);
  if (!out) return weft__out_refused(&p.out);
  const uint32_t zero_x = (uint32_t)weft__quantized_near(&x, 0), zero_y = (uint32_t)weft__quantized_near(&y, 0);
  for (int64_t i = 0, n = weft__tensor_count(out); i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const uint32_t v = TENSOR_DATA(k->in[0], uint8_t)[quantized_binary_place_of(&p, 0, i)];
    const uint32_t w = TENSOR_DATA(k->in[1], uint8_t)[quantized_binary_place_of(&p, 1, i)];
    TENSOR_DATA(out, uint32_t)[i] = (v - zero_x) * (w - zero_y);
  }
  return WEFT_OK;
}

/* ---- QuantizedBiasAdd ---- */
static weft_err bias_infer(infer *s) {
  shape bias;
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 2));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &bias));
  WEFT_TRY(weft__quantized_infer(s, 2, 1));
  WEFT_TRY(weft__quantized_infer(s, 4, 1));
  s->out[0] = s->in[0];
  if (s->in[0].rank < 1) return WEFT_OK;
  int64_t *last = &s->out[0].dim[s->in[0].rank - 1];
  if (*last >= 0 && bias.dim[0] >= 0 && *last != bias.dim[0])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)*last,
                            (long long)bias.dim[0]);
  if (*last < 0) *last = bias.dim[0];
  return WEFT_OK;
}

static weft_err bias_check(const kernel *k) {
  const shape *x = &k->in[0]->shape, *b = &k->in[1]->shape;
  if (x->rank < 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input tensor must be at least 2D: %s", weft__shape_text(x));
  if (b->rank != 1 || b->dim[0] != x->dim[x->rank - 1])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Must provide as many biases as the last dimension of the input tensor: %s vs. %s",
                             weft__shape_text(b), weft__shape_text(x));
  for (int i = 0; i < 2; i++) {
    const weft_dtype t = k->in[i]->dtype;
    if (t != k->in[0]->dtype || (t != WEFT_QUINT8 && t != WEFT_QINT8)) return weft__kernel_no_type(k, t);
  }
  return k->node->out_type[0] == WEFT_QINT32 ? WEFT_OK : weft__kernel_no_type(k, k->node->out_type[0]);
}

static weft_err bias_cpu(kernel *k) {
  quantized x, b, z;
  WEFT_TRY(bias_check(k));
  WEFT_TRY(weft__quantized_read(k, 0, 2, &x));
  WEFT_TRY(weft__quantized_read(k, 1, 4, &b));
  const float most = quantized_largest(&x, &b) * 0x1p17f;
  WEFT_TRY(weft__quantized_write(k, 0, -most, most, &z));
  weft_tensor *out = weft__out(k, 0, &k->in[0]->shape);
  if (!out) return WEFT_OOM;
  int32_t table[2][256]; /* each integer of the operands, converted to the range of the result */
  for (int i = 0; i < 256; i++) {
    table[0][i] = weft__int_sat(weft__quantized_within(&z, weft__quantized_number(&x, x.low + i)));
    table[1][i] = weft__int_sat(weft__quantized_within(&z, weft__quantized_number(&b, b.low + i)));
  }
  const int64_t last = k->in[1]->shape.dim[0];
  for (int64_t i = 0, n = weft__tensor_count(out); i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const int64_t left = weft__quantized_get(k->in[0], i) - x.low,
                  right = weft__quantized_get(k->in[1], i % last) - b.low;
    TENSOR_DATA(out, int32_t)[i] = weft__int_sat((int64_t)table[0][left] + table[1][right]);
  }
  return WEFT_OK;
}

#define RANGES "f32[] 0; f32[] 255; f32[] 0; f32[] 255"

static const op_case add_cases[] = {
    {"qu8[2,2] 0 1 2 255; qu8[2] 0 1; " RANGES, "qi32[2,2] 0 1028 1028 131584; f32[] -4177920; f32[] 4177920", NULL,
     CASE_NO_PARITY},
    {"qu8[2] 0; qu8[3] 0; " RANGES, "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY},
    {"qu8[1] 0; qu8[1] 0; f32[] 0; f32[] 0; f32[] 0; f32[] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY},
    {0},
};

static const op_case mul_cases[] = {
    {"qu8[2,1] 3 5; qu8[1,2] 7 11; " RANGES, "qi32[2,2] 21 33 35 55; f32[] -2147483648; f32[] 2147483648", NULL,
     CASE_NO_PARITY},
    {"qu8[0]; qu8[1] 7; " RANGES, "qi32[0]; f32[] -2147483648; f32[] 2147483648", NULL, CASE_NO_PARITY},
    {0},
};

static const op_case bias_cases[] = {
    {"qu8[1,2] 0 255; qu8[2] 1 255; " RANGES, "qi32[1,2] 64 32768; f32[] -33423360; f32[] 33423360", "out_type=qint32",
     CASE_NO_PARITY},
    {"qi8[1,2] 0; qi8[1] 1; " RANGES, "error INVALID_ARGUMENT", "out_type=qint32", CASE_NO_PARITY},
    {0},
};

#define INTEGER "type{qint8,quint8,qint32,qint16,quint16}"
#define BINARY                                                                                                         \
  "(x:T1, y:T2, min_x:float, max_x:float, min_y:float, max_y:float) -> (z:Toutput, min_z:float, max_z:float) | "       \
  "T1:" INTEGER " T2:" INTEGER " Toutput:" INTEGER "=qint32"

OPS(quantized_binary) = {
    {"QuantizedAdd" BINARY, "The sum of quantized integers.", .infer = binary_infer, .cpu = quantized_binary_add_cpu,
     .cases = add_cases},
    {"QuantizedMul" BINARY, "The product of quantized integers.", .infer = binary_infer,
     .cpu = quantized_binary_mul_cpu, .cases = mul_cases},
    {"QuantizedBiasAdd(input:T1, bias:T2, min_input:float, max_input:float, min_bias:float, max_bias:float) -> "
     "(output:out_type, min_out:float, max_out:float) | T1:" INTEGER " T2:" INTEGER " out_type:" INTEGER,
     "The sum of quantized integers and a bias for each place of the last axis.", .infer = bias_infer, .cpu = bias_cpu,
     .cases = bias_cases},
    {.scenario = "tests/parity/test_quantize.py"},
};
