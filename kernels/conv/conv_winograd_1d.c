/* conv_winograd_1d.c - convolutions along a row with fewer products (Toom, Cook, Winograd).
 *
 * Two neighboring results of a 5-tap filter, or four of a 3-tap filter, depend on 6 pixels and take 10 or 12
 * products.  The same results follow from 6 products: 6 sums of the pixels times 6 sums of the filter, combined by
 * further sums.  This multiplies polynomials by their values at six points (conv_sums.h).  The sums cost little,
 * because those of a pixel serve every output channel and those of the filter serve every pixel.  Only rows are
 * transformed; down the columns all products are added directly.  In one direction, and with these points, the error
 * is 1.1 to 1.6 times that of the plain sum (measured: 5.7e-7 against 5.1e-7 of the result for 5 x 5 x 32).
 *
 *   y = A [ (G g) * (B d) ]        y: results, g: filter, d: 6 pixels, *: elementwise product
 *   dg = G' [ (B d) * (A' dy) ]    the gradient by the filter */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/target_clones.h"
#include "kernels/conv/conv_fast.h"
#include "kernels/conv/conv_sums.h"
#include "kernels/simd/vmath.h"
#include "kernels/work/long_work.h"
#include <string.h>

enum {
  POINTS = 6,
  FEW_PIXELS = 256,
  /* Plain sums of few terms have small rounding errors; the error here would be more than 1.6 times theirs.  This
   * concerns the channels of an image and the columns of a gradient. */
  FEW_CHANNELS = 16,
  FEW_TERMS = 48, /* channels times the filter rows that can meet the image */
  FEW_COLUMNS = 12,
  /* A filter's gradient is a sum over all pixels of a batch.  It is computed in partial sums of PART_TERMS products;
   * several of them are added before they are added to the total.  As one sum, its error would be twice
   * TensorFlow's. */
  PART_TERMS = 32,
  BLOCK_PARTS = 16
};

/* Returns the number of results that a filter with this many columns computes at once. */
static int64_t results_of(int64_t filter) { return POINTS + 1 - filter; }

/* ---- the transforms, along n channels ---- */

/* u[f] = B d for groups of six pixels.  Pixels are `pixel` floats apart, groups `group`, and the values of u
 * `point`. */
WEFT_TARGET_CLONES static void pixel_sums(const float *restrict d, int64_t pixel, int64_t group, int64_t groups,
                                          float *restrict u, int64_t point) {
  const int64_t n = pixel;
  for (int64_t g = 0; g < groups; g++, d += group, u += n)
    for (int64_t i = 0; i < n; i++) {
      const float *p = d + i;
      const float d1 = p[pixel], d2 = p[2 * pixel], d3 = p[3 * pixel], d4 = p[4 * pixel];
      const float even_a = d4 - SIX_B2 * d2, odd_a = d3 - SIX_B2 * d1, even_b = d4 - SIX_A2 * d2,
                  odd_b = d3 - SIX_A2 * d1;
      u[i] = SIX_PRODUCT * p[0] + (d4 - SIX_SUM * d2);
      u[point + i] = even_a + SIX_A * odd_a;
      u[2 * point + i] = even_a - SIX_A * odd_a;
      u[3 * point + i] = even_b + SIX_B * odd_b;
      u[4 * point + i] = even_b - SIX_B * odd_b;
      u[5 * point + i] = SIX_PRODUCT * d1 + (p[5 * pixel] - SIX_SUM * d3);
    }
}

/* v[f] = G g for the columns of the filter, which are `column` floats apart. */
WEFT_TARGET_CLONES static void filter_sums(const float *restrict g, int64_t column, int64_t columns, float *restrict v,
                                           int64_t point, int64_t n) {
  const bool five = columns == 5;
  for (int64_t i = 0; i < n; i++) {
    const float *p = g + i;
    const float g0 = p[0], g1 = p[column], g2 = p[2 * column];
    const float g3 = five ? p[3 * column] : 0, g4 = five ? p[4 * column] : 0;
    const float even_a = g0 + (SIX_A2 * g2 + SIX_A4 * g4), odd_a = SIX_A * (g1 + SIX_A2 * g3);
    const float even_b = g0 + (SIX_B2 * g2 + SIX_B4 * g4), odd_b = SIX_B * (g1 + SIX_B2 * g3);
    v[i] = g0 * SIX_BY_0;
    v[point + i] = (even_a + odd_a) * SIX_BY_A;
    v[2 * point + i] = (even_a - odd_a) * SIX_BY_A;
    v[3 * point + i] = (even_b + odd_b) * SIX_BY_B;
    v[4 * point + i] = (even_b - odd_b) * SIX_BY_B;
    v[5 * point + i] = five ? g4 : g2;
  }
}

/* y[j] = A m for `left` of the results, which are `pixel` floats apart. */
WEFT_TARGET_CLONES static void result_sums(const float *restrict m, int64_t point, int64_t results, int64_t left,
                                           float *restrict y, int64_t pixel, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const float *p = m + i;
    const float even_a = p[point] + p[2 * point], odd_a = SIX_A * (p[point] - p[2 * point]);
    const float even_b = p[3 * point] + p[4 * point], odd_b = SIX_B * (p[3 * point] - p[4 * point]);
    const float last = p[5 * point];
    y[i] = p[0] + (even_a + even_b);
    if (left > 1) y[pixel + i] = (odd_a + odd_b) + (results == 2 ? last : 0);
    if (left > 2) y[2 * pixel + i] = SIX_A2 * even_a + SIX_B2 * even_b;
    if (left > 3) y[3 * pixel + i] = (SIX_A2 * odd_a + SIX_B2 * odd_b) + last;
  }
}

/* w[f] = A' dy for `left` results; the others are zero. */
WEFT_TARGET_CLONES static void gradient_sums(const float *restrict dy, int64_t pixel, int64_t left, int64_t results,
                                             float *restrict w, int64_t point, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const float y0 = dy[i], y1 = left > 1 ? dy[pixel + i] : 0, y2 = left > 2 ? dy[2 * pixel + i] : 0;
    const float y3 = left > 3 ? dy[3 * pixel + i] : 0;
    const float even_a = y0 + SIX_A2 * y2, odd_a = SIX_A * y1 + SIX_A3 * y3, even_b = y0 + SIX_B2 * y2,
                odd_b = SIX_B * y1 + SIX_B3 * y3;
    w[i] = y0;
    w[point + i] = even_a + odd_a;
    w[2 * point + i] = even_a - odd_a;
    w[3 * point + i] = even_b + odd_b;
    w[4 * point + i] = even_b - odd_b;
    w[5 * point + i] = results == 2 ? y1 : y3;
  }
}

/* dg = G' s. */
WEFT_TARGET_CLONES static void filter_results(const float *restrict s, int64_t point, int64_t columns,
                                              float *restrict g, int64_t column, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const float *p = s + i;
    const float even_a = (p[point] + p[2 * point]) * SIX_BY_A, odd_a = (p[point] - p[2 * point]) * SIX_BY_A;
    const float even_b = (p[3 * point] + p[4 * point]) * SIX_BY_B, odd_b = (p[3 * point] - p[4 * point]) * SIX_BY_B;
    const float last = p[5 * point];
    g[i] = p[0] * SIX_BY_0 + (even_a + even_b);
    g[column + i] = SIX_A * odd_a + SIX_B * odd_b;
    g[2 * column + i] = (SIX_A2 * even_a + SIX_B2 * even_b) + (columns == 3 ? last : 0);
    if (columns == 5) {
      g[3 * column + i] = SIX_A3 * odd_a + SIX_B3 * odd_b;
      g[4 * column + i] = (SIX_A4 * even_a + SIX_B4 * even_b) + last;
    }
  }
}

/* ---- rows of pixels ---- */

/* The transformed rows of one image: (points, rows, groups, channels). */
typedef struct rows_of_sums {
  padded image;   /* padded to whole groups */
  int64_t groups; /* groups of results along a row */
  int64_t results;
  int64_t rows; /* number of rows allocated */
  float *row;   /* scratch: one padded row */
  float *sums;
} rows_of_sums;

static int64_t sums_point(const rows_of_sums *r) { return r->rows * r->groups * r->image.channels; }

static void rows_init(rows_of_sums *r, const padded *image, int64_t width, int64_t filter, int64_t rows) {
  *r = (rows_of_sums){.image = *image, .results = results_of(filter), .rows = rows};
  r->groups = (width + r->results - 1) / r->results;
  r->image.padded[1] = r->groups * r->results + filter - 1;
  r->image.direct = false;
  r->image.row = r->image.padded[1] * image->channels;
}

/* Fills padded rows [first, first + n).  Rows outside the image are never read. */
static void rows_fill(const rows_of_sums *r, const float *src, int64_t first, int64_t n) {
  const int64_t c = r->image.channels, point = sums_point(r);
  int64_t begin, end;
  weft__conv_padded_inside(&r->image, first, 1, n, &begin, &end);
  for (int64_t i = begin; i < end; i++) {
    const float *row = weft__conv_padded_rows(&r->image, src, first + i, 1, r->row);
    pixel_sums(row, c, r->results * c, r->groups, r->sums + i * r->groups * c, point);
  }
}

/* ---- sweeps ---- */

bool weft__winograd_1d_fits(const sweep *s) {
  const int64_t columns = s->count[1];
  return !weft__sweep_is_exact(s) && s->merged && s->step[1] == 1 && (columns == 3 || columns == 5) &&
         s->image.channels >= FEW_CHANNELS &&
         s->image.channels * conv_min(s->count[0], s->image.size[0]) >= FEW_TERMS && s->channels >= s->set->lanes &&
         s->size[1] >= 4 && s->c->batch * s->size[0] * s->size[1] >= FEW_PIXELS;
}

typedef struct short_work {
  sweep *s;
  const float *f;
  float *packed;     /* panels of (points, filter rows, channels, width) */
  int64_t depth;     /* filter rows times channels */
  int64_t reach;     /* image rows under a chunk */
  rows_of_sums rows; /* sizes only */
} short_work;

/* Packs columns [first, first + width) of the transformed filter. */
static void pack_sums(const short_work *j, int64_t first, int width, float *out) {
  const sweep *s = j->s;
  const conv *c = s->c;
  const int64_t cols = conv_min(width, s->channels - first), oc = c->out_ch, rows = s->image.channels;
  const int64_t columns = s->count[1];
  float g[5 * TILE_MAX_WIDTH] = {0};
  for (int64_t h = 0; h < s->count[0]; h++)
    for (int64_t r = 0; r < rows; r++) {
      for (int64_t w = 0; w < columns; w++) {
        const float *block = j->f + (s->key[0][h] * c->at[1].size + s->key[1][w]) * c->in_ch * oc; /* (in, out) */
        if (s->transposed)
          for (int64_t i = 0; i < cols; i++) g[w * width + i] = block[(first + i) * oc + r];
        else
          memcpy(g + w * width, block + r * oc + first, (size_t)cols * sizeof *g);
      }
      filter_sums(g, width, columns, out + (h * rows + r) * width, j->depth * width, width);
    }
}

static void pack_all(void *arg, int64_t begin, int64_t end) {
  const short_work *j = arg;
  int64_t first = 0;
  for (int64_t n = 0; first < j->s->channels && n < end; n++) {
    const int width = weft__tile_panel(j->s->set, j->s->channels - first);
    if (n >= begin) pack_sums(j, first, width, j->packed + first * POINTS * j->depth);
    first += width;
  }
}

/* Returns the number of rows from i on, below n, that have the same taps and are adjacent in memory. */
static int64_t rows_alike(const sweep *s, int64_t first, int64_t i, int64_t n, int64_t *begin, int64_t *end) {
  int64_t same = 1, top, bottom;
  weft__conv_sweep_taps_of_row(s, first + i, begin, end);
  for (; s->step[0] == 1 && i + same < n; same++) {
    weft__conv_sweep_taps_of_row(s, first + i + same, &top, &bottom);
    if (top != *begin || bottom != *end) break;
  }
  return same;
}

/* Computes m, the products at one point: (rows * groups, width), for rows [first, first + n) of the result. */
static void winograd_1d_multiply(const short_work *j, const rows_of_sums *r, int64_t first, int64_t n,
                                 const float *panel, int width, float *m) {
  const sweep *s = j->s;
  const int64_t c = s->image.channels, most_rows = weft__tile_rows(s->set, width);
  for (int64_t i = 0; i < n;) {
    int64_t begin, end;
    const int64_t alike = rows_alike(s, first, i, n, &begin, &end), count = alike * r->groups;
    const int64_t blocks = (count + most_rows - 1) / most_rows;
    tile t = {.tap = s->tap + begin,
              .a_row = c,
              .a_col = 1,
              .b = panel + begin * c * width,
              .b_row = width,
              .taps = end - begin,
              .run = c,
              .c_row = width};
    for (int64_t b = 0, done = 0; b < blocks; b++) {
      const int rows = weft__int_sat((count - done + blocks - b - 1) / (blocks - b));
      t.a = r->sums + (i * s->step[0] * r->groups + done) * c;
      t.c = m + (i * r->groups + done) * width;
      weft__tile_by_row(s->set, width, rows)(&t);
      done += rows;
    }
    i += alike;
  }
}

/* Computes n rows of the result from the products at all points. */
static void winograd_1d_gather(const sweep *s, const rows_of_sums *r, const float *m, int64_t n, int width,
                               int64_t column, float *dst) {
  const int64_t cols = conv_min(width, s->channels - column), point = s->chunk * r->groups * width;
  for (int64_t i = 0; i < n; i++)
    for (int64_t g = 0; g < r->groups; g++)
      result_sums(m + (i * r->groups + g) * width, point, r->results, conv_min(r->results, s->size[1] - g * r->results),
                  dst + i * s->stride[0] + g * r->results * s->stride[1] + column, s->stride[1], cols);
}

static void short_units(void *arg, int64_t begin, int64_t end) {
  const short_work *j = arg;
  sweep *s = j->s;
  rows_of_sums r = j->rows;
  const int64_t products = s->chunk * r.groups * weft__tile_width(s->set);
  r.row = weft__alloc_aligned((size_t)(r.image.row + POINTS * (sums_point(&r) + products)) * sizeof *r.row);
  if (!r.row) {
    __atomic_store_n(&s->failed, true, __ATOMIC_RELAXED);
    return;
  }
  float *m = r.row + r.image.row;
  r.sums = m + POINTS * products;
  for (int64_t u = begin; u < end; u++) {
    const int64_t n = u / s->chunks, first = u % s->chunks * s->chunk, rows = conv_min(s->chunk, s->size[0] - first);
    rows_fill(&r, s->src + n * s->src_image, first * s->step[0], j->reach - (s->chunk - rows) * s->step[0]);
    for (int64_t column = 0; column < s->channels;) {
      const int width = weft__tile_panel(s->set, s->channels - column);
      for (int64_t f = 0; f < POINTS; f++) {
        rows_of_sums at = r;
        at.sums += f * sums_point(&r);
        winograd_1d_multiply(j, &at, first, rows, j->packed + (column * POINTS + f * width) * j->depth, width,
                             m + f * s->chunk * r.groups * width);
      }
      winograd_1d_gather(s, &r, m, rows, width, column, s->dst + n * s->dst_image + first * s->stride[0]);
      column += width;
    }
    weft__conv_sweep_after_sums(s, s->dst + n * s->dst_image + first * s->stride[0], rows);
  }
  weft__free(r.row);
}

weft_err weft__winograd_1d_sweep(kernel *k, sweep *s, const float *f) {
  const int64_t c = s->image.channels, lanes = s->set->lanes, columns = (s->channels + lanes - 1) / lanes * lanes;
  short_work j = {.s = s, .f = f, .depth = s->count[0] * c};
  rows_init(&j.rows, &s->image, s->size[1], s->count[1], 0);
  /* transformed pixels and products of a row, per group */
  const int64_t wide = c * s->step[0] + weft__tile_width(s->set);
  weft__conv_sweep_chunks(s, weft__kernel_threads(k), POINTS * j.rows.groups * wide * (int64_t)sizeof(float));
  j.reach = (s->chunk - 1) * s->step[0] + s->offset[0][s->count[0] - 1] + 1;
  j.rows.rows = j.reach;
  for (int64_t h = 0; h < s->count[0]; h++) s->tap[h] = s->offset[0][h] * j.rows.groups * c;
  j.packed = weft__alloc_aligned((size_t)(POINTS * j.depth * columns) * sizeof *j.packed);
  if (!j.packed) return WEFT_OOM;
  const int64_t panels = columns / weft__tile_width(s->set) + 3;
  weft__kernel_loop(k, panels, POINTS * j.depth * weft__tile_width(s->set), pack_all, &j);
  const int64_t cost = 2 * s->chunk * j.rows.groups * POINTS * j.depth * columns / FLOPS_PER_NS;
  const weft_err err = weft__long_loop(k, s->c->batch * s->chunks, cost + 1, short_units, &j);
  weft__free(j.packed);
  if (err) return err;
  return s->failed ? weft__fail(WEFT_OOM, "a convolution needs memory for its sums") : WEFT_OK;
}

/* ---- the gradient by the filter ---- */

typedef struct short_filter {
  const conv *c;
  const tile_set *set;
  const float *x, *dy;
  rows_of_sums rows;      /* sizes only */
  int64_t columns;        /* out_ch rounded up to whole vectors */
  int64_t copies, panels; /* copies of the sums; panels of the columns */
  int64_t chunk, chunks;  /* rows of dy in a unit; units in an image */
  float *sums;            /* (copies, points, filter rows, in_ch, columns) */
  float *df;
  bool failed, infinite; /* any thread may set them to true */
} short_filter;

bool weft__winograd_1d_filter_fits(const conv *c, const tile_set *set) {
  const window_axis *w = &c->at[1];
  return w->stride == 1 && w->dilation == 1 && (w->size == 3 || w->size == 5) && c->in_ch >= 8 &&
         c->out_ch >= set->lanes && w->out >= FEW_COLUMNS && c->batch * c->at[0].out * w->out >= CONV_FEW_PIXELS;
}

/* Transforms rows [first, first + n) of dy of one image, for one panel: (points, chunk, groups, width). */
static void dy_sums(const short_filter *j, const float *dy, int64_t n, int64_t cols, int width, float *out) {
  const rows_of_sums *r = &j->rows;
  const int64_t oc = j->c->out_ch, w = j->c->at[1].out, point = j->chunk * r->groups * width;
  for (int64_t i = 0; i < n; i++)
    for (int64_t g = 0; g < r->groups; g++)
      gradient_sums(dy + (i * w + g * r->results) * oc, oc, conv_min(r->results, w - g * r->results), r->results,
                    out + (i * r->groups + g) * width, point, cols);
}

/* The buffers of a task, in one allocation. */
typedef struct short_room {
  rows_of_sums rows;
  float *dy;    /* transformed dy: (points, chunk, groups, width) */
  float *block; /* (points, filter rows, in_ch, width) */
  int64_t *tap;
} short_room;

/* Adds the products of n rows of dy, from `first` on, and the image to the block, at one point: (filter rows, in_ch,
 * width). */
static void add_products(const short_filter *j, const short_room *room, int64_t at, int64_t first, int64_t n, int width,
                         bool add) {
  const window_axis *h = &j->c->at[0];
  const rows_of_sums *r = &room->rows;
  const int64_t c = j->c->in_ch, most_rows = weft__tile_rows(j->set, width), blocks = (c + most_rows - 1) / most_rows;
  const float *sums = r->sums + at * sums_point(r), *w = room->dy + at * j->chunk * r->groups * width;
  float *block = room->block + at * h->size * c * width;
  tile t = {.a_row = 1, .a_col = c, .b_row = width, .run = r->groups, .c_row = width, .add = add};
  for (int64_t kh = 0; kh < h->size; kh++) {
    int64_t begin, end; /* the rows of dy for which this filter row meets the image */
    weft__conv_padded_inside(&r->image, first * h->stride + kh * h->dilation, h->stride, n, &begin, &end);
    t.tap = room->tap + begin, t.taps = end - begin, t.b = w + begin * r->groups * width;
    for (int64_t b = 0, done = 0; b < blocks; b++) {
      const int rows = weft__int_sat((c - done + blocks - b - 1) / (blocks - b));
      t.a = sums + kh * h->dilation * r->groups * c + done;
      t.c = block + (kh * c + done) * width;
      weft__tile_in_parts(weft__tile_by_col(j->set, width, rows), &t, PART_TERMS);
      done += rows;
    }
  }
}

/* Adds a block (rows, width) to the columns of one copy of the sums. */
WEFT_TARGET_CLONES static void add_block(const short_filter *j, const float *restrict block, int64_t rows, int width,
                                         float *restrict sums, bool add) {
  for (int64_t r = 0; r < rows; r++, block += width, sums += j->columns)
    for (int i = 0; i < width; i++) sums[i] = add ? sums[i] + block[i] : block[i];
}

static weft_err room_make(const short_filter *j, int width, short_room *room) {
  const conv *c = j->c;
  rows_of_sums *r = &room->rows;
  *r = j->rows;
  const int64_t dy = POINTS * j->chunk * r->groups * width, sums = POINTS * sums_point(r);
  const int64_t block = POINTS * c->at[0].size * c->in_ch * width;
  r->row = weft__alloc_zero((size_t)(r->image.row + dy + sums + block), sizeof *r->row);
  room->tap = weft__alloc((size_t)j->chunk * sizeof *room->tap);
  if (!r->row || !room->tap) return WEFT_OOM;
  room->dy = r->row + r->image.row;
  r->sums = room->dy + dy;
  room->block = r->sums + sums;
  for (int64_t i = 0; i < j->chunk; i++) room->tap[i] = i * c->at[0].stride * r->groups * c->in_ch;
  return WEFT_OK;
}

/* Adds the contribution of unit u to the columns of one panel to the block. */
static void short_unit(const short_filter *j, short_room *room, int64_t u, int64_t column, int width, bool add) {
  const conv *c = j->c;
  const window_axis *h = &c->at[0], *w = &c->at[1];
  const int64_t n = u / j->chunks, first = u % j->chunks * j->chunk, rows = conv_min(j->chunk, h->out - first);
  rows_fill(&room->rows, j->x + n * h->in * w->in * c->in_ch, first * h->stride, room->rows.rows);
  dy_sums(j, j->dy + (n * h->out + first) * w->out * c->out_ch + column, rows, conv_min(width, c->out_ch - column),
          width, room->dy);
  for (int64_t at = 0; at < POINTS; at++) add_products(j, room, at, first, rows, width, add);
}

/* Processes one copy of the sums and one panel: all units of work of that copy. */
static weft_err short_task(const short_filter *j, int64_t copy, int64_t column, int width) {
  const conv *c = j->c;
  const int64_t units = c->batch * j->chunks, begin = units * copy / j->copies, end = units * (copy + 1) / j->copies;
  const int64_t depth = POINTS * c->at[0].size * c->in_ch, parts = j->chunk * j->rows.groups / PART_TERMS + 1;
  const int64_t in_block = conv_max(BLOCK_PARTS / parts, 1);
  float *sums = j->sums + copy * depth * j->columns + column;
  short_room room = {0};
  const weft_err err = room_make(j, width, &room);
  for (int64_t u = begin; !err && u < end; u++) {
    const int64_t held = (u - begin) % in_block;
    short_unit(j, &room, u, column, width, held > 0);
    if (held == in_block - 1 || u == end - 1) add_block(j, room.block, depth, width, sums, u - begin >= in_block);
  }
  weft__free(room.rows.row);
  weft__free(room.tap);
  return err;
}

static void short_tasks(void *arg, int64_t begin, int64_t end) {
  short_filter *j = arg;
  for (int64_t task = begin; task < end; task++) {
    int64_t column;
    const int width = weft__tile_panel_at(j->set, j->c->out_ch, task % j->panels, &column);
    if (short_task(j, task / j->panels, column, width) != WEFT_OK) __atomic_store_n(&j->failed, true, __ATOMIC_RELAXED);
  }
}

/* Computes rows (kh, ci) of the gradient: adds the copies into the first, then transforms the points to columns. */
WEFT_TARGET_CLONES static void short_join(void *arg, int64_t begin, int64_t end) {
  short_filter *j = arg;
  const int64_t c = j->c->in_ch, oc = j->c->out_ch, columns = j->c->at[1].size;
  const int64_t point = j->c->at[0].size * c * j->columns;
  for (int64_t r = begin; r < end; r++) {
    float *sum = j->sums + r * j->columns;
    for (int64_t f = 0; f < POINTS * (j->copies - 1); f++) {
      float *restrict into = sum + f % POINTS * point;
      const float *restrict more = sum + (f / POINTS + 1) * POINTS * point + f % POINTS * point;
      for (int64_t o = 0; o < oc; o++) into[o] += more[o];
    }
    float *out = j->df + (r / c * columns * c + r % c) * oc;
    filter_results(sum, point, columns, out, c * oc, oc);
    for (int64_t i = 0; i < columns; i++)
      if (!weft__conv_all_finite(out + i * c * oc, oc)) __atomic_store_n(&j->infinite, true, __ATOMIC_RELAXED);
  }
}

static void short_plan(short_filter *j, int64_t threads) {
  const conv *c = j->c;
  const window_axis *h = &c->at[0], *w = &c->at[1];
  const int64_t lanes = j->set->lanes, bytes = (int64_t)sizeof(float);
  padded image = {.size = {h->in, w->in}, .channels = c->in_ch, .pad = {h->before, w->before}};
  rows_init(&j->rows, &image, w->out, w->size, 0);
  j->columns = (c->out_ch + lanes - 1) / lanes * lanes;
  j->panels = weft__tile_panels(j->set, c->out_ch);
  const int64_t row_bytes = POINTS * j->rows.groups * (c->in_ch * h->stride + weft__tile_width(j->set)) * bytes;
  j->chunk = conv_min(h->out, conv_max(1, IMAGE_BYTES / row_bytes));
  j->chunks = (h->out + j->chunk - 1) / j->chunk;
  j->rows.rows = (j->chunk - 1) * h->stride + (h->size - 1) * h->dilation + 1;
  const int64_t copy_bytes = POINTS * h->size * c->in_ch * j->columns * bytes;
  j->copies = weft__filter_copies(threads, c->batch * j->chunks, copy_bytes);
}

weft_err weft__winograd_1d_filter(kernel *k, const conv *c, const float *x, const float *dy, float *df,
                                  bool *infinite) {
  short_filter j = {.c = c, .set = weft__tile_set(), .x = x, .dy = dy, .df = df};
  short_plan(&j, weft__kernel_threads(k));
  const int64_t depth = POINTS * c->at[0].size * c->in_ch;
  j.sums = weft__alloc_aligned((size_t)(j.copies * depth * j.columns) * sizeof *j.sums);
  if (!j.sums) return WEFT_OOM;
  const int64_t products = c->batch * c->at[0].out * j.rows.groups * depth * j.columns;
  const weft_err err =
      weft__long_loop(k, j.copies * j.panels, 2 * products / (j.copies * j.panels) / FLOPS_PER_NS + 1, short_tasks, &j);
  if (!err && !j.failed) weft__kernel_loop(k, c->at[0].size * c->in_ch, j.copies * c->out_ch + 1, short_join, &j);
  weft__free(j.sums);
  *infinite = j.infinite;
  if (err) return err;
  return j.failed ? weft__fail(WEFT_OOM, "a convolution needs memory for its sums") : WEFT_OK;
}
