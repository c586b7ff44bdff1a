/* dataset_reducer.c - group_by_reducer: reduces all elements with the same key, in the order in which keys first
 * appear.
 *
 * init_func(key) returns a state, reduce_func(state, element) the next state, and finalize_func(state) an element.
 * The whole input is read before the first element is returned. */
#include "base/alloc.h"
#include "base/array.h"
#include "ops/data/dataset.h"

enum { F_KEY, F_INIT, F_REDUCE, F_FINALIZE, F_COUNT };
static const char *const f_names[F_COUNT] = {"key_func", "init_func", "reduce_func", "finalize_func"};
static const char *const f_args[F_COUNT] = {"key_func_other_arguments", "init_func_other_arguments",
                                            "reduce_func_other_arguments", "finalize_func_other_arguments"};

typedef struct reducer {
  dataset base;
  captured f[F_COUNT];
  int n_state;
} reducer;

typedef struct group {
  int64_t key;
  weft_tensor *state;
} group;

typedef struct reducer_at {
  walk base;
  group *groups; /* owned; n entries used, room allocated */
  int64_t n, room, next;
  /* hash index over keys with open addressing; the number of slots is a power of two; group number + 1, or 0 if
   * empty */
  int64_t *index, places;
  bool read;
} reducer_at;

static void reducer_destroy(dataset *d) {
  for (int i = 0; i < F_COUNT; i++) weft__captured_finish(&((reducer *)d)->f[i]);
}

static void reducer_finish(iterator *it) {
  reducer_at *at = (reducer_at *)it;
  for (int64_t i = 0; i < at->n; i++) weft__components_free(at->groups[i].state, ((reducer *)it->set)->n_state);
  weft__free(at->groups);
  weft__free(at->index);
  weft__dataset_walk_finish(it);
}

static weft_err dataset_reducer_key_of(iterator *it, const step *st, int64_t *key) {
  walk *w = (walk *)it;
  weft_tensor made = {0};
  WEFT_TRY(
      weft__captured_call(&((reducer *)it->set)->f[F_KEY], it->pass, st, w->got, it->set->input[0]->n_part, &made, 1));
  weft_err err = made.dtype == WEFT_INT64 && made.shape.rank == 0
                     ? WEFT_OK
                     : weft__fail(WEFT_INVALID_ARGUMENT, "`key_func` must return a scalar int64.");
  if (!err) *key = TENSOR_DATA(&made, int64_t)[0];
  weft__tensor_clear(&made);
  return err;
}

static weft_err new_group(iterator *it, const step *st, int64_t key, group **out) {
  reducer_at *at = (reducer_at *)it;
  const reducer *r = (reducer *)it->set;
  WEFT_TRY(WEFT_ARRAY_RESERVE(at->groups, at->room, at->n + 1));
  weft_tensor arg = {0}, *state = weft__components_alloc(r->n_state);
  weft_err err = state ? weft__tensor_init(&arg, WEFT_INT64, &SHAPE_SCALAR) : WEFT_OOM;
  if (!err) {
    TENSOR_DATA(&arg, int64_t)[0] = key;
    err = weft__captured_call(&r->f[F_INIT], it->pass, st, &arg, 1, state, r->n_state);
  }
  weft__tensor_clear(&arg);
  if (err) {
    if (state) weft__components_free(state, r->n_state);
    return err;
  }
  *out = &at->groups[at->n++];
  **out = (group){key, state};
  return WEFT_OK;
}

/* Returns the slot of the key in the index, or the free slot for it. */
static int64_t *dataset_reducer_place_of(const reducer_at *at, int64_t key) {
  uint64_t mask = (uint64_t)at->places - 1;
  for (uint64_t i = ((uint64_t)key * 0x9e3779b97f4a7c15u >> 20) & mask;; i = (i + 1) & mask)
    if (!at->index[i] || at->groups[at->index[i] - 1].key == key) return &at->index[i];
}

static weft_err grow_index(reducer_at *at) {
  int64_t places = at->places ? 2 * at->places : 32;
  int64_t *index = weft__alloc_zero((size_t)places, sizeof *index);
  if (!index) return WEFT_OOM;
  weft__free(at->index);
  at->index = index, at->places = places;
  for (int64_t i = 0; i < at->n; i++) *dataset_reducer_place_of(at, at->groups[i].key) = i + 1;
  return WEFT_OK;
}

static weft_err dataset_reducer_find_group(iterator *it, const step *st, int64_t key, group **out) {
  reducer_at *at = (reducer_at *)it;
  if (2 * at->n >= at->places) WEFT_TRY(grow_index(at));
  int64_t *place = dataset_reducer_place_of(at, key);
  if (!*place) {
    WEFT_TRY(new_group(it, st, key, out));
    *place = at->n;
  }
  *out = &at->groups[*place - 1];
  return WEFT_OK;
}

/* Reduces the element in w->got into the state of its group. */
static weft_err reduce_one(iterator *it, const step *st) {
  walk *w = (walk *)it;
  const reducer *r = (reducer *)it->set;
  int n_part = it->set->input[0]->n_part;
  int64_t key = 0;
  group *g = NULL;
  WEFT_TRY(dataset_reducer_key_of(it, st, &key));
  WEFT_TRY(dataset_reducer_find_group(it, st, key, &g));
  weft_tensor *args = weft__components_alloc(r->n_state + n_part), *made = weft__components_alloc(r->n_state);
  weft_err err = args && made ? WEFT_OK : WEFT_OOM;
  if (!err) {
    weft__components_move(args, g->state, r->n_state);
    weft__components_move(args + r->n_state, w->got, n_part);
    err = weft__captured_call(&r->f[F_REDUCE], it->pass, st, args, r->n_state + n_part, made, r->n_state);
  }
  if (!err) weft__components_move(g->state, made, r->n_state);
  if (args) weft__components_free(args, r->n_state + n_part);
  if (made) weft__components_free(made, r->n_state);
  return err;
}

static weft_err dataset_reducer_read_all(iterator *it, const step *st) {
  walk *w = (walk *)it;
  for (bool end = false;;) {
    WEFT_TRY(weft__iterator_next(w->from, st, w->got, &end));
    if (end) return WEFT_OK;
    weft_err err = reduce_one(it, st);
    weft__components_clear(w->got, it->set->input[0]->n_part);
    WEFT_TRY(err);
  }
}

static weft_err reducer_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  reducer_at *at = (reducer_at *)it;
  const reducer *r = (reducer *)it->set;
  if (!at->read) {
    WEFT_TRY(dataset_reducer_read_all(it, st));
    at->read = true;
  }
  *end = at->next == at->n;
  if (*end) return WEFT_OK;
  weft_tensor *state = at->groups[at->next++].state;
  return weft__captured_call(&r->f[F_FINALIZE], it->pass, st, state, r->n_state, out, it->set->n_part);
}

static const dataset_kind reducer_kind = {"GroupByReducer",
                                          sizeof(reducer),
                                          sizeof(reducer_at),
                                          .destroy = reducer_destroy,
                                          .begin = weft__dataset_walk_begin,
                                          .next = reducer_next,
                                          .finish = reducer_finish};

static void reducer_unprepare(void *state) {
  function **f = state;
  for (int i = 0; f && i < F_COUNT; i++) weft__function_release(f[i]);
  weft__free(f);
}

static weft_err reducer_prepare(const weft_node *n, void **state) {
  function **f = weft__alloc_zero(F_COUNT, sizeof *f);
  if (!f) return WEFT_OOM;
  weft_err err = WEFT_OK;
  for (int i = 0; i < F_COUNT && !err; i++) err = weft__function_create(&f[i], n, f_names[i], 0);
  if (err)
    reducer_unprepare(f);
  else
    *state = f;
  return err;
}

static weft_err reducer_cpu(kernel *k) {
  dataset *d = NULL;
  function **f = k->state;
  WEFT_TRY(weft__dataset_of(k, &reducer_kind, 1, &d));
  reducer *r = (reducer *)d;
  weft_err err = WEFT_OK;
  for (int i = 0; i < F_COUNT && !err; i++) err = weft__dataset_capture(k, &r->f[i], f[i], f_args[i]);
  r->n_state = f[F_INIT]->n_ret;
  if (!err && f[F_REDUCE]->n_ret != r->n_state)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "reduce_func returns %d tensors, init_func %d", f[F_REDUCE]->n_ret,
                     r->n_state);
  return weft__dataset_out(k, d, err);
}

#define REDUCER(NAME)                                                                                                  \
  {                                                                                                                    \
    NAME "(input_dataset:variant, key_func_other_arguments:@Tkey_func_other_arguments, "                               \
         "init_func_other_arguments:@Tinit_func_other_arguments, "                                                     \
         "reduce_func_other_arguments:@Treduce_func_other_arguments, "                                                 \
         "finalize_func_other_arguments:@Tfinalize_func_other_arguments) -> (handle:variant) | key_func:func "         \
         "init_func:func reduce_func:func finalize_func:func Tkey_func_other_arguments:list(type)>=0 "                 \
         "Tinit_func_other_arguments:list(type)>=0 Treduce_func_other_arguments:list(type)>=0 "                        \
         "Tfinalize_func_other_arguments:list(type)>=0 " OUTPUTS " ; stateful",                                        \
        "What functions make of all elements that have a key in common.", DATASET_FLAGS,                               \
        .cpu = reducer_cpu, .prepare = reducer_prepare, .unprepare = reducer_unprepare                                 \
  }

OPS(dataset_reducer) = {
    REDUCER("GroupByReducerDataset"),
    REDUCER("ExperimentalGroupByReducerDataset"),
    {.scenario = "tests/parity/test_data.py"},
};
