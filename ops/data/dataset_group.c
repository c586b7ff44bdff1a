/* dataset_group.c - group_by_window, which collects elements by a key until a group is full, and ignore_errors. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include "ops/data/dataset.h"
#include <stdlib.h>

/* ---- a group as a data set ---- */

typedef struct stored {
  dataset base;
  weft_tensor *row; /* n elements, stored one after the other */
  int64_t n;
} stored;

typedef struct stored_at {
  iterator base;
  int64_t next;
} stored_at;

static void stored_destroy(dataset *d) {
  stored *s = (stored *)d;
  weft__components_free(s->row, weft__int_sat(s->n) * d->n_part);
}

static weft_err stored_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  (void)st;
  const stored *s = (stored *)it->set;
  stored_at *at = (stored_at *)it;
  *end = at->next >= s->n;
  if (!*end) weft__components_share(out, s->row + at->next++ * it->set->n_part, it->set->n_part);
  return WEFT_OK;
}

static const dataset_kind stored_kind = {"Stored", sizeof(stored), sizeof(stored_at), .destroy = stored_destroy,
                                         .next = stored_next};

weft_err weft__dataset_stored_create(weft_tensor *out, int n_part, const weft_dtype *type, weft_tensor *row,
                                     int64_t n) {
  dataset *d = NULL;
  weft_tensor *held = NULL;
  weft_err err = weft__dataset_create(&d, &stored_kind, 0, NULL, n_part, type);
  if (err) {
    weft__components_free(row, weft__int_sat(n) * n_part);
    return err;
  }
  ((stored *)d)->row = row;
  ((stored *)d)->n = n;
  err = weft__variant_create(&held, &d->base);
  if (!err) weft__tensor_share(out, held);
  weft_tensor_destroy(held);
  return err;
}

weft_err weft__dataset_stored_out(kernel *k, int n_part, const weft_dtype *type) {
  weft_tensor *row = weft__components_alloc(k->n_in), *y = weft__out(k, 0, &SHAPE_SCALAR), made = {0};
  weft_err err = row && y ? WEFT_OK : WEFT_OOM;
  for (int i = 0; i < k->n_in && !err; i++) err = weft__tensor_keep(&row[i], k->in[i]);
  if (err) {
    weft__components_free(row, k->n_in);
    return err;
  }
  WEFT_TRY(weft__dataset_stored_create(&made, n_part, type, row, k->n_in / n_part));
  err = weft__elements_copy(WEFT_VARIANT, y->data, made.data, 1);
  weft__tensor_clear(&made);
  return err;
}

/* ---- groups ---- */

enum { F_KEY, F_REDUCE, F_SIZE, F_COUNT };
static const char *const f_names[] = {"key_func", "reduce_func", "window_size_func"};
static const char *const f_args[] = {"key_func_other_arguments", "reduce_func_other_arguments",
                                     "window_size_func_other_arguments"};

typedef struct group_by {
  dataset base;
  captured f[F_COUNT];
} group_by;

typedef struct group {
  int64_t key, want, n, room;
  weft_tensor *row;
} group;

typedef struct group_at {
  walk base;
  group *group; /* one group per key seen */
  int n_group, flushed;
  int64_t room;   /* allocated entries of `group` */
  iterator *open; /* iterates over the data set made from the last full group */
  bool input_over;
} group_at;

static void group_by_destroy(dataset *d) {
  for (int i = 0; i < F_COUNT; i++) weft__captured_finish(&((group_by *)d)->f[i]);
}

static void group_finish(iterator *it) {
  group_at *at = (group_at *)it;
  weft__iterator_destroy(at->open);
  for (int i = 0; i < at->n_group; i++)
    weft__components_free(at->group[i].row, weft__int_sat(at->group[i].n) * it->set->input[0]->n_part);
  weft__free(at->group);
  weft__dataset_walk_finish(it);
}

/* Calls a function of tensors that returns one number. */
static weft_err dataset_group_ask(iterator *it, const step *st, int f, const weft_tensor *arg, int n, int64_t *out) {
  weft_tensor t = {0};
  WEFT_TRY(weft__captured_call(&((group_by *)it->set)->f[f], it->pass, st, arg, n, &t, 1));
  bool fits = t.dtype == WEFT_INT64 && weft__tensor_count(&t) == 1;
  if (fits) *out = TENSOR_DATA(&t, int64_t)[0];
  weft__tensor_clear(&t);
  return fits ? WEFT_OK : weft__fail(WEFT_INVALID_ARGUMENT, "`%s` must return a scalar int64.", f_names[f]);
}

static weft_err key_tensor(int64_t key, weft_tensor *out) {
  WEFT_TRY(weft__tensor_init(out, WEFT_INT64, &SHAPE_SCALAR));
  TENSOR_DATA(out, int64_t)[0] = key;
  return WEFT_OK;
}

static weft_err begin_group(iterator *it, const step *st, int64_t key) {
  group_at *at = (group_at *)it;
  weft_tensor t = {0};
  int64_t want = 0;
  WEFT_TRY(WEFT_ARRAY_RESERVE(at->group, at->room, at->n_group + 1));
  WEFT_TRY(key_tensor(key, &t));
  weft_err err = dataset_group_ask(it, st, F_SIZE, &t, 1, &want);
  weft__tensor_clear(&t);
  if (!err && want <= 0)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "Window size must be greater than zero, but got %lld.", (long long)want);
  if (!err) at->group[at->n_group++] = (group){.key = key, .want = want};
  return err;
}

static weft_err dataset_group_find(iterator *it, const step *st, int64_t key, group **out) {
  group_at *at = (group_at *)it;
  int i = 0;
  while (i < at->n_group && at->group[i].key != key) i++;
  if (i == at->n_group) WEFT_TRY(begin_group(it, st, key));
  *out = &at->group[i];
  return WEFT_OK;
}

/* Moves the current element into its group. */
static weft_err dataset_group_put(iterator *it, group *g) {
  group_at *at = (group_at *)it;
  int width = it->set->input[0]->n_part;
  WEFT_TRY(weft__array_reserve(&g->row, &g->room, g->n + 1, sizeof *g->row * (size_t)width, true));
  weft__components_move(g->row + g->n++ * width, at->base.got, width);
  return WEFT_OK;
}

/* Calls the reducing function with the key and the group as a data set, and opens the data set that it returns. */
static weft_err open_group(iterator *it, const step *st, group *g) {
  group_at *at = (group_at *)it;
  dataset *in = it->set->input[0], *d = NULL;
  weft_tensor arg[2] = {{0}}, made = {0}, *row = g->row;
  const int64_t n = g->n;
  g->row = NULL;
  g->n = g->room = 0;
  WEFT_TRY(weft__dataset_stored_create(&arg[1], in->n_part, in->type, row, n));
  weft_err err = key_tensor(g->key, &arg[0]);
  if (!err) err = weft__captured_call(&((group_by *)it->set)->f[F_REDUCE], it->pass, st, arg, 2, &made, 1);
  if (!err) err = weft__dataset_get(&made, &d);
  if (!err && d->n_part != it->set->n_part)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "`reduce_func` made elements of %d tensors, not %d", d->n_part,
                     it->set->n_part);
  if (!err) err = weft__iterator_create(&at->open, d, it->pass);
  weft__tensor_clear(&made);
  weft__components_clear(arg, 2);
  return err;
}

static int dataset_group_by_key(const void *a, const void *b) {
  const group *x = a, *y = b;
  return (x->key > y->key) - (x->key < y->key);
}

/* Takes the next element of the input.  At the end of the input, takes the next group that still has elements. */
static weft_err dataset_group_advance(iterator *it, const step *st, bool *end) {
  group_at *at = (group_at *)it;
  if (!at->input_over) {
    int64_t key = 0;
    group *g = NULL;
    WEFT_TRY(weft__iterator_next(at->base.from, st, at->base.got, &at->input_over));
    if (!at->input_over) {
      weft_err err = dataset_group_ask(it, st, F_KEY, at->base.got, it->set->input[0]->n_part, &key);
      if (!err) err = dataset_group_find(it, st, key, &g);
      if (!err) err = dataset_group_put(it, g);
      weft__components_clear(at->base.got, it->set->input[0]->n_part);
      return !err && g->n == g->want ? open_group(it, st, g) : err;
    }
    if (at->n_group) qsort(at->group, (size_t)at->n_group, sizeof *at->group, dataset_group_by_key);
  }
  while (at->flushed < at->n_group && at->group[at->flushed].n == 0) at->flushed++;
  *end = at->flushed == at->n_group;
  return *end ? WEFT_OK : open_group(it, st, &at->group[at->flushed]);
}

static weft_err group_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  group_at *at = (group_at *)it;
  for (;;) {
    if (at->open) {
      bool over = false;
      WEFT_TRY(weft__iterator_next(at->open, st, out, &over));
      if (!over) return WEFT_OK;
      weft__iterator_destroy(at->open);
      at->open = NULL;
    }
    WEFT_TRY(dataset_group_advance(it, st, end));
    if (*end) return WEFT_OK;
  }
}

static const dataset_kind group_kind = {"GroupByWindow",
                                        sizeof(group_by),
                                        sizeof(group_at),
                                        .destroy = group_by_destroy,
                                        .begin = weft__dataset_walk_begin,
                                        .next = group_next,
                                        .finish = group_finish};

static void group_unprepare(void *state) {
  function **f = state;
  for (int i = 0; f && i < F_COUNT; i++) weft__function_release(f[i]);
  weft__free(f);
}

static weft_err group_prepare(const weft_node *n, void **state) {
  function **f = weft__alloc_zero(F_COUNT, sizeof *f);
  if (!f) return WEFT_OOM;
  weft_err err = WEFT_OK;
  for (int i = 0; i < F_COUNT && !err; i++) err = weft__function_create(&f[i], n, f_names[i], 0);
  if (err)
    group_unprepare(f);
  else
    *state = f;
  return err;
}

static weft_err group_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__dataset_of(k, &group_kind, 1, &d));
  weft_err err = WEFT_OK;
  for (int i = 0; i < F_COUNT && !err; i++)
    err = weft__dataset_capture(k, &((group_by *)d)->f[i], ((function **)k->state)[i], f_args[i]);
  return weft__dataset_out(k, d, err);
}

/* ---- failures ---- */

/* Skips elements that fail.  The loop ends only when the input ends or the step is canceled. */
static weft_err ignore_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  while (weft__iterator_next(((walk *)it)->from, st, out, end) != WEFT_OK) WEFT_TRY(weft__step_check(st));
  return WEFT_OK;
}

static const dataset_kind ignore_kind = {"IgnoreErrors",      sizeof(dataset),
                                         sizeof(walk),        .begin = weft__dataset_walk_begin,
                                         .next = ignore_next, .finish = weft__dataset_walk_finish,
                                         .passes = true};

static weft_err ignore_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__dataset_of(k, &ignore_kind, 1, &d));
  return weft__dataset_out(k, d, WEFT_OK);
}

#define GROUP                                                                                                          \
  "(input_dataset:variant, key_func_other_arguments:@Tkey_func_other_arguments, "                                      \
  "reduce_func_other_arguments:@Treduce_func_other_arguments, "                                                        \
  "window_size_func_other_arguments:@Twindow_size_func_other_arguments) -> (handle:variant) | key_func:func "          \
  "reduce_func:func window_size_func:func Tkey_func_other_arguments:list(type)>=0 "                                    \
  "Treduce_func_other_arguments:list(type)>=0 Twindow_size_func_other_arguments:list(type)>=0 " OUTPUTS
#define GROUP_ROW(NAME, MORE)                                                                                          \
  {                                                                                                                    \
    NAME GROUP MORE, "What a function makes of elements that have a key in common.", DATASET_FLAGS,                    \
        .cpu = group_cpu, .prepare = group_prepare, .unprepare = group_unprepare                                       \
  }
#define IGNORE(NAME)                                                                                                   \
  {                                                                                                                    \
    NAME "(input_dataset:variant) -> (handle:variant) | " OUTPUTS " log_warning:bool=false",                           \
        "The elements that do not fail.", DATASET_FLAGS, .cpu = ignore_cpu                                             \
  }

OPS(dataset_group) = {
    GROUP_ROW("GroupByWindowDataset", METADATA),
    GROUP_ROW("ExperimentalGroupByWindowDataset", ""),
    IGNORE("IgnoreErrorsDataset"),
    IGNORE("ExperimentalIgnoreErrorsDataset"),
    {.scenario = "tests/parity/test_data.py"},
};
