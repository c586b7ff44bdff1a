/* step.c - the steps that run on this task, and their expiry.
 *
 * The first run, RecvTensor or sent value of a step creates it.  It is dropped
 * - by CleanupGraph;
 * - with auto_cleanup, when its run has ended and its last value was received;
 * - with the last call that uses it, if no part ran in it and no value is left: its RecvTensor calls were canceled.
 *
 * The master that should send CleanupGraph may be gone.  So a step also expires one second after its RunGraph was
 * canceled, a task that it exchanges values with was lost, or a chief restored; and when nothing has used it for an
 * hour.
 *
 * The lock of state.h guards the table.  Steps are removed under it, and aborted and freed without it. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "cluster/worker/state.h"

enum { STEPS_MAX = 200000 };
#define UNUSED_NS (3600 * NS_PER_S)

static worker_step **worker_step_bucket(worker *w, int64_t id) {
  return &w->step[((uint64_t)id * UINT64_C(0x9E3779B97F4A7C15)) >> 54 & (STEP_BUCKETS - 1)];
}

static weft_err worker_step_create(worker *w, int64_t id, worker_step **out) {
  if (w->n_step >= STEPS_MAX)
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "Task %s has %d steps, the maximum: close sessions that are not needed",
                      w->task->name, w->n_step);
  worker_step *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  weft_err err = weft__rendezvous_create(
      &s->rendezvous, &(rendezvous_remote){w->task->name, weft__worker_fetch_tensor, weft__worker_fetch_tensors, s});
  if (err) {
    weft__free(s);
    return err;
  }
  atomic_init(&s->refs, 1);
  s->worker = w;
  s->id = id;
  s->listed = true;
  worker_step **bucket = worker_step_bucket(w, id);
  s->next = *bucket;
  *bucket = s;
  w->n_step++;
  *out = s;
  return WEFT_OK;
}

/* Removes the step from the table.  The table's reference passes to the caller.  The lock is held. */
static void worker_step_unlist(worker *w, worker_step *s) {
  WEFT_ASSERT(weft__lock_is_held(&w->lock));
  worker_step **at = worker_step_bucket(w, s->id);
  while (*at != s) at = &(*at)->next;
  *at = s->next;
  s->listed = false;
  w->n_step--;
}

static worker_step *worker_step_find(worker *w, int64_t id) {
  worker_step *s = *worker_step_bucket(w, id);
  while (s && s->id != id) s = s->next;
  return s;
}

weft_err weft__worker_step_get(worker *w, int64_t id, bool runs, worker_step **out) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&w->lock);
  worker_step *s = worker_step_find(w, id);
  if (!s) err = worker_step_create(w, id, &s);
  if (!err) {
    atomic_fetch_add(&s->refs, 1);
    s->ran = s->ran || runs;
    s->used_ns = weft__clock_now_ns();
    *out = s;
  }
  pthread_mutex_unlock(&w->lock);
  return err;
}

void weft__worker_step_set_auto_cleanup(worker_step *s) {
  pthread_mutex_lock(&s->worker->lock);
  s->auto_cleanup = true;
  pthread_mutex_unlock(&s->worker->lock);
}

/* Drops a reference.  Returns true if the step is to be freed: it was the last one, or only the table's is left and
 * the step can go, since it has auto_cleanup or only canceled calls ever used it.  This happens under the lock, so
 * that no new user finds the step meanwhile. */
static bool worker_step_drop_ref(worker_step *s) {
  worker *w = s->worker;
  pthread_mutex_lock(&w->lock);
  int left = atomic_fetch_sub(&s->refs, 1) - 1;
  bool unused = left == 1 && s->listed && (s->auto_cleanup || !s->ran) && weft__rendezvous_is_empty(s->rendezvous);
  if (unused) worker_step_unlist(w, s);
  pthread_mutex_unlock(&w->lock);
  return unused || left == 0;
}

void weft__worker_step_release(worker_step *s) {
  if (!worker_step_drop_ref(s)) return;
  weft__worker_partial_release(s->partial);
  weft__rendezvous_release(s->rendezvous);
  weft__free(s);
}

/* Aborts what waits in a step that was removed from the table, and drops the references of its timer and the table. */
static void worker_step_abort(worker_step *s, const char *why) {
  if (weft__timer_cancel(s->worker->timers, &s->expiry)) weft__worker_step_release(s);
  weft__rendezvous_abort(s->rendezvous, weft__fail(WEFT_ABORTED, "%s", why));
  weft__worker_step_release(s);
}

void weft__worker_cleanup_step(worker *w, int64_t id) {
  pthread_mutex_lock(&w->lock);
  worker_step *s = worker_step_find(w, id);
  if (s) worker_step_unlist(w, s);
  bool alone = s && atomic_load(&s->refs) == 1 && weft__rendezvous_is_unused(s->rendezvous);
  pthread_mutex_unlock(&w->lock);
  if (!s) return;
  if (alone) { /* nothing waits in it */
    weft__worker_step_release(s);
    return;
  }
  char *why = weft__sprintf("Cleanup %lld", (long long)id);
  worker_step_abort(s, why ? why : "Cleanup");
  weft__free(why);
}

static void worker_step_on_expiry(void *arg) {
  worker_step *s = arg;
  weft__worker_cleanup_step(s->worker, s->id);
  weft__worker_step_release(s);
}

void weft__worker_step_expire(worker *w, int64_t id) {
  pthread_mutex_lock(&w->lock);
  worker_step *s = worker_step_find(w, id);
  if (s && !s->expiry.fn && !w->closed) {
    atomic_fetch_add(&s->refs, 1);
    weft__timer_set(w->timers, &s->expiry, weft__clock_now_ns() + NS_PER_S, worker_step_on_expiry, s);
  }
  pthread_mutex_unlock(&w->lock);
}

/* Removes every step that matches from the table and returns them as a list.  The lock is held. */
static worker_step *worker_steps_take(worker *w, bool (*matches)(const worker_step *s, int64_t now)) {
  WEFT_ASSERT(weft__lock_is_held(&w->lock));
  worker_step *all = NULL;
  int64_t now = weft__clock_now_ns();
  for (int i = 0; i < STEP_BUCKETS; i++)
    for (worker_step *s = w->step[i], *next; s; s = next) {
      next = s->next;
      if (!matches(s, now)) continue;
      worker_step_unlist(w, s);
      s->next = all;
      all = s;
    }
  return all;
}

static void worker_steps_abort(worker_step *all, const char *why) {
  for (worker_step *s = all, *next; s; s = next) {
    next = s->next;
    worker_step_abort(s, why);
  }
}

static bool worker_step_is_stale(const worker_step *s, int64_t now) {
  return atomic_load(&s->refs) == 1 && now - s->used_ns > UNUSED_NS;
}

static bool worker_step_is_any(const worker_step *s, int64_t now) {
  (void)s, (void)now;
  return true;
}

void weft__worker_steps_sweep(void *arg) {
  worker *w = arg;
  pthread_mutex_lock(&w->lock);
  worker_step *stale = worker_steps_take(w, worker_step_is_stale);
  pthread_mutex_unlock(&w->lock);
  worker_steps_abort(stale, "The step was not used for an hour");
}

void weft__worker_steps_finish(worker *w) {
  pthread_mutex_lock(&w->lock);
  worker_step *all = worker_steps_take(w, worker_step_is_any);
  pthread_mutex_unlock(&w->lock);
  worker_steps_abort(all, "The task is shutting down");
}

weft_err weft__worker_send_value(worker *w, int64_t id, const char *key, const weft_tensor *t) {
  worker_step *s;
  WEFT_TRY(weft__worker_step_get(w, id, true, &s));
  weft_err err = weft__rendezvous_send(s->rendezvous, key, t, false);
  weft__worker_step_release(s);
  return err;
}

void weft__worker_recv_value(worker *w, int64_t id, const char *key, recv_fn *fn, void *arg) {
  worker_step *s;
  weft_err err = weft__worker_step_get(w, id, true, &s);
  if (err) {
    fn(arg, err, NULL, false);
    return;
  }
  weft__rendezvous_recv(s->rendezvous, key, fn, arg);
  weft__worker_step_release(s);
}
