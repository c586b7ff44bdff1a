/* dataset_window.c - WindowDataset: windows of consecutive elements, each as a data set.
 *
 * A window begins `shift` elements after the previous one and takes every `stride`-th element until it has `size`
 * elements.  Each part of the input becomes its own data set.  Elements that later windows may need are kept in
 * memory. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include "ops/data/dataset.h"

typedef struct windows {
  dataset base;
  int64_t size, shift, stride, span; /* span: distance from a window's first element to its last */
  bool drop_remainder;
} windows;

typedef struct windows_at {
  walk base;
  weft_tensor *held;     /* n elements from the start of the next window on, stored one after the other */
  int64_t n, room, skip; /* skip: elements before the window that have not been read yet */
  bool input_over;
} windows_at;

static void windows_finish(iterator *it) {
  windows_at *at = (windows_at *)it;
  weft__components_free(at->held, weft__int_sat(at->n) * it->set->n_part);
  weft__dataset_walk_finish(it);
}

static weft_err dataset_window_hold(windows_at *at, int width) {
  WEFT_TRY(weft__array_reserve(&at->held, &at->room, at->n + 1, sizeof *at->held * (size_t)width, true));
  weft__components_move(at->held + at->n++ * width, at->base.got, width);
  return WEFT_OK;
}

static weft_err dataset_window_fill(iterator *it, const step *st) {
  windows_at *at = (windows_at *)it;
  const int width = it->set->n_part;
  while (!at->input_over && (at->skip > 0 || at->n < ((windows *)it->set)->span)) {
    WEFT_TRY(weft__iterator_next(at->base.from, st, at->base.got, &at->input_over));
    if (at->input_over) break;
    weft_err err = WEFT_OK;
    if (at->skip > 0)
      at->skip--;
    else
      err = dataset_window_hold(at, width);
    weft__components_clear(at->base.got, width);
    WEFT_TRY(err);
  }
  return WEFT_OK;
}

/* Makes part p of the window's elements a data set. */
static weft_err make_part(iterator *it, int p, int64_t count, weft_tensor *out) {
  const windows *w = (windows *)it->set;
  const windows_at *at = (windows_at *)it;
  weft_tensor *row = weft__components_alloc(weft__int_sat(count));
  if (!row) return WEFT_OOM;
  for (int64_t i = 0; i < count; i++)
    weft__components_share(&row[i], &at->held[i * w->stride * it->set->n_part + p], 1);
  return weft__dataset_stored_create(out, 1, &it->set->input[0]->type[p], row, count);
}

static void move_on(windows_at *at, int64_t by, int width) {
  const int64_t gone = by < at->n ? by : at->n;
  weft__components_clear(at->held, weft__int_sat(gone) * width);
  memmove(at->held, at->held + gone * width, sizeof *at->held * (size_t)((at->n - gone) * width));
  memset(at->held + (at->n - gone) * width, 0, sizeof *at->held * (size_t)(gone * width));
  at->n -= gone;
  at->skip = by - gone;
}

static weft_err windows_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  const windows *w = (windows *)it->set;
  windows_at *at = (windows_at *)it;
  const int width = it->set->n_part;
  WEFT_TRY(dataset_window_fill(it, st));
  *end = at->n == 0 || (w->drop_remainder && at->n < w->span);
  if (*end) return WEFT_OK;
  const int64_t inside = at->n < w->span ? at->n : w->span, count = (inside - 1) / w->stride + 1;
  for (int p = 0; p < width; p++) {
    weft_err err = make_part(it, p, count, &out[p]);
    if (err) weft__components_clear(out, p);
    WEFT_TRY(err);
  }
  move_on(at, w->shift, width);
  return WEFT_OK;
}

static int64_t windows_count(const dataset *d) {
  const windows *w = (const windows *)d;
  int64_t n = weft__dataset_count_of_input(d);
  if (n < 0) return n;
  if (!w->drop_remainder) return n / w->shift + (n % w->shift != 0);
  return n < w->span ? 0 : (n - w->span) / w->shift + 1;
}

static const dataset_kind windows_kind = {"Window",
                                          sizeof(windows),
                                          sizeof(windows_at),
                                          .begin = weft__dataset_walk_begin,
                                          .next = windows_next,
                                          .count = windows_count,
                                          .finish = windows_finish};

static weft_err windows_cpu(kernel *k) {
  int64_t of[3];
  static const char *const names[] = {"size", "shift", "stride"};
  for (int i = 0; i < 3; i++) {
    WEFT_TRY(weft__dataset_int(k, i + 1, names[i], &of[i]));
    if (of[i] < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Window %s must be greater than zero.", names[i]);
  }
  WEFT_TRY(weft__kernel_scalar(k, 4, "drop_remainder"));
  dataset *d = NULL;
  WEFT_TRY(weft__dataset_of(k, &windows_kind, 1, &d));
  weft_err err = WEFT_OK;
  windows *w = (windows *)d;
  w->size = of[0], w->shift = of[1], w->stride = of[2];
  w->drop_remainder = TENSOR_DATA(k->in[4], bool)[0];
  if (of[0] - 1 > (INT32_MAX - 1) / of[2])
    err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "a window of %lld elements, %lld apart, is too long",
                            (long long)of[0], (long long)of[2]);
  w->span = err ? 1 : (of[0] - 1) * of[2] + 1;
  if (!err && d->n_part != d->input[0]->n_part)
    err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "output_types has %d entries, the input's elements have %d parts",
                            d->n_part, d->input[0]->n_part);
  return weft__dataset_out(k, d, err);
}

OPS(dataset_window) = {
    {"WindowDataset(input_dataset:variant, size:int64, shift:int64, stride:int64, drop_remainder:bool) -> "
     "(handle:variant) | " OUTPUTS METADATA,
     "Elements side by side, as data sets of their own.", DATASET_FLAGS, .cpu = windows_cpu},
    {.scenario = "tests/parity/test_data.py"},
};
