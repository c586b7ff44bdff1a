/* strided_copy.c - the strided copy behind every op that only moves elements.
 *
 * A copy is first simplified: adjacent axes that are contiguous are merged, and a short contiguous run becomes one
 * wide element.  The rest is one of three loops over the innermost axes: rows that memcpy copies, rows that are
 * gathered with a stride, or a block transpose if the source is contiguous along another axis than the destination.
 * Strides are in bytes here. */
#include "kernels/array/strided_copy.h"

#include "base/assert.h"
#include "base/target_clones.h"
#include "kernels/gpu/gpu_host.h"
#include "kernels/simd/block_transpose.h"

typedef struct copy_work {
  strided_copy b; /* strides in bytes; rank >= 1 */
  size_t size;    /* bytes of an element: 1, 2, 4, 8 or 16 in the elementwise loops */
  int plane;      /* the axis along which the source is contiguous, if it is not the innermost; otherwise -1 */
  char *dst;
  const char *src;
} copy_work;

enum { TILE = BLOCK_TRANSPOSE_STRIP }; /* elements of axis `plane` in one item */

void weft__shape_steps(const shape *s, int64_t *steps) {
  int64_t run = 1;
  for (int d = s->rank - 1; d >= 0; d--) {
    steps[d] = run;
    run *= s->dim[d];
  }
}

/* ---- simplifying a copy ---- */

static void merge_axes(strided_copy *out, const strided_copy *in, int64_t size) {
  out->rank = 0;
  for (int d = 0; d < in->rank; d++) {
    int64_t n = in->dim[d], src = in->src[d] * size, dst = in->dst[d] * size;
    int last = out->rank - 1;
    if (last >= 0 && out->src[last] == src * n && out->dst[last] == dst * n) {
      out->dim[last] *= n;
      out->src[last] = src;
      out->dst[last] = dst;
    } else {
      weft__strided_copy_axis(out, n, src, dst);
    }
  }
}

static void one_element(strided_copy *b, int64_t size) {
  WEFT_ASSERT(b->rank == 0);
  b->rank = 1;
  b->dim[0] = 1;
  b->src[0] = b->dst[0] = size;
}

static bool is_width(int64_t bytes) { return bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16; }

/* Makes a run of 2, 4, 8 or 16 bytes one element. */
static void strided_copy_widen(copy_work *j) {
  strided_copy *b = &j->b;
  int in = b->rank - 1;
  int64_t size = (int64_t)j->size;
  if (in >= 1 && b->src[in] == size && b->dst[in] == size && is_width(b->dim[in] * size)) {
    j->size = (size_t)(b->dim[in] * size);
    b->rank--;
  }
}

static void find_plane(copy_work *j) {
  WEFT_ASSERT(j->b.rank >= 1);
  strided_copy *b = &j->b;
  int in = b->rank - 1;
  int64_t size = (int64_t)j->size;
  j->plane = -1;
  if (b->dst[in] != size || b->src[in] == size || b->src[in] == 0) return;
  for (int d = 0; d < in; d++)
    if (b->src[d] == size) j->plane = d;
}

/* ---- rows ---- */

#define STEP_LOOP(T)                                                                                                   \
  for (int64_t i = 0; i < n; i++, d += ds, s += ss) memcpy(d, s, sizeof(T))

/* Copies n elements with a stride on either side. */
static void copy_steps(char *d, const char *s, int64_t n, int64_t ds, int64_t ss, size_t size) {
  switch (size) {
  case 1: STEP_LOOP(uint8_t); break;
  case 2: STEP_LOOP(uint16_t); break;
  case 4: STEP_LOOP(uint32_t); break;
  case 8: STEP_LOOP(uint64_t); break;
  default: STEP_LOOP(uint64_t[2]); break;
  }
}

#define FILL_LOOP(T)                                                                                                   \
  do {                                                                                                                 \
    T one;                                                                                                             \
    memcpy(&one, s, sizeof one);                                                                                       \
    for (int64_t i = 0; i < n; i++) memcpy(d + i * (int64_t)sizeof one, &one, sizeof one);                             \
  } while (0)

WEFT_TARGET_CLONES static void fill_row(char *d, const char *s, int64_t n, size_t size) {
  switch (size) {
  case 1: memset(d, *(const unsigned char *)s, (size_t)n); break;
  case 2: FILL_LOOP(uint16_t); break;
  case 4: FILL_LOOP(uint32_t); break;
  case 8: FILL_LOOP(uint64_t); break;
  default: FILL_LOOP(struct { uint64_t half[2]; }); break;
  }
}

/* Repeats each of `rows` elements of 4 bytes, `stride` bytes apart, n times.  Writes whole vectors, except for the last
 * rows: what is behind them belongs to others. */
WEFT_TARGET_CLONES static void fill_rows_32(char *d, const char *s, int64_t stride, int64_t rows, int64_t n) {
  WEFT_ASSERT(n > 0);
  enum { LANES = 16 };
  typedef uint32_t lanes __attribute__((vector_size(64), aligned(1), may_alias));
  uint32_t one;
  const int64_t exact = (LANES - 1) / n + 1; /* rows that a vector may reach into, and the last one */
  for (int64_t r = 0; r < rows; r++, d += n * (int64_t)sizeof one, s += stride) {
    memcpy(&one, s, sizeof one);
    const lanes v = one - (lanes){0};
    for (int64_t i = 0; r < rows - exact && i < n; i += LANES) memcpy(d + i * (int64_t)sizeof one, &v, sizeof v);
    for (int64_t i = 0; r >= rows - exact && i < n; i++) memcpy(d + i * (int64_t)sizeof one, &one, sizeof one);
  }
}

static void copy_row(const copy_work *j, char *d, const char *s, int64_t n) {
  int in = j->b.rank - 1;
  int64_t size = (int64_t)j->size, ds = j->b.dst[in], ss = j->b.src[in];
  if (ds == size && ss == size)
    memcpy(d, s, (size_t)(n * size));
  else if (ds == size && ss == 0)
    fill_row(d, s, n, j->size);
  else
    copy_steps(d, s, n, ds, ss, j->size);
}

/* ---- iterating over the outer axes ---- */

typedef struct walk {
  const strided_copy *b;
  int skip, n; /* iterates over axes [0, n); along `skip` it counts tiles */
  int64_t at[STRIDED_COPY_MAX_RANK];
  int64_t src, dst; /* offsets in bytes */
} walk;

static int64_t walk_dim(const walk *w, int d) { return d == w->skip ? (w->b->dim[d] + TILE - 1) / TILE : w->b->dim[d]; }
static int64_t walk_scale(const walk *w, int d) { return d == w->skip ? TILE : 1; }

static void walk_start(walk *w, const copy_work *j, int64_t item) {
  WEFT_ASSERT(j->b.rank >= 1 && item >= 0 && j->plane < j->b.rank - 1);
  w->b = &j->b;
  w->skip = j->plane;
  w->n = j->b.rank - 1;
  w->src = w->dst = 0;
  for (int d = w->n - 1; d >= 0; d--) {
    int64_t dim = walk_dim(w, d);
    w->at[d] = item % dim;
    item /= dim;
    w->src += w->at[d] * j->b.src[d] * walk_scale(w, d);
    w->dst += w->at[d] * j->b.dst[d] * walk_scale(w, d);
  }
}

static void walk_next(walk *w) {
  for (int d = w->n - 1; d >= 0; d--) {
    int64_t scale = walk_scale(w, d), src = w->b->src[d] * scale, dst = w->b->dst[d] * scale;
    w->src += src;
    w->dst += dst;
    if (++w->at[d] < walk_dim(w, d)) return;
    w->src -= src * w->at[d];
    w->dst -= dst * w->at[d];
    w->at[d] = 0;
  }
}

static int64_t walk_items(const copy_work *j) {
  int64_t n = 1;
  for (int d = 0; d < j->b.rank - 1; d++) n *= d == j->plane ? (j->b.dim[d] + TILE - 1) / TILE : j->b.dim[d];
  return n;
}

/* Returns true if rows that lie along the axis before the last are one element each, repeated, and are short and
 * adjacent in the destination. */
static bool fills_rows(const copy_work *j) {
  const strided_copy *b = &j->b;
  enum { SHORT_ROW = 64 };
  const int in = b->rank - 1;
  return j->plane < 0 && in > 0 && b->dim[in] <= SHORT_ROW && j->size == sizeof(uint32_t) && b->src[in] == 0 &&
         b->dst[in] == (int64_t)j->size && b->dst[in - 1] == b->dim[in] * (int64_t)j->size;
}

static void fill_items(const copy_work *j, int64_t begin, int64_t end) {
  WEFT_ASSERT(begin >= 0 && begin <= end && end <= walk_items(j));
  const strided_copy *b = &j->b;
  const int in = b->rank - 1;
  walk w;
  walk_start(&w, j, begin);
  for (int64_t i = begin, rows; i < end; i += rows) {
    rows = b->dim[in - 1] - w.at[in - 1];
    rows = rows < end - i ? rows : end - i;
    WEFT_ASSERT(rows > 0);
    fill_rows_32(j->dst + w.dst, j->src + w.src, b->src[in - 1], rows, b->dim[in]);
    w.at[in - 1] += rows - 1;
    w.src += (rows - 1) * b->src[in - 1];
    w.dst += (rows - 1) * b->dst[in - 1];
    walk_next(&w);
  }
}

static void copy_items(void *arg, int64_t begin, int64_t end) {
  const copy_work *j = arg;
  WEFT_ASSERT(begin >= 0 && begin <= end && end <= walk_items(j));
  if (fills_rows(j)) {
    fill_items(j, begin, end);
    return;
  }
  const strided_copy *b = &j->b;
  int in = b->rank - 1;
  walk w;
  walk_start(&w, j, begin);
  for (int64_t i = begin; i < end; i++, walk_next(&w)) {
    if (j->plane < 0) {
      copy_row(j, j->dst + w.dst, j->src + w.src, b->dim[in]);
      continue;
    }
    int64_t first = w.at[j->plane] * TILE, left = b->dim[j->plane] - first;
    WEFT_ASSERT(left > 0);
    weft__block_transpose(j->dst + w.dst, j->src + w.src, left < TILE ? left : TILE, b->dim[in], b->dst[j->plane],
                          b->src[in], j->size);
  }
}

/* Copies a part of one long row. */
static void copy_part(void *arg, int64_t begin, int64_t end) {
  const copy_work *j = arg;
  int in = j->b.rank - 1;
  copy_row(j, j->dst + begin * j->b.dst[in], j->src + begin * j->b.src[in], end - begin);
}

/* ---- strings and objects: copied one by one, because each copy may fail ---- */

static weft_err copy_objects(const copy_work *j, weft_dtype type) {
  const strided_copy *b = &j->b;
  int in = b->rank - 1;
  int64_t size = (int64_t)j->size, n = walk_items(j);
  bool run = b->src[in] == size && b->dst[in] == size;
  walk w;
  walk_start(&w, j, 0);
  for (int64_t i = 0; i < n; i++, walk_next(&w)) {
    char *d = j->dst + w.dst;
    const char *s = j->src + w.src;
    if (run) WEFT_TRY(weft__elements_copy(type, d, s, b->dim[in]));
    for (int64_t c = 0; !run && c < b->dim[in]; c++)
      WEFT_TRY(weft__elements_copy(type, d + c * b->dst[in], s + c * b->src[in], 1));
  }
  return WEFT_OK;
}

/* ---- the copy ---- */

enum { LONG_ROW = 1 << 16, BYTES_PER_NS = 8 };

static const uint64_t zero[2] = {0, 0}; /* zero of any type; also an empty string */

weft_err weft__strided_copy_run(const kernel *k, weft_dtype type, void *dst, const void *src, const strided_copy *b) {
  WEFT_ASSERT(b->rank >= 0 && b->rank <= STRIDED_COPY_MAX_RANK);
  copy_work j; /* large, so only the axes in use are initialized */
  j.size = weft__dtype_size(type);
  j.plane = -1;
  j.dst = dst;
  j.src = src ? src : (const char *)zero;
  for (int d = 0; d < b->rank; d++)
    if (b->dim[d] == 0) return WEFT_OK;
  merge_axes(&j.b, b, (int64_t)j.size);
  if (j.b.rank == 0) one_element(&j.b, (int64_t)j.size);
  WEFT_ASSERT(j.b.rank >= 1 && j.b.rank <= STRIDED_COPY_MAX_RANK);
  if (!weft__dtype_is_plain(type)) return copy_objects(&j, type);
  gpu_mover *move = k->device ? weft__gpu_mover() : NULL;
  if (move) return move((kernel *)(uintptr_t)k, j.size, dst, src, j.b.rank, j.b.dim, j.b.dst, j.b.src);
  strided_copy_widen(&j);
  find_plane(&j);
  int64_t row = j.b.dim[j.b.rank - 1], items = walk_items(&j);
  int64_t bytes = row * (int64_t)j.size * (j.plane < 0 ? 1 : TILE);
  if (items == 1 && j.plane < 0 && bytes < LONG_ROW) {
    copy_row(&j, j.dst, j.src, row);
    return WEFT_OK;
  }
  if (j.plane >= 0 || items >= 64 || bytes < LONG_ROW) {
    weft__kernel_loop(k, items, bytes / BYTES_PER_NS + 1, copy_items, &j);
    return WEFT_OK;
  }
  for (int64_t i = 0; i < items; i++) { /* few long rows: splits each of them */
    walk w;
    walk_start(&w, &j, i);
    copy_work part = j;
    part.dst += w.dst;
    part.src += w.src;
    weft__kernel_loop(k, row, 1, copy_part, &part);
  }
  return WEFT_OK;
}

weft_err weft__strided_zero(const kernel *k, weft_tensor *t) {
  const int64_t bytes = (int64_t)weft__tensor_bytes(t), each = 1;
  if (bytes == 0) return WEFT_OK;
  gpu_mover *move = k->device ? weft__gpu_mover() : NULL;
  if (move) return move((kernel *)(uintptr_t)k, 1, t->data, NULL, 1, &bytes, &each, &each);
  memset(t->data, 0, (size_t)bytes);
  return WEFT_OK;
}
