/* conv_fast.c - convolutions of float images by tiles that read the image where it lies.
 *
 * With the channels last, the values under one row of the filter are one run of memory, and a tile
 * (panel.h) multiplies the runs of several neighbouring windows with a panel of the filter.  So
 * nothing is unfolded into a matrix; an image is copied once, with its padding around it, and only
 * if it has padding.
 *
 * The gradient towards the input is the same sweep over dy with the filter turned round: a stride s
 * makes s x s interleaved results, each a sweep with every s-th row and column of the filter.  The
 * gradient towards the filter is a product over all pixels; each task sums into rows of its own,
 * which are added up at the end. */
#include "base/alloc.h"
#include "base/hot.h"
#include "ops/conv.h"
#include "ops/panel.h"
#include <string.h>

enum {
  PANEL_BYTES = 256 * 1024, /* of a filter panel: should stay in the second cache */
  IMAGE_BYTES = 256 * 1024, /* of a padded part of an image */
  ROWS_BYTES = 96 * 1024,   /* of dy that is read once for each block of the filter's rows */
  COPIES_BYTES = 1 << 26,   /* of all private sums of a filter gradient */
  FLOPS_PER_NS = 64
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- an image with its padding ---- */

typedef struct image {
  int64_t size[2], channels; /* as it lies in memory */
  int64_t pad[2];            /* rows above, columns to the left; negative: so many are skipped */
  int64_t padded[2];         /* what the windows reach */
  bool direct;               /* no copy is needed */
  int64_t row;               /* floats from one row to the next, as the tiles see it */
} image;

static void image_init(image *m) {
  m->direct = m->pad[0] == 0 && m->pad[1] == 0 && m->padded[0] <= m->size[0] && m->padded[1] <= m->size[1];
  m->row = (m->direct ? m->size[1] : m->padded[1]) * m->channels;
}

/* Padded rows [first, first + n) of the image at src: in place, or copied to scratch. */
static const float *image_rows(const image *m, const float *src, int64_t first, int64_t n, float *scratch) {
  if (m->direct) return src + first * m->row;
  const int64_t c = m->channels, left = most(m->pad[1], 0), skip = most(-m->pad[1], 0);
  const int64_t width = most(least(m->padded[1] - left, m->size[1] - skip), 0), right = m->padded[1] - left - width;
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

/* ---- a sweep: every pixel of a result from a window over an image ---- */

typedef struct sweep {
  const conv *c;
  const tile_set *set;
  bool turned; /* towards the input: the filter's channels change places */
  image image;
  const float *src;
  int64_t step[2]; /* pixels from one window to the next */
  /* The taps of each axis, offsets ascending: where in the padded image, and which row or column of the filter. */
  int64_t count[2], *offset[2], *key[2];
  bool merged;                  /* the columns of a row of taps are one run */
  int64_t taps, run, *tap;      /* what the tiles get */
  const float *packed;          /* the filter in panels: (taps * run, width) each */
  float *dst;                   /* the first pixel of this result */
  int64_t channels;             /* of the result */
  int64_t size[2], stride[2];   /* pixels of the result, and floats from one to the next along each axis */
  int64_t src_image, dst_image; /* floats from one image of the batch to the next */
  int64_t chunk, chunks;        /* rows of the result in one unit of work; units in an image */
  bool failed;                  /* no memory; written by any thread, only ever to true */
} sweep;

/* Decides how taps become runs, once offsets are known. */
static void sweep_taps(sweep *s) {
  const int64_t nw = s->count[1], c = s->image.channels;
  s->merged = true;
  for (int64_t j = 1; j < nw; j++) s->merged = s->merged && s->offset[1][j] == s->offset[1][j - 1] + 1;
  for (int i = 0; i < 2; i++) {
    const int64_t last = s->count[i] ? s->offset[i][s->count[i] - 1] : 0;
    s->image.padded[i] = (s->size[i] - 1) * s->step[i] + last + 1;
  }
  image_init(&s->image);
  s->taps = 0;
  s->run = s->merged ? nw * c : c;
  for (int64_t h = 0; h < s->count[0]; h++)
    for (int64_t w = 0; w < (s->merged ? nw > 0 : nw); w++)
      s->tap[s->taps++] = s->offset[0][h] * s->image.row + s->offset[1][w] * c;
}

/* One panel of the filter: columns [first, first + width) of the result's channels, zero beyond the last. */
static void pack_panel(const sweep *s, const float *f, int64_t first, int width, float *out) {
  const conv *c = s->c;
  const int64_t cols = least(width, s->channels - first), in = c->in_ch, oc = c->out_ch;
  for (int64_t h = 0; h < s->count[0]; h++)
    for (int64_t w = 0; w < s->count[1]; w++) {
      const float *block = f + (s->key[0][h] * c->at[1].size + s->key[1][w]) * in * oc; /* (in, out) */
      const int64_t rows = s->turned ? oc : in;
      if (cols < width) memset(out, 0, (size_t)(rows * width) * sizeof *out);
      if (s->turned)
        for (int64_t j = 0; j < cols; j++)
          for (int64_t r = 0; r < rows; r++) out[r * width + j] = block[(first + j) * oc + r];
      else
        for (int64_t r = 0; r < rows; r++) memcpy(out + r * width, block + r * oc + first, (size_t)cols * sizeof *out);
      out += rows * width;
    }
}

/* The panel that holds column `first`: where the packed filter of it begins, and its width. */
typedef struct pack_job {
  sweep *s;
  const float *f;
  float *out;
} pack_job;

static void pack_panels(void *arg, int64_t begin, int64_t end) {
  const pack_job *j = arg;
  const sweep *s = j->s;
  const int64_t depth = s->taps * s->run;
  int64_t first = 0, n = 0;
  for (; first < s->channels && n < end; n++) {
    const int width = weft__tile_panel(s->set, s->channels - first);
    if (n >= begin) pack_panel(s, j->f, first, width, j->out + first * depth);
    first += width;
  }
}

/* Rows [first, first + n) of the result of one image, for the taps [begin, end) and one panel. */
static void sweep_rows(const sweep *s, const float *a, float *dst, int64_t n, int64_t column, int width,
                       const float *panel, int64_t begin, int64_t end) {
  float spill[TILE_MAX_FLOATS];
  const int64_t cols = least(width, s->channels - column);
  const int64_t most_rows = weft__tile_rows(s->set, width), blocks = (s->size[1] + most_rows - 1) / most_rows;
  tile t = {.tap = s->tap + begin,
            .a_row = s->step[1] * s->image.channels,
            .a_col = 1,
            .b_row = width,
            .b = panel + begin * s->run * width,
            .taps = end - begin,
            .run = s->run,
            .add = begin > 0};
  for (int64_t i = 0; i < n; i++)
    for (int64_t b = 0, done = 0; b < blocks; b++) {
      const int rows = (int)((s->size[1] - done + blocks - b - 1) / (blocks - b)); /* even shares */
      float *c = dst + i * s->stride[0] + done * s->stride[1] + column;
      t.a = a + i * s->step[0] * s->image.row + done * t.a_row;
      t.c = c, t.c_row = s->stride[1];
      if (cols < width) {
        t.c = spill, t.c_row = width;
        for (int p = 0; t.add && p < rows; p++)
          memcpy(spill + p * width, c + p * s->stride[1], (size_t)cols * sizeof *c);
      }
      weft__tile_by_row(s->set, width, rows)(&t);
      for (int p = 0; cols < width && p < rows; p++)
        memcpy(c + p * s->stride[1], spill + p * width, (size_t)cols * sizeof *c);
      done += rows;
    }
}

/* Units [begin, end) of work: chunks of rows, image by image. */
static void sweep_units(void *arg, int64_t begin, int64_t end) {
  sweep *s = arg;
  const int64_t last = s->count[0] ? s->offset[0][s->count[0] - 1] : 0;
  const int64_t reach = (s->chunk - 1) * s->step[0] + last + 1, depth = s->taps * s->run;
  float *scratch = s->image.direct ? NULL : weft__alloc_aligned((size_t)(reach * s->image.row) * sizeof *scratch);
  if (!s->image.direct && !scratch) {
    __atomic_store_n(&s->failed, true, __ATOMIC_RELAXED);
    return;
  }
  for (int64_t u = begin; u < end; u++) {
    const int64_t n = u / s->chunks, first = u % s->chunks * s->chunk, rows = least(s->chunk, s->size[0] - first);
    const float *a = image_rows(&s->image, s->src + n * s->src_image, first * s->step[0],
                                (rows - 1) * s->step[0] + last + 1, scratch);
    float *dst = s->dst + n * s->dst_image + first * s->stride[0];
    for (int64_t column = 0; column < s->channels;) {
      const int width = weft__tile_panel(s->set, s->channels - column);
      const int64_t fit = most(PANEL_BYTES / (int64_t)sizeof(float) / (width * most(s->run, 1)), 1);
      int64_t t = 0;
      do {
        const int64_t next = least(t + fit, s->taps);
        sweep_rows(s, a, dst, rows, column, width, s->packed + column * depth, t, next);
        t = next;
      } while (t < s->taps);
      column += width;
    }
  }
  weft__free(scratch);
}

/* Packs the filter and runs the sweep; taps, sizes and places are set. */
static weft_err sweep_run(kernel *k, sweep *s, const float *f) {
  if (s->size[0] <= 0 || s->size[1] <= 0) return WEFT_OK;
  sweep_taps(s);
  const int64_t depth = s->taps * s->run, lanes = s->set->lanes;
  const int64_t padded = (s->channels + lanes - 1) / lanes * lanes;
  float *packed = NULL;
  if (!s->turned && weft__tile_panel(s->set, s->channels) == s->channels) {
    s->packed = f; /* one full panel: the filter is packed as it is */
  } else {
    packed = weft__alloc_aligned((size_t)(most(depth * padded, 1)) * sizeof *packed);
    if (!packed) return WEFT_OOM;
    s->packed = packed;
    const int64_t panels = (padded + weft__tile_width(s->set) - 1) / weft__tile_width(s->set) + 2;
    weft__kernel_loop(k, panels, depth * weft__tile_width(s->set), pack_panels, &(pack_job){s, f, packed});
  }
  const int64_t row_bytes = s->image.row * s->step[0] * (int64_t)sizeof(float);
  const int64_t threads = k->step && k->step->intra ? weft__pool_threads(k->step->intra) : 1;
  const int64_t parts = (4 * threads + s->c->batch - 1) / s->c->batch; /* of an image, to keep all threads busy */
  s->chunk = least(s->size[0], most(1, least((s->size[0] + parts - 1) / parts, IMAGE_BYTES / most(row_bytes, 1))));
  s->chunks = (s->size[0] + s->chunk - 1) / s->chunk;
  const int64_t cost = 2 * s->chunk * s->size[1] * (depth + 1) * padded / FLOPS_PER_NS;
  weft__kernel_loop(k, s->c->batch * s->chunks, cost + 1, sweep_units, s);
  weft__free(packed);
  return s->failed ? weft__fail(WEFT_OOM, "a convolution needs memory for a padded image") : WEFT_OK;
}

/* Room for the taps of both axes. */
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

/* The taps of one phase of an axis: pixel phase + stride * i of dx gets filter row j from dy at i + offset. */
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
  sweep s = {.src = dy, .channels = c->in_ch, .image = {.channels = c->out_ch}, .turned = true, .step = {1, 1}};
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

/* ---- the gradient towards the filter ---- */

typedef struct filter_job {
  const conv *c;
  const tile_set *set;
  image image;
  const float *x, *dy;
  int64_t padded;         /* out_ch up to whole vectors */
  int64_t copies, panels; /* of the sums; of the columns */
  float *sums;            /* (copies, filter rows, padded) */
  int64_t chunk, chunks;  /* rows of dy in a unit; units in an image */
  float *df;
  bool failed;
} filter_job;

/* Rows [first, first + n) of dy of one image, columns padded to whole vectors if they are not already. */
static const float *dy_rows(const filter_job *j, int64_t which, int64_t first, int64_t n, float *scratch) {
  const int64_t oc = j->c->out_ch, h = j->c->at[0].out, w = j->c->at[1].out;
  const float *src = j->dy + (which * h + first) * w * oc;
  if (oc == j->padded) return src;
  for (int64_t p = 0; p < n * w; p++) {
    memcpy(scratch + p * j->padded, src + p * oc, (size_t)oc * sizeof *src);
    memset(scratch + p * j->padded + oc, 0, (size_t)(j->padded - oc) * sizeof *src);
  }
  return scratch;
}

/* Adds what `rows` rows of dy and the image under them contribute to the columns of one panel. */
static void filter_unit(const filter_job *j, const float *a, const float *dy, int64_t rows, const int64_t *tap,
                        float *sums, int width, bool add) {
  const conv *c = j->c;
  const window_axis *h = &c->at[0], *w = &c->at[1];
  const bool merged = w->dilation == 1;
  const int64_t strip = merged ? w->size * c->in_ch : c->in_ch, strips = merged ? 1 : w->size;
  const int64_t most_rows = weft__tile_rows(j->set, width), blocks = (strip + most_rows - 1) / most_rows;
  tile t = {.tap = tap,
            .a_row = 1,
            .a_col = w->stride * c->in_ch,
            .b = dy,
            .b_row = j->padded,
            .taps = rows,
            .run = w->out,
            .c_row = j->padded,
            .add = add};
  for (int64_t kh = 0; kh < h->size; kh++)
    for (int64_t s = 0; s < strips; s++) {
      const float *from = a + kh * h->dilation * j->image.row + s * w->dilation * c->in_ch;
      float *to = sums + (kh * w->size * c->in_ch + s * strip) * j->padded;
      for (int64_t b = 0, done = 0; b < blocks; b++) {
        const int n = (int)((strip - done + blocks - b - 1) / (blocks - b));
        t.a = from + done;
        t.c = to + done * j->padded;
        weft__tile_by_col(j->set, width, n)(&t);
        done += n;
      }
    }
}

/* Task: one copy of the sums, one panel.  All units of work that belong to that copy. */
static weft_err filter_task(const filter_job *j, int64_t copy, int64_t column, int width) {
  const conv *c = j->c;
  const window_axis *h = &c->at[0], *w = &c->at[1];
  const int64_t units = c->batch * j->chunks, begin = units * copy / j->copies, end = units * (copy + 1) / j->copies;
  const int64_t reach = (j->chunk - 1) * h->stride + (h->size - 1) * h->dilation + 1;
  const int64_t image_floats = j->image.direct ? 0 : reach * j->image.row;
  const int64_t dy_floats = c->out_ch == j->padded ? 0 : j->chunk * w->out * j->padded;
  const int64_t depth = h->size * w->size * c->in_ch;
  float *sums = j->sums + copy * depth * j->padded + column;
  float *scratch = weft__alloc_aligned((size_t)(image_floats + dy_floats + 1) * sizeof *scratch);
  int64_t *tap = weft__alloc((size_t)j->chunk * sizeof *tap);
  for (int64_t i = 0; tap && i < j->chunk; i++) tap[i] = i * h->stride * j->image.row;
  for (int64_t u = begin; scratch && tap && u < end; u++) {
    const int64_t n = u / j->chunks, first = u % j->chunks * j->chunk, rows = least(j->chunk, h->out - first);
    const float *a = image_rows(&j->image, j->x + n * h->in * w->in * c->in_ch, first * h->stride,
                                (rows - 1) * h->stride + (h->size - 1) * h->dilation + 1, scratch);
    const float *dy = dy_rows(j, n, first, rows, scratch + image_floats) + column;
    filter_unit(j, a, dy, rows, tap, sums, width, u > begin);
  }
  for (int64_t r = 0; begin == end && r < depth; r++) memset(sums + r * j->padded, 0, (size_t)width * sizeof *sums);
  const weft_err err = scratch && tap ? WEFT_OK : WEFT_OOM;
  weft__free(scratch);
  weft__free(tap);
  return err;
}

static void filter_tasks(void *arg, int64_t begin, int64_t end) {
  filter_job *j = arg;
  for (int64_t task = begin; task < end; task++) {
    int64_t column = 0;
    int width = weft__tile_panel(j->set, j->c->out_ch);
    for (int64_t panel = task % j->panels; panel > 0; panel--) {
      column += width;
      width = weft__tile_panel(j->set, j->c->out_ch - column);
    }
    if (filter_task(j, task / j->panels, column, width) != WEFT_OK)
      __atomic_store_n(&j->failed, true, __ATOMIC_RELAXED);
  }
}

/* df = the sum of the copies, without the columns beyond the last. */
WEFT_HOT static void filter_join(void *arg, int64_t begin, int64_t end) {
  const filter_job *j = arg;
  const int64_t oc = j->c->out_ch, depth = j->c->at[0].size * j->c->at[1].size * j->c->in_ch;
  for (int64_t r = begin; r < end; r++) {
    float *restrict out = j->df + r * oc;
    memcpy(out, j->sums + r * j->padded, (size_t)oc * sizeof *out);
    for (int64_t i = 1; i < j->copies; i++) {
      const float *restrict more = j->sums + (i * depth + r) * j->padded;
      for (int64_t o = 0; o < oc; o++) out[o] += more[o];
    }
  }
}

/* How the work is cut: rows of dy that stay in the cache, as many copies as there are threads and memory. */
static void filter_plan(filter_job *j, int64_t threads) {
  const conv *c = j->c;
  const int64_t depth = c->at[0].size * c->at[1].size * c->in_ch, lanes = j->set->lanes;
  j->padded = (c->out_ch + lanes - 1) / lanes * lanes;
  for (int64_t column = 0; column < c->out_ch; j->panels++) column += weft__tile_panel(j->set, c->out_ch - column);
  const int64_t row_bytes = c->at[1].out * weft__tile_width(j->set) * (int64_t)sizeof(float);
  j->chunk = least(c->at[0].out, most(1, ROWS_BYTES / row_bytes));
  j->chunks = (c->at[0].out + j->chunk - 1) / j->chunk;
  j->copies = least(least(threads, c->batch * j->chunks), COPIES_BYTES / (depth * j->padded * (int64_t)sizeof(float)));
  j->copies = most(j->copies, 1);
}

weft_err weft__conv_filter(kernel *k, const conv *c, const float *x, const float *dy, float *df) {
  filter_job j = {.c = c, .set = weft__tile_set(), .x = x, .dy = dy, .df = df, .image = {.channels = c->in_ch}};
  const int64_t depth = c->at[0].size * c->at[1].size * c->in_ch;
  for (int i = 0; i < 2; i++) {
    const window_axis *a = &c->at[i];
    j.image.size[i] = a->in, j.image.pad[i] = a->before;
    j.image.padded[i] = (a->out - 1) * a->stride + (a->size - 1) * a->dilation + 1;
  }
  image_init(&j.image);
  filter_plan(&j, k->step && k->step->intra ? weft__pool_threads(k->step->intra) : 1);
  j.sums = weft__alloc_aligned((size_t)(j.copies * depth * j.padded) * sizeof *j.sums);
  if (!j.sums) return WEFT_OOM;
  const int64_t pixels = c->batch * c->at[0].out * c->at[1].out;
  const int64_t cost = 2 * pixels * depth * j.padded / (j.copies * j.panels) / FLOPS_PER_NS;
  weft__kernel_loop(k, j.copies * j.panels, cost + 1, filter_tasks, &j);
  if (!j.failed) weft__kernel_loop(k, depth, j.copies * c->out_ch / 8 + 1, filter_join, &j);
  weft__free(j.sums);
  return j.failed ? weft__fail(WEFT_OOM, "a convolution needs memory for a padded image") : WEFT_OK;
}
