/* depthwise.c - DepthwiseConv2dNative, which convolves each channel separately, and its gradients by input and
 * filter.
 *
 * A filter (height, width, in_ch, times) makes `times` output channels from each input channel.  This is computed as
 * a convolution of an image whose channels are repeated `times` times, with one filter per output channel.  So a
 * multiplier costs one copy, and the loops need not know it.  All three passes are then sums of products of rows of
 * channels: pixels and filter taps, gradients and taps, or pixels and gradients.  One loop along the channels
 * (`sum`) computes them from lists of such pairs. */
#include "base/alloc.h"
#include "base/target_clones.h"
#include "graph/build.h"
#include "graph/op.h"
#include "ops/nn/conv.h"
#include "kernels/conv/channel_layout.h"
#include "kernels/work/long_work.h"
#include <string.h>

enum { FORWARD, TO_INPUT, TO_FILTER };
enum { PAIRS = 64, MAX_SLICES = 16 };

/* A list of pairs of rows of channels, to be multiplied and summed. */
typedef struct pairs {
  const void *a[PAIRS], *b[PAIRS];
  int n;
  bool begun; /* the result already holds a part of the sum */
} pairs;

/* Computes out[0..count) = sum over the pairs of a[i] * b[i], plus the old value of out if the sum has begun. */
typedef void sum_fn(void *out, int64_t count, const pairs *p);

/* Processes channels from c on, N vectors at a time, as long as N whole vectors remain. */
#define SUM_BY(T, VEC, N)                                                                                              \
  for (; c + (N) * (int64_t)(sizeof(VEC) / sizeof(T)) <= count; c += (N) * (int64_t)(sizeof(VEC) / sizeof(T))) {       \
    VEC *y = (VEC *)(to + c), part[N];                                                                                 \
    for (int v = 0; v < (N); v++) part[v] = p->begun ? y[v] : (VEC){0};                                                \
    for (int i = 0; i < p->n; i++)                                                                                     \
      for (int v = 0; v < (N); v++)                                                                                    \
        part[v] += ((const VEC *)((const T *)p->a[i] + c))[v] * ((const VEC *)((const T *)p->b[i] + c))[v];            \
    for (int v = 0; v < (N); v++) y[v] = part[v];                                                                      \
  }
#define DEFINE_SUM(name, T)                                                                                            \
  typedef T name##_long __attribute__((vector_size(64), aligned(sizeof(T)), may_alias));                               \
  typedef T name##_short __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));                              \
  static WEFT_TARGET_CLONES void name(void *out, int64_t count, const pairs *p) {                                      \
    T *to = out;                                                                                                       \
    int64_t c = 0;                                                                                                     \
    SUM_BY(T, name##_long, 4)                                                                                          \
    SUM_BY(T, name##_long, 1)                                                                                          \
    SUM_BY(T, name##_short, 1)                                                                                         \
    for (; c < count; c++) {                                                                                           \
      T part = p->begun ? to[c] : 0;                                                                                   \
      for (int i = 0; i < p->n; i++) part += ((const T *)p->a[i])[c] * ((const T *)p->b[i])[c];                        \
      to[c] = part;                                                                                                    \
    }                                                                                                                  \
  }

DEFINE_SUM(sum_floats, float)
DEFINE_SUM(sum_doubles, double)

/* A run of pixels of one row of the result whose taps are all inside the image along the row.  Distances are in bytes.
 */
typedef struct strip {
  const char *x, *filter; /* the first tap of the first pixel, and its weights */
  char *out;
  int64_t pixels, lines, taps;
  int64_t pixel, line, tap; /* from a tap to that of the next pixel, of the next line of taps, and to the next tap */
  int64_t row;              /* of all channels of a pixel of the result, or of a tap */
} strip;
typedef void strip_fn(const strip *s);

/* Computes N pixels from p on, for a vector of channels: the weights of a tap are loaded once for all of them. */
#define STRIP_PIXELS(T, VEC, N)                                                                                        \
  for (; p + (N) <= s->pixels; p += (N)) {                                                                             \
    VEC part[N] = {(VEC){0}};                                                                                          \
    for (int64_t l = 0; l < s->lines; l++)                                                                             \
      for (int64_t t = 0; t < s->taps; t++) {                                                                          \
        const VEC w = *(const VEC *)(s->filter + (l * s->taps + t) * s->row + c);                                      \
        const char *x = s->x + p * s->pixel + l * s->line + t * s->tap + c;                                            \
        for (int v = 0; v < (N); v++) part[v] += *(const VEC *)(x + v * s->pixel) * w;                                 \
      }                                                                                                                \
    for (int v = 0; v < (N); v++) *(VEC *)(s->out + (p + v) * s->row + c) = part[v];                                   \
  }
#define STRIP_BY(T, VEC)                                                                                               \
  for (; c + (int64_t)sizeof(VEC) <= s->row; c += (int64_t)sizeof(VEC)) {                                              \
    int64_t p = 0;                                                                                                     \
    STRIP_PIXELS(T, VEC, 4)                                                                                            \
    STRIP_PIXELS(T, VEC, 1)                                                                                            \
  }
#define DEFINE_STRIP(name, sum, T)                                                                                     \
  typedef T name##_one __attribute__((vector_size(sizeof(T)), aligned(sizeof(T)), may_alias));                         \
  static WEFT_TARGET_CLONES void name(const strip *s) {                                                                \
    int64_t c = 0; /* bytes */                                                                                         \
    STRIP_BY(T, sum##_long)                                                                                            \
    STRIP_BY(T, sum##_short)                                                                                           \
    STRIP_BY(T, name##_one)                                                                                            \
  }

DEFINE_STRIP(strip_floats, sum_floats, float)
DEFINE_STRIP(strip_doubles, sum_doubles, double)

typedef struct depthwise_work {
  const conv *c;
  int64_t row; /* bytes of all channels of one pixel */
  const char *a, *b;
  char *out;
  sum_fn *sum;
  strip_fn *strip;
  int64_t slices;
} depthwise_work;

static void add_pair(const depthwise_work *j, pairs *p, void *out, const void *a, const void *b) {
  p->a[p->n] = a;
  p->b[p->n++] = b;
  if (p->n < PAIRS) return;
  j->sum(out, j->c->out_ch, p);
  p->begun = true;
  p->n = 0;
}

/* Completes the sum.  A sum without pairs is zero. */
static void finish_pairs(const depthwise_work *j, pairs *p, void *out) {
  if (p->n || !p->begun) j->sum(out, j->c->out_ch, p);
  p->begun = false;
  p->n = 0;
}

/* ---- the passes; a pixel or a tap has `row` bytes ---- */

/* Finds the taps of an axis that are inside the image if the first tap is at `at`. */
static void taps_inside(const window_axis *a, int64_t at, int64_t *begin, int64_t *end) {
  *begin = 0;
  while (*begin < a->size && at + *begin * a->dilation < 0) ++*begin;
  *end = a->size;
  while (*end > *begin && at + (*end - 1) * a->dilation >= a->in) --*end;
}

/* Computes one pixel of the result. */
static void forward_pixel(const depthwise_work *j, pairs *p, int64_t n, int64_t top, int64_t left,
                          const int64_t high[2], char *out) {
  const window_axis *h = &j->c->at[0], *w = &j->c->at[1];
  int64_t first, last;
  taps_inside(w, left, &first, &last);
  for (int64_t kh = high[0]; kh < high[1]; kh++) {
    const char *x = j->a + ((n * h->in + top + kh * h->dilation) * w->in + left + first * w->dilation) * j->row;
    const char *f = j->b + (kh * w->size + first) * j->row;
    for (int64_t kw = first; kw < last; kw++, x += w->dilation * j->row, f += j->row) add_pair(j, p, out, x, f);
  }
  finish_pairs(j, p, out);
}

/* Finds the results of an axis all of whose taps are inside the image. */
static void pixels_inside(const window_axis *a, int64_t *begin, int64_t *end) {
  *begin = 0;
  while (*begin < a->out && *begin * a->stride < a->before) ++*begin;
  *end = a->out;
  while (*end > *begin && (*end - 1) * a->stride - a->before + (a->size - 1) * a->dilation >= a->in) --*end;
}

/* Computes the pixels of a row that have all their taps along it. */
static void forward_strip(const depthwise_work *j, int64_t row, int64_t top, const int64_t high[2],
                          const int64_t inside[2]) {
  const window_axis *h = &j->c->at[0], *w = &j->c->at[1];
  const int64_t left = inside[0] * w->stride - w->before;
  const int64_t first = (row / h->out * h->in + top + high[0] * h->dilation) * w->in + left;
  j->strip(&(strip){.x = j->a + first * j->row,
                    .filter = j->b + high[0] * w->size * j->row,
                    .out = j->out + (row * w->out + inside[0]) * j->row,
                    .pixels = inside[1] - inside[0],
                    .lines = high[1] - high[0],
                    .taps = w->size,
                    .pixel = w->stride * j->row,
                    .line = h->dilation * w->in * j->row,
                    .tap = w->dilation * j->row,
                    .row = j->row});
}

/* Computes rows [begin, end) of the result, numbered over the batch. */
static void forward_rows(void *arg, int64_t begin, int64_t end) {
  const depthwise_work *j = arg;
  const window_axis *h = &j->c->at[0], *w = &j->c->at[1];
  pairs p = {.n = 0};
  for (int64_t row = begin; row < end; row++) {
    const int64_t top = row % h->out * h->stride - h->before;
    int64_t high[2], inside[2];
    taps_inside(h, top, &high[0], &high[1]);
    pixels_inside(w, &inside[0], &inside[1]);
    for (int64_t ow = 0; ow < w->out; ow++) {
      if (ow == inside[0] && ow < inside[1]) {
        forward_strip(j, row, top, high, inside);
        ow = inside[1] - 1;
        continue;
      }
      forward_pixel(j, &p, row / h->out, top, ow * w->stride - w->before, high, j->out + (row * w->out + ow) * j->row);
    }
  }
}

/* Returns the index of the result whose window begins at `at` (counted with padding), or -1 if there is none. */
static inline int64_t result_of(const window_axis *a, int64_t at) {
  if (a->stride == 1) return at < a->out ? at : -1;
  return at < 0 || at % a->stride || at / a->stride >= a->out ? -1 : at / a->stride;
}

/* Computes rows of the image's gradient. */
static void input_rows(void *arg, int64_t begin, int64_t end) {
  const depthwise_work *j = arg;
  const window_axis *h = &j->c->at[0], *w = &j->c->at[1];
  pairs p = {.n = 0};
  for (int64_t row = begin; row < end; row++)
    for (int64_t iw = 0; iw < w->in; iw++) {
      const int64_t n = row / h->in, ih = row % h->in;
      char *out = j->out + (row * w->in + iw) * j->row;
      for (int64_t kh = 0; kh < h->size; kh++) {
        const int64_t oh = result_of(h, ih + h->before - kh * h->dilation);
        for (int64_t kw = 0; oh >= 0 && kw < w->size; kw++) {
          const int64_t ow = result_of(w, iw + w->before - kw * w->dilation);
          if (ow < 0) continue;
          add_pair(j, &p, out, j->b + ((n * h->out + oh) * w->out + ow) * j->row, j->a + (kh * w->size + kw) * j->row);
        }
      }
      finish_pairs(j, &p, out);
    }
}

/* Adds one row of the result to one tap of the filter's gradient. */
static void filter_row(const depthwise_work *j, int64_t row, int64_t ih, int64_t kw, char *out) {
  const window_axis *h = &j->c->at[0], *w = &j->c->at[1];
  const char *x = j->a + (row / h->out * h->in + ih) * w->in * j->row, *dy = j->b + row * w->out * j->row;
  pairs p = {.begun = true};
  int64_t iw = kw * w->dilation - w->before;
  for (int64_t ow = 0; ow < w->out && iw < w->in; ow++, iw += w->stride)
    if (iw >= 0) add_pair(j, &p, out, x + iw * j->row, dy + ow * j->row);
  if (p.n) finish_pairs(j, &p, out);
}

/* Processes slices of the rows of all results.  Each slice accumulates its own filter gradient. */
static void filter_slices(void *arg, int64_t begin, int64_t end) {
  const depthwise_work *j = arg;
  const window_axis *h = &j->c->at[0], *w = &j->c->at[1];
  const int64_t rows = j->c->batch * h->out;
  for (int64_t s = begin; s < end; s++) {
    char *out = j->out + s * h->size * w->size * j->row;
    memset(out, 0, (size_t)(h->size * w->size * j->row));
    for (int64_t row = rows * s / j->slices; row < rows * (s + 1) / j->slices; row++)
      for (int64_t kh = 0; kh < h->size; kh++) {
        const int64_t ih = row % h->out * h->stride + kh * h->dilation - h->before;
        for (int64_t kw = 0; ih >= 0 && ih < h->in && kw < w->size; kw++)
          filter_row(j, row, ih, kw, out + (kh * w->size + kw) * j->row);
      }
  }
}

/* ---- repeating channels ---- */

typedef struct times_work {
  const void *from;
  void *to;
  int64_t times; /* the number of repetitions of each value */
} times_work;

#define DEFINE_TIMES(name, T)                                                                                          \
  static void name##_repeat(void *arg, int64_t begin, int64_t end) {                                                   \
    const times_work *j = arg;                                                                                         \
    T *to = (T *)j->to + begin * j->times;                                                                             \
    for (int64_t i = begin; i < end; i++)                                                                              \
      for (int64_t m = 0; m < j->times; m++) *to++ = ((const T *)j->from)[i];                                          \
  }                                                                                                                    \
  static void name##_gather(void *arg, int64_t begin, int64_t end) {                                                   \
    const times_work *j = arg;                                                                                         \
    const T *from = (const T *)j->from + begin * j->times;                                                             \
    for (int64_t i = begin; i < end; i++) {                                                                            \
      T sum = 0;                                                                                                       \
      for (int64_t m = 0; m < j->times; m++) sum += *from++;                                                           \
      ((T *)j->to)[i] = sum;                                                                                           \
    }                                                                                                                  \
  }                                                                                                                    \
  static void name##_add(T *to, const T *from, int64_t n) {                                                            \
    for (int64_t i = 0; i < n; i++) to[i] += from[i];                                                                  \
  }
DEFINE_TIMES(floats, float)
DEFINE_TIMES(doubles, double)

static void depthwise_repeat(const kernel *k, weft_dtype type, void *to, const void *from, int64_t n, int64_t times) {
  times_work j = {from, to, times};
  weft__kernel_loop(k, n, times, type == WEFT_DOUBLE ? doubles_repeat : floats_repeat, &j);
}

static void depthwise_gather(const kernel *k, weft_dtype type, void *to, const void *from, int64_t n, int64_t times) {
  times_work j = {from, to, times};
  weft__kernel_loop(k, n, times, type == WEFT_DOUBLE ? doubles_gather : floats_gather, &j);
}

/* Adds the filter gradients of all slices in order, so that the sum does not depend on the number of threads. */
static void gather_slices(weft_dtype type, void *to, const char *from, int64_t n, int64_t slices) {
  const size_t bytes = (size_t)n * weft__dtype_size(type);
  memcpy(to, from, bytes);
  for (int64_t s = 1; s < slices; s++)
    type == WEFT_DOUBLE ? doubles_add(to, (const double *)(const void *)(from + (size_t)s * bytes), n)
                        : floats_add(to, (const float *)(const void *)(from + (size_t)s * bytes), n);
}

/* ---- the kernels ---- */

/* Runs a pass. a, b and out are dense with the channels last: image and filter, filter and dy, or image and dy. */
static weft_err depthwise_compute(kernel *k, weft_dtype type, int pass, const conv *c, const void *a, const void *b,
                                  void *out) {
  const window_axis *h = &c->at[0], *w = &c->at[1];
  const int64_t times = c->out_ch / c->in_ch, pixels = c->batch * h->in * w->in, taps = h->size * w->size;
  const int64_t rows = c->batch * h->out;
  depthwise_work j = {c,
                      c->out_ch * (int64_t)weft__dtype_size(type),
                      a,
                      b,
                      out,
                      type == WEFT_DOUBLE ? sum_doubles : sum_floats,
                      type == WEFT_DOUBLE ? strip_doubles : strip_floats,
                      1};
  const int64_t cost = w->out * taps * c->out_ch / 8 + 1;
  weft_tensor wide_image = {0}, filters = {0};
  weft_err err = WEFT_OK;
  if (times > 1) err = weft__scratch(k, &wide_image, type, &SHAPE1(pixels * c->out_ch));
  if (times > 1 && !err) {
    if (pass == TO_INPUT) {
      j.out = wide_image.data;
    } else {
      depthwise_repeat(k, type, wide_image.data, a, pixels * c->in_ch, times);
      j.a = wide_image.data;
    }
  }
  if (!err && pass == TO_FILTER) {
    j.slices = rows < MAX_SLICES ? rows : MAX_SLICES;
    err = weft__scratch(k, &filters, type, &SHAPE1(j.slices * taps * c->out_ch));
    j.out = filters.data;
  }
  if (!err) {
    if (pass == FORWARD)
      err = weft__long_loop(k, rows, cost, forward_rows, &j);
    else if (pass == TO_INPUT)
      err = weft__long_loop(k, c->batch * h->in, w->in * taps * c->out_ch / 8 + 1, input_rows, &j);
    else
      err = weft__long_loop(k, j.slices, cost * (rows / j.slices), filter_slices, &j);
  }
  if (!err && pass == TO_FILTER) gather_slices(type, out, filters.data, taps * c->out_ch, j.slices);
  if (!err && pass == TO_INPUT && times > 1) depthwise_gather(k, type, out, wide_image.data, pixels * c->in_ch, times);
  weft__tensor_clear(&wide_image);
  weft__tensor_clear(&filters);
  return err;
}

static weft_err as_floats(kernel *k, int pass, bool transposed, const conv *c, const weft_tensor *a,
                          const weft_tensor *b, weft_tensor *out) {
  image_view va = {0}, vb = {0}, vout = {0};
  weft_err err = weft__image_view_in(k, &va, a, transposed && pass != TO_INPUT);
  if (!err) err = weft__image_view_in(k, &vb, b, transposed && pass != FORWARD);
  if (!err) err = weft__image_view_out(k, &vout, out, transposed && pass != TO_FILTER);
  if (!err) err = depthwise_compute(k, WEFT_FLOAT, pass, c, va.data, vb.data, vout.data);
  if (!err) weft__image_view_store(k, &vout, out, transposed && pass != TO_FILTER);
  weft__image_view_finish(&va), weft__image_view_finish(&vb), weft__image_view_finish(&vout);
  return err;
}

static weft_err depthwise_run(kernel *k, int pass, const conv *c, const weft_tensor *a, const weft_tensor *b,
                              const shape *s) {
  const window *w = k->state;
  weft_tensor *out = weft__out(k, 0, s);
  if (!out) return weft__out_refused(s);
  if (weft__tensor_count(out) == 0) return WEFT_OK;
  if (c->batch * c->at[0].out * c->at[1].out * c->out_ch == 0) { /* the gradient of an empty output is zero */
    memset(out->data, 0, weft__tensor_bytes(out));
    return WEFT_OK;
  }
  if (out->dtype != WEFT_DOUBLE) return as_floats(k, pass, w->channels_second, c, a, b, out);
  if (w->channels_second)
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "%s of doubles with the channels second", k->node->op_name);
  return depthwise_compute(k, WEFT_DOUBLE, pass, c, a->data, b->data, out->data);
}

static weft_err depthwise_sizes(const kernel *k, const shape *x, const shape *f, conv *c) {
  const window *w = k->state;
  WEFT_TRY(weft__conv_check_attrs(k, w));
  if (x->rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be 4-dimensional: %s", weft__shape_text(x));
  if (f->rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "filter must be 4-dimensional: %s", weft__shape_text(f));
  if (x->dim[w->channel] != f->dim[2])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input and filter must have the same depth: %lld vs %lld",
                             (long long)x->dim[w->channel], (long long)f->dim[2]);
  *c = (conv){
      .batch = x->dim[0], .in_ch = f->dim[2], .out_ch = weft__shape_dim_mul(f->dim[2], f->dim[3]), .groups = f->dim[2]};
  for (int i = 0; i < 2; i++) {
    c->at[i] = w->at[i];
    c->at[i].in = x->dim[w->axis[i]];
    c->at[i].size = f->dim[i];
    if (c->at[i].size <= 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "filter must not have zero elements");
    if (weft__window_place(&c->at[i], w->padding) != WEFT_OK)
      return weft__fail_in(WEFT_INVALID_ARGUMENT, "%s '%s'", k->node->op_name, k->node->name);
  }
  return WEFT_OK;
}

static weft_err depthwise_cpu(kernel *k) {
  const window *w = k->state;
  conv c;
  WEFT_TRY(depthwise_sizes(k, &k->in[0]->shape, &k->in[1]->shape, &c));
  const shape s = weft__image_shape(w, c.batch, c.at[0].out, c.at[1].out, c.out_ch);
  return depthwise_run(k, FORWARD, &c, k->in[0], k->in[1], &s);
}

static weft_err depthwise_input_cpu(kernel *k) {
  shape x;
  conv c;
  WEFT_TRY(weft__conv_shape_input(k, 0, "input_sizes", &x));
  WEFT_TRY(depthwise_sizes(k, &x, &k->in[1]->shape, &c));
  WEFT_TRY(weft__conv_check_dy(k, k->state, &c));
  return depthwise_run(k, TO_INPUT, &c, k->in[1], k->in[2], &x);
}

static weft_err depthwise_filter_cpu(kernel *k) {
  shape f;
  conv c;
  WEFT_TRY(weft__conv_shape_input(k, 1, "filter_sizes", &f));
  WEFT_TRY(depthwise_sizes(k, &k->in[0]->shape, &f, &c));
  WEFT_TRY(weft__conv_check_dy(k, k->state, &c));
  return depthwise_run(k, TO_FILTER, &c, k->in[0], k->in[2], &f);
}

/* ---- shapes ---- */

weft_err weft__depthwise_infer(infer *s) {
  window w;
  shape x, f;
  WEFT_TRY(weft__window_infer(&w, s));
  WEFT_TRY(weft__infer_rank(s, 0, 4, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 4, &f));
  const int64_t in = x.dim[w.channel];
  if (in >= 0 && f.dim[2] >= 0 && in != f.dim[2])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)in, (long long)f.dim[2]);
  for (int i = 0; i < 2; i++) {
    w.at[i].in = x.dim[w.axis[i]];
    w.at[i].size = f.dim[i];
    WEFT_TRY(weft__window_infer_place(&w.at[i], w.padding, s));
  }
  const int64_t channels = weft__shape_dim_mul(in >= 0 ? in : f.dim[2], f.dim[3]);
  s->out[0] = weft__image_shape(&w, x.dim[0], w.at[0].out, w.at[1].out, channels);
  return WEFT_OK;
}

/* The result has the shape that input i contains. */
static weft_err held_infer(infer *s, int i) {
  window w;
  WEFT_TRY(weft__window_infer(&w, s));
  WEFT_TRY(weft__infer_rank(s, 1 - i, 4, NULL));
  WEFT_TRY(weft__infer_rank(s, 2, 4, NULL));
  WEFT_TRY(weft__infer_shape_value(s, i, &s->out[0]));
  if (s->out[0].rank < 0) s->out[0] = SHAPE4(-1, -1, -1, -1);
  if (s->out[0].rank != 4) return weft__infer_fail(s, "Shape must be rank 4 but is rank %d", s->out[0].rank);
  return WEFT_OK;
}

static weft_err depthwise_input_infer(infer *s) { return held_infer(s, 0); }
static weft_err depthwise_filter_infer(infer *s) { return held_infer(s, 1); }

/* ---- gradients: each of the three is linear in two of the others ---- */

#define NATIVE "DepthwiseConv2dNative"

static weft_err depthwise_grad(backprop *b) {
  const weft_out x = b->in[0], f = b->in[1], dy = b->dout[0];
  b->din[0] = GRAD_DENSE(weft__conv_like(b, NATIVE "BackpropInput", weft__b_shape(b->graph, x), f, dy));
  b->din[1] = GRAD_DENSE(weft__conv_like(b, NATIVE "BackpropFilter", x, weft__b_shape(b->graph, f), dy));
  return weft__b_ok(b->graph);
}

static weft_err depthwise_input_grad(backprop *b) {
  const weft_out f = b->in[1], dy = b->in[2], ddx = b->dout[0];
  b->din[1] = GRAD_DENSE(weft__conv_like(b, NATIVE "BackpropFilter", ddx, weft__b_shape(b->graph, f), dy));
  b->din[2] = GRAD_DENSE(weft__conv_like(b, NATIVE, ddx, f, WEFT_NONE));
  return weft__b_ok(b->graph);
}

static weft_err depthwise_filter_grad(backprop *b) {
  const weft_out x = b->in[0], dy = b->in[2], ddf = b->dout[0];
  b->din[0] = GRAD_DENSE(weft__conv_like(b, NATIVE "BackpropInput", weft__b_shape(b->graph, x), ddf, dy));
  b->din[2] = GRAD_DENSE(weft__conv_like(b, NATIVE, x, ddf, WEFT_NONE));
  return weft__b_ok(b->graph);
}

/* TensorFlow's CPU kernel supports neither dilations nor unequal strides. */
static const op_case depthwise_cases[] = {
    {"f32[1,2,2,1] 1 2 3 4; f32[1,1,1,2] 2 -1", "f32[1,2,2,2] 2 -1 4 -2 6 -3 8 -4", "strides=[1,1,1,1] padding='VALID'",
     0},
    {"f32[2,5,6,3] rand; f32[3,3,3,1] rand", NULL, "strides=[1,1,1,1] padding='SAME'", 0},
    {"f32[2,5,6,3] rand; f32[3,2,3,4] rand", NULL, "strides=[1,2,2,1] padding='VALID'", 0},
    {"f32[1,7,8,2] rand; f32[3,3,2,1] rand", NULL, "strides=[1,3,3,1] padding='SAME'", 0},
    {"f32[1,4,4,2] rand; f32[3,3,2,2] rand", NULL,
     "strides=[1,1,1,1] padding='EXPLICIT' explicit_paddings=[0,0,1,2,0,3,0,0]", 0},
    {"f32[1,9,8,2] rand; f32[3,2,2,3] rand", NULL, "strides=[1,1,2,1] padding='SAME' dilations=[1,2,3,1]",
     CASE_NO_PARITY},
    {"f32[2,3,5,6] rand; f32[3,3,3,2] rand", NULL, "strides=[1,1,1,1] padding='SAME' data_format='NCHW'",
     CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[3,13,11,83] rand; f32[3,3,83,1] rand", NULL, "strides=[1,1,1,1] padding='SAME'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[1,12,12,5] rand; f32[9,9,5,17] rand", NULL, "strides=[1,1,1,1] padding='SAME'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[0,4,4,1] 0; f32[3,3,1,2] rand", "f32[0,4,4,2] 0", "strides=[1,1,1,1] padding='SAME'", CASE_NO_PARITY},
    {"f32[1,4,4,4] rand; f32[3,3,3,6] rand", "error INVALID_ARGUMENT", "strides=[1,1,1,1] padding='SAME'", 0},
    {"f32[4,4,4] rand; f32[3,3,4,6] rand", "error INVALID_ARGUMENT", "strides=[1,1,1,1] padding='SAME'", 0},
    {0},
};

static const op_case depthwise_input_cases[] = {
    {"i32[4] 2 5 6 3; f32[3,3,3,1] rand; f32[2,5,6,3] rand", NULL, "strides=[1,1,1,1] padding='SAME'", 0},
    {"i32[4] 2 5 6 3; f32[3,2,3,4] rand; f32[2,2,3,12] rand", NULL, "strides=[1,2,2,1] padding='VALID'", 0},
    {"i32[4] 1 4 4 2; f32[3,3,2,2] rand; f32[1,5,5,4] rand", NULL,
     "strides=[1,1,1,1] padding='EXPLICIT' explicit_paddings=[0,0,1,2,0,3,0,0]", 0},
    {"i32[4] 1 9 8 2; f32[3,2,2,3] rand; f32[1,9,4,6] rand", NULL,
     "strides=[1,1,2,1] padding='SAME' dilations=[1,2,3,1]", CASE_NO_PARITY},
    {"i32[4] 2 3 5 6; f32[3,3,3,2] rand; f32[2,6,5,6] rand", NULL,
     "strides=[1,1,1,1] padding='SAME' data_format='NCHW'", CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"i32[4] 3 13 11 83; f32[3,3,83,1] rand; f32[3,13,11,83] rand", NULL, "strides=[1,1,1,1] padding='SAME'",
     CASE_NO_GRAD},
    {"i32[4] 1 5 4 2; f32[3,3,2,3] rand; f32[1,4,4,6] rand", "error INVALID_ARGUMENT",
     "strides=[1,1,1,1] padding='SAME'", CASE_NO_PARITY},
    {0},
};

static const op_case depthwise_filter_cases[] = {
    {"f32[2,5,6,3] rand; i32[4] 3 3 3 1; f32[2,5,6,3] rand", NULL, "strides=[1,1,1,1] padding='SAME'", 0},
    {"f32[2,5,6,3] rand; i32[4] 3 2 3 4; f32[2,2,3,12] rand", NULL, "strides=[1,2,2,1] padding='VALID'", 0},
    {"f32[1,4,4,2] rand; i32[4] 3 3 2 2; f32[1,5,5,4] rand", NULL,
     "strides=[1,1,1,1] padding='EXPLICIT' explicit_paddings=[0,0,1,2,0,3,0,0]", 0},
    {"f32[1,9,8,2] rand; i32[4] 3 2 2 3; f32[1,9,4,6] rand", NULL,
     "strides=[1,1,2,1] padding='SAME' dilations=[1,2,3,1]", CASE_NO_PARITY},
    {"f32[2,3,5,6] rand; i32[4] 3 3 3 2; f32[2,6,5,6] rand", NULL,
     "strides=[1,1,1,1] padding='SAME' data_format='NCHW'", CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[3,13,11,83] rand; i32[4] 3 3 83 1; f32[3,13,11,83] rand", NULL, "strides=[1,1,1,1] padding='SAME'",
     CASE_NO_GRAD},
    {"f32[0,4,4,1] 0; i32[4] 3 3 1 2; f32[0,4,4,2] 0", "f32[3,3,1,2] 0", "strides=[1,1,1,1] padding='SAME'",
     CASE_NO_GRAD | CASE_NO_PARITY},
    {0},
};

#define ATTRS                                                                                                          \
  "T:type{half,bfloat16,float,double} strides:list(int) padding:string{'SAME','VALID','EXPLICIT'} "                    \
  "explicit_paddings:list(int)=[] data_format:string{'NHWC','NCHW'}='NHWC' dilations:list(int)=[1,1,1,1]"

OPS(depthwise) = {
    {NATIVE "(input:T, filter:T) -> (output:T) | " ATTRS, "Every window of each channel times filters of its own.",
     .infer = weft__depthwise_infer, .cpu = depthwise_cpu, .prepare = weft__window_prepare,
     .unprepare = weft__window_unprepare, .grad = depthwise_grad, .cases = depthwise_cases, .amp = AMP_ALLOW},
    {NATIVE "BackpropInput(input_sizes:int32, filter:T, out_backprop:T) -> (output:T) | " ATTRS,
     "The gradient of a depthwise convolution towards its input.", .infer = depthwise_input_infer,
     .cpu = depthwise_input_cpu, .prepare = weft__window_prepare, .unprepare = weft__window_unprepare,
     .grad = depthwise_input_grad, .cases = depthwise_input_cases, .amp = AMP_ALLOW},
    {NATIVE "BackpropFilter(input:T, filter_sizes:int32, out_backprop:T) -> (output:T) | " ATTRS,
     "The gradient of a depthwise convolution towards its filter.", .infer = depthwise_filter_infer,
     .cpu = depthwise_filter_cpu, .prepare = weft__window_prepare, .unprepare = weft__window_unprepare,
     .grad = depthwise_filter_grad, .cases = depthwise_filter_cases, .amp = AMP_ALLOW},
    {0},
};
