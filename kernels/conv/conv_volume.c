/* conv_volume.c - convolutions of float volumes by the microkernels of images, in place.
 *
 * A row of a result is a sum over planes and rows of the filter.  Both are taps of one tile, so a row is summed in
 * registers from first to last.  The planes that a row reads are copied only if rows or columns have padding; planes
 * of padding are skipped.  As for images, the gradient by the input is the same sweep over dy with the reversed
 * filter, once for each phase of the strides.
 *
 * To the functions of conv_fast.h, the planes and rows of the filter are the rows of one filter. */
#include "base/alloc.h"
#include "base/cast.h"
#include "kernels/conv/conv_fast.h"
#include "kernels/work/long_work.h"
#include <string.h>

enum { PANEL_BYTES = 256 * 1024 }; /* size of a part of a filter panel, which should stay in the L2 cache */

/* The taps of one axis, in ascending order of offset. */
typedef struct axis_taps {
  int64_t count, *offset, *key; /* in the padded volume; in the filter */
  int64_t pad;                  /* pixels before the first one; negative: that many are skipped */
  int64_t size;                 /* of the result */
} axis_taps;

typedef struct volume_sweep {
  sweep s;          /* its rows of taps are all planes and rows of the filter; it has the row's width and its strides */
  axis_taps at[3];  /* depth, height, width */
  int64_t planes;   /* of the volume */
  int64_t apart;    /* planes from one window to the next */
  int64_t plane;    /* floats of a plane of the volume */
  int64_t stride;   /* floats from one plane of the result to the next */
  int64_t row_taps; /* taps of one row of the filter */
} volume_sweep;

/* The memory of one thread: the padded rows of all planes under a window, and the offsets of the taps. */
typedef struct sweep_memory {
  float *rows;
  int64_t *tap;
} sweep_memory;

/* Part of a plane of the result: its rows [first, first + n), and the planes of the filter that meet the volume. */
typedef struct plane_part {
  int64_t volume, plane, first, n;
  int64_t begin, end;
} plane_part;

/* Sets the planes of taps that are inside the volume. */
static void part_planes(const volume_sweep *v, plane_part *p) {
  const axis_taps *d = &v->at[0];
  const int64_t origin = p->plane * v->apart - d->pad;
  p->begin = 0;
  while (p->begin < d->count && origin + d->offset[p->begin] < 0) p->begin++;
  p->end = p->begin;
  while (p->end < d->count && origin + d->offset[p->end] < v->planes) p->end++;
}

/* Makes the rows under the part readable and stores the offsets of its taps from the result. */
static const float *part_load(const volume_sweep *v, const plane_part *p, const sweep_memory *m) {
  const sweep *s = &v->s;
  const axis_taps *d = &v->at[0], *h = &v->at[1], *w = &v->at[2];
  const int64_t last = h->count ? h->offset[h->count - 1] : 0, reach = (p->n - 1) * s->step[0] + last + 1;
  const float *base = m->rows ? m->rows : s->src;
  for (int64_t kd = p->begin; kd < p->end; kd++) {
    const int64_t plane = p->plane * v->apart - d->pad + d->offset[kd];
    float *scratch = m->rows ? m->rows + (kd - p->begin) * reach * s->image.row : NULL;
    const float *from = weft__conv_padded_rows(&s->image, s->src + p->volume * s->src_image + plane * v->plane,
                                               p->first * s->step[0], reach, scratch);
    if (kd == p->begin) base = from;
    int64_t *tap = m->tap + kd * h->count * v->row_taps;
    for (int64_t kh = 0; kh < h->count; kh++)
      for (int64_t kw = 0; kw < v->row_taps; kw++)
        *tap++ = from - base + h->offset[kh] * s->image.row + w->offset[kw] * s->image.channels;
  }
  return base;
}

static void part_compute(const volume_sweep *v, const plane_part *p, const float *a, const int64_t *tap) {
  const sweep *s = &v->s;
  const int64_t taps = v->at[1].count * v->row_taps; /* of one plane of the filter */
  float *dst = s->dst + p->volume * s->dst_image + p->plane * v->stride + p->first * s->stride[0];
  for (int64_t column = 0; column < s->channels;) {
    const int width = weft__tile_panel(s->set, s->channels - column);
    const int64_t bytes = taps * s->run * width * (int64_t)sizeof(float);
    const int64_t fit = conv_max(PANEL_BYTES / conv_max(bytes, 1), 1);
    int64_t t = p->begin;
    do { /* without planes, the rows become zero */
      const int64_t next = conv_min(t + fit, p->end);
      for (int64_t i = 0; i < p->n; i++)
        weft__conv_sweep_row(s, tap, a + i * s->step[0] * s->image.row, dst + i * s->stride[0],
                             (sweep_panel){column, width}, t * taps, next * taps, t > p->begin);
      t = next;
    } while (t < p->end);
    column += width;
  }
}

/* Units are (volume, plane of the result, chunk of rows). */
static void volume_units(void *arg, int64_t begin, int64_t end) {
  volume_sweep *v = arg;
  sweep *s = &v->s;
  const axis_taps *d = &v->at[0], *h = &v->at[1];
  const int64_t last = h->count ? h->offset[h->count - 1] : 0, reach = (s->chunk - 1) * s->step[0] + last + 1;
  sweep_memory m = {.tap = weft__alloc((size_t)(s->taps + 1) * sizeof *m.tap)};
  if (!s->image.direct) m.rows = weft__alloc_aligned((size_t)(d->count * reach * s->image.row + 1) * sizeof *m.rows);
  if (!m.tap || (!s->image.direct && !m.rows)) __atomic_store_n(&s->failed, true, __ATOMIC_RELAXED);
  for (int64_t u = begin; u < end && !__atomic_load_n(&s->failed, __ATOMIC_RELAXED); u++) {
    plane_part p = {.volume = u / s->chunks / d->size, .plane = u / s->chunks % d->size};
    p.first = u % s->chunks * s->chunk, p.n = conv_min(s->chunk, s->size[0] - p.first);
    part_planes(v, &p);
    const float *a = part_load(v, &p, &m);
    part_compute(v, &p, a, m.tap);
  }
  weft__free(m.rows);
  weft__free(m.tap);
}

/* Combines the taps of the axes, and sets the size of the padded planes. */
static void volume_taps(volume_sweep *v) {
  sweep *s = &v->s;
  const axis_taps *d = &v->at[0], *h = &v->at[1], *w = &v->at[2];
  const int64_t rows = s->c->at[0].size, channels = s->image.channels;
  s->count[0] = d->count * h->count, s->count[1] = w->count, s->key[1] = w->key;
  for (int64_t i = 0; i < s->count[0]; i++) s->key[0][i] = d->key[i / h->count] * rows + h->key[i % h->count];
  s->merged = true;
  for (int64_t i = 1; i < w->count; i++) s->merged = s->merged && w->offset[i] == w->offset[i - 1] + 1;
  for (int i = 0; i < 2; i++) {
    const axis_taps *a = &v->at[1 + i];
    const int64_t last = a->count ? a->offset[a->count - 1] : 0;
    s->size[i] = a->size, s->image.pad[i] = a->pad;
    s->image.padded[i] = (a->size - 1) * s->step[i] + last + 1;
  }
  weft__conv_padded_init(&s->image);
  v->row_taps = s->merged ? w->count > 0 : w->count;
  s->run = s->merged ? w->count * channels : channels;
  s->taps = s->count[0] * v->row_taps;
}

static weft_err volume_run(kernel *k, volume_sweep *v, const float *f) {
  sweep *s = &v->s;
  float *packed = NULL;
  volume_taps(v);
  if (v->at[0].size <= 0 || s->size[0] <= 0 || s->size[1] <= 0) return WEFT_OK;
  WEFT_TRY(weft__conv_sweep_pack(k, s, f, &packed));
  const int64_t bytes = conv_max(v->at[0].count, 1) * s->image.row * s->step[0] * (int64_t)sizeof(float);
  const int64_t wanted = conv_max(4 * weft__kernel_threads(k), 1), planes = s->c->batch * v->at[0].size;
  s->chunk = conv_min(s->size[0], conv_max(1, IMAGE_BYTES / conv_max(bytes, 1)));
  if (planes < wanted) s->chunk = conv_min(s->chunk, (s->size[0] * planes + wanted - 1) / wanted);
  s->chunks = (s->size[0] + s->chunk - 1) / s->chunk;
  const int64_t columns = conv_max(s->channels, s->set->lanes);
  const int64_t cost = 2 * s->chunk * s->size[1] * (s->taps * s->run + 1) * columns / FLOPS_PER_NS + 1;
  const weft_err err = weft__long_loop(k, planes * s->chunks, cost, volume_units, v);
  weft__free(packed);
  if (err) return err;
  return s->failed ? weft__fail(WEFT_OOM, "a convolution needs memory for the planes of a volume") : WEFT_OK;
}

/* Allocates the taps of all axes. */
static weft_err volume_init(volume_sweep *v, const conv *c, bool transposed) {
  const int64_t size[3] = {c->depth.size, c->at[0].size, c->at[1].size};
  int64_t *room = weft__alloc((size_t)(2 * (size[0] + size[1] + size[2]) + size[0] * size[1]) * sizeof *room);
  *v = (volume_sweep){.s = {.c = c, .set = weft__tile_set(), .transposed = transposed}};
  if (!room) return WEFT_OOM;
  v->s.key[0] = room;
  room += size[0] * size[1];
  for (int i = 0; i < 3; i++, room += 2 * size[i - 1]) v->at[i].offset = room, v->at[i].key = room + size[i];
  return WEFT_OK;
}

static const window_axis *volume_axis(const conv *c, int i) { return i ? &c->at[i - 1] : &c->depth; }

weft_err weft__conv_volume_forward(kernel *k, const conv *c, const float *x, const float *f, float *y) {
  volume_sweep v;
  WEFT_TRY(volume_init(&v, c, false));
  sweep *s = &v.s;
  for (int i = 0; i < 3; i++) {
    const window_axis *a = volume_axis(c, i);
    axis_taps *t = &v.at[i];
    t->count = a->size, t->pad = a->before, t->size = a->out;
    for (int64_t j = 0; j < a->size; j++) t->offset[j] = j * a->dilation, t->key[j] = j;
  }
  s->src = x, s->dst = y, s->channels = c->out_ch, s->image.channels = c->in_ch;
  s->step[0] = c->at[0].stride, s->step[1] = c->at[1].stride, v.apart = c->depth.stride;
  s->image.size[0] = c->at[0].in, s->image.size[1] = c->at[1].in, v.planes = c->depth.in;
  v.plane = c->at[0].in * c->at[1].in * c->in_ch, s->src_image = v.planes * v.plane;
  s->stride[1] = c->out_ch, s->stride[0] = c->at[1].out * c->out_ch;
  v.stride = c->at[0].out * s->stride[0], s->dst_image = c->depth.out * v.stride;
  const weft_err err = volume_run(k, &v, f);
  weft__free(s->key[0]);
  return err;
}

/* Sets the taps of one phase of an axis: pixel phase + stride * i of dx gets filter row j from dy at i + offset. */
static void phase_taps(axis_taps *t, const window_axis *a, int64_t phase) {
  t->count = 0;
  for (int64_t j = a->size - 1; j >= 0; j--) {
    const int64_t at = phase + a->before - j * a->dilation;
    if (at % a->stride) continue;
    t->offset[t->count] = at / a->stride;
    t->key[t->count++] = j;
  }
  t->pad = t->count ? -t->offset[0] : 0;
  for (int64_t i = 0; i < t->count; i++) t->offset[i] += t->pad;
  t->size = phase < a->in ? (a->in - phase + a->stride - 1) / a->stride : 0;
}

weft_err weft__conv_volume_input(kernel *k, const conv *c, const float *f, const float *dy, float *dx) {
  const window_axis *d = &c->depth, *h = &c->at[0], *w = &c->at[1];
  volume_sweep v;
  WEFT_TRY(volume_init(&v, c, true));
  sweep *s = &v.s;
  s->src = dy, s->channels = c->in_ch, s->image.channels = c->out_ch, s->step[0] = s->step[1] = v.apart = 1;
  s->image.size[0] = h->out, s->image.size[1] = w->out, v.planes = d->out;
  v.plane = h->out * w->out * c->out_ch, s->src_image = v.planes * v.plane;
  s->stride[1] = w->stride * c->in_ch, s->stride[0] = h->stride * w->in * c->in_ch;
  v.stride = d->stride * h->in * w->in * c->in_ch, s->dst_image = d->in * h->in * w->in * c->in_ch;
  const int64_t phases = d->stride * h->stride * w->stride;
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < phases && !err; i++) {
    const int64_t of[3] = {i / w->stride / h->stride, i / w->stride % h->stride, i % w->stride};
    for (int j = 0; j < 3; j++) phase_taps(&v.at[j], volume_axis(c, j), of[j]);
    if (of[0] >= d->in || of[1] >= h->in || of[2] >= w->in) continue;
    s->dst = dx + ((of[0] * h->in + of[1]) * w->in + of[2]) * c->in_ch;
    err = volume_run(k, &v, f);
  }
  weft__free(s->key[0]);
  return err;
}
