/* conv_filter_amx.c - the gradient of a convolution by its filter on the processor's matrix unit (kernels/gemm/amx.h
 * says how it multiplies floats).
 *
 * The sums run along the pixels.  All images of the batch are seen as one run of pixels, with the padding between their
 * rows and between the images.  dy is zero there, so the products of these places add nothing, and each tap of the
 * filter is a fixed distance between a pixel of dy and one of x.  dy is packed with the channels as rows.  x is packed
 * by pairs of pixels, twice: for taps at even and at odd distances.  So the unit reads x at any distance without
 * crossing cache lines.
 *
 * A unit of work is some rows of the run.  Each task adds up its units for some channels of x and of dy; the sums of
 * the tasks are added at the end.  Numbers that have no exact pieces are noticed while packing, and another way must
 * then compute the gradient. */
#include "base/alloc.h"
#include "base/cast.h"
#include "kernels/conv/conv_fast.h"
#include "kernels/gemm/amx.h"
#include "kernels/simd/block_transpose_f32.h"
#include "kernels/work/long_work.h"
#include <string.h>

enum {
  TILE = AMX_SIDE * AMX_SIDE, /* floats of a tile of sums */
  MOST_STRIPS = 8,            /* of 16 channels, of x and of dy, in a task */
  UNIT_PIXELS = 512,          /* in a unit of work: its sums are short, and its packed pixels stay in the cache */
  MOST_TAPS = 121,
  MOST_REACH = 4096, /* pixels of x beyond a unit */
  LEAST_USES = 12,   /* tiles of products for each strip that is packed; with fewer, packing costs more than it saves */
  ACROSS = 4,        /* tiles that are computed at a time */
  SUB_BLOCKS = 3,    /* of 32 pixels: x under them stays in the first-level cache while all taps and dy pass */
};
static const double LEAST_FILLED = 0.5; /* of the tiles of channels, times that of the run */
static const double LEAST_PRODUCTS = 4e6;

typedef struct amx_gradient {
  const conv *c;
  const float *x, *dy;
  int64_t pitch, rows;         /* pixels of a row of the run, rows of an image */
  int64_t unit, units;         /* rows of the run in a unit of work, units */
  int64_t pixels;              /* of dy in a unit: a multiple of 32 */
  int64_t reach;               /* pixels of x under a unit: even */
  int64_t x_strips, dy_strips; /* of 16 channels */
  int64_t x_parts, dy_parts;   /* of at most MOST_STRIPS strips */
  int64_t taps, offset[MOST_TAPS];
  bool odd_offsets;
  int64_t copies;
  float *sums; /* (copies, x strips, dy strips, taps, 16 of dy, 16 of x) */
  float *df;
  bool failed, inexact; /* any thread may set them to true */
  long_work *work;
} amx_gradient;

static int64_t filter_amx_parts(int64_t n, int64_t size) { return (n + size - 1) / size; }

/* Pixels from one row of the run to the next, or rows from one image to the next: so many that no window meets the
 * numbers of the next row or image. */
static int64_t run_pitch(const window_axis *a) {
  const int64_t reach = (a->size - 1) * a->dilation;
  return conv_max(conv_max(a->before + a->in, a->out + reach - a->before), a->out);
}

bool weft__filter_amx_fits(const conv *c) {
  const window_axis *h = &c->at[0], *w = &c->at[1];
  if (c->depth.size || h->stride != 1 || w->stride != 1 || h->before < 0 || w->before < 0) return false;
  const int64_t taps = h->size * w->size, reach = (h->size - 1) * h->dilation * run_pitch(w);
  const int64_t x = filter_amx_parts(c->in_ch, AMX_SIDE), dy = filter_amx_parts(c->out_ch, AMX_SIDE);
  const double channels = (double)(c->in_ch * c->out_ch), pixels = (double)(h->out * w->out);
  const double filled = channels / (double)(x * dy * TILE) * pixels / (double)(run_pitch(h) * run_pitch(w));
  return taps <= MOST_TAPS && reach <= MOST_REACH && filled >= LEAST_FILLED &&
         (double)c->batch * pixels * channels * (double)taps >= LEAST_PRODUCTS &&
         taps * x * dy >= LEAST_USES * (x + dy) && weft__amx_has();
}

/* ---- packing ---- */

/* The buffers of a task. */
typedef struct gradient_room {
  uint16_t *x, *dy; /* packed: (strips, parities, pieces, pairs, 32) and (strips, blocks, pieces, 16, 32) */
  float *flat;      /* pixels of one strip: (pixels, 16) */
  float *made;      /* sums of a unit for a strip of x: (dy strips, taps, 16 of dy, 16 of x) */
} gradient_room;

/* The images of x or of dy, and where their pixels are in the run. */
typedef struct run_images {
  const float *from;
  int64_t height, width, channels;
  int64_t top, left; /* padding before the first row and column */
} run_images;

static int64_t strip_numbers(const amx_gradient *j) { return 2 * AMX_PIECES * j->reach * AMX_SIDE; }

/* Copies `pixels` pixels of the run, from row `first` on, and of them 16 channels from `channel` on. */
static void gather_strip(const amx_gradient *j, const run_images *m, int64_t first, int64_t pixels, int64_t channel,
                         float *to) {
  const int64_t some = conv_min(AMX_SIDE, m->channels - channel);
  for (int64_t at = 0, row = first; at < pixels; at += j->pitch, row++, to += j->pitch * AMX_SIDE) {
    const int64_t n = row / j->rows, y = row % j->rows - m->top, room = conv_min(j->pitch, pixels - at);
    const bool inside = n < j->c->batch && y >= 0 && y < m->height;
    const int64_t width = inside ? conv_max(conv_min(m->width, room - m->left), 0) : 0;
    const float *p = m->from + ((n * m->height + y) * m->width) * m->channels + channel;
    memset(to, 0, (size_t)(conv_min(m->left, room) * AMX_SIDE) * sizeof *to);
    for (int64_t i = m->left; i < m->left + width; i++, p += m->channels) {
      if (some == AMX_SIDE) { /* a size that the compiler knows */
        memcpy(to + i * AMX_SIDE, p, AMX_SIDE * sizeof *to);
        continue;
      }
      memcpy(to + i * AMX_SIDE, p, (size_t)some * sizeof *to);
      memset(to + i * AMX_SIDE + some, 0, (size_t)(AMX_SIDE - some) * sizeof *to);
    }
    const int64_t done = conv_min(m->left, room) + width;
    memset(to + done * AMX_SIDE, 0, (size_t)((room - done) * AMX_SIDE) * sizeof *to);
  }
}

/* Packs strip `strip` of x under unit u. */
static bool pack_x(const amx_gradient *j, const gradient_room *room, int64_t u, int64_t strip, uint16_t *to) {
  const conv *c = j->c;
  const run_images m = {j->x, c->at[0].in, c->at[1].in, c->in_ch, c->at[0].before, c->at[1].before};
  const int64_t half = AMX_PIECES * j->reach * AMX_SIDE;
  gather_strip(j, &m, u * j->unit, j->reach, strip * AMX_SIDE, room->flat);
  return weft__amx_pack_pairs(to, j->odd_offsets ? to + half : NULL, j->reach * AMX_SIDE, room->flat, j->reach);
}

static bool pack_dy(const amx_gradient *j, const gradient_room *room, int64_t u, int64_t strip, uint16_t *to) {
  const conv *c = j->c;
  const run_images m = {j->dy, c->at[0].out, c->at[1].out, c->out_ch, 0, 0};
  const int64_t pixels = j->unit * j->pitch;
  bool exact = true;
  gather_strip(j, &m, u * j->unit, pixels, strip * AMX_SIDE, room->flat);
  memset(room->flat + pixels * AMX_SIDE, 0, (size_t)((j->pixels - pixels) * AMX_SIDE) * sizeof *room->flat);
  for (int64_t i = 0; i < j->pixels; i += AMX_TERMS, to += AMX_STEP) {
    float turned[AMX_SIDE * AMX_TERMS];
    weft__block_transpose_f32(turned, AMX_TERMS, room->flat + i * AMX_SIDE, AMX_SIDE, AMX_TERMS, AMX_SIDE);
    exact = weft__amx_pack_a(to, turned, AMX_TERMS, AMX_SIDE, AMX_TERMS) && exact;
  }
  return exact;
}

/* ---- products ---- */

/* The part of the sums that a task computes. */
typedef struct gradient_part {
  int64_t copy;
  int64_t x, x_count, dy, dy_count; /* strips */
} gradient_part;

static float *sums_at(const amx_gradient *j, int64_t copy, int64_t x, int64_t dy, int64_t tap) {
  return j->sums + (((copy * j->x_strips + x) * j->dy_strips + dy) * j->taps + tap) * TILE;
}

static void add_sums(float *restrict to, const float *restrict made, int64_t n, bool add) {
  for (int64_t i = 0; i < n; i++) to[i] = add ? to[i] + made[i] : made[i];
}

/* Adds the products of some blocks of a strip of x with a strip of dy to room->made. */
static void strip_products(const amx_gradient *j, const gradient_room *room, int64_t x, int64_t dy, int64_t block) {
  const int64_t groups = filter_amx_parts(j->taps, ACROSS), half = AMX_PIECES * j->reach * AMX_SIDE;
  const uint16_t *from = room->x + x * strip_numbers(j) + block * AMX_BLOCK;
  amx_row t = {.b_piece = j->reach * AMX_SIDE, .add = block > 0};
  t.blocks = conv_min(SUB_BLOCKS, j->pixels / AMX_TERMS - block);
  t.a = room->dy + (dy * j->pixels / AMX_TERMS + block) * AMX_STEP;
  for (int64_t g = 0; g < groups; g++) {
    const int64_t first = j->taps * g / groups, last = j->taps * (g + 1) / groups;
    t.columns = weft__int_sat(last - first), t.c = room->made + (dy * j->taps + first) * TILE;
    for (int64_t i = first; i < last; i++)
      t.b[i - first] = from + j->offset[i] % 2 * half + j->offset[i] / 2 * 2 * AMX_SIDE;
    weft__amx_row(&t);
  }
}

static bool gradient_unit(const amx_gradient *j, const gradient_room *room, const gradient_part *p, int64_t u,
                          bool add) {
  const int64_t dy_numbers = j->pixels * AMX_PIECES * AMX_SIDE, blocks = j->pixels / AMX_TERMS;
  bool exact = true;
  for (int64_t i = 0; i < p->x_count && exact; i++)
    exact = pack_x(j, room, u, p->x + i, room->x + i * strip_numbers(j));
  for (int64_t i = 0; i < p->dy_count && exact; i++) exact = pack_dy(j, room, u, p->dy + i, room->dy + i * dy_numbers);
  for (int64_t x = 0; x < p->x_count && exact; x++) {
    for (int64_t block = 0; block < blocks; block += SUB_BLOCKS)
      for (int64_t dy = 0; dy < p->dy_count; dy++) strip_products(j, room, x, dy, block);
    add_sums(sums_at(j, p->copy, p->x + x, p->dy, 0), room->made, p->dy_count * j->taps * TILE, add);
  }
  return exact;
}

static weft_err gradient_task(amx_gradient *j, const gradient_part *p) {
  const int64_t begin = j->units * p->copy / j->copies, end = j->units * (p->copy + 1) / j->copies;
  const int64_t x_bytes = p->x_count * strip_numbers(j) * (int64_t)sizeof(uint16_t);
  const int64_t dy_bytes = p->dy_count * j->pixels * AMX_PIECES * AMX_SIDE * (int64_t)sizeof(uint16_t);
  const int64_t cost = j->pixels * p->x_count * p->dy_count * j->taps * AMX_SIDE;
  int64_t spent = 0;
  const int64_t flat = conv_max(j->reach, j->pixels) * AMX_SIDE, made = p->dy_count * j->taps * TILE;
  char *memory = weft__alloc_aligned((size_t)(x_bytes + dy_bytes) + (size_t)(flat + made) * sizeof(float));
  if (!memory) return WEFT_OOM;
  const gradient_room room = {(uint16_t *)(void *)memory, (uint16_t *)(void *)(memory + x_bytes),
                              (float *)(void *)(memory + x_bytes + dy_bytes),
                              (float *)(void *)(memory + x_bytes + dy_bytes) + flat};
  weft__amx_begin();
  for (int64_t u = begin; u < end && !__atomic_load_n(&j->inexact, __ATOMIC_RELAXED); u++) {
    if (weft__long_work_spent(j->work, &spent, cost)) break;
    if (!gradient_unit(j, &room, p, u, u > begin)) __atomic_store_n(&j->inexact, true, __ATOMIC_RELAXED);
  }
  weft__amx_end();
  weft__free(memory);
  return WEFT_OK;
}

static void gradient_tasks(void *arg, int64_t begin, int64_t end) {
  amx_gradient *j = arg;
  for (int64_t task = begin; task < end; task++) {
    const int64_t part = task / j->copies, x = part / j->dy_parts, dy = part % j->dy_parts;
    gradient_part p = {.copy = task % j->copies};
    p.x = j->x_strips * x / j->x_parts, p.x_count = j->x_strips * (x + 1) / j->x_parts - p.x;
    p.dy = j->dy_strips * dy / j->dy_parts, p.dy_count = j->dy_strips * (dy + 1) / j->dy_parts - p.dy;
    if (gradient_task(j, &p) != WEFT_OK) __atomic_store_n(&j->failed, true, __ATOMIC_RELAXED);
  }
}

/* df of tap `tap` and strip `x` of its rows: the sum of the copies, transposed. */
static void gradient_join(void *arg, int64_t begin, int64_t end) {
  amx_gradient *j = arg;
  const conv *c = j->c;
  for (int64_t i = begin; i < end; i++)
    for (int64_t dy = 0; dy < j->dy_strips; dy++) {
      const int64_t x = i / j->taps, tap = i % j->taps;
      float *sum = sums_at(j, 0, x, dy, tap);
      for (int64_t copy = 1; copy < j->copies; copy++) add_sums(sum, sums_at(j, copy, x, dy, tap), TILE, true);
      weft__block_transpose_f32(j->df + (tap * c->in_ch + x * AMX_SIDE) * c->out_ch + dy * AMX_SIDE, c->out_ch, sum,
                                AMX_SIDE, conv_min(AMX_SIDE, c->out_ch - dy * AMX_SIDE),
                                conv_min(AMX_SIDE, c->in_ch - x * AMX_SIDE));
    }
}

static void gradient_plan(amx_gradient *j, int64_t threads) {
  const conv *c = j->c;
  const window_axis *h = &c->at[0], *w = &c->at[1];
  const int64_t down = (h->size - 1) * h->dilation, right = (w->size - 1) * w->dilation;
  j->pitch = run_pitch(w), j->rows = run_pitch(h);
  j->unit = conv_max(1, UNIT_PIXELS / j->pitch);
  j->units = filter_amx_parts(c->batch * j->rows, j->unit);
  j->pixels = filter_amx_parts(j->unit * j->pitch, AMX_TERMS) * AMX_TERMS;
  j->taps = h->size * w->size;
  for (int64_t i = 0; i < j->taps; i++) {
    j->offset[i] = i / w->size * h->dilation * j->pitch + i % w->size * w->dilation;
    j->odd_offsets = j->odd_offsets || j->offset[i] % 2;
  }
  j->reach = filter_amx_parts(j->pixels + down * j->pitch + right, 2) * 2;
  j->x_strips = filter_amx_parts(c->in_ch, AMX_SIDE), j->dy_strips = filter_amx_parts(c->out_ch, AMX_SIDE);
  j->x_parts = filter_amx_parts(j->x_strips, MOST_STRIPS), j->dy_parts = filter_amx_parts(j->dy_strips, MOST_STRIPS);
  const int64_t bytes = j->x_strips * j->dy_strips * j->taps * TILE * (int64_t)sizeof(float);
  j->copies = weft__filter_copies(threads, j->units, bytes);
}

weft_err weft__filter_amx(kernel *k, const conv *c, const float *x, const float *dy, float *df, bool *inexact) {
  amx_gradient j = {.c = c, .x = x, .dy = dy, .df = df};
  gradient_plan(&j, weft__kernel_threads(k));
  const int64_t tasks = j.copies * j.x_parts * j.dy_parts, tiles = j.x_strips * j.dy_strips * j.taps;
  j.sums = weft__alloc_aligned((size_t)(j.copies * tiles * TILE) * sizeof *j.sums);
  if (!j.sums) return WEFT_OOM;
  const int64_t cost = j.units * j.pixels * tiles * 2 * TILE / tasks / FLOPS_PER_NS / 4;
  long_work work = weft__long_work(k);
  j.work = &work;
  weft__kernel_loop(k, tasks, cost + 1, gradient_tasks, &j);
  const weft_err err = weft__kernel_in(k, weft__long_work_end(&work));
  if (!err && !j.failed && !j.inexact)
    weft__kernel_loop(k, j.x_strips * j.taps, j.dy_strips * j.copies * TILE / 8, gradient_join, &j);
  weft__free(j.sums);
  *inexact = j.inexact;
  if (err) return err;
  return j.failed ? weft__fail(WEFT_OOM, "a convolution needs memory for the pieces of its images") : WEFT_OK;
}
