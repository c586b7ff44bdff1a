/* summary_histogram.c - HistogramSummary: a histogram of the values of a tensor.
 *
 * It uses TensorFlow's buckets: the limits grow by a factor of 1.1 from 1e-12 to 1e20, on both sides of zero, and
 * the largest double is the last limit.  A value belongs to the first bucket whose limit is above it.  Of
 * consecutive empty buckets, only the last is written. */
#include "ops/summary/histogram.h"
#include "graph/op.h"
#include "ops/summary/summary.h"
#include <float.h>
#include <math.h>

enum { STEPS = 774, BUCKETS = 2 * STEPS + 3 };

struct histogram {
  double limit[BUCKETS], count[BUCKETS];
  double min, max, n, sum, squares;
};

static void histogram_init(histogram *h) {
  memset(h, 0, sizeof *h);
  double v = 1e-12;
  for (int i = 0; i < STEPS; i++, v *= 1.1) {
    h->limit[STEPS + 2 + i] = v;
    h->limit[STEPS - i] = -v;
  }
  h->limit[0] = -DBL_MAX;
  h->limit[BUCKETS - 1] = DBL_MAX;
  h->min = DBL_MAX;
  h->max = -DBL_MAX;
}

histogram *weft__histogram_create(void) {
  histogram *h = weft__alloc(sizeof *h);
  if (h) histogram_init(h);
  return h;
}

void weft__histogram_add(histogram *h, double v) {
  int low = 0, high = BUCKETS - 1; /* finds the first limit above v; the last bucket takes the rest */
  while (low < high) {
    const int middle = (low + high) / 2;
    if (h->limit[middle] > v)
      high = middle;
    else
      low = middle + 1;
  }
  h->count[low]++;
  if (v < h->min) h->min = v;
  if (v > h->max) h->max = v;
  h->n++;
  h->sum += v;
  h->squares += v * v;
}

/* Writes a field unless it is zero; proto3 omits zeros. */
static void put_nonzero(text *t, int field, double v) {
  if (v != 0) weft__put_double(t, field, v);
}

static void put_histogram(text *t, const histogram *h) {
  double limit[BUCKETS], count[BUCKETS];
  size_t n = 0;
  for (int i = 0; i < BUCKETS; i++) {
    const bool run = i + 1 < BUCKETS && h->count[i] == 0 && h->count[i + 1] == 0;
    if (run) continue;
    limit[n] = h->limit[i];
    count[n++] = h->count[i];
  }
  put_nonzero(t, 1, h->min);
  put_nonzero(t, 2, h->max);
  put_nonzero(t, 3, h->n);
  put_nonzero(t, 4, h->sum);
  put_nonzero(t, 5, h->squares);
  weft__put_bytes(t, 6, limit, n * sizeof *limit);
  weft__put_bytes(t, 7, count, n * sizeof *count);
}

static weft_err summary_histogram_fill(const kernel *k, histogram *h, const weft_tensor *values, const char *name) {
  const int64_t n = weft__tensor_count(values);
  for (int64_t i = 0; i < n; i++) {
    const double v =
        values->dtype == WEFT_FLOAT ? (double)TENSOR_DATA(values, const float)[i] : weft__tensor_double(values, i);
    if (isnan(v)) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Nan in summary histogram for: %s", name);
    if (isinf(v)) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Infinity in Histogram for: %s", name);
    weft__histogram_add(h, v);
  }
  return WEFT_OK;
}

void weft__histogram_put(const histogram *h, text *summary, const char *tag, size_t size) {
  text spread = {0}, one = {0};
  put_histogram(&spread, h);
  weft__put_bytes(&one, 1, tag, size);
  weft__put_message(&one, 5, &spread);
  weft__put_message(summary, 1, &one);
  weft__text_finish(&spread);
  weft__text_finish(&one);
}

weft_err weft__summary_put_histogram(const kernel *k, text *summary, const str *tag, const weft_tensor *x,
                                     const char *name) {
  histogram h;
  histogram_init(&h);
  WEFT_TRY(summary_histogram_fill(k, &h, x, name));
  weft__histogram_put(&h, summary, tag->data, tag->size);
  return WEFT_OK;
}

static weft_err histogram_cpu(kernel *k) {
  const str *tag = NULL;
  text summary = {0};
  WEFT_TRY(weft__summary_tag(k, 0, &tag));
  weft_err err = weft__summary_put_histogram(k, &summary, tag, k->in[1], k->node->name);
  if (err == WEFT_OK) err = weft__summary_out(k, &summary);
  weft__text_finish(&summary);
  return err;
}

static const op_case histogram_cases[] = {
    {"str[] \"h\"; f32[6] 1 2 3 3 -1 0", NULL, NULL, 0},
    {"str[] \"h\"; f32[100,10] normal", NULL, NULL, 0},
    {"str[] \"h\"; f32[] 5", NULL, NULL, 0},
    {"str[] \"h\"; i32[3] 1 100 120", NULL, NULL, 0},
    {"str[] \"h\"; f64[4] 1e30 -1e30 1e-20 1e300", NULL, NULL, CASE_FIXED_TYPE},
    {"str[] \"h\"; f32[0]", NULL, NULL, 0},
    {"str[] \"h\"; f32[2] 1 nan", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"str[] \"h\"; f32[2] 1 inf", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"str[1] \"h\"; f32[2] 1 2", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(summary_histogram) = {
    {"HistogramSummary(tag:string, values:T) -> (summary:string) | T:type{real}=float",
     "A Summary with a histogram of the values.", .infer = weft__infer_scalar, .cpu = histogram_cpu, .no_grad = true,
     .cases = histogram_cases},
    {0},
};
