/* conv_winograd_2d.c - convolutions with filters of 5 x 5 and 3 x 3 with fewer products in both directions.
 *
 * conv_winograd_1d.c transforms along a row; this file transforms down the columns as well. 2 x 2 results of a 5 x 5
 * filter take 36 products between 36 sums of 6 x 6 pixels and 36 sums of the filter, in place of 100, or of 60 in
 * one direction.  The 36 are independent, so each is a matrix product: (squares, channels) times (channels, output
 * channels).  The sums are computed on whole vectors of channels (conv_sums.c).
 *
 * Without oneDNN (as on aarch64), TensorFlow computes the gradient by the input with one short sum per tap, which
 * has small rounding errors.  In that case this gradient uses schemes that round less: 49 products for 5 x 5, 16 in
 * place of 36 for 3 x 3, and partial sums.
 *
 * Every unit of work reads the transformed filter.  So wide filters are left to conv_winograd_1d.c or plain tiles;
 * here they would be limited by memory bandwidth.  The gradient by a filter is not computed here either, because its
 * error at a corner of the filter would be ten times that of a plain sum. docs/decisions.md has the measurements. */
#include "base/alloc.h"
#include "base/cast.h"
#include "kernels/conv/conv_fast.h"
#include "kernels/conv/conv_sums.h"
#include "kernels/work/long_work.h"
#include <string.h>

enum {
  FEW_PIXELS = 256,
  FEW_CHANNELS = 32,        /* with fewer channels the error would exceed 1.6 times that of a plain sum */
  MOST_TERMS = 64,          /* terms of a partial sum, if rounding errors must be small */
  FILTER_BYTES = 640 * 1024 /* size of a panel of the transformed filter, which should stay in the L2 cache */
};

static int64_t winograd_2d_halves(int64_t n) { return (n + SQUARE_RESULTS - 1) / SQUARE_RESULTS; }

/* Finds which pixels of a patch exist along one axis: the patch has `size` pixels from `first` on, the axis has `n`. */
static void patch_axis(patch *p, int axis, int64_t first, int64_t n, int size) {
  p->begin[axis] = weft__int_sat(conv_min(conv_max(-first, 0), size));
  p->end[axis] = weft__int_sat(conv_max(conv_min(n - first, size), p->begin[axis]));
}

static bool are_neighbors(const int64_t *offset, int64_t n) {
  for (int64_t i = 1; i < n; i++)
    if (offset[i] != offset[i - 1] + 1) return false;
  return true;
}

/* Returns the width of the widest panel. */
static int64_t width_of(const sweep *s) { return conv_min(s->channels, weft__tile_width(s->set)); }

static int64_t points_of(const winograd_2d_transforms *m) { return (int64_t)m->points * m->points; }

/* Returns the scheme for this sweep, or NULL if there is none for the filter or if it would round too much. */
static const winograd_2d_transforms *sweep_transforms(const sweep *s) {
  if (s->count[0] != s->count[1]) return NULL;
  const bool exact = weft__sweep_is_exact(s);
  if (s->count[0] == 5) return weft__winograd_2d_transforms(s->set, exact ? SQUARE_SEVEN : SQUARE_SIX);
  return s->count[0] == 3 && exact ? weft__winograd_2d_transforms(s->set, SQUARE_FOUR) : NULL;
}

bool weft__winograd_2d_fits(const sweep *s) {
  const winograd_2d_transforms *m = sweep_transforms(s);
  for (int i = 0; i < 2; i++)
    if (!m || s->step[i] != 1 || !are_neighbors(s->offset[i], s->count[i])) return false;
  const int64_t in = s->image.channels, out = s->channels, lanes = s->set->lanes;
  const int64_t panel = points_of(m) * in * width_of(s) * (int64_t)sizeof(float);
  return in >= FEW_CHANNELS && in % lanes == 0 && out % lanes == 0 && panel <= FILTER_BYTES &&
         s->c->batch * s->size[0] * s->size[1] >= FEW_PIXELS;
}

typedef struct square_work {
  sweep *s;
  const winograd_2d_transforms *sums;
  const float *f;
  float *packed;  /* panels of (points, channels, width) */
  int64_t across; /* squares along a row */
  int64_t most;   /* squares in a unit of work */
} square_work;

/* Transforms the filter for channels [begin, end) of the image, all panels. */
static void pack_sums(void *arg, int64_t begin, int64_t end) {
  const square_work *j = arg;
  const sweep *s = j->s;
  const conv *c = s->c;
  const int64_t oc = c->out_ch, channels = s->image.channels;
  const int64_t taps = j->sums->taps, points = points_of(j->sums);
  float g[SQUARE_MAX_FILTER * SQUARE_MAX_FILTER * TILE_MAX_WIDTH];
  int width;
  for (int64_t first = 0; first < s->channels; first += width) {
    width = weft__tile_panel(s->set, s->channels - first);
    float *out = j->packed + first * points * channels;
    for (int64_t r = begin; r < end; r++) {
      float *to = g;
      for (int64_t h = 0; h < taps; h++)
        for (int64_t w = 0; w < taps; w++, to += width) {
          const float *block = j->f + (s->key[0][h] * c->at[1].size + s->key[1][w]) * c->in_ch * oc; /* (in, out) */
          for (int64_t i = 0; i < width && s->transposed; i++) to[i] = block[(first + i) * oc + r];
          if (!s->transposed) memcpy(to, block + r * oc + first, (size_t)width * sizeof *to);
        }
      j->sums->filter(g, width, out + r * width, channels * width, width);
    }
  }
}

/* Computes u, the transform of `down` rows of squares: (points, squares, channels). `first` is their first row of
 * results. */
static void winograd_2d_fill(const square_work *j, const float *src, int64_t first, int64_t down, float *u) {
  const padded *m = &j->s->image;
  patch d = {.image = (float *)(uintptr_t)src, .row = m->size[1] * m->channels, .pixel = m->channels};
  for (int64_t i = 0; i < down; i++) {
    const int64_t row = first + i * SQUARE_RESULTS - m->pad[0];
    patch_axis(&d, 0, row, m->size[0], j->sums->reach);
    for (int64_t k = 0; k < j->across; k++, u += m->channels) {
      const int64_t column = k * SQUARE_RESULTS - m->pad[1];
      patch_axis(&d, 1, column, m->size[1], j->sums->reach);
      d.corner = row * d.row + column * d.pixel;
      j->sums->pixels(&d, u, j->most * m->channels, m->channels);
    }
  }
}

/* Returns the number of terms in one partial sum.  Two partial sums keep the error in bounds, of 64 channels or
 * fewer. */
static int64_t part_terms(const sweep *s) {
  return weft__sweep_is_exact(s) ? conv_min(conv_max((s->image.channels + 1) / 2, 16), MOST_TERMS) : INT64_MAX;
}

/* Computes m = u times the panel, at one point. */
static void winograd_2d_multiply(const square_work *j, const float *u, int64_t n, const float *panel, int width,
                                 float *m) {
  static const int64_t no_tap[1] = {0};
  const int64_t c = j->s->image.channels, most_rows = weft__tile_rows(j->s->set, width);
  const int64_t blocks = (n + most_rows - 1) / most_rows, terms = part_terms(j->s);
  tile t = {.tap = no_tap, .a_row = c, .a_col = 1, .b = panel, .b_row = width, .taps = 1, .run = c, .c_row = width};
  for (int64_t b = 0, done = 0; b < blocks; b++) {
    const int rows = weft__int_sat((n - done + blocks - b - 1) / (blocks - b));
    t.a = u + done * c;
    t.c = m + done * width;
    weft__tile_in_parts(weft__tile_by_row(j->s->set, width, rows), &t, terms);
    done += rows;
  }
}

/* Computes `rows` rows of the result from the products at all points.  After the last panel, the epilogue runs on
 * them while they are in the L1 cache. */
static void winograd_2d_gather(const square_work *j, const float *m, int64_t rows, int64_t column, int width,
                               float *dst) {
  sweep *s = j->s;
  patch y = {.image = dst + column, .row = s->stride[0], .pixel = s->stride[1]};
  for (int64_t i = 0; i < rows; i += SQUARE_RESULTS) {
    patch_axis(&y, 0, i, rows, SQUARE_RESULTS);
    for (int64_t k = 0; k < s->size[1]; k += SQUARE_RESULTS, m += width) {
      patch_axis(&y, 1, k, s->size[1], SQUARE_RESULTS);
      y.corner = i * y.row + k * y.pixel;
      j->sums->results(m, j->most * width, &y, width);
    }
    if (column + width == s->channels) weft__conv_sweep_after_sums(s, dst + i * y.row, y.end[0]);
  }
}

static void square_units(void *arg, int64_t begin, int64_t end) {
  const square_work *j = arg;
  sweep *s = j->s;
  const int64_t c = s->image.channels, point = j->most * c, points = points_of(j->sums);
  float *u = weft__alloc_aligned((size_t)(points * (point + j->most * width_of(s))) * sizeof *u);
  if (!u) {
    __atomic_store_n(&s->failed, true, __ATOMIC_RELAXED);
    return;
  }
  float *m = u + points * point;
  for (int64_t unit = begin; unit < end; unit++) {
    const int64_t n = unit / s->chunks, first = unit % s->chunks * s->chunk,
                  rows = conv_min(s->chunk, s->size[0] - first);
    float *dst = s->dst + n * s->dst_image + first * s->stride[0];
    winograd_2d_fill(j, s->src + n * s->src_image, first, winograd_2d_halves(rows), u);
    int width;
    for (int64_t column = 0; column < s->channels; column += width) {
      width = weft__tile_panel(s->set, s->channels - column);
      const float *panel = j->packed + column * points * c;
      for (int64_t f = 0; f < points; f++)
        winograd_2d_multiply(j, u + f * point, winograd_2d_halves(rows) * j->across, panel + f * c * width, width,
                             m + f * j->most * width);
      winograd_2d_gather(j, m, rows, column, width, dst);
    }
  }
  weft__free(u);
}

weft_err weft__winograd_2d_sweep(kernel *k, sweep *s, const float *f) {
  const int64_t c = s->image.channels, across = winograd_2d_halves(s->size[1]);
  const winograd_2d_transforms *sums = sweep_transforms(s);
  const int64_t points = points_of(sums), bytes = points * across * (c + width_of(s)) * (int64_t)sizeof(float);
  weft__conv_sweep_chunks(s, weft__kernel_threads(k), bytes / SQUARE_RESULTS);
  s->chunk = winograd_2d_halves(s->chunk) * SQUARE_RESULTS;
  s->chunks = (s->size[0] + s->chunk - 1) / s->chunk;
  square_work j = {.s = s, .sums = sums, .f = f, .across = across};
  j.most = winograd_2d_halves(s->chunk) * across;
  j.packed = weft__alloc_aligned((size_t)(points * c * s->channels) * sizeof *j.packed);
  if (!j.packed) return WEFT_OOM;
  weft__kernel_loop(k, c, points * s->channels, pack_sums, &j);
  const int64_t cost = 2 * j.most * points * c * s->channels / FLOPS_PER_NS + 1;
  const weft_err err = weft__long_loop(k, s->c->batch * s->chunks, cost, square_units, &j);
  weft__free(j.packed);
  if (err) return err;
  return s->failed ? weft__fail(WEFT_OOM, "a convolution needs memory for its sums") : WEFT_OK;
}
