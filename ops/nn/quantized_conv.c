/* quantized_conv.c - QuantizedConv2D: a convolution of quantized integers, summed in 32 bits.
 *
 * The integer that stands for zero is first subtracted from both factors.  Like TensorFlow, we use that integer for
 * pixels outside the image.  If the whole range is below zero, this integer exceeds 255; TensorFlow keeps its low 8
 * bits, which then do not stand for zero. */
#include "base/alloc.h"
#include "kernels/conv/window.h"
#include "kernels/work/long_work.h"
#include "ops/math/quantized.h"
#include "ops/nn/conv.h"
#include <string.h>

static weft_err quantized_conv_infer(infer *s) {
  WEFT_TRY(weft__conv2d_infer(s));
  WEFT_TRY(weft__quantized_infer(s, 2, 1));
  return weft__quantized_infer(s, 4, 1);
}

typedef struct quantized_conv_work {
  const uint8_t *x, *f;
  uint32_t *y; /* sums wrap around, as TensorFlow's do */
  window_axis h, w;
  int64_t in_ch, out_ch;
  uint32_t zero_x, zero_f, outside; /* outside: the value of a pixel outside the image */
} quantized_conv_work;

/* Computes sums += x times the filter's row of out_ch. */
static void conv_add(const quantized_conv_work *j, uint32_t *sums, uint32_t x, const uint8_t *f) {
  for (int64_t o = 0; o < j->out_ch; o++) sums[o] += x * (f[o] - j->zero_f);
}

static void conv_pixel(const quantized_conv_work *j, const uint8_t *image, int64_t row, int64_t column,
                       uint32_t *sums) {
  memset(sums, 0, (size_t)j->out_ch * sizeof *sums);
  for (int64_t r = 0; r < j->h.size; r++)
    for (int64_t c = 0; c < j->w.size; c++) {
      const int64_t y = row * j->h.stride - j->h.before + r, x = column * j->w.stride - j->w.before + c;
      const bool inside = y >= 0 && y < j->h.in && x >= 0 && x < j->w.in;
      for (int64_t i = 0; i < j->in_ch; i++) {
        const uint32_t v = inside ? image[(y * j->w.in + x) * j->in_ch + i] : j->outside;
        conv_add(j, sums, v - j->zero_x, j->f + ((r * j->w.size + c) * j->in_ch + i) * j->out_ch);
      }
    }
}

static void conv_rows(void *arg, int64_t begin, int64_t end) {
  const quantized_conv_work *j = arg;
  for (int64_t r = begin; r < end; r++)
    for (int64_t c = 0; c < j->w.out; c++)
      conv_pixel(j, j->x + r / j->h.out * j->h.in * j->w.in * j->in_ch, r % j->h.out, c,
                 j->y + (r * j->w.out + c) * j->out_ch);
}

static weft_err conv_check(const kernel *k, const window *w) {
  const shape *x = &k->in[0]->shape, *f = &k->in[1]->shape;
  if (x->rank != 4 || f->rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input and filter must be 4-dimensional, but are %s and %s",
                             weft__shape_text(x), weft__shape_text(f));
  if (x->dim[3] != f->dim[2])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input and filter must have the same depth: %lld vs %lld",
                             (long long)x->dim[3], (long long)f->dim[2]);
  if (w->at[0].stride != w->at[1].stride)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "the strides of rows and columns must be equal, but are %lld and %lld",
                             (long long)w->at[0].stride, (long long)w->at[1].stride);
  if (w->batch_stride != 1 || w->depth_stride != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "strides must be 1 in the batch and depth dimensions, but are %lld and %lld",
                             (long long)w->batch_stride, (long long)w->depth_stride);
  if (w->at[0].dilation != 1 || w->at[1].dilation != 1 || w->batch_dilation != 1 || w->depth_dilation != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "dilations must be 1, but are %lld and %lld",
                             (long long)w->at[0].dilation, (long long)w->at[1].dilation);
  for (int i = 0; i < 2; i++)
    if (k->in[i]->dtype != WEFT_QUINT8) return weft__kernel_no_type(k, k->in[i]->dtype);
  return k->node->out_type[0] == WEFT_QINT32 ? WEFT_OK : weft__kernel_no_type(k, k->node->out_type[0]);
}

static weft_err quantized_conv_cpu(kernel *k) {
  const window *w = k->state;
  quantized x, f, y;
  float min, max;
  WEFT_TRY(conv_check(k, w));
  WEFT_TRY(weft__quantized_read(k, 0, 2, &x));
  WEFT_TRY(weft__quantized_read(k, 1, 4, &f));
  const shape *in = &k->in[0]->shape, *filter = &k->in[1]->shape;
  quantized_conv_work j = {.h = w->at[0], .w = w->at[1], .in_ch = in->dim[3], .out_ch = filter->dim[3]};
  j.h.in = in->dim[1], j.w.in = in->dim[2], j.h.size = filter->dim[0], j.w.size = filter->dim[1];
  if (weft__window_place(&j.h, w->padding) != WEFT_OK || weft__window_place(&j.w, w->padding) != WEFT_OK)
    return weft__fail_in(WEFT_INVALID_ARGUMENT, "%s '%s'", k->node->op_name, k->node->name);
  weft__quantized_product(&x, &f, &min, &max);
  WEFT_TRY(weft__quantized_write(k, 0, min, max, &y));
  const shape s = SHAPE4(in->dim[0], j.h.out, j.w.out, j.out_ch);
  weft_tensor *out = weft__out(k, 0, &s);
  if (!out) return weft__out_refused(&s);
  if (weft__tensor_count(out) == 0) return WEFT_OK;
  j.x = TENSOR_DATA(k->in[0], uint8_t), j.f = TENSOR_DATA(k->in[1], uint8_t), j.y = TENSOR_DATA(out, uint32_t);
  j.zero_x = (uint32_t)weft__quantized_near(&x, 0), j.zero_f = (uint32_t)weft__quantized_near(&f, 0);
  j.outside = weft__quantized_near(&x, 0) < 0 ? j.zero_x : j.zero_x & 0xff;
  const int64_t cost = j.w.out * j.h.size * j.w.size * j.in_ch * j.out_ch / 2 + 1;
  return weft__long_loop(k, in->dim[0] * j.h.out, cost, conv_rows, &j);
}

#define RANGES "f32[] 0; f32[] 255; f32[] 0; f32[] 255"
#define FULL "f32[] -2147483648; f32[] 2147483648"

static const op_case conv_cases[] = {
    {"qu8[1,2,2,1] 1 2 3 4; qu8[2,2,1,1] 1 10 100 200; " RANGES, "qi32[1,1,1,1] 1121; " FULL,
     "strides=[1,1,1,1] padding='VALID'", CASE_NO_PARITY},
    {"qu8[1,2,2,1] 1 2 3 4; qu8[2,2,1,2] 1 2 10 20 100 200 200 100; " RANGES,
     "qi32[1,2,2,2] 1121 1042 402 804 43 86 4 8; " FULL, "strides=[1,1,1,1] padding='SAME'", CASE_NO_PARITY},
    {"qu8[1,2,2,1] 1; qu8[1,1,1,1] 1; " RANGES, "error INVALID_ARGUMENT",
     "strides=[1,1,1,1] dilations=[1,2,2,1] padding='SAME'", CASE_NO_PARITY},
    {"qu8[1,2,2,1] 1; qu8[1,1,1,1] 1; " RANGES, "error INVALID_ARGUMENT", "strides=[1,1,2,1] padding='SAME'",
     CASE_NO_PARITY},
    {0},
};

#define INTEGER "type{qint8,quint8,qint32,qint16,quint16}"

OPS(quantized_conv) = {
    {"QuantizedConv2D(input:Tinput, filter:Tfilter, min_input:float, max_input:float, min_filter:float, "
     "max_filter:float) -> (output:out_type, min_output:float, max_output:float) | Tinput:" INTEGER " Tfilter:" INTEGER
     " out_type:" INTEGER "=qint32 strides:list(int) padding:string{'SAME','VALID'} "
     "dilations:list(int)=[1,1,1,1]",
     "Every window of a quantized image times a quantized filter.", .infer = quantized_conv_infer,
     .cpu = quantized_conv_cpu, .prepare = weft__window_prepare, .unprepare = weft__window_unprepare,
     .cases = conv_cases},
    {.scenario = "tests/parity/test_quantize.py"},
};
