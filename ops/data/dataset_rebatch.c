/* dataset_rebatch.c - changes the sizes of batches by cutting and joining them, and makes batches of sliding
 * windows. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include "kernels/array/strided_copy.h"
#include "ops/data/dataset.h"
#include <string.h>

/* ---- rows of batches ---- */

typedef struct rebatch {
  dataset base;
  int64_t replicas; /* > 0: each batch is cut into this many pieces; 0: `size` lists the sizes of the new batches */
  int64_t *size;
  int64_t n_size;
  bool drop_remainder;
} rebatch;

typedef struct rebatch_at {
  walk base;
  bool have; /* base.got is a batch of which `next` rows have been used */
  int64_t next, rows;
  int64_t next_size; /* index of the next piece or size */
} rebatch_at;

static void rebatch_destroy(dataset *d) { weft__free(((rebatch *)d)->size); }

static weft_err open_batch(iterator *it) {
  rebatch_at *at = (rebatch_at *)it;
  const weft_tensor *got = at->base.got;
  for (int i = 0; i < it->set->n_part; i++) {
    if (got[i].shape.rank < 1)
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "Cannot rebatch dataset: All components must have at least one dimension. Perhaps your input "
                        "dataset is not batched? Component %d is scalar.",
                        i);
    if (got[i].shape.dim[0] != got[0].shape.dim[0])
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "Cannot rebatch dataset: Components do not share the same batch size. Component %d has %lld "
                        "rows, component 0 has %lld.",
                        i, (long long)got[i].shape.dim[0], (long long)got[0].shape.dim[0]);
  }
  at->have = true;
  at->next = 0;
  at->rows = got[0].shape.dim[0];
  return WEFT_OK;
}

/* Reads a batch if there is none.  Sets *end at the end of the input. */
static weft_err next_batch(iterator *it, const step *st, bool *end) {
  rebatch_at *at = (rebatch_at *)it;
  if (at->have) return WEFT_OK;
  weft__components_clear(at->base.got, it->set->n_part);
  WEFT_TRY(weft__iterator_next(at->base.from, st, at->base.got, end));
  return *end ? WEFT_OK : open_batch(it);
}

/* Makes *out a view of rows [first, first + n) of component p of the current batch. */
static void dataset_rebatch_view_of(const rebatch_at *at, int p, int64_t first, int64_t n, weft_tensor *out) {
  const weft_tensor *t = &at->base.got[p];
  const int64_t row = weft__shape_product(&t->shape, 1, t->shape.rank);
  weft__tensor_share(out, t);
  out->shape.dim[0] = n;
  out->data = (char *)t->data + (size_t)(first * row) * weft__dtype_size(t->dtype);
}

static weft_err cut_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  rebatch_at *at = (rebatch_at *)it;
  const int64_t n = ((rebatch *)it->set)->replicas;
  WEFT_TRY(next_batch(it, st, end));
  if (*end) return WEFT_OK;
  const int64_t each = at->rows / n + (at->rows % n != 0), first = at->next,
                count = at->rows - first < each ? at->rows - first : each;
  for (int p = 0; p < it->set->n_part; p++) dataset_rebatch_view_of(at, p, first, count, &out[p]);
  at->next += count;
  if (++at->next_size == n) at->next_size = 0, at->have = false;
  return WEFT_OK;
}

typedef struct pieces { /* the views that form a batch: n for each component */
  weft_tensor *view;
  int64_t n, room, rows; /* room: for views of all components */
} pieces;

static weft_err add_piece(iterator *it, pieces *all, int64_t count) {
  rebatch_at *at = (rebatch_at *)it;
  const int width = it->set->n_part;
  WEFT_TRY(WEFT_ARRAY_RESERVE_ZERO(all->view, all->room, (all->n + 1) * width));
  for (int p = 0; p < width; p++) dataset_rebatch_view_of(at, p, at->next, count, &all->view[all->n * width + p]);
  all->n++;
  all->rows += count;
  at->next += count;
  if (at->next == at->rows) at->have = false;
  return WEFT_OK;
}

static weft_err join_part(const pieces *all, int width, int p, weft_tensor *out) {
  const weft_tensor *first = &all->view[p];
  if (all->n == 1) {
    weft__tensor_share(out, first);
    return WEFT_OK;
  }
  shape s = first->shape;
  s.dim[0] = all->rows;
  WEFT_TRY(weft__tensor_init(out, first->dtype, &s));
  int64_t to = 0;
  for (int64_t i = 0; i < all->n; i++) {
    const weft_tensor *t = &all->view[i * width + p];
    shape want = first->shape;
    want.dim[0] = t->shape.dim[0];
    if (!weft__shape_equal(&want, &t->shape))
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "Cannot rebatch dataset: component %d has rows of different shapes, %s and %s.", p,
                        weft__shape_text(&first->shape), weft__shape_text(&t->shape));
    const int64_t count = weft__tensor_count(t);
    WEFT_TRY(weft__elements_copy(t->dtype, weft__element(t->dtype, out->data, to), t->data, count));
    to += count;
  }
  return WEFT_OK;
}

/* Collects `want` rows, or fewer at the end of the input. */
static weft_err dataset_rebatch_gather_rows(iterator *it, const step *st, int64_t want, pieces *all) {
  rebatch_at *at = (rebatch_at *)it;
  for (bool end = false; all->rows < want || !all->n;) {
    WEFT_TRY(next_batch(it, st, &end));
    if (end) return WEFT_OK;
    const int64_t left = at->rows - at->next, more = want - all->rows;
    WEFT_TRY(add_piece(it, all, left < more ? left : more));
  }
  return WEFT_OK;
}

static weft_err join_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  const rebatch *r = (rebatch *)it->set;
  rebatch_at *at = (rebatch_at *)it;
  const int width = it->set->n_part;
  const int64_t want = r->size[at->next_size % r->n_size];
  pieces all = {0};
  weft_err err = dataset_rebatch_gather_rows(it, st, want, &all);
  *end = !err && (!all.n || (all.rows < want && (r->drop_remainder || !all.rows)));
  for (int p = 0; p < width && !err && !*end; p++) err = join_part(&all, width, p, &out[p]);
  if (all.view) weft__components_clear(all.view, weft__int_sat(all.n * width));
  weft__free(all.view);
  if (err) weft__components_clear(out, width);
  at->next_size++;
  return err;
}

static const dataset_kind cut_kind = {"Rebatch",
                                      sizeof(rebatch),
                                      sizeof(rebatch_at),
                                      .destroy = rebatch_destroy,
                                      .begin = weft__dataset_walk_begin,
                                      .next = cut_next,
                                      .finish = weft__dataset_walk_finish,
                                      .rows = weft__dataset_rows_unknown,
                                      .passes = true};
static const dataset_kind join_kind = {"RebatchV2",
                                       sizeof(rebatch),
                                       sizeof(rebatch_at),
                                       .destroy = rebatch_destroy,
                                       .begin = weft__dataset_walk_begin,
                                       .next = join_next,
                                       .finish = weft__dataset_walk_finish,
                                       .rows = weft__dataset_rows_unknown,
                                       .passes = true};

static weft_err cut_cpu(kernel *k) {
  dataset *d = NULL;
  int64_t n;
  WEFT_TRY(weft__dataset_int(k, 1, "num_replicas", &n));
  if (n < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "num_replicas must be greater than zero.");
  WEFT_TRY(weft__dataset_of(k, &cut_kind, 1, &d));
  ((rebatch *)d)->replicas = n;
  return weft__dataset_out(k, d, WEFT_OK);
}

static weft_err read_sizes(const kernel *k, rebatch *r) {
  const weft_tensor *t = k->in[1];
  r->n_size = weft__tensor_count(t);
  if (t->shape.rank > 1 || r->n_size < 1)
    return weft__fail(WEFT_INVALID_ARGUMENT, "batch_sizes must be a scalar or a vector with at least one size");
  if (!(r->size = weft__alloc_zero((size_t)r->n_size, sizeof *r->size))) return WEFT_OOM;
  for (int64_t i = 0; i < r->n_size; i++) {
    r->size[i] = TENSOR_DATA(t, int64_t)[i];
    if (r->size[i] < 0)
      return weft__fail(WEFT_INVALID_ARGUMENT, "batch_sizes must not be negative, but entry %lld is %lld", (long long)i,
                        (long long)r->size[i]);
  }
  return WEFT_OK;
}

static weft_err dataset_rebatch_join_cpu(kernel *k) {
  dataset *d = NULL;
  int64_t drop;
  WEFT_TRY(weft__dataset_int(k, 2, "drop_remainder", &drop));
  WEFT_TRY(weft__dataset_of(k, &join_kind, 1, &d));
  ((rebatch *)d)->drop_remainder = drop != 0;
  return weft__dataset_out(k, d, read_sizes(k, (rebatch *)d));
}

/* ---- windows ---- */

typedef struct sliding {
  dataset base;
  int64_t size, shift, stride;
  bool drop_remainder;
} sliding;

typedef struct sliding_at {
  walk base;
  weft_tensor **element; /* the elements from the beginning of the window on */
  int64_t n, room;
  bool over;
} sliding_at;

static void sliding_finish(iterator *it) {
  sliding_at *at = (sliding_at *)it;
  for (int64_t i = 0; i < at->n; i++) weft__components_free(at->element[i], it->set->n_part);
  weft__free(at->element);
  weft__dataset_walk_finish(it);
}

static weft_err dataset_rebatch_add_element(iterator *it, const step *st) {
  sliding_at *at = (sliding_at *)it;
  WEFT_TRY(WEFT_ARRAY_RESERVE(at->element, at->room, at->n + 1));
  weft_tensor *part = weft__components_alloc(it->set->n_part);
  if (!part) return WEFT_OOM;
  weft_err err = weft__iterator_next(at->base.from, st, part, &at->over);
  if (err || at->over)
    weft__components_free(part, it->set->n_part);
  else
    at->element[at->n++] = part;
  return err;
}

/* Drops the first `shift` elements.  Those that are not in memory yet are read and dropped. */
static weft_err dataset_rebatch_slide(iterator *it, const step *st) {
  sliding_at *at = (sliding_at *)it;
  const int64_t shift = ((sliding *)it->set)->shift, known = shift < at->n ? shift : at->n;
  for (int64_t i = 0; i < known; i++) weft__components_free(at->element[i], it->set->n_part);
  memmove(at->element, at->element + known, sizeof *at->element * (size_t)(at->n - known));
  at->n -= known;
  for (int64_t i = known; i < shift && !at->over; i++) {
    WEFT_TRY(weft__iterator_next(at->base.from, st, at->base.got, &at->over));
    weft__components_clear(at->base.got, it->set->n_part);
  }
  return WEFT_OK;
}

/* Stacks component p of the window's elements as rows. */
static weft_err stack_part(const sliding_at *at, int64_t stride, int64_t count, int p, weft_tensor *out) {
  const weft_tensor *first = &at->element[0][p];
  shape s = {.rank = first->shape.rank + 1, .dim = {count}};
  if (s.rank > WEFT_MAX_RANK)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a window of tensors of rank %d is too deep", first->shape.rank);
  memcpy(s.dim + 1, first->shape.dim, sizeof *s.dim * (size_t)first->shape.rank);
  WEFT_TRY(weft__tensor_init(out, first->dtype, &s));
  const int64_t each = weft__tensor_count(first);
  for (int64_t i = 0; i < count; i++) {
    const weft_tensor *t = &at->element[i * stride][p];
    if (!weft__shape_equal(&t->shape, &first->shape))
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "Cannot batch tensors with different shapes in component %d. First element had shape %s and "
                        "element %lld had shape %s.",
                        p, weft__shape_text(&first->shape), (long long)i, weft__shape_text(&t->shape));
    WEFT_TRY(weft__elements_copy(t->dtype, weft__element(t->dtype, out->data, i * each), t->data, each));
  }
  return WEFT_OK;
}

static weft_err sliding_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  sliding_at *at = (sliding_at *)it;
  const sliding *s = (sliding *)it->set;
  const int64_t span = (s->size - 1) * s->stride + 1;
  while (at->n < span && !at->over) WEFT_TRY(dataset_rebatch_add_element(it, st));
  const int64_t found = at->n > span ? span : at->n, count = found ? (found - 1) / s->stride + 1 : 0;
  *end = !count || (s->drop_remainder && count < s->size);
  if (*end) return WEFT_OK;
  weft_err err = WEFT_OK;
  for (int p = 0; p < it->set->n_part && !err; p++) err = stack_part(at, s->stride, count, p, &out[p]);
  if (!err) err = dataset_rebatch_slide(it, st);
  if (err) weft__components_clear(out, it->set->n_part);
  return err;
}

static const dataset_kind sliding_kind = {"SlidingWindow",
                                          sizeof(sliding),
                                          sizeof(sliding_at),
                                          .begin = weft__dataset_walk_begin,
                                          .next = sliding_next,
                                          .finish = sliding_finish,
                                          .rows = weft__dataset_rows_unknown,
                                          .passes = true};

static weft_err sliding_cpu(kernel *k) {
  dataset *d = NULL;
  int64_t of[3];
  static const char *const names[] = {"Window size", "Window shift", "window_stride"};
  static const char *const args[] = {"window_size", "window_shift", "window_stride"};
  for (int i = 0; i < 3; i++) {
    WEFT_TRY(weft__dataset_int(k, i + 1, args[i], &of[i]));
    if (of[i] < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be greater than zero.", names[i]);
  }
  if (of[0] - 1 > (INT32_MAX - 1) / of[2])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "a window of %lld elements, %lld apart, is too long",
                             (long long)of[0], (long long)of[2]);
  WEFT_TRY(weft__dataset_of(k, &sliding_kind, 1, &d));
  sliding *s = (sliding *)d;
  s->size = of[0], s->shift = of[1], s->stride = of[2];
  s->drop_remainder = weft__node_bool(k->node, "drop_remainder", true);
  return weft__dataset_out(k, d, WEFT_OK);
}

#define ROW(NAME, ARGS, ATTRS, DOC, FN)                                                                                \
  { NAME "(input_dataset:variant, " ARGS ") -> (handle:variant) | " ATTRS, DOC, DATASET_FLAGS, .cpu = FN }
#define WINDOW "window_size:int64, window_shift:int64, window_stride:int64"

OPS(dataset_rebatch) = {
    ROW("RebatchDataset", "num_replicas:int64", OUTPUTS " use_fallback:bool=true", "Batches cut into smaller ones.",
        cut_cpu),
    ROW("ExperimentalRebatchDataset", "num_replicas:int64", OUTPUTS " use_fallback:bool=true",
        "Batches cut into smaller ones.", cut_cpu),
    ROW("RebatchDatasetV2", "batch_sizes:int64, drop_remainder:bool", OUTPUTS, "Batches of other sizes.",
        dataset_rebatch_join_cpu),
    ROW("SlidingWindowDataset", WINDOW, "drop_remainder:bool=true " OUTPUTS, "Windows of elements as batches.",
        sliding_cpu),
    ROW("ExperimentalSlidingWindowDataset", WINDOW, OUTPUTS, "Windows of elements as batches.", sliding_cpu),
    {.scenario = "tests/python/test_data_ops.py"},
};
