/* quantized_pool.c - max and average pooling of quantized images; the range is passed on.
 *
 * The average is over the part of the window that is inside the image.  Like TensorFlow's, it is truncated to an
 * integer. */
#include "base/alloc.h"
#include "kernels/conv/window.h"
#include "kernels/work/long_work.h"
#include "ops/math/quantized.h"

static weft_err quantized_pool_infer(infer *s) {
  window w;
  shape x;
  WEFT_TRY(weft__window_infer(&w, s));
  WEFT_TRY(weft__infer_rank(s, 0, 4, &x));
  if (w.depth_stride <= 0) return weft__infer_fail(s, "Stride must be > 0, but got %lld", (long long)w.depth_stride);
  for (int i = 0; i < 2; i++) {
    w.at[i].in = x.dim[i + 1];
    WEFT_TRY(weft__window_infer_place(&w.at[i], w.padding, s));
  }
  window_axis depth = {.size = w.depth_size, .stride = w.depth_stride, .dilation = 1, .in = x.dim[3]};
  WEFT_TRY(weft__window_infer_place(&depth, w.padding, s));
  s->out[0] = SHAPE4(x.dim[0], w.at[0].out, w.at[1].out, depth.out);
  return weft__quantized_infer(s, 1, 1);
}

static weft_err pool_check(const kernel *k, const window *w) {
  if (k->in[0]->shape.rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "tensor_in must be 4-dimensional, but is %s",
                             weft__shape_text(&k->in[0]->shape));
  if (w->batch_size != 1 || w->batch_stride != 1)
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "Pooling is not yet supported on the batch dimension.");
  if (w->depth_size != 1 || w->depth_stride != 1)
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "Pooling is not yet supported on the depth dimension.");
  const weft_dtype t = k->in[0]->dtype;
  return t == WEFT_QUINT8 || t == WEFT_QINT8 ? WEFT_OK : weft__kernel_no_type(k, t);
}

/* Finds the part of the window at `at` that is inside the image. */
static void pool_span(const window_axis *a, int64_t at, int64_t *begin, int64_t *end) {
  *begin = at * a->stride - a->before;
  *end = *begin + a->size < a->in ? *begin + a->size : a->in;
  if (*begin < 0) *begin = 0;
}

typedef struct quantized_pool_work {
  const weft_tensor *x;
  weft_tensor *y;
  window_axis h, w;
  int64_t channels;
  bool mean;
  long_work *work;
} quantized_pool_work;

static int64_t pool_window(const quantized_pool_work *j, int64_t batch, int64_t row, int64_t column, int64_t channel) {
  int64_t top, bottom, left, right, sum = 0, most = INT8_MIN;
  pool_span(&j->h, row, &top, &bottom);
  pool_span(&j->w, column, &left, &right);
  for (int64_t r = top; r < bottom; r++)
    for (int64_t c = left; c < right; c++) {
      const int64_t v = weft__quantized_get(j->x, ((batch * j->h.in + r) * j->w.in + c) * j->channels + channel);
      sum += v;
      most = v > most ? v : most;
    }
  const int64_t n = (bottom - top) * (right - left);
  return !j->mean ? most : n > 0 ? sum / n : 0;
}

static void pool_rows(void *arg, int64_t begin, int64_t end) {
  const quantized_pool_work *j = arg;
  const int64_t cost = weft__window_most(&j->h) * weft__window_most(&j->w);
  int64_t spent = 0;
  for (int64_t r = begin; r < end; r++)
    for (int64_t o = 0; o < j->w.out * j->channels && !weft__long_work_spent(j->work, &spent, cost); o++)
      weft__quantized_put(j->y, r * j->w.out * j->channels + o,
                          pool_window(j, r / j->h.out, r % j->h.out, o / j->channels, o % j->channels));
}

static weft_err pool_run(kernel *k, bool mean) {
  const window *w = k->state;
  quantized range, out;
  WEFT_TRY(pool_check(k, w));
  WEFT_TRY(weft__quantized_read(k, 0, 1, &range));
  const shape *x = &k->in[0]->shape;
  quantized_pool_work j = {.x = k->in[0], .h = w->at[0], .w = w->at[1], .channels = x->dim[3], .mean = mean};
  j.h.in = x->dim[1], j.w.in = x->dim[2];
  if (weft__window_place(&j.h, w->padding) != WEFT_OK || weft__window_place(&j.w, w->padding) != WEFT_OK)
    return weft__fail_in(WEFT_INVALID_ARGUMENT, "%s '%s'", k->node->op_name, k->node->name);
  WEFT_TRY(weft__quantized_write(k, 0, range.min, range.max, &out));
  j.y = weft__out(k, 0, &SHAPE4(x->dim[0], j.h.out, j.w.out, x->dim[3]));
  if (!j.y) return WEFT_OOM;
  if (weft__tensor_count(j.y) == 0) return WEFT_OK;
  long_work work = weft__long_work(k);
  j.work = &work;
  weft__kernel_loop(k, x->dim[0] * j.h.out,
                    j.w.out * j.channels * weft__window_most(&j.h) * weft__window_most(&j.w) * 2, pool_rows, &j);
  return weft__long_work_end(&work);
}

static weft_err quantized_pool_max_cpu(kernel *k) { return pool_run(k, false); }
static weft_err quantized_pool_mean_cpu(kernel *k) { return pool_run(k, true); }

#define WINDOW "ksize=[1,2,2,1] strides=[1,1,1,1] "

static const op_case max_cases[] = {
    {"qu8[1,2,3,1] 1 2 3 4 50 6; f32[] 0; f32[] 1", "qu8[1,1,2,1] 50 50; f32[] 0; f32[] 1", WINDOW "padding='VALID'",
     CASE_NO_PARITY},
    {"qi8[1,2,2,1] -1 -2 -3 -4; f32[] 0; f32[] 1", "qi8[1,2,2,1] -1 -2 -3 -4; f32[] 0; f32[] 1",
     WINDOW "padding='SAME'", CASE_NO_PARITY},
    {"qu8[1,2,2,1] 1; f32[] 0; f32[] 1", "error INVALID_ARGUMENT", "ksize=[1,3,3,1] strides=[1,1,1,1] padding='VALID'",
     CASE_NO_PARITY},
    {0},
};

static const op_case mean_cases[] = {
    {"qu8[1,2,2,1] 1 2 3 5; f32[] 0; f32[] 1", "qu8[1,2,2,1] 2 3 4 5; f32[] 0; f32[] 1", WINDOW "padding='SAME'",
     CASE_NO_PARITY},
    {"qi8[1,2,2,1] -1 -2 -3 -5; f32[] 0; f32[] 1", "qi8[1,1,1,1] -2; f32[] 0; f32[] 1", WINDOW "padding='VALID'",
     CASE_NO_PARITY},
    {0},
};

#define POOL                                                                                                           \
  "(input:T, min_input:float, max_input:float) -> (output:T, min_output:float, max_output:float) | "                   \
  "T:type{qint8,quint8,qint32,qint16,quint16} ksize:list(int) strides:list(int) padding:string{'SAME','VALID'}"

OPS(quantized_pool) = {
    {"QuantizedMaxPool" POOL, "The greatest integer of each window.", .infer = quantized_pool_infer,
     .cpu = quantized_pool_max_cpu, .prepare = weft__window_prepare, .unprepare = weft__window_unprepare,
     .cases = max_cases},
    {"QuantizedAvgPool" POOL, "The mean integer of each window.", .infer = quantized_pool_infer,
     .cpu = quantized_pool_mean_cpu, .prepare = weft__window_prepare, .unprepare = weft__window_unprepare,
     .cases = mean_cases},
    {.scenario = "tests/parity/test_quantize.py"},
};
