/* requantize.c - converts quantized integers to a narrower type with another range.
 *
 * Like TensorFlow, the conversion to quint8 uses fixed-point arithmetic with 16 fraction bits and rounds half up.
 * The conversion to qint8 goes through the numbers that the integers stand for. */
#include "base/alloc.h"
#include "kernels/work/long_work.h"
#include "ops/math/quantized.h"
#include <math.h>

/* ---- from qint32 to quint8 in fixed point ---- */
typedef struct fixed_line {
  double scale, offset; /* 2^16 times the scale, and the position of zero */
} fixed_line;

static fixed_line fixed_line_of(const quantized *from, const quantized *to) {
  const double range = (double)(to->max - to->min), per_unit = 255.0 / range, one = 65536;
  const double middle = (double)((from->min + from->max) / 2);
  if (range == 0) return (fixed_line){0, NAN};
  return (fixed_line){trunc(255.0 * one * (double)(from->max - from->min) / range),
                      trunc(middle * per_unit * one) - trunc((double)to->min * 255.0 * one / range) + one / 2};
}

/* Returns (v scale / 2^32 + offset) / 2^16, rounded down twice and clamped to [0, 255]. */
static int64_t fixed_line_at(const fixed_line *l, int64_t v) {
  const double x = floor((floor((double)v * l->scale / 0x1p32) + l->offset) / 65536);
  return isnan(x) || x < 0 ? 0 : x > 255 ? 255 : (int64_t)x;
}

static weft_err requantize_all(kernel *k, const quantized *from, float min, float max) {
  quantized to;
  WEFT_TRY(weft__quantized_write(k, 0, min, max, &to));
  weft_tensor *y = weft__out(k, 0, &k->in[0]->shape);
  if (!y) return WEFT_OOM;
  const bool fixed = k->in[0]->dtype == WEFT_QINT32 && y->dtype == WEFT_QUINT8;
  const fixed_line line = fixed_line_of(from, &to);
  for (int64_t i = 0, n = weft__tensor_count(y); i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const int64_t v = weft__quantized_get(k->in[0], i);
    weft__quantized_put(y, i,
                        fixed ? fixed_line_at(&line, v) : weft__quantized_within(&to, weft__quantized_number(from, v)));
  }
  return WEFT_OK;
}

/* ---- Requantize ---- */
static weft_err requantize_infer(infer *s) {
  WEFT_TRY(weft__quantized_infer(s, 1, 1));
  WEFT_TRY(weft__quantized_infer(s, 3, 1));
  s->out[0] = s->in[0];
  return WEFT_OK;
}

static weft_err requantize_cpu(kernel *k) {
  quantized from, asked;
  WEFT_TRY(weft__quantized_read(k, 0, 1, &from));
  WEFT_TRY(weft__quantized_read(k, 0, 3, &asked));
  if (asked.min > 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "requested_output_min must be <= 0, but got %g",
                             (double)asked.min);
  if (asked.max < asked.min)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "requested_output_max must be >= requested_output_min, but got %g and %g",
                             (double)asked.max, (double)asked.min);
  return requantize_all(k, &from, asked.min, asked.max);
}

/* ---- QuantizeDownAndShrinkRange, RequantizationRange: the range that the integers actually use ---- */
static weft_err used_range(const kernel *k, const quantized *from, float *min, float *max) {
  int64_t least = from->high, most = from->low;
  for (int64_t i = 0, n = weft__tensor_count(k->in[0]); i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const int64_t v = weft__quantized_get(k->in[0], i);
    least = v < least ? v : least;
    most = v > most ? v : most;
  }
  *min = fminf(0, weft__quantized_number(from, least));
  *max = weft__quantized_number(from, most);
  return WEFT_OK;
}

static weft_err shrink_infer(infer *s) {
  WEFT_TRY(weft__quantized_infer(s, 1, 1));
  s->out[0] = s->in[0];
  return WEFT_OK;
}

static weft_err shrink_cpu(kernel *k) {
  quantized from;
  float min, max;
  WEFT_TRY(weft__quantized_read(k, 0, 1, &from));
  WEFT_TRY(used_range(k, &from, &min, &max));
  return requantize_all(k, &from, min, max);
}

static weft_err requantize_range_infer(infer *s) { return weft__quantized_infer(s, 1, 0); }

static weft_err requantize_range_cpu(kernel *k) {
  quantized from;
  WEFT_TRY(weft__quantized_read(k, 0, 1, &from));
  weft_tensor *min = weft__out(k, 0, &SHAPE_SCALAR), *max = weft__out(k, 1, &SHAPE_SCALAR);
  if (!min || !max) return WEFT_OOM;
  return used_range(k, &from, TENSOR_DATA(min, float), TENSOR_DATA(max, float));
}

static const op_case requantize_cases[] = {
    {"qi32[3] -2147483648 0 2147483647; f32[] -1; f32[] 1; f32[] -1; f32[] 1", "qu8[3] 0 128 255; f32[] -1; f32[] 1",
     "out_type=quint8", CASE_NO_PARITY},
    {"qi32[3] -2147483648 0 2147483647; f32[] -1; f32[] 1; f32[] -1; f32[] 1", "qi8[3] -128 0 127; f32[] -1; f32[] 1",
     "out_type=qint8", CASE_NO_PARITY},
    {"qi32[1] 5; f32[] -1; f32[] 1; f32[] 0; f32[] 0", "qu8[1] 0; f32[] 0; f32[] 0", "out_type=quint8", CASE_NO_PARITY},
    {"qi32[1] 5; f32[] -1; f32[] 1; f32[] 1; f32[] 2", "error INVALID_ARGUMENT", "out_type=quint8", CASE_NO_PARITY},
    {"qi32[1] 5; f32[] -1; f32[] 1; f32[] 0; f32[] -2", "error INVALID_ARGUMENT", "out_type=quint8", CASE_NO_PARITY},
    {0},
};

static const op_case shrink_cases[] = {
    {"qi32[2] -2147483648 2147483647; f32[] -1; f32[] 1", "qu8[2] 0 255; f32[] -1; f32[] 1", "out_type=quint8",
     CASE_NO_PARITY},
    {"qi32[0]; f32[] 0; f32[] 1", "qu8[0]; f32[] 0; f32[] 0", "out_type=quint8", CASE_NO_PARITY},
    {0},
};

static const op_case range_cases[] = {
    {"qi32[2] -2147483648 2147483647; f32[] -1; f32[] 1", "f32[] -1; f32[] 1", NULL, CASE_NO_PARITY},
    {0},
};

#define INTEGER "type{qint8,quint8,qint32,qint16,quint16}"

OPS(requantize) = {
    {"Requantize(input:Tinput, input_min:float, input_max:float, requested_output_min:float, "
     "requested_output_max:float) -> (output:out_type, output_min:float, output_max:float) | Tinput:" INTEGER
     " out_type:" INTEGER,
     "Integers of one range as integers of another type and range.", .infer = requantize_infer, .cpu = requantize_cpu,
     .cases = requantize_cases},
    {"QuantizeDownAndShrinkRange(input:Tinput, input_min:float, input_max:float) -> (output:out_type, "
     "output_min:float, output_max:float) | Tinput:" INTEGER " out_type:" INTEGER,
     "Integers as integers of another type, over the range that they use.", .infer = shrink_infer, .cpu = shrink_cpu,
     .cases = shrink_cases},
    {"RequantizationRange(input:Tinput, input_min:float, input_max:float) -> (output_min:float, output_max:float) | "
     "Tinput:" INTEGER,
     "The range that integers use.", .infer = requantize_range_infer, .cpu = requantize_range_cpu,
     .cases = range_cases},
    {.scenario = "tests/parity/test_quantize.py"},
};
