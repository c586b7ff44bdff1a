/* coordinator.c - one stop flag, one error, and the threads that check them.
 *
 * A thread cannot be killed, so one that does not stop in time outlives the coordinator: each thread holds a
 * reference to it. */
#include "train/session/coordinator.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { GRACE_SECONDS = 120 }; /* TensorFlow's */

typedef struct worker {
  weft_coordinator *owner;
  char *name;
  weft_thread_fn *fn;
  void *arg;
  double seconds;
  pthread_t thread;
  bool done;
  bool orphan; /* no thread will join it: it frees its own record */
  struct worker *next;
} worker;

struct weft_coordinator {
  atomic_int shares;
  weft_err *clean;
  int n_clean;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t changed;
  bool stop;
  status why;
  worker *workers;
};

weft_err weft__coordinator_create(weft_coordinator **out, int n, const weft_err *clean) {
  weft_coordinator *c = weft__alloc_zero(1, sizeof *c);
  if (!c) return WEFT_OOM;
  c->n_clean = n > 0 ? n : 1;
  if (!(c->clean = weft__alloc(sizeof *c->clean * (size_t)c->n_clean))) {
    weft__free(c);
    return WEFT_OOM;
  }
  c->clean[0] = WEFT_OUT_OF_RANGE;
  for (int i = 0; i < n; i++) c->clean[i] = clean[i];
  atomic_init(&c->shares, 1);
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->changed, NULL);
  *out = c;
  return WEFT_OK;
}

static void drop_share(weft_coordinator *c) {
  WEFT_ASSERT(atomic_load(&c->shares) > 0);
  if (atomic_fetch_sub(&c->shares, 1) != 1) return;
  weft__status_finish(&c->why);
  pthread_cond_destroy(&c->changed);
  pthread_mutex_destroy(&c->lock);
  weft__free(c->clean);
  weft__free(c);
}

/* ---- stopping ---- */

void weft__coordinator_request_stop(weft_coordinator *c, weft_err code) {
  bool clean = code == WEFT_OK;
  for (int i = 0; i < c->n_clean; i++) clean = clean || c->clean[i] == code;
  pthread_mutex_lock(&c->lock);
  bool first = !c->stop;
  if (first && !clean) weft__status_update(&c->why, code);
  c->stop = true;
  pthread_cond_broadcast(&c->changed);
  pthread_mutex_unlock(&c->lock);
  if (first && !clean)
    weft__log(LOG_INFO, "Error reported to Coordinator: %s, %s", weft__error_name(code), weft__error_message());
}

bool weft__coordinator_should_stop(weft_coordinator *c) {
  pthread_mutex_lock(&c->lock);
  bool stop = c->stop;
  pthread_mutex_unlock(&c->lock);
  if (!stop && weft__interrupt_count() > 0) weft__coordinator_request_stop(c, WEFT_OK);
  return stop || weft__interrupt_count() > 0;
}

void weft__coordinator_clear_stop(weft_coordinator *c) {
  pthread_mutex_lock(&c->lock);
  c->stop = false;
  weft__status_finish(&c->why);
  pthread_mutex_unlock(&c->lock);
}

/* Sleeps until something changes, the deadline, or the next check for interrupts. */
static void coordinator_wait_slice(weft_coordinator *c, int64_t until_ns) {
  int64_t slice = WEFT_WAIT_SLICE_MS * NS_PER_MS, left = until_ns - weft__clock_now_ns();
  struct timespec until = weft__clock_deadline(left < slice ? (left > 0 ? left : 0) : slice);
  pthread_mutex_lock(&c->lock);
  if (!c->stop) pthread_cond_clockwait(&c->changed, &c->lock, CLOCK_MONOTONIC, &until);
  pthread_mutex_unlock(&c->lock);
}

static int64_t deadline_ns(double seconds) {
  return seconds < 0 || seconds > 1e9 ? INT64_MAX : weft__clock_now_ns() + (int64_t)(seconds * (double)NS_PER_S);
}

bool weft__coordinator_wait(weft_coordinator *c, double seconds) {
  int64_t until = deadline_ns(seconds);
  while (!weft__coordinator_should_stop(c)) {
    if (weft__clock_now_ns() >= until) return false;
    coordinator_wait_slice(c, until);
  }
  return true;
}

weft_err weft__coordinator_raise(weft_coordinator *c) {
  pthread_mutex_lock(&c->lock);
  weft_err err = weft__status_raise(&c->why);
  pthread_mutex_unlock(&c->lock);
  return err;
}

/* ---- threads ---- */

static weft_err coordinator_loop(worker *w) {
  int64_t next = weft__clock_now_ns();
  weft_err err = WEFT_OK;
  while (!err) {
    int64_t now = weft__clock_now_ns();
    if (weft__coordinator_wait(w->owner, next > now ? (double)(next - now) / (double)NS_PER_S : 0)) break;
    next += (int64_t)(w->seconds * (double)NS_PER_S);
    err = w->fn(w->arg);
  }
  return err;
}

static void destroy_worker(worker *w) {
  weft__free(w->name);
  weft__free(w);
}

static void *coordinator_work(void *arg) {
  worker *w = arg;
  WEFT_ASSERT(w->owner && w->fn);
  weft_coordinator *c = w->owner;
  weft_err err = w->seconds < 0 ? w->fn(w->arg) : coordinator_loop(w);
  if (err) weft__coordinator_request_stop(c, err);
  pthread_mutex_lock(&c->lock);
  w->done = true;
  bool orphan = w->orphan;
  pthread_cond_broadcast(&c->changed);
  pthread_mutex_unlock(&c->lock);
  if (orphan) destroy_worker(w);
  drop_share(c);
  return NULL;
}

weft_err weft__coordinator_start(weft_coordinator *c, const char *name, double seconds, weft_thread_fn *fn, void *arg) {
  worker *w = weft__alloc_zero(1, sizeof *w);
  if (!w) return WEFT_OOM;
  *w = (worker){.owner = c, .fn = fn, .arg = arg, .seconds = seconds, .name = weft__strdup(name ? name : "thread")};
  int error = 0;
  if (w->name) {
    atomic_fetch_add(&c->shares, 1);
    pthread_mutex_lock(&c->lock);
    error = pthread_create(&w->thread, NULL, coordinator_work, w);
    if (!error) {
      w->next = c->workers;
      c->workers = w;
    }
    pthread_mutex_unlock(&c->lock);
    if (!error) return WEFT_OK;
    drop_share(c);
  }
  weft_err err = w->name ? weft__fail(WEFT_RESOURCE_EXHAUSTED, "no thread for %s (error %d)", name, error) : WEFT_OOM;
  destroy_worker(w);
  return err;
}

/* Joins the threads that are done.  The others keep running and are named in `left`; with `all` they are forgotten. */
static int coordinator_reap(weft_coordinator *c, bool all, text *left) {
  worker *gone = NULL, **at = &c->workers;
  int running = 0;
  pthread_mutex_lock(&c->lock);
  while (*at) {
    worker *w = *at;
    if (!w->done) {
      running++;
      if (left) weft__text_printf(left, "%s%s", left->size ? " " : "", w->name);
    }
    if (w->done || all) {
      *at = w->next;
      if (w->done) {
        w->next = gone;
        gone = w;
      } else {
        w->orphan = true;
        pthread_detach(w->thread);
      }
    } else {
      at = &w->next;
    }
  }
  pthread_mutex_unlock(&c->lock);
  while (gone) {
    worker *w = gone;
    gone = w->next;
    pthread_join(w->thread, NULL);
    destroy_worker(w);
  }
  return running;
}

static void wait_for_end(weft_coordinator *c, int64_t until_ns, bool until_stop) {
  while (coordinator_reap(c, false, NULL) > 0 && weft__clock_now_ns() < until_ns) {
    if (until_stop && weft__coordinator_should_stop(c)) return;
    struct timespec until = weft__clock_deadline(WEFT_WAIT_SLICE_MS * NS_PER_MS);
    pthread_mutex_lock(&c->lock);
    bool any_done = false;
    for (worker *w = c->workers; w; w = w->next) any_done = any_done || w->done;
    if (!any_done) pthread_cond_clockwait(&c->changed, &c->lock, CLOCK_MONOTONIC, &until);
    pthread_mutex_unlock(&c->lock);
  }
}

weft_err weft__coordinator_join(weft_coordinator *c, double grace, bool ignore_live) {
  text left = {0};
  wait_for_end(c, INT64_MAX, true);
  wait_for_end(c, deadline_ns(grace < 0 ? GRACE_SECONDS : grace), false);
  int running = coordinator_reap(c, true, &left);
  weft_err err = weft__coordinator_raise(c);
  if (!err && running && ignore_live)
    weft__log(LOG_INFO, "Coordinator stopped with threads still running: %s", weft__text_get(&left));
  else if (!err && running)
    err =
        weft__fail(WEFT_DEADLINE_EXCEEDED, "Coordinator stopped with threads still running: %s", weft__text_get(&left));
  weft__text_finish(&left);
  return err;
}

void weft__coordinator_destroy(weft_coordinator *c) {
  if (!c) return;
  weft__coordinator_request_stop(c, WEFT_OK);
  coordinator_reap(c, true, NULL);
  drop_share(c);
}
