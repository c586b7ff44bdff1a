/* conv_filter.c - the gradient of a convolution by its filter: a matrix product over all pixels.
 *
 * A row of the filter's gradient is the product of the image values under one filter tap with dy.  Microkernels read
 * both in place.  Each task sums into its own rows, which are added at the end. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/target_clones.h"
#include "kernels/conv/conv_fast.h"
#include "kernels/work/long_work.h"
#include <string.h>

enum {
  ROWS_BYTES = 96 * 1024, /* bytes of dy that are read once for each block of filter rows */
  /* terms of one partial sum: longer sums lose precision, and TensorFlow's sums over few pixels are short */
  PART_TERMS = 96,
  FEW_PART_TERMS = 24
};

typedef struct filter_work {
  const conv *c;
  window_axis depth; /* of one pixel for an image */
  const tile_set *set;
  padded image;
  const float *x, *dy;
  int64_t columns;        /* out_ch rounded up to whole vectors */
  int64_t copies, panels; /* copies of the sums; panels of the columns */
  float *sums; /* (copies, filter rows, columns); an image's filter has one plane of rows, a volume's several */
  int64_t chunk, chunks; /* rows of dy in a unit; units in an image */
  int64_t part_terms;
  float *df;
  bool failed;
  long_work *work; /* once it is over, the sums mean nothing */
} filter_work;

/* Returns rows [first, first + n) of dy of one image, with the columns padded to whole vectors. */
static const float *dy_rows(const filter_work *j, int64_t which, int64_t first, int64_t n, float *scratch) {
  const int64_t oc = j->c->out_ch, h = j->c->at[0].out, w = j->c->at[1].out;
  const float *src = j->dy + (which * h + first) * w * oc;
  if (oc == j->columns) return src;
  for (int64_t p = 0; p < n * w; p++) {
    memcpy(scratch + p * j->columns, src + p * oc, (size_t)oc * sizeof *src);
    memset(scratch + p * j->columns + oc, 0, (size_t)(j->columns - oc) * sizeof *src);
  }
  return scratch;
}

/* Rows [first, first + n) of dy of one image, and the image rows under them. */
typedef struct filter_rows {
  const float *a, *dy;
  int64_t first, n;
  const int64_t *tap; /* offsets of the image rows */
} filter_rows;

/* Adds the contribution of these rows to the columns of one panel. */
static void filter_unit(const filter_work *j, const filter_rows *of, float *sums, int width, bool add) {
  const conv *c = j->c;
  const window_axis *h = &c->at[0], *w = &c->at[1];
  const bool merged = w->dilation == 1;
  const int64_t strip = merged ? w->size * c->in_ch : c->in_ch, strips = merged ? 1 : w->size;
  const int64_t most_rows = weft__tile_rows(j->set, width), blocks = (strip + most_rows - 1) / most_rows;
  tile t = {
      .a_row = 1, .a_col = w->stride * c->in_ch, .b_row = j->columns, .run = w->out, .c_row = j->columns, .add = add};
  for (int64_t kh = 0; kh < h->size; kh++)
    for (int64_t s = 0; s < strips; s++) {
      const float *from = of->a + kh * h->dilation * j->image.row + s * w->dilation * c->in_ch;
      float *to = sums + (kh * w->size * c->in_ch + s * strip) * j->columns;
      int64_t begin, end; /* the rows of dy for which this filter row meets the image */
      weft__conv_padded_inside(&j->image, of->first * h->stride + kh * h->dilation, h->stride, of->n, &begin, &end);
      t.tap = of->tap + begin, t.taps = end - begin, t.b = of->dy + begin * w->out * j->columns;
      for (int64_t b = 0, done = 0; b < blocks; b++) {
        const int rows = weft__int_sat((strip - done + blocks - b - 1) / (blocks - b));
        t.a = from + done;
        t.c = to + done * j->columns;
        weft__tile_in_parts(weft__tile_by_col(j->set, width, rows), &t, j->part_terms);
        done += rows;
      }
    }
}

/* Adds the contribution of rows [first, first + n) of plane `which` of dy, which are at dy, to all planes of the
 * filter.  `written` says for each plane whether it has sums yet. */
static void filter_planes(const filter_work *j, int64_t which, filter_rows of, float *sums, sweep_panel part,
                          float *scratch, int64_t *written) {
  const conv *c = j->c;
  const window_axis *d = &j->depth, *h = &c->at[0], *w = &c->at[1];
  const int64_t plane = h->size * w->size * c->in_ch * j->columns;
  for (int64_t kd = 0; kd < d->size; kd++) {
    const int64_t at = which % d->out * d->stride + kd * d->dilation - d->before;
    if (at < 0 || at >= d->in) continue;
    const float *x = j->x + (which / d->out * d->in + at) * h->in * w->in * c->in_ch;
    of.a = weft__conv_padded_rows(&j->image, x, of.first * h->stride,
                                  (of.n - 1) * h->stride + (h->size - 1) * h->dilation + 1, scratch);
    filter_unit(j, &of, sums + kd * plane, part.width, written[kd] != 0);
    written[kd] = 1;
  }
}

/* A task processes one copy of the sums and one panel: all units of work of that copy. */
static weft_err filter_task(const filter_work *j, int64_t copy, sweep_panel part) {
  const conv *c = j->c;
  const window_axis *h = &c->at[0], *w = &c->at[1];
  const int64_t units = c->batch * j->depth.out * j->chunks;
  const int64_t begin = units * copy / j->copies, end = units * (copy + 1) / j->copies;
  const int64_t reach = (j->chunk - 1) * h->stride + (h->size - 1) * h->dilation + 1;
  const int64_t image_floats = j->image.direct ? 0 : reach * j->image.row;
  const int64_t dy_floats = c->out_ch == j->columns ? 0 : j->chunk * w->out * j->columns;
  const int64_t rows = h->size * w->size * c->in_ch;
  float *sums = j->sums + copy * j->depth.size * rows * j->columns + part.column;
  float *scratch = weft__alloc_aligned((size_t)(image_floats + dy_floats + 1) * sizeof *scratch);
  int64_t *tap = weft__alloc_zero((size_t)(j->chunk + j->depth.size), sizeof *tap);
  int64_t *written = tap ? tap + j->chunk : NULL;
  for (int64_t i = 0; tap && i < j->chunk; i++) tap[i] = i * h->stride * j->image.row;
  const int64_t cost = j->chunk * w->out * rows * part.width;
  int64_t spent = 0;
  for (int64_t u = begin; scratch && tap && u < end && !weft__long_work_spent(j->work, &spent, cost); u++) {
    const int64_t n = u / j->chunks, first = u % j->chunks * j->chunk, some = conv_min(j->chunk, h->out - first);
    const float *dy = dy_rows(j, n, first, some, scratch + image_floats) + part.column;
    const filter_rows of = {.dy = dy, .first = first, .n = some, .tap = tap};
    filter_planes(j, n, of, sums, part, scratch, written);
  }
  for (int64_t r = 0; tap && r < j->depth.size * rows; r++)
    if (!written[r / rows]) memset(sums + r * j->columns, 0, (size_t)part.width * sizeof *sums);
  const weft_err err = scratch && tap ? WEFT_OK : WEFT_OOM;
  weft__free(scratch);
  weft__free(tap);
  return err;
}

static void filter_tasks(void *arg, int64_t begin, int64_t end) {
  filter_work *j = arg;
  for (int64_t task = begin; task < end; task++) {
    sweep_panel part;
    part.width = weft__tile_panel_at(j->set, j->c->out_ch, task % j->panels, &part.column);
    if (filter_task(j, task / j->panels, part) != WEFT_OK) __atomic_store_n(&j->failed, true, __ATOMIC_RELAXED);
  }
}

/* df = the sum of the copies, without the padding columns. */
WEFT_TARGET_CLONES static void filter_join(void *arg, int64_t begin, int64_t end) {
  const filter_work *j = arg;
  const int64_t oc = j->c->out_ch, depth = j->depth.size * j->c->at[0].size * j->c->at[1].size * j->c->in_ch;
  for (int64_t r = begin; r < end; r++) {
    float *restrict out = j->df + r * oc;
    memcpy(out, j->sums + r * j->columns, (size_t)oc * sizeof *out);
    for (int64_t i = 1; i < j->copies; i++) {
      const float *restrict more = j->sums + (i * depth + r) * j->columns;
      for (int64_t o = 0; o < oc; o++) out[o] += more[o];
    }
  }
}

/* Divides the work: rows of dy that stay in the cache, and the number of copies. */
static void filter_plan(filter_work *j, int64_t threads) {
  const conv *c = j->c;
  const int64_t depth = j->depth.size * c->at[0].size * c->at[1].size * c->in_ch, lanes = j->set->lanes;
  j->columns = (c->out_ch + lanes - 1) / lanes * lanes;
  j->panels = weft__tile_panels(j->set, c->out_ch);
  const int64_t row_bytes = c->at[1].out * weft__tile_width(j->set) * (int64_t)sizeof(float);
  j->chunk = conv_min(c->at[0].out, conv_max(1, ROWS_BYTES / row_bytes));
  j->chunks = (c->at[0].out + j->chunk - 1) / j->chunk;
  j->copies =
      weft__filter_copies(threads, c->batch * j->depth.out * j->chunks, depth * j->columns * (int64_t)sizeof(float));
}

weft_err weft__conv_filter(kernel *k, const conv *c, const float *x, const float *dy, float *df) {
  bool use_tiles = true; /* false once another way has computed df */
  if (weft__filter_amx_fits(c)) {
    WEFT_TRY(weft__filter_amx(k, c, x, dy, df, &use_tiles));
    if (!use_tiles) return WEFT_OK;
  }
  if (!c->depth.size && weft__winograd_1d_filter_fits(c, weft__tile_set()))
    WEFT_TRY(weft__winograd_1d_filter(k, c, x, dy, df, &use_tiles));
  if (!use_tiles) return WEFT_OK;
  filter_work j = {.c = c, .set = weft__tile_set(), .x = x, .dy = dy, .df = df, .image = {.channels = c->in_ch}};
  j.depth = c->depth.size ? c->depth : (window_axis){1, 1, 1, 1, 1, 0, 0};
  const int64_t depth = j.depth.size * c->at[0].size * c->at[1].size * c->in_ch;
  for (int i = 0; i < 2; i++) {
    const window_axis *a = &c->at[i];
    j.image.size[i] = a->in, j.image.pad[i] = a->before;
    j.image.padded[i] = (a->out - 1) * a->stride + (a->size - 1) * a->dilation + 1;
  }
  weft__conv_padded_init(&j.image);
  filter_plan(&j, weft__kernel_threads(k));
  j.sums = weft__alloc_aligned((size_t)(j.copies * depth * j.columns) * sizeof *j.sums);
  if (!j.sums) return WEFT_OOM;
  const int64_t pixels = c->batch * j.depth.out * c->at[0].out * c->at[1].out;
  j.part_terms = pixels < CONV_FEW_PIXELS ? FEW_PART_TERMS : PART_TERMS;
  const int64_t cost = 2 * pixels * depth * j.columns / (j.copies * j.panels) / FLOPS_PER_NS;
  long_work work = weft__long_work(k);
  j.work = &work;
  weft__kernel_loop(k, j.copies * j.panels, cost + 1, filter_tasks, &j);
  const weft_err err = weft__kernel_in(k, weft__long_work_end(&work));
  if (!err && !j.failed) weft__kernel_loop(k, depth, j.copies * c->out_ch / 8 + 1, filter_join, &j);
  weft__free(j.sums);
  if (err) return err;
  return j.failed ? weft__fail(WEFT_OOM, "no memory for the padded images of a convolution's filter gradient")
                  : WEFT_OK;
}
