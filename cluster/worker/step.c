/* step.c - the steps under way on this task.
 *
 * A step is made by whoever comes first, a run or a RecvTensor, and ends with CleanupGraph, or, tidy, when
 * its run has ended and the last value was taken.  When the master that should send CleanupGraph is gone,
 * it ends one second after its RunGraph was given up, or else when nothing has used it for an hour. */
#include "base/alloc.h"
#include "base/clock.h"
#include "cluster/worker/state.h"

enum { STEPS_MAX = 200000 };
#define SECOND INT64_C(1000000000)
#define LOST_NS (3600 * SECOND)

static worker_step **bucket_of(worker *w, int64_t id) {
  return &w->step[((uint64_t)id * UINT64_C(0x9E3779B97F4A7C15)) >> 54 & (STEP_BUCKETS - 1)];
}

static weft_err create(worker *w, int64_t id, worker_step **out) {
  if (w->n_step >= STEPS_MAX)
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "Task %s has %d steps that nobody cleaned up", w->task->name, w->n_step);
  worker_step *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  weft_err err = weft__rendezvous_create(
      &s->rendezvous, &(rendezvous_remote){w->task->name, weft__worker_fetch, weft__worker_fetch_all, s});
  if (err) {
    weft__free(s);
    return err;
  }
  atomic_init(&s->refs, 1);
  s->worker = w;
  s->id = id;
  s->listed = true;
  worker_step **bucket = bucket_of(w, id);
  s->next = *bucket;
  *bucket = s;
  w->n_step++;
  *out = s;
  return WEFT_OK;
}

/* With the lock held; the table's reference passes to the caller. */
static void unlist(worker *w, worker_step *s) {
  worker_step **at = bucket_of(w, s->id);
  while (*at != s) at = &(*at)->next;
  *at = s->next;
  s->listed = false;
  w->n_step--;
}

static worker_step *find(worker *w, int64_t id) {
  worker_step *s = *bucket_of(w, id);
  while (s && s->id != id) s = s->next;
  return s;
}

weft_err weft__worker_step_get(worker *w, int64_t id, bool runs, worker_step **out) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&w->lock);
  worker_step *s = find(w, id);
  if (!s) err = create(w, id, &s);
  if (!err) {
    atomic_fetch_add(&s->refs, 1);
    s->ran = s->ran || runs;
    s->used_ns = weft__clock_now_ns();
    *out = s;
  }
  pthread_mutex_unlock(&w->lock);
  return err;
}

void weft__worker_step_tidy(worker_step *s) {
  pthread_mutex_lock(&s->worker->lock);
  s->tidy = true;
  pthread_mutex_unlock(&s->worker->lock);
}

/* Whoever leaves a step last, but for the table, takes it from there if it is tidy, or if only calls that gave up were
 * ever in it; under the lock, where users come. */
static bool was_last(worker_step *s) {
  worker *w = s->worker;
  pthread_mutex_lock(&w->lock);
  int left = atomic_fetch_sub(&s->refs, 1) - 1;
  bool over = left == 1 && s->listed && (s->tidy || !s->ran) && weft__rendezvous_is_empty(s->rendezvous);
  if (over) unlist(w, s);
  pthread_mutex_unlock(&w->lock);
  return over || left == 0;
}

void weft__worker_step_release(worker_step *s) {
  if (!was_last(s)) return;
  weft__partial_release(s->partial);
  weft__rendezvous_release(s->rendezvous);
  weft__free(s);
}

/* Ends whoever waits in a step that has been unlisted. */
static void finish(worker_step *s, const char *why) {
  if (weft__timer_cancel(s->worker->timers, &s->doom)) weft__worker_step_release(s);
  weft__rendezvous_abort(s->rendezvous, WEFT_ABORTED, why);
  weft__worker_step_release(s);
}

void weft__worker_cleanup(worker *w, int64_t id) {
  pthread_mutex_lock(&w->lock);
  worker_step *s = find(w, id);
  if (s) unlist(w, s);
  bool alone = s && atomic_load(&s->refs) == 1 && weft__rendezvous_is_unused(s->rendezvous);
  pthread_mutex_unlock(&w->lock);
  if (!s) return;
  if (alone) { /* nobody is to be told */
    weft__worker_step_release(s);
    return;
  }
  char *why = weft__sprintf("Cleanup %lld", (long long)id);
  finish(s, why ? why : "Cleanup");
  weft__free(why);
}

static void on_doom(void *arg) {
  worker_step *s = arg;
  weft__worker_cleanup(s->worker, s->id);
  weft__worker_step_release(s);
}

void weft__worker_step_doom(worker *w, int64_t id) {
  pthread_mutex_lock(&w->lock);
  worker_step *s = find(w, id);
  if (s && !s->doom.fn && !w->closed) {
    atomic_fetch_add(&s->refs, 1);
    weft__timer_set(w->timers, &s->doom, weft__clock_now_ns() + SECOND, on_doom, s);
  }
  pthread_mutex_unlock(&w->lock);
}

/* With the lock held: unlists every step that this says should go, into a list. */
static worker_step *take(worker *w, bool (*goes)(const worker_step *s, int64_t now)) {
  worker_step *all = NULL;
  int64_t now = weft__clock_now_ns();
  for (int i = 0; i < STEP_BUCKETS; i++)
    for (worker_step *s = w->step[i], *next; s; s = next) {
      next = s->next;
      if (!goes(s, now)) continue;
      unlist(w, s);
      s->next = all;
      all = s;
    }
  return all;
}

static void finish_all(worker_step *all, const char *why) {
  for (worker_step *s = all, *next; s; s = next) {
    next = s->next;
    finish(s, why);
  }
}

static bool is_lost(const worker_step *s, int64_t now) {
  return atomic_load(&s->refs) == 1 && now - s->used_ns > LOST_NS;
}

static bool is_any(const worker_step *s, int64_t now) {
  (void)s, (void)now;
  return true;
}

void weft__worker_steps_sweep(void *arg) {
  worker *w = arg;
  pthread_mutex_lock(&w->lock);
  worker_step *lost = take(w, is_lost);
  pthread_mutex_unlock(&w->lock);
  finish_all(lost, "Nobody came back for this step");
}

void weft__worker_steps_finish(worker *w) {
  pthread_mutex_lock(&w->lock);
  worker_step *all = take(w, is_any);
  pthread_mutex_unlock(&w->lock);
  finish_all(all, "The task is going away");
}

weft_err weft__worker_put(worker *w, int64_t id, const char *key, const weft_tensor *t) {
  worker_step *s;
  WEFT_TRY(weft__worker_step_get(w, id, true, &s));
  weft_err err = weft__rendezvous_send(s->rendezvous, key, t, false);
  weft__worker_step_release(s);
  return err;
}

void weft__worker_take(worker *w, int64_t id, const char *key, recv_fn *fn, void *arg) {
  worker_step *s;
  weft_err err = weft__worker_step_get(w, id, true, &s);
  if (err) {
    fn(arg, err, NULL, false);
    return;
  }
  weft__rendezvous_recv(s->rendezvous, key, fn, arg);
  weft__worker_step_release(s);
}
