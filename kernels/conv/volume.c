/* volume.c - gathers windows of volumes into matrices, and computes the three products of a 3-D convolution.
 *
 * Forward: gathered windows times the filter.  Gradient by the filter: for each tap, the transposed gathered pixels
 * times dy.  Gradient by the input: for each tap, dy times the transposed filter, added to the pixels that the tap
 * reads.  No two units of work write to the same element. */
#include "kernels/conv/volume.h"

#include "base/alloc.h"
#include "base/cast.h"
#include "kernels/conv/conv.h"
#include "kernels/gemm/gemm.h"
#include "kernels/work/long_work.h"
#include <stdio.h>
#include <string.h>

enum { BLOCK_BYTES = 256 * 1024, FLOPS_PER_NS = 16 };

/* ---- windows of nodes ---- */

/* Reads a list of five integers by name; without the attribute, all are 1. */
static weft_err volume_five(const weft_node *n, const char *name, const char *kind, int64_t *out) {
  const attr *a = weft__node_attr(n, name);
  for (int i = 0; i < 5; i++) out[i] = 1;
  if (!a) return WEFT_OK;
  if (a->kind != ATTR_INT || !a->is_list || a->n != 5)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s requires the %s attribute to contain 5 values, but got: %d", kind,
                      name, a->n);
  for (int i = 0; i < 5; i++) {
    if (!weft__fits_int(a->is[i]))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Attr %s has value %lld out of range for an int32", name,
                        (long long)a->is[i]);
    out[i] = a->is[i];
  }
  return WEFT_OK;
}

static weft_err volume_sizes(volume_window *w, const weft_node *node) {
  int64_t v[5];
  WEFT_TRY(volume_five(node, "ksize", "Pool3D", v));
  w->batch_size = v[0], w->channel_size = v[w->channel];
  for (int i = 0; i < 3; i++) w->at[i].size = v[w->axis[i]];
  for (int i = 0; i < 5; i++)
    if (v[i] <= 0)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Sliding window ksize for dimension %d was zero or negative: %lld", i,
                        (long long)v[i]);
  return WEFT_OK;
}

weft_err weft__volume_window_read(volume_window *w, const weft_node *node) {
  const bool pools = weft__node_attr(node, "ksize") != NULL;
  int64_t stride[5], dilation[5];
  *w = (volume_window){.channels_second = weft__node_str_is(node, "data_format", "NCDHW"),
                       .padding = weft__node_str_is(node, "padding", "SAME") ? PAD_SAME : PAD_VALID};
  w->channel = w->channels_second ? 1 : 4;
  WEFT_TRY(volume_five(node, "dilations", "Conv3D", dilation));
  WEFT_TRY(volume_five(node, "strides", pools ? "Pool3D" : "Conv3D", stride));
  w->batch_stride = stride[0], w->channel_stride = stride[w->channel];
  w->batch_dilation = dilation[0], w->channel_dilation = dilation[w->channel];
  for (int i = 0; i < 3; i++) {
    const int at = w->axis[i] = (w->channels_second ? 2 : 1) + i;
    w->at[i] = (window_axis){.size = -1, .in = -1, .out = -1, .stride = stride[at], .dilation = dilation[at]};
    if (stride[at] <= 0)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Stride must be > 0, but got %lld", (long long)stride[at]);
    if (dilation[at] < 1)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Dilation rate must be >= 1, but got %lld", (long long)dilation[at]);
  }
  return pools ? volume_sizes(w, node) : WEFT_OK;
}

weft_err weft__volume_window_infer(volume_window *w, infer *s) {
  char why[512];
  if (weft__volume_window_read(w, s->node) == WEFT_OK) return WEFT_OK;
  snprintf(why, sizeof why, "%s", weft__error_message());
  return weft__infer_fail(s, "%s", why);
}

weft_err weft__volume_prepare(const weft_node *node, void **state) {
  volume_window *w = weft__alloc(sizeof *w);
  if (!w) return WEFT_OOM;
  const weft_err err = weft__volume_window_read(w, node);
  if (err) weft__free(w);
  *state = err ? NULL : w;
  return err;
}

void weft__volume_unprepare(void *state) { weft__free(state); }

shape weft__volume_shape(const volume_window *w, int64_t batch, const int64_t *sizes, int64_t channels) {
  shape s = {.rank = 5, .dim = {batch}};
  s.dim[w->channel] = channels;
  for (int i = 0; i < 3; i++) s.dim[w->axis[i]] = sizes[i];
  return s;
}

/* ---- the sizes of a node ---- */

/* Places the windows in a volume of shape s; the axes have their sizes. */
static weft_err volume_place(const kernel *k, const volume_window *w, const shape *s, window_axis at[3]) {
  for (int i = 0; i < 3; i++) {
    at[i].in = s->dim[w->axis[i]];
    if (weft__window_place(&at[i], w->padding) != WEFT_OK)
      return weft__fail_in(WEFT_INVALID_ARGUMENT, "%s '%s'", k->node->op_name, k->node->name);
  }
  return WEFT_OK;
}

weft_err weft__volume_groups(const kernel *k, volume *v, int64_t filter_in) {
  if (v->in_ch <= 0 || filter_in <= 0 || v->in_ch % filter_in)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input depth %lld is not a multiple of filter depth %lld",
                             (long long)v->in_ch, (long long)filter_in);
  v->groups = v->in_ch / filter_in;
  if (v->out_ch % v->groups)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "output depth must be evenly divisible by number of groups: %lld vs %lld",
                             (long long)v->out_ch, (long long)v->groups);
  return WEFT_OK;
}

weft_err weft__volume_conv(const kernel *k, const volume_window *w, const shape *x, const shape *f, volume *v) {
  if (w->batch_stride != 1 || w->channel_stride != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Current implementation does not yet support strides in the batch and depth dimensions.");
  if (w->batch_dilation != 1 || w->channel_dilation != 1)
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "Current implementation does not yet support dilations in the batch and depth dimensions.");
  if (x->rank != 5) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be 5-dimensional");
  if (f->rank != 5) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "filter must be 5-dimensional");
  for (int i = 0; i < 5; i++)
    if (f->dim[i] <= 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "filter must not have zero elements (i.e. all dimensions must be non-zero)");
  *v = (volume){.batch = x->dim[0], .in_ch = x->dim[w->channel], .out_ch = f->dim[4]};
  v->channels_second = w->channels_second;
  WEFT_TRY(weft__volume_groups(k, v, f->dim[3]));
  for (int i = 0; i < 3; i++) v->at[i] = w->at[i], v->at[i].size = f->dim[i];
  return volume_place(k, w, x, v->at);
}

weft_err weft__volume_pool(const kernel *k, const volume_window *w, const shape *s, window_axis at[3]) {
  if (s->rank != 5) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "tensor_in must be 5-dimensional");
  if (w->batch_size != 1 || w->channel_size != 1 || w->batch_stride != 1 || w->channel_stride != 1)
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "Pooling is not yet supported on the batch nor channel dimension.");
  for (int i = 0; i < 3; i++) at[i] = w->at[i];
  return volume_place(k, w, s, at);
}

/* ---- gathering ---- */

typedef struct volume_work {
  const volume *v;
  const void *a, *b; /* the two inputs, in the order of the function's arguments */
  void *out;
  int64_t in_pixels, out_pixels, taps; /* pixels of one volume; taps of the filter */
  int64_t in, out_group;               /* channels of a group */
  int64_t block, blocks;               /* pixels in a block, blocks in a volume */
  int64_t chunk, chunks;               /* input channels in a unit of work, such units in a group */
  bool failed;                         /* no memory; written by any thread, only ever to true */
} volume_work;

static size_t volume_element(const volume_work *j) { return weft__dtype_size(j->v->type); }
static int64_t volume_smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Computes the coordinates of an output pixel, or the offsets of a tap. */
static void volume_unflatten(const volume *v, int64_t flat, bool is_tap, int64_t *at) {
  for (int i = 2; i >= 0; i--) {
    const int64_t n = is_tap ? v->at[i].size : v->at[i].out;
    at[i] = flat % n;
    flat /= n;
  }
}

/* Returns the input pixel that a tap reads for an output pixel, or -1 for padding. */
static int64_t volume_source(const volume *v, const int64_t *pixel, const int64_t *tap) {
  int64_t flat = 0;
  for (int i = 0; i < 3; i++) {
    const window_axis *a = &v->at[i];
    const int64_t at = pixel[i] * a->stride + tap[i] * a->dilation - a->before;
    if (at < 0 || at >= a->in) return -1;
    flat = flat * a->in + at;
  }
  return flat;
}

static void volume_next(const volume *v, int64_t *pixel) {
  for (int i = 2; i >= 0; i--) {
    if (++pixel[i] < v->at[i].out || i == 0) return;
    pixel[i] = 0;
  }
}

/* Copies n channels of an input pixel, from channel `first` on, to dst; zeros for padding. */
static void volume_copy_pixel(const volume_work *j, const char *x, int64_t source, int64_t first, int64_t n,
                              char *dst) {
  const size_t size = volume_element(j);
  if (source < 0) {
    memset(dst, 0, (size_t)n * size);
    return;
  }
  if (!j->v->channels_second) {
    memcpy(dst, x + (size_t)(source * j->v->in_ch + first) * size, (size_t)n * size);
    return;
  }
  const char *from = x + (size_t)(first * j->in_pixels + source) * size;
  for (int64_t c = 0; c < n; c++, from += (size_t)j->in_pixels * size, dst += size) memcpy(dst, from, size);
}

/* The windows of `count` output pixels from `first` on: taps [tap, end), channels [channel, channel + n). */
typedef struct gather {
  const char *x; /* one volume */
  int64_t first, count, tap, end, channel, n;
  char *rows;
} gather;

static void volume_gather(const volume_work *j, const gather *g) {
  const size_t width = (size_t)g->n * volume_element(j), row = width * (size_t)(g->end - g->tap);
  for (int64_t t = g->tap; t < g->end; t++) {
    int64_t tap[3], pixel[3];
    volume_unflatten(j->v, t, true, tap);
    volume_unflatten(j->v, g->first, false, pixel);
    char *dst = g->rows + (size_t)(t - g->tap) * width;
    for (int64_t p = 0; p < g->count; p++, dst += row, volume_next(j->v, pixel))
      volume_copy_pixel(j, g->x, volume_source(j->v, pixel, tap), g->channel, g->n, dst);
  }
}

/* Output pixels [first, first + count) of a volume as a matrix operand.  Rows are pixels; with the channels second,
 * columns are pixels, and `transposed` is set. */
typedef struct pixels {
  char *data;
  int64_t ld;
  bool transposed;
} pixels;

static pixels volume_pixels(const volume_work *j, const void *y, int64_t n, int64_t group, int64_t first) {
  const volume *v = j->v;
  const size_t size = volume_element(j);
  char *image = (char *)(uintptr_t)y + (size_t)(n * j->out_pixels * v->out_ch) * size;
  const int64_t channel = group * j->out_group;
  if (v->channels_second)
    return (pixels){image + (size_t)(channel * j->out_pixels + first) * size, j->out_pixels, true};
  return (pixels){image + (size_t)(first * v->out_ch + channel) * size, v->out_ch, false};
}

/* ---- forward ---- */

static void volume_forward_block(const volume_work *j, int64_t n, int64_t group, int64_t first, char *rows) {
  const volume *v = j->v;
  const size_t size = volume_element(j);
  const int64_t count = volume_smaller(j->block, j->out_pixels - first), depth = j->taps * j->in;
  const char *x = (const char *)j->a + (size_t)(n * j->in_pixels * v->in_ch) * size;
  volume_gather(j, &(gather){x, first, count, 0, j->taps, group * j->in, j->in, rows});
  const char *f = (const char *)j->b + (size_t)(group * j->out_group) * size;
  const pixels y = volume_pixels(j, j->out, n, group, first);
  gemm g = {.type = v->type, .m = count, .n = j->out_group, .k = depth, .a = rows, .lda = depth};
  g.b = f, g.ldb = v->out_ch, g.c = y.data, g.ldc = y.ld;
  if (y.transposed) { /* c' = b' a' */
    g.m = j->out_group, g.n = count;
    g.a = f, g.lda = v->out_ch, g.ta = true;
    g.b = rows, g.ldb = depth, g.tb = true;
  }
  weft__gemm_serial(&g);
}

/* Units are (volume, group, block). */
static void volume_forward_units(void *arg, int64_t begin, int64_t end) {
  volume_work *j = arg;
  char *rows = weft__alloc((size_t)(j->block * j->taps * j->in) * volume_element(j));
  if (!rows) {
    j->failed = true;
    return;
  }
  for (int64_t u = begin; u < end; u++) {
    const int64_t block = u % j->blocks, group = u / j->blocks % j->v->groups, n = u / j->blocks / j->v->groups;
    volume_forward_block(j, n, group, block * j->block, rows);
  }
  weft__free(rows);
}

/* ---- the gradient by the filter ---- */

static void volume_filter_unit(const volume_work *j, int64_t tap, int64_t group, int64_t chunk, char *rows) {
  const volume *v = j->v;
  const size_t size = volume_element(j);
  const int64_t first_ch = chunk * j->chunk, n_ch = volume_smaller(j->chunk, j->in - first_ch);
  char *df = (char *)j->out + (size_t)((tap * j->in + first_ch) * v->out_ch + group * j->out_group) * size;
  gemm g = {.type = v->type, .m = n_ch, .n = j->out_group, .a = rows, .lda = n_ch, .ta = true, .c = df};
  g.ldc = v->out_ch;
  for (int64_t n = 0; n < v->batch; n++)
    for (int64_t first = 0; first < j->out_pixels; first += j->block) {
      const int64_t count = volume_smaller(j->block, j->out_pixels - first);
      const char *x = (const char *)j->a + (size_t)(n * j->in_pixels * v->in_ch) * size;
      volume_gather(j, &(gather){x, first, count, tap, tap + 1, group * j->in + first_ch, n_ch, rows});
      const pixels dy = volume_pixels(j, j->b, n, group, first);
      g.k = count, g.b = dy.data, g.ldb = dy.ld, g.tb = dy.transposed;
      weft__gemm_serial(&g);
      g.accumulate = true;
    }
}

/* Units are (tap, group, chunk of channels). */
static void volume_filter_units(void *arg, int64_t begin, int64_t end) {
  volume_work *j = arg;
  char *rows = weft__alloc((size_t)(j->block * j->chunk) * volume_element(j));
  if (!rows) {
    j->failed = true;
    return;
  }
  for (int64_t u = begin; u < end; u++)
    volume_filter_unit(j, u / j->chunks / j->v->groups, u / j->chunks % j->v->groups, u % j->chunks, rows);
  weft__free(rows);
}

/* ---- the gradient by the input ---- */

#define DEFINE_ADD_PIXEL(T, U)                                                                                         \
  static void add_pixel_##T(char *to, int64_t apart, const char *from, int64_t n) {                                    \
    T *d = (T *)(void *)to;                                                                                            \
    const T *s = (const T *)(const void *)from;                                                                        \
    if (apart == 1)                                                                                                    \
      for (int64_t c = 0; c < n; c++) d[c] = (T)((U)d[c] + (U)s[c]);                                                   \
    else                                                                                                               \
      for (int64_t c = 0; c < n; c++) d[c * apart] = (T)((U)d[c * apart] + (U)s[c]);                                   \
  }
DEFINE_ADD_PIXEL(float, float)
DEFINE_ADD_PIXEL(double, double)
DEFINE_ADD_PIXEL(int32_t, uint32_t)

static void volume_add_pixel(const volume_work *j, char *dx, int64_t source, int64_t first, int64_t n,
                             const char *from) {
  const bool second = j->v->channels_second;
  const int64_t at = second ? first * j->in_pixels + source : source * j->v->in_ch + first;
  const int64_t apart = second ? j->in_pixels : 1;
  char *to = dx + (size_t)at * volume_element(j);
  if (j->v->type == WEFT_FLOAT)
    add_pixel_float(to, apart, from, n);
  else if (j->v->type == WEFT_DOUBLE)
    add_pixel_double(to, apart, from, n);
  else
    add_pixel_int32_t(to, apart, from, n);
}

/* Adds the contribution of one tap, from a block of output pixels, to the input. */
static void volume_scatter(const volume_work *j, int64_t t, int64_t first, int64_t count, char *dx, int64_t channel,
                           int64_t n, const char *rows) {
  int64_t tap[3], pixel[3];
  volume_unflatten(j->v, t, true, tap);
  volume_unflatten(j->v, first, false, pixel);
  for (int64_t p = 0; p < count; p++, rows += (size_t)n * volume_element(j), volume_next(j->v, pixel)) {
    const int64_t source = volume_source(j->v, pixel, tap);
    if (source >= 0) volume_add_pixel(j, dx, source, channel, n, rows);
  }
}

static void volume_input_unit(const volume_work *j, int64_t n, int64_t group, int64_t chunk, char *rows) {
  const volume *v = j->v;
  const size_t size = volume_element(j);
  const int64_t first_ch = chunk * j->chunk, n_ch = volume_smaller(j->chunk, j->in - first_ch);
  char *dx = (char *)j->out + (size_t)(n * j->in_pixels * v->in_ch) * size;
  gemm g = {.type = v->type, .n = n_ch, .k = j->out_group, .tb = true, .ldb = v->out_ch, .c = rows, .ldc = n_ch};
  for (int64_t first = 0; first < j->out_pixels; first += j->block) {
    const pixels dy = volume_pixels(j, j->b, n, group, first);
    g.m = volume_smaller(j->block, j->out_pixels - first), g.a = dy.data, g.lda = dy.ld, g.ta = dy.transposed;
    for (int64_t t = 0; t < j->taps; t++) {
      g.b = (const char *)j->a + (size_t)((t * j->in + first_ch) * v->out_ch + group * j->out_group) * size;
      weft__gemm_serial(&g);
      volume_scatter(j, t, first, g.m, dx, group * j->in + first_ch, n_ch, rows);
    }
  }
}

/* Units are (volume, group, chunk of channels). */
static void volume_input_units(void *arg, int64_t begin, int64_t end) {
  volume_work *j = arg;
  char *rows = weft__alloc((size_t)(j->block * j->chunk) * volume_element(j));
  if (!rows) {
    j->failed = true;
    return;
  }
  for (int64_t u = begin; u < end; u++)
    volume_input_unit(j, u / j->chunks / j->v->groups, u / j->chunks % j->v->groups, u % j->chunks, rows);
  weft__free(rows);
}

/* ---- the three passes ---- */

/* `row` is the number of elements of one output pixel in a block. */
static volume_work volume_job_of(const volume *v, const void *a, const void *b, void *out, int64_t row) {
  volume_work j = {.v = v, .a = a, .b = b, .out = out, .in_pixels = 1, .out_pixels = 1, .taps = 1, .chunks = 1};
  for (int i = 0; i < 3; i++) {
    j.in_pixels *= v->at[i].in;
    j.out_pixels *= v->at[i].out;
    j.taps *= v->at[i].size;
  }
  j.in = j.chunk = v->in_ch / v->groups, j.out_group = v->out_ch / v->groups;
  const int64_t bytes = row * (int64_t)volume_element(&j);
  j.block = volume_smaller(BLOCK_BYTES / (bytes > 0 ? bytes : 1) + 1, j.out_pixels);
  if (j.block < 8) j.block = volume_smaller(8, j.out_pixels);
  j.blocks = (j.out_pixels + j.block - 1) / j.block;
  return j;
}

/* Splits the channels until there are enough units for all threads. */
static void volume_split(const kernel *k, volume_work *j, int64_t units) {
  const int64_t threads = k->step && k->step->intra ? weft__pool_threads(k->step->intra) : 1;
  while (units * j->chunks < threads && j->chunk > 16) {
    j->chunk = (j->chunk + 1) / 2;
    j->chunks = (j->in + j->chunk - 1) / j->chunk;
  }
}

static weft_err volume_run(kernel *k, volume_work *j, int64_t units, pool_loop *loop) {
  const volume *v = j->v;
  const double products =
      (double)v->batch * (double)j->out_pixels * (double)j->taps * (double)j->in * (double)v->out_ch;
  const double each = products / (double)(units > 0 ? units : 1) / FLOPS_PER_NS + 1;
  WEFT_TRY(weft__long_loop(k, units, each < 1e15 ? (int64_t)each : INT64_C(1000000000000000), loop, j));
  if (!j->failed) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_RESOURCE_EXHAUSTED, "no memory for a block of %lld windows", (long long)j->block);
}

/* Returns true if the microkernels of images can run the convolution in place (conv_volume.c), and stores it in c. */
static bool volume_is_plain(const volume *v, conv *c) {
  *c = (conv){.batch = v->batch, .in_ch = v->in_ch, .out_ch = v->out_ch, .groups = 1, .depth = v->at[0]};
  c->at[0] = v->at[1], c->at[1] = v->at[2];
  /* a stride that passes the whole volume by would only make phases without a pixel */
  for (int i = 0; i < 3; i++)
    if (v->at[i].stride > v->at[i].in + v->at[i].size) return false;
  return v->type == WEFT_FLOAT && !v->channels_second && v->groups == 1;
}

static int64_t volume_taps(const volume *v) { return v->at[0].size * v->at[1].size * v->at[2].size; }

weft_err weft__volume_forward(kernel *k, const volume *v, const void *x, const void *f, void *y) {
  conv c;
  if (volume_is_plain(v, &c)) return weft__conv_volume_forward(k, &c, x, f, y);
  volume_work j = volume_job_of(v, x, f, y, volume_taps(v) * v->in_ch / v->groups);
  return volume_run(k, &j, v->batch * v->groups * j.blocks, volume_forward_units);
}

weft_err weft__volume_input(kernel *k, const volume *v, const void *f, const void *dy, void *dx) {
  conv c;
  if (volume_is_plain(v, &c)) return weft__conv_volume_input(k, &c, f, dy, dx);
  volume_work j = volume_job_of(v, f, dy, dx, v->in_ch / v->groups);
  volume_split(k, &j, v->batch * v->groups);
  memset(dx, 0, (size_t)(v->batch * j.in_pixels * v->in_ch) * volume_element(&j));
  return volume_run(k, &j, v->batch * v->groups * j.chunks, volume_input_units);
}

weft_err weft__volume_filter(kernel *k, const volume *v, const void *x, const void *dy, void *df) {
  conv c;
  if (volume_is_plain(v, &c)) return weft__conv_filter(k, &c, x, dy, df);
  volume_work j = volume_job_of(v, x, dy, df, v->in_ch / v->groups);
  volume_split(k, &j, j.taps * v->groups);
  return volume_run(k, &j, j.taps * v->groups * j.chunks, volume_filter_units);
}
