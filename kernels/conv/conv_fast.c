/* conv_fast.c - convolutions of float images by microkernels that read the image in place.
 *
 * With the channels last, the pixels under one row of the filter are contiguous in memory.  A microkernel
 * (microkernel.h) multiplies these runs, for several neighboring windows, with a panel of the filter.  So no im2col
 * matrix is built.  An image is copied only if it has padding, and then once.  Filter rows that meet only padding
 * are skipped.
 *
 * The gradient by the input is the same sweep over dy with the reversed filter.  A stride s gives s x s interleaved
 * results, each a sweep with every s-th row and column of the filter. */
#include "kernels/conv/conv_fast.h"

#include "base/alloc.h"
#include "base/cast.h"
#include "base/target_clones.h"
#include "kernels/work/long_work.h"
#include <string.h>

enum {
  PANEL_BYTES = 256 * 1024, /* size of a filter panel, which should stay in the L2 cache */
  LEAST_TERMS = 24,
  MOST_TERMS = 256 /* terms of a partial sum, if rounding errors must be small */
};

/* ---- an image with its padding ---- */

void weft__conv_padded_init(padded *m) {
  m->direct = m->pad[0] == 0 && m->pad[1] == 0 && m->padded[0] <= m->size[0] && m->padded[1] <= m->size[1];
  m->row = (m->direct ? m->size[1] : m->padded[1]) * m->channels;
}

const float *weft__conv_padded_rows(const padded *m, const float *src, int64_t first, int64_t n, float *scratch) {
  if (m->direct) return src + first * m->row;
  const int64_t c = m->channels, left = conv_max(m->pad[1], 0), skip = conv_max(-m->pad[1], 0);
  const int64_t width = conv_max(conv_min(m->padded[1] - left, m->size[1] - skip), 0),
                right = m->padded[1] - left - width;
  for (int64_t i = 0; i < n; i++) {
    const int64_t row = first + i - m->pad[0];
    float *dst = scratch + i * m->row;
    if (row < 0 || row >= m->size[0]) {
      memset(dst, 0, (size_t)m->row * sizeof *dst);
      continue;
    }
    memset(dst, 0, (size_t)(left * c) * sizeof *dst);
    memcpy(dst + left * c, src + (row * m->size[1] + skip) * c, (size_t)(width * c) * sizeof *dst);
    memset(dst + (left + width) * c, 0, (size_t)(right * c) * sizeof *dst);
  }
  return scratch;
}

void weft__conv_padded_inside(const padded *m, int64_t first, int64_t every, int64_t count, int64_t *begin,
                              int64_t *end) {
  /* rows of the image, relative to `first` */
  const int64_t top = m->pad[0] - first, bottom = m->pad[0] + m->size[0] - first;
  *begin = conv_min(top > 0 ? (top + every - 1) / every : 0, count);
  *end = conv_max(conv_min(bottom > 0 ? (bottom + every - 1) / every : 0, count), *begin);
}

/* ---- a sweep: computes every pixel of a result from a window over an image ---- */

void weft__conv_sweep_taps_of_row(const sweep *s, int64_t i, int64_t *begin, int64_t *end) {
  const int64_t above = s->image.pad[0] - i * s->step[0], below = above + s->image.size[0];
  *begin = 0;
  while (*begin < s->count[0] && s->offset[0][*begin] < above) ++*begin;
  *end = *begin;
  while (*end < s->count[0] && s->offset[0][*end] < below) ++*end;
}

void weft__conv_sweep_chunks(sweep *s, int64_t threads, int64_t bytes_of_row) {
  /* parts of an image, enough to keep all threads busy */
  const int64_t parts = (4 * threads + s->c->batch - 1) / s->c->batch;
  s->chunk = conv_min((s->size[0] + parts - 1) / parts, IMAGE_BYTES / conv_max(bytes_of_row, 1));
  s->chunk = conv_min(s->size[0], conv_max(1, s->chunk));
  s->chunks = (s->size[0] + s->chunk - 1) / s->chunk;
}

void weft__conv_sweep_after(const sweep *s, float *dst, int64_t rows) {
  const conv_after *after = s->transposed ? NULL : s->c->after;
  if (after) after->part(after->arg, dst, rows * s->stride[0]);
}

WEFT_TARGET_CLONES bool weft__conv_all_finite(const float *x, int64_t n) {
  const uint32_t exponent = UINT32_C(0x7f800000);
  uint32_t bad = 0;
  for (int64_t i = 0; i < n; i++) {
    uint32_t bits;
    memcpy(&bits, x + i, sizeof bits);
    bad |= (bits & exponent) == exponent;
  }
  return bad == 0;
}

void weft__conv_sweep_after_sums(sweep *s, float *dst, int64_t rows) {
  bool finite = true;
  for (int64_t i = 0; i < rows && finite; i++) {
    const float *row = dst + i * s->stride[0];
    if (s->stride[1] == s->channels) finite = weft__conv_all_finite(row, s->size[1] * s->channels);
    for (int64_t j = 0; j < s->size[1] && s->stride[1] != s->channels && finite; j++)
      finite = weft__conv_all_finite(row + j * s->stride[1], s->channels);
  }
  if (!finite) __atomic_store_n(&s->infinite, true, __ATOMIC_RELAXED);
  weft__conv_sweep_after(s, dst, rows);
}

/* Decides how taps are combined to runs, after the offsets are known. */
static void sweep_taps(sweep *s) {
  const int64_t nw = s->count[1], c = s->image.channels;
  s->merged = true;
  for (int64_t j = 1; j < nw; j++) s->merged = s->merged && s->offset[1][j] == s->offset[1][j - 1] + 1;
  for (int i = 0; i < 2; i++) {
    const int64_t last = s->count[i] ? s->offset[i][s->count[i] - 1] : 0;
    s->image.padded[i] = (s->size[i] - 1) * s->step[i] + last + 1;
  }
  weft__conv_padded_init(&s->image);
  s->taps = 0;
  s->run = s->merged ? nw * c : c;
  for (int64_t h = 0; h < s->count[0]; h++)
    for (int64_t w = 0; w < (s->merged ? nw > 0 : nw); w++)
      s->tap[s->taps++] = s->offset[0][h] * s->image.row + s->offset[1][w] * c;
}

/* Packs one panel of the filter: columns [first, first + width) of the result's channels, with zeros beyond the
 * last. */
static void pack_panel(const sweep *s, const float *f, int64_t first, int width, float *out) {
  const conv *c = s->c;
  const int64_t cols = conv_min(width, s->channels - first), in = c->in_ch, oc = c->out_ch;
  for (int64_t h = 0; h < s->count[0]; h++)
    for (int64_t w = 0; w < s->count[1]; w++) {
      const float *block = f + (s->key[0][h] * c->at[1].size + s->key[1][w]) * in * oc; /* (in, out) */
      const int64_t rows = s->transposed ? oc : in;
      if (cols < width) memset(out, 0, (size_t)(rows * width) * sizeof *out);
      if (s->transposed)
        for (int64_t j = 0; j < cols; j++)
          for (int64_t r = 0; r < rows; r++) out[r * width + j] = block[(first + j) * oc + r];
      else
        for (int64_t r = 0; r < rows; r++) memcpy(out + r * width, block + r * oc + first, (size_t)cols * sizeof *out);
      out += rows * width;
    }
}

/* The arguments of pack_panels, which packs panels of the filter in parallel. */
typedef struct pack_work {
  sweep *s;
  const float *f;
  float *out;
} pack_work;

static void pack_panels(void *arg, int64_t begin, int64_t end) {
  const pack_work *j = arg;
  const sweep *s = j->s;
  const int64_t depth = s->taps * s->run;
  int64_t first = 0, n = 0;
  for (; first < s->channels && n < end; n++) {
    const int width = weft__tile_panel(s->set, s->channels - first);
    if (n >= begin) pack_panel(s, j->f, first, width, j->out + first * depth);
    first += width;
  }
}

/* Returns the maximum number of terms in one partial sum.  Partial sums over the channels of one tap would have the
 * smallest error.  Twice as many terms have at most 1.4 times that error and cost less time. */
static int64_t part_terms(const sweep *s) {
  return s->transposed ? conv_min(conv_max(2 * s->image.channels, LEAST_TERMS), MOST_TERMS) : INT64_MAX;
}

void weft__conv_sweep_row(const sweep *s, const int64_t *tap, const float *a, float *dst, sweep_panel of, int64_t begin,
                          int64_t end, bool add) {
  const int64_t column = of.column;
  const int width = of.width;
  const float *packed = s->packed + column * s->taps * s->run;
  float spill[TILE_MAX_FLOATS];
  const int64_t cols = conv_min(width, s->channels - column), terms = part_terms(s);
  const int64_t most_rows = weft__tile_rows(s->set, width), blocks = (s->size[1] + most_rows - 1) / most_rows;
  tile t = {.tap = tap + begin,
            .a_row = s->step[1] * s->image.channels,
            .a_col = 1,
            .b_row = width,
            .b = packed + begin * s->run * width,
            .taps = end - begin,
            .run = s->run,
            .add = add};
  for (int64_t b = 0, done = 0; b < blocks; b++) {
    /* blocks of nearly equal size */
    const int rows = weft__int_sat((s->size[1] - done + blocks - b - 1) / (blocks - b));
    float *c = dst + done * s->stride[1] + column;
    t.a = a + done * t.a_row;
    t.c = c, t.c_row = s->stride[1];
    if (cols < width) {
      t.c = spill, t.c_row = width;
      for (int p = 0; add && p < rows; p++) memcpy(spill + p * width, c + p * s->stride[1], (size_t)cols * sizeof *c);
    }
    weft__tile_in_parts(weft__tile_by_row(s->set, width, rows), &t, terms);
    for (int p = 0; cols < width && p < rows; p++)
      memcpy(c + p * s->stride[1], spill + p * width, (size_t)cols * sizeof *c);
    done += rows;
  }
}

/* Computes rows [first, first + n) of the result of one image, for filter rows [begin, end).  After the last panel
 * and filter row, a row is complete, and the epilogue runs on it while it is in the L1 cache. */
static void sweep_rows(const sweep *s, const float *a, float *dst, int64_t first, int64_t n, sweep_panel of,
                       int64_t begin, int64_t end) {
  const bool last = of.column + of.width >= s->channels && end == s->count[0];
  const int64_t wide = s->merged ? 1 : s->count[1]; /* taps in one filter row */
  for (int64_t i = 0; i < n; i++) {
    int64_t top, bottom;
    weft__conv_sweep_taps_of_row(s, first + i, &top, &bottom);
    const int64_t from = conv_max(begin, top), to = conv_max(conv_min(end, bottom), from);
    if (begin == 0 || from < to) /* otherwise there is nothing to add */
      weft__conv_sweep_row(s, s->tap, a + i * s->step[0] * s->image.row, dst + i * s->stride[0], of, from * wide,
                           to * wide, begin > 0);
    if (last) weft__conv_sweep_after(s, dst + i * s->stride[0], 1);
  }
}

/* Processes units [begin, end) of work: chunks of rows, image by image. */
static void sweep_units(void *arg, int64_t begin, int64_t end) {
  sweep *s = arg;
  const int64_t last = s->count[0] ? s->offset[0][s->count[0] - 1] : 0;
  const int64_t reach = (s->chunk - 1) * s->step[0] + last + 1;
  float *scratch = s->image.direct ? NULL : weft__alloc_aligned((size_t)(reach * s->image.row) * sizeof *scratch);
  if (!s->image.direct && !scratch) {
    __atomic_store_n(&s->failed, true, __ATOMIC_RELAXED);
    return;
  }
  for (int64_t u = begin; u < end; u++) {
    const int64_t n = u / s->chunks, first = u % s->chunks * s->chunk, rows = conv_min(s->chunk, s->size[0] - first);
    const float *a = weft__conv_padded_rows(&s->image, s->src + n * s->src_image, first * s->step[0],
                                            (rows - 1) * s->step[0] + last + 1, scratch);
    float *dst = s->dst + n * s->dst_image + first * s->stride[0];
    for (int64_t column = 0; column < s->channels;) {
      const int width = weft__tile_panel(s->set, s->channels - column);
      const int64_t row_bytes = s->count[1] * s->image.channels * width * (int64_t)sizeof(float);
      const int64_t fit = conv_max(PANEL_BYTES / conv_max(row_bytes, 1), 1);
      int64_t t = 0;
      do {
        const int64_t next = conv_min(t + fit, s->count[0]);
        sweep_rows(s, a, dst, first, rows, (sweep_panel){column, width}, t, next);
        t = next;
      } while (t < s->count[0]);
      column += width;
    }
  }
  weft__free(scratch);
}

/* Returns the number of columns of the result, rounded up to whole vectors. */
static int64_t sweep_columns(const sweep *s) {
  return (s->channels + s->set->lanes - 1) / s->set->lanes * s->set->lanes;
}

weft_err weft__conv_sweep_pack(kernel *k, sweep *s, const float *f, float **packed) {
  const int64_t depth = s->taps * s->run, columns = sweep_columns(s);
  *packed = NULL;
  s->packed = f;
  /* one full panel: the filter already has the packed layout */
  if (!s->transposed && weft__tile_panel(s->set, s->channels) == s->channels) return WEFT_OK;
  s->packed = *packed = weft__alloc_aligned((size_t)(conv_max(depth * columns, 1)) * sizeof **packed);
  if (!*packed) return WEFT_OOM;
  const int64_t panels = (columns + weft__tile_width(s->set) - 1) / weft__tile_width(s->set) + 2;
  weft__kernel_loop(k, panels, depth * weft__tile_width(s->set), pack_panels, &(pack_work){s, f, *packed});
  return WEFT_OK;
}

/* Packs the filter and runs the sweep.  Taps, sizes and offsets are set. */
static weft_err sweep_run(kernel *k, sweep *s, const float *f) {
  if (s->size[0] <= 0 || s->size[1] <= 0) return WEFT_OK;
  sweep_taps(s);
  s->infinite = false;
  if (weft__conv_amx_fits(s)) {
    WEFT_TRY(weft__conv_amx_sweep(k, s, f));
    if (!s->infinite) return WEFT_OK;
    s->infinite = false;
  }
  const bool square = weft__winograd_2d_fits(s), row = !square && weft__winograd_1d_fits(s);
  if (square) WEFT_TRY(weft__winograd_2d_sweep(k, s, f));
  if (row) WEFT_TRY(weft__winograd_1d_sweep(k, s, f));
  if ((square || row) && !s->infinite) return WEFT_OK;
  sweep_taps(s); /* again, because the offsets have changed */
  float *packed = NULL;
  WEFT_TRY(weft__conv_sweep_pack(k, s, f, &packed));
  weft__conv_sweep_chunks(s, weft__kernel_threads(k), s->image.row * s->step[0] * (int64_t)sizeof(float));
  const int64_t cost = 2 * s->chunk * s->size[1] * (s->taps * s->run + 1) * sweep_columns(s) / FLOPS_PER_NS;
  const weft_err err = weft__long_loop(k, s->c->batch * s->chunks, cost + 1, sweep_units, s);
  weft__free(packed);
  if (err) return err;
  return s->failed ? weft__fail(WEFT_OOM, "a convolution needs memory for a columns image") : WEFT_OK;
}

/* Allocates the taps of both axes. */
static weft_err sweep_room(sweep *s, const conv *c) {
  const int64_t h = c->at[0].size, w = c->at[1].size;
  int64_t *room = weft__alloc((size_t)(2 * h + 2 * w + h * w) * sizeof *room);
  if (!room) return WEFT_OOM;
  s->offset[0] = room, s->key[0] = room + h;
  s->offset[1] = room + 2 * h, s->key[1] = room + 2 * h + w;
  s->tap = room + 2 * h + 2 * w;
  s->c = c;
  s->set = weft__tile_set();
  return WEFT_OK;
}

weft_err weft__conv_forward(kernel *k, const conv *c, const float *x, const float *f, float *y) {
  sweep s = {.src = x, .dst = y, .channels = c->out_ch, .image = {.channels = c->in_ch}};
  WEFT_TRY(sweep_room(&s, c));
  for (int i = 0; i < 2; i++) {
    const window_axis *a = &c->at[i];
    s.image.size[i] = a->in, s.image.pad[i] = a->before, s.step[i] = a->stride;
    s.size[i] = a->out, s.count[i] = a->size;
    for (int64_t j = 0; j < a->size; j++) s.offset[i][j] = j * a->dilation, s.key[i][j] = j;
  }
  s.stride[0] = c->at[1].out * c->out_ch, s.stride[1] = c->out_ch;
  s.src_image = c->at[0].in * c->at[1].in * c->in_ch;
  s.dst_image = c->at[0].out * c->at[1].out * c->out_ch;
  const weft_err err = sweep_run(k, &s, f);
  weft__free(s.offset[0]);
  return err;
}

/* Sets the taps of one phase of an axis: pixel phase + stride * i of dx gets filter row j from dy at i + offset. */
static void phase_taps(sweep *s, int i, const window_axis *a, int64_t phase) {
  int64_t n = 0;
  for (int64_t j = a->size - 1; j >= 0; j--) {
    const int64_t at = phase + a->before - j * a->dilation;
    if (at % a->stride) continue;
    s->offset[i][n] = at / a->stride;
    s->key[i][n++] = j;
  }
  s->count[i] = n;
  s->image.pad[i] = n ? -s->offset[i][0] : 0;
  for (int64_t t = 0; t < n; t++) s->offset[i][t] += s->image.pad[i];
  s->size[i] = (a->in - phase + a->stride - 1) / a->stride;
}

weft_err weft__conv_input(kernel *k, const conv *c, const float *f, const float *dy, float *dx) {
  const window_axis *h = &c->at[0], *w = &c->at[1];
  sweep s = {.src = dy, .channels = c->in_ch, .image = {.channels = c->out_ch}, .transposed = true, .step = {1, 1}};
  WEFT_TRY(sweep_room(&s, c));
  s.image.size[0] = h->out, s.image.size[1] = w->out;
  s.stride[0] = h->stride * w->in * c->in_ch, s.stride[1] = w->stride * c->in_ch;
  s.src_image = h->out * w->out * c->out_ch;
  s.dst_image = h->in * w->in * c->in_ch;
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < h->stride && i < h->in && !err; i++)
    for (int64_t j = 0; j < w->stride && j < w->in && !err; j++) {
      phase_taps(&s, 0, h, i);
      phase_taps(&s, 1, w, j);
      s.dst = dx + (i * w->in + j) * c->in_ch;
      err = sweep_run(k, &s, f);
    }
  weft__free(s.offset[0]);
  return err;
}
