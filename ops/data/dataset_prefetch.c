/* dataset_prefetch.c - prefetch: a thread reads elements before they are requested. */
#include "base/alloc.h"
#include "ops/data/dataset.h"

enum { DEFAULT_ROOM = 16, MOST_ROOM = 1 << 20 };

typedef struct prefetch {
  dataset base;
  int64_t room;
} prefetch;

typedef struct brought {
  status why;
  bool end;
  weft_tensor *part;
} brought;

typedef struct prefetch_at {
  walk base;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t changed;
  pthread_t thread;
  bool running, stop, over;
  bool left; /* the thread has ended because no element was requested; the next request starts another */
  int64_t first, n;
  brought *ring;
} prefetch_at;

static weft_err prefetch_begin(iterator *it) {
  prefetch_at *at = (prefetch_at *)it;
  int64_t room = ((prefetch *)it->set)->room;
  pthread_mutex_init(&at->lock, NULL);
  pthread_cond_init(&at->changed, NULL);
  if (!(at->ring = weft__alloc_zero((size_t)room + 1, sizeof *at->ring))) return WEFT_OOM;
  return weft__dataset_walk_begin(it);
}

static void prefetch_finish(iterator *it) {
  prefetch_at *at = (prefetch_at *)it;
  pthread_mutex_lock(&at->lock);
  at->stop = true;
  pthread_cond_broadcast(&at->changed);
  pthread_mutex_unlock(&at->lock);
  if (at->running) pthread_join(at->thread, NULL); /* the pass is canceled, so the call it waits for ends soon */
  for (int64_t i = 0; at->ring && i < ((prefetch *)it->set)->room; i++) {
    weft__status_finish(&at->ring[i].why);
    weft__components_free(at->ring[i].part, it->set->n_part);
  }
  weft__free(at->ring);
  pthread_cond_destroy(&at->changed);
  pthread_mutex_destroy(&at->lock);
  weft__dataset_walk_finish(it);
}

/* Waits for a free place for the next element.  Returns NULL if the thread must stop. */
static brought *next_place(prefetch_at *at, int64_t room, const step *st) {
  const dataset_pass *p = ((iterator *)at)->pass;
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&at->lock);
  while (at->n == room && !at->stop && !at->left && !err) {
    err = weft__step_wait(st, &at->changed, &at->lock);
    at->left = at->n == room && weft__dataset_pass_is_idle(p);
  }
  brought *b = at->stop || at->left || err ? NULL : &at->ring[(at->first + at->n) % room];
  pthread_mutex_unlock(&at->lock);
  return b;
}

static void *dataset_prefetch_work(void *arg) {
  prefetch_at *at = arg;
  iterator *it = arg;
  const step *st = &it->pass->step;
  int64_t room = ((prefetch *)it->set)->room;
  for (brought *b; (b = next_place(at, room, st));) {
    bool end = false;
    if (!b->part) b->part = weft__components_alloc(it->set->n_part);
    weft_err err = b->part ? weft__iterator_next(at->base.from, st, b->part, &end) : WEFT_OOM;
    weft__status_update(&b->why, err);
    pthread_mutex_lock(&at->lock);
    b->end = end;
    at->n++;
    pthread_cond_broadcast(&at->changed);
    pthread_mutex_unlock(&at->lock);
    if (end) break;
  }
  return NULL;
}

static weft_err dataset_prefetch_start(prefetch_at *at) {
  pthread_mutex_lock(&at->lock);
  const bool left = at->left;
  at->left = false;
  pthread_mutex_unlock(&at->lock);
  if (left) pthread_join(at->thread, NULL);
  if (at->running && !left) return WEFT_OK;
  at->running = false;
  if (pthread_create(&at->thread, NULL, dataset_prefetch_work, at) != 0)
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "no thread to prefetch with");
  at->running = true;
  return WEFT_OK;
}

static weft_err prefetch_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  prefetch_at *at = (prefetch_at *)it;
  int64_t room = ((prefetch *)it->set)->room;
  *end = at->over;
  if (at->over) return WEFT_OK;
  if (room == 0) return weft__iterator_next(at->base.from, st, out, end);
  WEFT_TRY(dataset_prefetch_start(at));
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&at->lock);
  while (at->n == 0 && !err) err = weft__step_wait(st, &at->changed, &at->lock);
  brought *b = &at->ring[at->first];
  pthread_mutex_unlock(&at->lock);
  if (err) return err;
  err = weft__status_raise(&b->why);
  at->over = *end = b->end;
  if (!err && !*end) weft__components_move(out, b->part, it->set->n_part);
  weft__status_finish(&b->why);
  pthread_mutex_lock(&at->lock);
  at->first = (at->first + 1) % room;
  if (at->n-- == room) pthread_cond_broadcast(&at->changed);
  pthread_mutex_unlock(&at->lock);
  return err;
}

static const dataset_kind prefetch_kind = {"Prefetch",
                                           sizeof(prefetch),
                                           sizeof(prefetch_at),
                                           .begin = prefetch_begin,
                                           .next = prefetch_next,
                                           .count = weft__dataset_count_of_input,
                                           .finish = prefetch_finish,
                                           .passes = true};

static weft_err prefetch_cpu(kernel *k) {
  dataset *d = NULL;
  int64_t room;
  WEFT_TRY(weft__dataset_int(k, 1, "buffer_size", &room));
  if (room < 0 && room != -1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "buffer_size must be >= 0 or set buffer_size to be -1 for "
                             "auto-tuning");
  if (room > MOST_ROOM) room = MOST_ROOM;
  WEFT_TRY(weft__dataset_of(k, &prefetch_kind, 1, &d));
  ((prefetch *)d)->room = room < 0 ? DEFAULT_ROOM : room;
  return weft__dataset_out(k, d, WEFT_OK);
}

OPS(dataset_prefetch) = {
    {"PrefetchDataset(input_dataset:variant, buffer_size:int64) -> (handle:variant) | " OUTPUTS
     " slack_period:int=0 legacy_autotune:bool=true buffer_size_min:int=0" METADATA,
     "Elements brought by a thread before they are asked for.", DATASET_FLAGS, .cpu = prefetch_cpu},
    {.scenario = "tests/parity/test_data.py"},
};
