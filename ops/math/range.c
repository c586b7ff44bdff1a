/* range.c - arithmetic sequences: Range and LinSpace.
 *
 * Element i is start + i * delta in the type itself (half and bfloat16 in float), not a running sum. */
#include "base/alloc.h"
#include "graph/kernel.h"
#include "kernels/work/long_work.h"
#include <math.h>
#include <stdio.h>

/* ---- Range ---- */
static bool is_float(weft_dtype t) { return weft__dtype_class(t) == CLASS_FLOAT; }

/* Returns the number of elements.  On an error, returns -1 and writes the message to `why`. */
static int64_t range_size(char *why, size_t room, const weft_tensor *start, const weft_tensor *limit,
                          const weft_tensor *delta) {
  const double s = weft__tensor_double(start, 0), l = weft__tensor_double(limit, 0), d = weft__tensor_double(delta, 0);
  why[0] = 0;
  if (d == 0)
    snprintf(why, room, "Requires delta != 0: 0");
  else if (d > 0 && s > l)
    snprintf(why, room, "Requires start <= limit when delta > 0: %g/%g", s, l);
  else if (d < 0 && s < l)
    snprintf(why, room, "Requires start >= limit when delta < 0: %g/%g", s, l);
  else if (is_float(start->dtype) && !(ceil(fabs((l - s) / d)) < 0x1p62))
    snprintf(why, room, "Requires ((limit - start) / delta) to fit an int64");
  if (why[0]) return -1;
  if (is_float(start->dtype)) return (int64_t)ceil(fabs((l - s) / d));
  const int64_t si = weft__tensor_int(start, 0), li = weft__tensor_int(limit, 0), di = weft__tensor_int(delta, 0);
  const uint64_t way = di > 0 ? (uint64_t)li - (uint64_t)si : (uint64_t)si - (uint64_t)li;
  const uint64_t pace = di > 0 ? (uint64_t)di : 0 - (uint64_t)di;
  return (int64_t)(way / pace + (way % pace != 0));
}

#define FILL(T, A)                                                                                                     \
  do {                                                                                                                 \
    const A s = (A)*TENSOR_DATA(k->in[0], T), d = (A)*TENSOR_DATA(k->in[2], T);                                        \
    for (int64_t i = 0; i < n; i++) TENSOR_DATA(out, T)[i] = (T)(s + (A)i * d);                                        \
    return WEFT_OK;                                                                                                    \
  } while (0)

static weft_err fill_narrow(const kernel *k, weft_tensor *out, int64_t n) {
  const float s = (float)weft__tensor_double(k->in[0], 0), d = (float)weft__tensor_double(k->in[2], 0);
  for (int64_t i = 0; i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const float v = s + (float)i * d;
    TENSOR_DATA(out, uint16_t)[i] = out->dtype == WEFT_HALF ? weft__half_from_float(v) : weft__bfloat16_from_float(v);
  }
  return WEFT_OK;
}

static weft_err range_cpu(kernel *k) {
  static const char *const names[] = {"start", "limit", "delta"};
  for (int i = 0; i < 3; i++)
    if (k->in[i]->shape.rank != 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be a scalar, not shape %s", names[i],
                               weft__shape_text(&k->in[i]->shape));
  char why[128];
  const int64_t n = range_size(why, sizeof why, k->in[0], k->in[1], k->in[2]);
  if (n < 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s", why);
  weft_tensor *out = weft__out(k, 0, &SHAPE1(n));
  if (!out) return WEFT_OOM;
  switch (out->dtype) {
  case WEFT_FLOAT: FILL(float, float);
  case WEFT_DOUBLE: FILL(double, double);
  case WEFT_INT8: FILL(int8_t, uint32_t);
  case WEFT_INT16: FILL(int16_t, uint32_t);
  case WEFT_INT32: FILL(int32_t, uint32_t);
  case WEFT_INT64: FILL(int64_t, uint64_t);
  case WEFT_UINT16: FILL(uint16_t, uint32_t);
  case WEFT_UINT32: FILL(uint32_t, uint32_t);
  default: return fill_narrow(k, out, n);
  }
}

static weft_err range_infer(infer *s) {
  for (int i = 0; i < 3; i++) WEFT_TRY(weft__infer_rank(s, i, 0, NULL));
  const weft_tensor *start = weft__infer_value(s, 0), *limit = weft__infer_value(s, 1),
                    *delta = weft__infer_value(s, 2);
  s->out[0] = SHAPE1(-1);
  if (!start || !limit || !delta) return WEFT_OK;
  char why[128];
  const int64_t n = range_size(why, sizeof why, start, limit, delta);
  if (n < 0) return weft__infer_fail(s, "%s", why);
  s->out[0] = SHAPE1(n);
  return WEFT_OK;
}

/* ---- LinSpace ---- */
#define SPREAD(T)                                                                                                      \
  do {                                                                                                                 \
    const T a = *TENSOR_DATA(k->in[0], T), b = *TENSOR_DATA(k->in[1], T), gap = n > 1 ? (b - a) / (T)(n - 1) : 0;      \
    T *z = TENSOR_DATA(out, T);                                                                                        \
    for (int64_t i = 0; i < n; i++) z[i] = a + gap * (T)i;                                                             \
    if (n > 1) z[n - 1] = b; /* exactly */                                                                             \
    return WEFT_OK;                                                                                                    \
  } while (0)

static weft_err linspace_cpu(kernel *k) {
  static const char *const names[] = {"start", "stop", "num"};
  for (int i = 0; i < 3; i++)
    if (k->in[i]->shape.rank != 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be a scalar, not shape %s", names[i],
                               weft__shape_text(&k->in[i]->shape));
  const int64_t n = weft__tensor_int(k->in[2], 0);
  if (n <= 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Requires num > 0: %lld", (long long)n);
  weft_tensor *out = weft__out(k, 0, &SHAPE1(n));
  if (!out) return WEFT_OOM;
  if (out->dtype == WEFT_FLOAT) SPREAD(float);
  if (out->dtype == WEFT_DOUBLE) SPREAD(double);
  return weft__kernel_no_type(k, out->dtype);
}

static weft_err linspace_infer(infer *s) {
  for (int i = 0; i < 3; i++) WEFT_TRY(weft__infer_rank(s, i, 0, NULL));
  const weft_tensor *num = weft__infer_value(s, 2);
  const int64_t n = num ? weft__tensor_int(num, 0) : -1;
  if (num && n <= 0) return weft__infer_fail(s, "Requires num > 0: %lld", (long long)n);
  s->out[0] = SHAPE1(n);
  return WEFT_OK;
}

static const op_case range_cases[] = {
    {"i32[] 0; i32[] 5; i32[] 1", "i32[5] 0 1 2 3 4"},
    {"i32[] 10; i32[] 3; i32[] -2", "i32[4] 10 8 6 4", NULL, CASE_FIXED_TYPE},
    {"i32[] 3; i32[] 3; i32[] 1", "i32[0]"},
    {"f32[] 0; f32[] 1; f32[] 0.1", NULL, NULL, CASE_FIXED_TYPE},
    {"f64[] 1; f64[] 0; f64[] -0.3", NULL, NULL, CASE_FIXED_TYPE},
    {"i64[] 0; i64[] 5000; i64[] 3"},
    {"i32[] 0; i32[] 5; i32[] 0", "error INVALID_ARGUMENT"},
    {"i32[] 5; i32[] 0; i32[] 1", "error INVALID_ARGUMENT"},
    {"i32[] 0; i32[] 5; i32[] -1", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"i32[2] 0; i32[] 5; i32[] 1", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case linspace_cases[] = {
    {"f32[] 0; f32[] 1; i32[] 5", "f32[5] 0 0.25 0.5 0.75 1"},
    {"f64[] 5; f64[] -1; i64[] 100"},
    {"f32[] 5; f32[] -1; i32[] 1", "f32[1] 5"},
    {"f32[] 5; f32[] -1; i32[] 0", "error INVALID_ARGUMENT"},
    {"f32[1] 5; f32[] -1; i32[] 3", "error INVALID_ARGUMENT"},
    {0},
};

OPS(range) = {
    {"Range(start:Tidx, limit:Tidx, delta:Tidx) -> (output:Tidx) | "
     "Tidx:type{bfloat16,half,float,double,int8,int16,int32,int64,uint16,uint32}=int32",
     "The numbers from start up to limit at distances of delta.", .infer = range_infer, .cpu = range_cpu,
     .no_grad = true, .cases = range_cases},
    {"LinSpace(start:T, stop:T, num:Tidx) -> (output:T) | T:type{bfloat16,half,float,double} "
     "Tidx:type{int32,int64}=int32",
     "num numbers at equal distances from start to stop.", .infer = linspace_infer, .cpu = linspace_cpu,
     .no_grad = true, .cases = linspace_cases},
    {0},
};
