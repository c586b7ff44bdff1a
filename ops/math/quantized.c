/* quantized.c - converts quantized integers to the numbers that they stand for, and back (see quantized.h).
 *
 * The arithmetic is in double, as in TensorFlow.  An integer that would exceed int64 is clamped to 2^62. */
#include "ops/math/quantized.h"
#include "base/alloc.h"
#include <math.h>

static bool limits_of_type(weft_dtype t, quantized *q) {
  switch (t) {
  case WEFT_QINT8: q->low = INT8_MIN, q->high = INT8_MAX; return true;
  case WEFT_QUINT8: q->low = 0, q->high = UINT8_MAX; return true;
  case WEFT_QINT16: q->low = INT16_MIN, q->high = INT16_MAX; return true;
  case WEFT_QUINT16: q->low = 0, q->high = UINT16_MAX; return true;
  case WEFT_QINT32: q->low = INT32_MIN, q->high = INT32_MAX; return true;
  default: return false;
  }
}

weft_err weft__quantized_read(const kernel *k, int i, int at, quantized *q) {
  if (!limits_of_type(k->in[i]->dtype, q)) return weft__kernel_no_type(k, k->in[i]->dtype);
  for (int j = at; j < at + 2; j++)
    if (weft__tensor_count(k->in[j]) != 1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input %d must be a scalar, but has shape %s", j,
                               weft__shape_text(&k->in[j]->shape));
  q->min = *TENSOR_DATA(k->in[at], float);
  q->max = *TENSOR_DATA(k->in[at + 1], float);
  return WEFT_OK;
}

weft_err weft__quantized_write(kernel *k, int i, float min, float max, quantized *q) {
  const weft_dtype t = k->node->out_type[i];
  if (!limits_of_type(t, q)) return weft__kernel_no_type(k, t);
  q->min = min, q->max = max;
  weft_tensor *low = weft__out(k, i + 1, &SHAPE_SCALAR), *high = weft__out(k, i + 2, &SHAPE_SCALAR);
  if (!low || !high) return WEFT_OOM;
  *TENSOR_DATA(low, float) = min;
  *TENSOR_DATA(high, float) = max;
  return WEFT_OK;
}

weft_err weft__quantized_infer(infer *s, int at, int out) {
  for (int i = at; i < at + 2; i++) WEFT_TRY(weft__infer_rank(s, i, 0, NULL));
  for (int i = out; i < s->n_out; i++) s->out[i] = SHAPE_SCALAR;
  return WEFT_OK;
}

int64_t weft__quantized_get(const weft_tensor *t, int64_t i) {
  switch (t->dtype) {
  case WEFT_QINT8: return TENSOR_DATA(t, int8_t)[i];
  case WEFT_QUINT8: return TENSOR_DATA(t, uint8_t)[i];
  case WEFT_QINT16: return TENSOR_DATA(t, int16_t)[i];
  case WEFT_QUINT16: return TENSOR_DATA(t, uint16_t)[i];
  default: return TENSOR_DATA(t, int32_t)[i];
  }
}

void weft__quantized_put(weft_tensor *t, int64_t i, int64_t v) {
  switch (t->dtype) {
  case WEFT_QINT8: TENSOR_DATA(t, int8_t)[i] = (int8_t)v; break;
  case WEFT_QUINT8: TENSOR_DATA(t, uint8_t)[i] = (uint8_t)v; break;
  case WEFT_QINT16: TENSOR_DATA(t, int16_t)[i] = (int16_t)v; break;
  case WEFT_QUINT16: TENSOR_DATA(t, uint16_t)[i] = (uint16_t)v; break;
  default: TENSOR_DATA(t, int32_t)[i] = (int32_t)v;
  }
}

/* Returns the number of integers of the type: 2^8, 2^16 or 2^32. */
static double quantized_count_of(const quantized *q) { return (double)(q->high - q->low) + 1; }

/* TensorFlow widens the range by one step and divides it by one integer more.  The step is the same, but the
 * rounding differs. */
static double wide_range(const quantized *q) {
  const double n = quantized_count_of(q);
  return (double)(q->max - q->min) * (n / (n - 1));
}

float weft__quantized_number(const quantized *q, int64_t v) {
  if (q->min == q->max) return q->min;
  const double by = wide_range(q) / quantized_count_of(q);
  return (float)(round((double)q->min / by) * by + (double)(v - q->low) * by);
}

int64_t weft__quantized_near(const quantized *q, float x) {
  if (q->min == q->max) return q->low;
  const double per_unit = quantized_count_of(q) / wide_range(q), most = 0x1p62;
  const double v = round((double)x * per_unit) - round((double)q->min * per_unit) + (double)q->low;
  return isnan(v) ? q->low : (int64_t)fmax(-most, fmin(most, v));
}

int64_t weft__quantized_within(const quantized *q, float x) {
  const int64_t v = weft__quantized_near(q, x);
  return v < q->low ? q->low : v > q->high ? q->high : v;
}

float weft__quantized_step(const quantized *q) { return (q->max - q->min) / (float)(q->high - q->low); }

void weft__quantized_product(const quantized *a, const quantized *b, float *min, float *max) {
  const float by = weft__quantized_step(a) * weft__quantized_step(b);
  *min = by * -0x1p31f;
  *max = by * 0x1p31f;
}
