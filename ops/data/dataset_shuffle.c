/* dataset_shuffle.c - shuffle: elements in random order, exactly TensorFlow's order for the same seed.
 *
 * A ring holds up to `room` elements.  The next element is drawn at random from the ring, and the element at the
 * front moves to its place. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/philox.h"
#include "ops/data/dataset.h"

typedef struct shuffle {
  dataset base;
  int64_t room;
  uint64_t seed, seed2;
  bool reshuffle; /* each iterator of a pass has its own order */
} shuffle;

typedef struct shuffle_at {
  walk base;
  philox_reader random;
  weft_tensor **ring; /* `room` entries; NULL: empty */
  int64_t size;       /* entries allocated so far; it grows as the ring fills for the first time, since `room` may
                       * exceed the number of elements */
  int64_t from, to;   /* the ring holds elements [from, to), counted since the beginning */
  bool input_over;
} shuffle_at;

/* ---- seeds ---- */

typedef struct seeder { /* draws the seeds of the iterators of one pass */
  object base;
  pthread_mutex_t lock;
  bool seeded;
  philox_reader random;
} seeder;

static void seeder_destroy(object *o) {
  pthread_mutex_destroy(&((seeder *)o)->lock);
  weft__free(o);
}

static weft_err seeds_of(const iterator *it, uint64_t seed[2]) {
  const shuffle *s = (const shuffle *)it->set;
  seed[0] = s->seed, seed[1] = s->seed2;
  return seed[0] || seed[1] ? WEFT_OK : weft__dataset_pass_seeds(it->pass, seed);
}

static weft_err make_seeder(const void *of, object **out) {
  (void)of;
  seeder *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  atomic_init(&s->base.refs, 1);
  s->base.destroy = seeder_destroy;
  pthread_mutex_init(&s->lock, NULL);
  *out = &s->base;
  return WEFT_OK;
}

/* Draws the seeds of the next iterator of the pass. */
static weft_err seeder_draw(seeder *from, const iterator *it, uint64_t seed[2]) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&from->lock);
  if (!from->seeded && !(err = seeds_of(it, seed))) {
    from->random = weft__philox_reader(weft__philox(seed[0], seed[1]));
    from->seeded = true;
  }
  if (!err) {
    seed[0] = weft__philox_word(&from->random);
    seed[1] = weft__philox_word(&from->random);
  }
  pthread_mutex_unlock(&from->lock);
  return err;
}

static weft_err begin_random(iterator *it) {
  const shuffle *s = (shuffle *)it->set;
  uint64_t seed[2];
  if (s->reshuffle) {
    object *o = NULL;
    WEFT_TRY(weft__dataset_pass_object(it->pass, &it->set->base.base, make_seeder, &o));
    WEFT_TRY(seeder_draw((seeder *)o, it, seed));
  } else {
    WEFT_TRY(seeds_of(it, seed));
  }
  ((shuffle_at *)it)->random = weft__philox_reader(weft__philox(seed[0], seed[1]));
  return WEFT_OK;
}

/* ---- the ring ---- */

static weft_err shuffle_begin(iterator *it) {
  WEFT_TRY(begin_random(it));
  return weft__dataset_walk_begin(it);
}

static void shuffle_finish(iterator *it) {
  shuffle_at *at = (shuffle_at *)it;
  for (int64_t i = 0; i < at->size; i++) weft__components_free(at->ring[i], it->set->n_part);
  weft__free(at->ring);
  weft__dataset_walk_finish(it);
}

static weft_err dataset_shuffle_fill(iterator *it, const step *st) {
  shuffle_at *at = (shuffle_at *)it;
  const shuffle *s = (shuffle *)it->set;
  while (at->to - at->from < s->room && !at->input_over) {
    WEFT_TRY(weft__iterator_next(at->base.from, st, at->base.got, &at->input_over));
    if (at->input_over) break;
    int64_t place = at->to % s->room;
    weft_err err = WEFT_ARRAY_RESERVE_ZERO(at->ring, at->size, place + 1);
    weft_tensor *part = err ? NULL : weft__components_alloc(it->set->n_part);
    if (part) weft__components_share(part, at->base.got, it->set->n_part);
    weft__components_clear(at->base.got, it->set->n_part);
    if (!part) return WEFT_OOM;
    at->ring[place] = part;
    at->to++;
  }
  return WEFT_OK;
}

static weft_err shuffle_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  shuffle_at *at = (shuffle_at *)it;
  int64_t room = ((shuffle *)it->set)->room;
  WEFT_TRY(dataset_shuffle_fill(it, st));
  *end = at->from == at->to;
  if (*end) return WEFT_OK;
  int64_t chosen = (at->from + (int64_t)(weft__philox_word(&at->random) % (uint64_t)(at->to - at->from))) % room;
  int64_t front = at->from % room;
  weft_tensor *part = at->ring[chosen];
  weft__components_move(out, part, it->set->n_part);
  at->ring[chosen] = at->ring[front];
  at->ring[front] = NULL;
  weft__free(part);
  at->from++;
  return WEFT_OK;
}

static const dataset_kind shuffle_kind = {"Shuffle",
                                          sizeof(shuffle),
                                          sizeof(shuffle_at),
                                          .begin = shuffle_begin,
                                          .next = shuffle_next,
                                          .count = weft__dataset_count_of_input,
                                          .finish = shuffle_finish,
                                          .passes = true};

static weft_err dataset_shuffle_make(kernel *k, dataset **out) {
  int64_t room, seed = 0, seed2 = 0;
  WEFT_TRY(weft__dataset_int(k, 1, "buffer_size", &room));
  if (k->n_in > 3) { /* without seeds, random seeds of the system are used */
    WEFT_TRY(weft__dataset_int(k, 2, "seed", &seed));
    WEFT_TRY(weft__dataset_int(k, 3, "seed2", &seed2));
  }
  if (room < 1 && room != -2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "buffer_size must be greater than zero or UNKNOWN_CARDINALITY");
  WEFT_TRY(weft__dataset_of(k, &shuffle_kind, 1, out));
  shuffle *s = (shuffle *)*out;
  s->room = room < 0 ? INT64_MAX : room;
  s->seed = (uint64_t)seed, s->seed2 = (uint64_t)seed2;
  s->reshuffle = weft__node_bool(k->node, "reshuffle_each_iteration", true);
  return WEFT_OK;
}

static weft_err dataset_shuffle_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(dataset_shuffle_make(k, &d));
  return weft__dataset_out(k, d, WEFT_OK);
}

/* ShuffleAndRepeat: first shuffle, then repeat.  As in TensorFlow, an epoch ends before the next begins. */
static weft_err repeated_cpu(kernel *k) {
  dataset *shuffled = NULL, *d = NULL;
  int64_t count;
  WEFT_TRY(weft__dataset_int(k, 4, "count", &count));
  if (count == 0 || count < -1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "count must be greater than zero or equal to -1.");
  WEFT_TRY(dataset_shuffle_make(k, &shuffled));
  weft_err err = weft__dataset_create(&d, &weft__repeat_kind, 1, &shuffled, shuffled->n_part, shuffled->type);
  weft__dataset_release(shuffled);
  if (!err) weft__dataset_repeat_set(d, count);
  return weft__dataset_out(k, d, err);
}

/* Returns a handle that stands for the seeds in the arguments of an op. */
static weft_err dummy_cpu(kernel *k) {
  weft_tensor *t = weft__out(k, 0, &SHAPE_SCALAR);
  return t ? WEFT_OK : WEFT_OOM;
}

#define ARGS "(input_dataset:variant, buffer_size:int64, seed:int64, seed2:int64"
#define AGAIN "reshuffle_each_iteration:bool=true"

OPS(dataset_shuffle) = {
    {"ShuffleDataset" ARGS ") -> (handle:variant) | " AGAIN " " OUTPUTS METADATA, "Elements in random order.",
     DATASET_FLAGS, .cpu = dataset_shuffle_cpu},
    {"ShuffleDatasetV3" ARGS ", seed_generator:resource) -> (handle:variant) | " AGAIN " " OUTPUTS METADATA
     " ; stateful",
     "Elements in random order.", DATASET_FLAGS, .cpu = dataset_shuffle_cpu},
    {"ShuffleDatasetV2(input_dataset:variant, buffer_size:int64, seed_generator:resource) -> (handle:variant) "
     "| " OUTPUTS METADATA " ; stateful",
     "Elements in random order.", DATASET_FLAGS, .cpu = dataset_shuffle_cpu},
    {"ShuffleAndRepeatDataset" ARGS ", count:int64) -> (handle:variant) | " OUTPUTS " " AGAIN METADATA,
     "Elements in random order, again and again.", DATASET_FLAGS, .cpu = repeated_cpu},
    {"ShuffleAndRepeatDatasetV2" ARGS ", count:int64, seed_generator:resource) -> (handle:variant) | " AGAIN
     " " OUTPUTS METADATA " ; stateful",
     "Elements in random order, again and again.", DATASET_FLAGS, .cpu = repeated_cpu},
    {"DummySeedGenerator() -> (handle:resource) ; stateful", "Stands where a generator of seeds may stand.",
     DATASET_FLAGS, .cpu = dummy_cpu},
    {"DummyIterationCounter() -> (handle:resource) ; stateful", "Stands where a counter of iterations may stand.",
     DATASET_FLAGS, .cpu = dummy_cpu},
    {"DummyMemoryCache() -> (handle:resource) ; stateful", "Stands where a cache may stand.", DATASET_FLAGS,
     .cpu = dummy_cpu},
    {.scenario = "tests/parity/test_data.py"},
};
