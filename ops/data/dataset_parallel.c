/* dataset_parallel.c - a map that computes ahead on other threads and keeps the order.
 *
 * A window holds pending calls.  The consumer fills it from the input, and helper tasks in the pool take calls from
 * its front until none is left.  If no helper has started the first call, the consumer runs it itself, so it never
 * waits for a free thread.  Calls that cost less than waking a thread get no helper. */
#include "base/alloc.h"
#include "base/clock.h"
#include "ops/data/dataset.h"

enum { WORTH_NS = 20000 }; /* a few times the cost of waking a thread */

typedef struct parallel {
  dataset base;
  captured f;
  int64_t calls; /* size of the window; -1: the number of threads of the machine */
  bool keeps_cardinality;
} parallel;

typedef enum call_state { CALL_WAITS, CALL_RUNS, CALL_DONE } call_state;

typedef struct call {
  call_state state;
  status why; /* the result of the call */
  struct call *next;
  weft_tensor part[]; /* the components of the argument, then those of the result */
} call;

typedef struct crew { /* shared by helpers and the iterator; helpers may outlive it briefly */
  atomic_int refs;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t ended;
  call *first, *last, *waiting; /* in order; waiting: the first call that no thread runs */
  int64_t n;
  int helpers;
  bool closed;
  int64_t cost; /* approximate ns per call; 0: unknown */
  const dataset *set;
  dataset_pass *pass;
} crew;

typedef struct parallel_at {
  walk base;
  crew *crew;
  int64_t window;
  bool input_over;
} parallel_at;

captured *weft__dataset_parallel_map_set(dataset *d, int64_t calls, bool keeps_cardinality) {
  ((parallel *)d)->calls = calls;
  ((parallel *)d)->keeps_cardinality = keeps_cardinality;
  return &((parallel *)d)->f;
}

static void parallel_destroy(dataset *d) { weft__captured_finish(&((parallel *)d)->f); }

static int in_parts(const dataset *d) { return d->input[0]->n_part; }

static void call_free(call *c, const dataset *d) {
  weft__components_clear(c->part, in_parts(d) + d->n_part);
  weft__status_finish(&c->why);
  weft__free(c);
}

static void crew_release(crew *w) {
  if (!w || atomic_fetch_sub(&w->refs, 1) > 1) return;
  pthread_cond_destroy(&w->ended);
  pthread_mutex_destroy(&w->lock);
  weft__free(w);
}

static weft_err parallel_begin(iterator *it) {
  parallel_at *at = (parallel_at *)it;
  int64_t calls = ((parallel *)it->set)->calls;
  int threads = it->pass->step.inter ? weft__pool_threads(it->pass->step.inter) : 1;
  at->window = calls > 0 ? calls : 2 * threads;
  if (!(at->crew = weft__alloc_zero(1, sizeof *at->crew))) return WEFT_OOM;
  atomic_init(&at->crew->refs, 1);
  pthread_mutex_init(&at->crew->lock, NULL);
  pthread_cond_init(&at->crew->ended, NULL);
  at->crew->set = it->set;
  at->crew->pass = it->pass;
  return weft__dataset_walk_begin(it);
}

static bool any_runs(const crew *w) {
  for (const call *c = w->first; c; c = c->next)
    if (c->state == CALL_RUNS) return true;
  return false;
}

static void parallel_finish(iterator *it) {
  parallel_at *at = (parallel_at *)it;
  crew *w = at->crew;
  if (w) {
    pthread_mutex_lock(&w->lock);
    w->closed = true;
    while (any_runs(w)) (void)pthread_cond_wait(&w->ended, &w->lock); /* the pass is canceled, so they end soon */
    call *c = w->first;
    w->first = w->last = w->waiting = NULL;
    pthread_mutex_unlock(&w->lock);
    for (call *next; c; c = next) {
      next = c->next;
      call_free(c, it->set);
    }
    crew_release(w);
  }
  weft__dataset_walk_finish(it);
}

/* ---- calls ---- */

/* Takes the first waiting call.  The caller holds the lock. */
static call *dataset_parallel_take(crew *w) {
  call *c = w->waiting;
  if (!c) return NULL;
  c->state = CALL_RUNS;
  do w->waiting = w->waiting->next;
  while (w->waiting && w->waiting->state != CALL_WAITS); /* an element that failed counts as done */
  return c;
}

/* Runs a call that was taken.  The caller holds the lock, which is released during the call. */
static void dataset_parallel_run(crew *w, call *c, const step *st) {
  const dataset *d = w->set;
  int n = in_parts(d);
  pthread_mutex_unlock(&w->lock);
  int64_t begin = weft__clock_now_ns();
  weft_err err = weft__captured_call(&((const parallel *)d)->f, w->pass, st, c->part, n, c->part + n, d->n_part);
  int64_t took = weft__clock_now_ns() - begin;
  weft__components_clear(c->part, n);
  weft__status_update(&c->why, err);
  pthread_mutex_lock(&w->lock);
  w->cost = w->cost ? (7 * w->cost + took) / 8 : took + 1;
  c->state = CALL_DONE;
  pthread_cond_broadcast(&w->ended);
}

static void dataset_parallel_help(void *arg) {
  crew *w = arg;
  pthread_mutex_lock(&w->lock);
  for (call *c; !w->closed && (c = dataset_parallel_take(w));) dataset_parallel_run(w, c, &w->pass->step);
  w->helpers--;
  pthread_mutex_unlock(&w->lock);
  crew_release(w);
}

/* Starts a helper if there is work for another one.  The caller holds the lock, which is released while the pool is
 * called. */
static void send_for_help(crew *w) {
  pool *p = w->pass->step.inter;
  bool worth = w->cost == 0 || w->cost > WORTH_NS;
  if (!p || weft__pool_threads(p) == 1 || !worth) return;
  int64_t waiting = 0;
  for (const call *c = w->waiting; c && waiting <= w->helpers + 1; c = c->next) waiting++;
  if (waiting <= w->helpers + 1 || w->helpers >= weft__pool_threads(p)) return;
  w->helpers++;
  atomic_fetch_add(&w->refs, 1);
  pthread_mutex_unlock(&w->lock);
  weft_err err = weft__pool_submit(p, dataset_parallel_help, w);
  pthread_mutex_lock(&w->lock);
  if (!err) return;
  w->helpers--;
  atomic_fetch_sub(&w->refs, 1);
}

/* ---- the window ---- */

/* Returns true if the step failed, not the element. */
static bool is_steps_own(weft_err err) { return err == WEFT_CANCELLED || err == WEFT_DEADLINE_EXCEEDED; }

/* Adds a call at the end of the window.  An element that failed is added too, so that the order is kept. */
static weft_err add_call(parallel_at *at, const step *st) {
  const dataset *d = at->base.base.set;
  crew *w = at->crew;
  call *c = weft__alloc_zero(1, sizeof *c + sizeof c->part[0] * (size_t)(in_parts(d) + d->n_part));
  if (!c) return WEFT_OOM;
  weft_err err = weft__iterator_next(at->base.from, st, c->part, &at->input_over);
  if (at->input_over || is_steps_own(err)) {
    call_free(c, d);
    return err;
  }
  weft__status_update(&c->why, err);
  c->state = err ? CALL_DONE : CALL_WAITS;
  pthread_mutex_lock(&w->lock);
  if (w->last)
    w->last->next = c;
  else
    w->first = c;
  w->last = c;
  if (!w->waiting && !err) w->waiting = c;
  w->n++;
  send_for_help(w);
  pthread_mutex_unlock(&w->lock);
  return WEFT_OK;
}

/* Waits for the first call or runs it, and removes it from the window. */
static weft_err take_first(crew *w, const step *st, call **out) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&w->lock);
  call *c = w->first;
  if (c->state == CALL_WAITS) dataset_parallel_run(w, dataset_parallel_take(w), st);
  while (c->state != CALL_DONE && !err) err = weft__step_wait(st, &w->ended, &w->lock);
  if (!err) {
    w->first = c->next;
    if (!w->first) w->last = NULL;
    w->n--;
    *out = c;
  }
  pthread_mutex_unlock(&w->lock);
  return err;
}

static weft_err parallel_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  parallel_at *at = (parallel_at *)it;
  const dataset *d = it->set;
  call *c = NULL;
  while (at->crew->n < at->window && !at->input_over) WEFT_TRY(add_call(at, st));
  *end = at->crew->n == 0;
  if (*end) return WEFT_OK;
  WEFT_TRY(take_first(at->crew, st, &c));
  weft_err err = weft__status_raise(&c->why);
  if (!err) weft__components_move(out, c->part + in_parts(d), d->n_part);
  call_free(c, d);
  return weft__dataset_map_ended(err, ((parallel *)d)->keeps_cardinality, end);
}

static int64_t parallel_count(const dataset *d) {
  return ((const parallel *)d)->keeps_cardinality ? weft__dataset_count_of_input(d) : DATASET_UNKNOWN;
}

const dataset_kind weft__parallel_map_kind = {
    "ParallelMap",           sizeof(parallel),      sizeof(parallel_at),       .destroy = parallel_destroy,
    .begin = parallel_begin, .next = parallel_next, .finish = parallel_finish, .count = parallel_count};

static weft_err parallel_cpu(kernel *k) {
  dataset *d = NULL;
  int64_t calls;
  WEFT_TRY(weft__dataset_int(k, k->n_in - 1, "num_parallel_calls", &calls));
  if (calls < 1 && calls != -1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "num_parallel_calls must be greater than zero.");
  WEFT_TRY(weft__dataset_of(k, &weft__parallel_map_kind, 1, &d));
  return weft__dataset_out(
      k, d,
      weft__dataset_capture_f(
          k, weft__dataset_parallel_map_set(d, calls, weft__node_bool(k->node, "preserve_cardinality", false))));
}

#define ARGS "(input_dataset:variant, other_arguments:@Targuments, num_parallel_calls:"
#define ATTRS ") -> (handle:variant) | f:func Targuments:list(type)>=0 " OUTPUTS " use_inter_op_parallelism:bool=true "

OPS(dataset_parallel) = {
    {"ParallelMapDataset" ARGS "int32" ATTRS "sloppy:bool=false preserve_cardinality:bool=false" METADATA,
     "What a function makes of each element, some ahead of time.", DATASET_FLAGS, .cpu = parallel_cpu,
     .prepare = weft__dataset_prepare_f, .unprepare = weft__dataset_unprepare},
    {"ParallelMapDatasetV2" ARGS "int64" ATTRS
     "deterministic:string='default' preserve_cardinality:bool=false" METADATA,
     "What a function makes of each element, some ahead of time.", DATASET_FLAGS, .cpu = parallel_cpu,
     .prepare = weft__dataset_prepare_f, .unprepare = weft__dataset_unprepare},
    {.scenario = "tests/parity/test_data.py"},
};
