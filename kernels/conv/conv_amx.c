/* conv_amx.c - convolutions on the processor's matrix unit (kernels/gemm/amx.h says how it multiplies floats).
 *
 * Each unit of work splits the rows of the image that it reads into the pieces of their floats, with the padding; rows
 * under two units are split twice.  The unit reads rows of 32 numbers at equal
 * distances, so it reads the pixels under a row of the filter in place, for 16 windows at a time: no im2col matrix is
 * built.  These 16 windows, a strip, are neighbors in a row of the result.  With stride 1, they may also run on
 * from one row of the padded image to the next; the results of the few windows between two rows are dropped.
 *
 * There are more products than in the Winograd convolutions, but they take less time, and sums round less. */
#include "base/alloc.h"
#include "base/cast.h"
#include "kernels/conv/conv_fast.h"
#include "kernels/gemm/amx.h"
#include "kernels/work/long_work.h"
#include <string.h>

enum {
  WIDTH = 2 * AMX_SIDE, /* columns of a tile */
  LEAST_USES = 96,      /* products of each number of the image; with fewer, splitting it costs more than it saves */
};
static const double LEAST_FILLED = 0.55; /* of a block of terms and columns */
static const double LEAST_WORK = 2e6;    /* products */

/* What the threads share. */
typedef struct amx_sweep {
  sweep *s;
  uint16_t *filter; /* packed: (columns / 16, taps, blocks) */
  int64_t blocks;   /* of terms, for each tap */
  int64_t reach;    /* rows of the image under a unit of work */
  int64_t plane;    /* numbers from one piece of the image to the next */
  int64_t across;   /* strips in a row of the result; 0: strips run on from row to row */
} amx_sweep;

/* A unit of work: some rows of one result. */
typedef struct amx_unit {
  const uint16_t *image;
  float *dst;
  int64_t rows;
} amx_unit;

static int64_t conv_amx_parts(int64_t n, int64_t size) { return (n + size - 1) / size; }

bool weft__conv_amx_fits(const sweep *s) {
  const int64_t uses = s->count[0] * s->count[1] * s->channels,
                columns = conv_amx_parts(s->channels, AMX_SIDE) * AMX_SIDE;
  if (s->taps == 0 || s->run == 0 || uses < LEAST_USES * s->step[0] * s->step[1]) return false;
  const double work = (double)s->c->batch * (double)(s->size[0] * s->size[1]) * (double)(uses * s->image.channels);
  const double filled =
      (double)(s->run * s->channels) / (double)(conv_amx_parts(s->run, AMX_TERMS) * AMX_TERMS * columns);
  return work >= LEAST_WORK && filled >= LEAST_FILLED && weft__amx_has();
}

/* ---- the filter ---- */

typedef struct amx_filter {
  const amx_sweep *j;
  bool odd; /* a number has no exact pieces; written by any thread, only ever to true */
} amx_filter;

/* Packs strips [begin, end) of 16 columns, from the panels that the tiles use. */
static void amx_filter_columns(void *arg, int64_t begin, int64_t end) {
  amx_filter *f = arg;
  const sweep *s = f->j->s;
  int64_t first = 0;
  int width = weft__tile_panel(s->set, s->channels);
  for (int64_t i = begin; i < end; i++) {
    const int64_t column = i * AMX_SIDE, columns = conv_min(AMX_SIDE, s->channels - column);
    for (; column >= first + width; width = weft__tile_panel(s->set, s->channels - first)) first += width;
    const float *from = s->packed + first * s->taps * s->run + (column - first);
    for (int64_t t = 0; t < s->taps; t++) {
      uint16_t *to = f->j->filter + (i * s->taps + t) * f->j->blocks * AMX_STEP;
      if (!weft__amx_pack_b(to, from + t * s->run * width, width, s->run, columns))
        __atomic_store_n(&f->odd, true, __ATOMIC_RELAXED);
    }
  }
}

static weft_err amx_pack_filter(kernel *k, amx_sweep *j, const float *f) {
  sweep *s = j->s;
  float *packed = NULL;
  const int64_t strips = conv_amx_parts(s->channels, AMX_SIDE), depth = s->taps * j->blocks * AMX_STEP;
  j->filter = weft__alloc_aligned((size_t)(strips * depth) * sizeof *j->filter);
  if (!j->filter) return WEFT_OOM;
  WEFT_TRY(weft__conv_sweep_pack(k, s, f, &packed));
  amx_filter a = {.j = j};
  weft__kernel_loop(k, strips, depth, amx_filter_columns, &a);
  weft__free(packed);
  if (a.odd) s->infinite = true;
  return WEFT_OK;
}

/* ---- the image ---- */

static void amx_zero(const amx_sweep *j, uint16_t *to, int64_t n) {
  for (int p = 0; p < AMX_PIECES && n > 0; p++) memset(to + p * j->plane, 0, (size_t)n * sizeof *to);
}

/* Splits a padded row of the image, as weft__conv_padded_rows copies it. */
static bool amx_split_row(const amx_sweep *j, const float *src, int64_t row, uint16_t *to) {
  const padded *m = &j->s->image;
  const int64_t c = m->channels, at = row - m->pad[0];
  if (m->direct) return weft__amx_split(to, j->plane, src + row * m->row, m->row);
  const int64_t left = conv_max(m->pad[1], 0), skip = conv_max(-m->pad[1], 0);
  const int64_t width = conv_max(conv_min(m->padded[1] - left, m->size[1] - skip), 0), end = (left + width) * c;
  const bool inside = at >= 0 && at < m->size[0];
  amx_zero(j, to, inside ? left * c : m->row);
  if (!inside) return true;
  amx_zero(j, to + end, m->row - end);
  return weft__amx_split(to + left * c, j->plane, src + (at * m->size[1] + skip) * c, width * c);
}

/* Splits the rows of the image from `first` on that a unit reads.  Returns false if a number has no exact pieces. */
static bool amx_split_rows(const amx_sweep *j, const float *src, int64_t first, int64_t n, uint16_t *to) {
  const int64_t row = j->s->image.row;
  bool exact = true;
  for (int64_t i = 0; i < n; i++) exact = amx_split_row(j, src, first + i, to + i * row) && exact;
  amx_zero(j, to + n * row,
           j->plane - n * row); /* tiles read past the last row; that is multiplied by zero or dropped */
  return exact;
}

/* ---- products ---- */

/* Pixels from one row of strips to the next, where strips run on. */
static int64_t amx_flat_row(const sweep *s) { return s->image.row / s->image.channels; }

static int64_t amx_strips(const amx_sweep *j, int64_t rows) {
  if (j->across) return rows * j->across;
  return conv_amx_parts((rows - 1) * amx_flat_row(j->s) + j->s->size[1], AMX_SIDE);
}

/* Returns where the first window of a strip is in the image. */
static int64_t amx_strip_at(const amx_sweep *j, int64_t strip) {
  const sweep *s = j->s;
  if (!j->across) return strip * AMX_SIDE * s->image.channels;
  return strip / j->across * s->step[0] * s->image.row + strip % j->across * AMX_SIDE * s->step[1] * s->image.channels;
}

/* Some columns of a unit's results. */
typedef struct amx_columns {
  int64_t first, count;
  float *made; /* for four strips; (16, 32) each */
} amx_columns;

/* Copies the results of a strip from `made` to those windows that exist. */
static void amx_store_strip(const amx_sweep *j, const amx_unit *u, int64_t strip, const float *made,
                            const amx_columns *to) {
  const sweep *s = j->s;
  const int64_t line = j->across ? j->across * AMX_SIDE : amx_flat_row(s), first = strip * AMX_SIDE;
  int64_t row = first / line, at = first % line;
  for (int i = 0; i < AMX_SIDE && row < u->rows; i++, made += WIDTH) {
    float *c = u->dst + row * s->stride[0] + at * s->stride[1] + to->first;
    if (at < s->size[1] && to->count == AMX_SIDE) /* sizes that the compiler knows */
      memcpy(c, made, AMX_SIDE * sizeof *made);
    else if (at < s->size[1] && to->count == WIDTH)
      memcpy(c, made, WIDTH * sizeof *made);
    else if (at < s->size[1])
      memcpy(c, made, (size_t)to->count * sizeof *made);
    if (++at == line) at = 0, row++;
  }
}

/* Computes the tile's strips from strip i on: in place where all 16 windows of each exist. */
static void amx_tile_strips(const amx_sweep *j, const amx_unit *u, int64_t i, amx_tile *t, const amx_columns *to) {
  const sweep *s = j->s;
  const bool in_place = j->across && s->size[1] % AMX_SIDE == 0 && to->count % AMX_SIDE == 0;
  t->c = in_place ? u->dst + to->first : to->made, t->c_row = in_place ? s->stride[1] : WIDTH;
  for (int n = 0; n < t->strips; n++) {
    t->a_strip[n] = amx_strip_at(j, i + n);
    t->c_strip[n] = n * AMX_SIDE * WIDTH;
    if (in_place) t->c_strip[n] = (i + n) / j->across * s->stride[0] + (i + n) % j->across * AMX_SIDE * s->stride[1];
  }
  weft__amx_tile(t);
  for (int n = 0; n < t->strips && !in_place; n++) amx_store_strip(j, u, i + n, to->made + t->c_strip[n], to);
}

static void amx_unit_columns(const amx_sweep *j, const amx_unit *u, int64_t column) {
  _Alignas(64) float made[2 * WIDTH * WIDTH];
  const sweep *s = j->s;
  const int64_t strips = amx_strips(j, u->rows);
  const amx_columns to = {column, conv_min(WIDTH, s->channels - column), made};
  amx_tile t = {.tap = s->tap, .taps = s->taps, .blocks = j->blocks, .a_step = AMX_TERMS, .a_piece = j->plane};
  t.a = u->image, t.a_row = s->step[1] * s->image.channels, t.b_next = s->taps * j->blocks * AMX_STEP;
  t.b = j->filter + column / AMX_SIDE * t.b_next, t.two_columns = to.count > AMX_SIDE;
  for (int64_t i = 0; i < strips; i += t.strips) {
    t.strips = weft__int_sat(conv_min(t.two_columns ? 2 : 4, strips - i));
    amx_tile_strips(j, u, i, &t, &to);
  }
}

static void amx_units(void *arg, int64_t begin, int64_t end) {
  const amx_sweep *j = arg;
  sweep *s = j->s;
  uint16_t *image = weft__alloc_aligned((size_t)(AMX_PIECES * j->plane) * sizeof *image);
  if (!image) {
    __atomic_store_n(&s->failed, true, __ATOMIC_RELAXED);
    return;
  }
  weft__amx_begin();
  for (int64_t n = begin; n < end && !__atomic_load_n(&s->infinite, __ATOMIC_RELAXED); n++) {
    const int64_t first = n % s->chunks * s->chunk, rows = conv_min(s->chunk, s->size[0] - first);
    const int64_t reach = j->reach - (s->chunk - rows) * s->step[0];
    const amx_unit u = {image, s->dst + n / s->chunks * s->dst_image + first * s->stride[0], rows};
    if (!amx_split_rows(j, s->src + n / s->chunks * s->src_image, first * s->step[0], reach, image)) {
      __atomic_store_n(&s->infinite, true, __ATOMIC_RELAXED);
      break;
    }
    for (int64_t column = 0; column < s->channels; column += WIDTH) amx_unit_columns(j, &u, column);
    weft__conv_sweep_after(s, u.dst, rows);
  }
  weft__amx_end();
  weft__free(image);
}

weft_err weft__conv_amx_sweep(kernel *k, sweep *s, const float *f) {
  amx_sweep j = {.s = s, .blocks = conv_amx_parts(s->run, AMX_TERMS), .across = conv_amx_parts(s->size[1], AMX_SIDE)};
  weft_err err = amx_pack_filter(k, &j, f);
  weft__conv_sweep_chunks(s, weft__kernel_threads(k), s->image.row * s->step[0] * (int64_t)sizeof(float) * 2);
  j.reach = (s->chunk - 1) * s->step[0] + s->offset[0][s->count[0] - 1] + 1;
  j.plane = j.reach * s->image.row + (WIDTH + 1) * s->step[1] * s->image.channels + AMX_TERMS;
  if (s->step[0] == 1 && s->step[1] == 1) {
    const int64_t apart = amx_strips(&j, s->chunk), across = j.across;
    j.across = 0;
    if (amx_strips(&j, s->chunk) >= apart) j.across = across;
  }
  const int64_t cost = 2 * s->chunk * s->size[1] * s->taps * s->run * s->channels / FLOPS_PER_NS / 4;
  if (!err && !s->infinite) err = weft__long_loop(k, s->c->batch * s->chunks, cost + 1, amx_units, &j);
  weft__free(j.filter);
  return err || !s->failed ? err : weft__fail(WEFT_OOM, "a convolution needs memory for the pieces of its image");
}
