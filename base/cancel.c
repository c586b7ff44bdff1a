/* cancel.c - a token with a list of watches and a lock that is not held while the function of a watch runs.
 *
 * Firing removes the watches from the list one by one.  `running` is the watch whose function runs now.  From it
 * weft__cancel_watch_remove knows whether it has to wait, and a function that removes its own watch may free it. */
#include "base/cancel.h"
#include "base/alloc.h"
#include "base/assert.h"
#include <stdarg.h>
#include <stdio.h>

enum { IDLE, LISTED, RUNNING, RAN };

void weft__cancel_init(cancel *c) {
  *c = (cancel){.lock = PTHREAD_MUTEX_INITIALIZER, .ran = PTHREAD_COND_INITIALIZER}; /* cheaper than calls of init */
  weft__list_init(&c->watches);
}

void weft__cancel_finish(cancel *c) {
  WEFT_ASSERT(weft__list_is_empty(&c->watches));
  WEFT_ASSERT(!c->running);
  weft__status_finish(&c->why);
  pthread_cond_destroy(&c->ran);
  pthread_mutex_destroy(&c->lock);
}

weft_err weft__cancel_watch_add(cancel *c, cancel_watch *w, cancel_fn *fn, void *arg) {
  *w = (cancel_watch){.fn = fn, .arg = arg, .state = IDLE};
  pthread_mutex_lock(&c->lock);
  bool fired = c->fired;
  if (!fired) {
    w->state = LISTED;
    weft__list_append(&c->watches, &w->link);
  }
  pthread_mutex_unlock(&c->lock);
  return fired ? weft__cancel_raise(c) : WEFT_OK;
}

bool weft__cancel_watch_remove(cancel *c, cancel_watch *w) {
  pthread_mutex_lock(&c->lock);
  WEFT_ASSERT(w->state >= IDLE && w->state <= RAN);
  WEFT_ASSERT((w->state == LISTED) == weft__list_is_linked(&w->link));
  if (c->running == w && pthread_equal(c->runner, pthread_self())) { /* called from the function of this watch */
    c->running = NULL;
    w->state = RAN;
  }
  while (w->state == RUNNING) pthread_cond_wait(&c->ran, &c->lock);
  bool never_ran = w->state != RAN;
  if (w->state == LISTED) weft__list_remove(&w->link);
  w->state = IDLE;
  pthread_mutex_unlock(&c->lock);
  return never_ran;
}

/* Runs every watch; the lock is held at entry and exit. */
static void cancel_run_watches(cancel *c) {
  WEFT_ASSERT(weft__lock_is_held(&c->lock));
  c->runner = pthread_self();
  for (list_link *first; (first = weft__list_first(&c->watches));) {
    cancel_watch *w = WEFT_LIST_ITEM(first, cancel_watch, link);
    WEFT_ASSERT(c->fired && w->state == LISTED);
    weft__list_remove(first);
    w->state = RUNNING;
    c->running = w;
    pthread_mutex_unlock(&c->lock);
    w->fn(w->arg);
    pthread_mutex_lock(&c->lock);
    if (c->running == w) w->state = RAN; /* else the function removed its watch, which may be freed */
    c->running = NULL;
    pthread_cond_broadcast(&c->ran);
  }
}

/* Fires the token; takes over the message of `why`. */
static void cancel_fire_status(cancel *c, status why) {
  WEFT_ASSERT(why.code != WEFT_OK);
  pthread_mutex_lock(&c->lock);
  if (c->fired) {
    pthread_mutex_unlock(&c->lock);
    weft__status_finish(&why);
    return;
  }
  c->why = why;
  __atomic_store_n(&c->fired, true, __ATOMIC_RELEASE);
  cancel_run_watches(c);
  pthread_mutex_unlock(&c->lock);
}

void weft__cancel_fire(cancel *c, weft_err code, const char *fmt, ...) {
  char message[1024];
  va_list args;
  va_start(args, fmt);
  vsnprintf(message, sizeof message, fmt, args);
  va_end(args);
  cancel_fire_status(c, (status){.code = code, .message = weft__strdup(message)});
}

void weft__cancel_fire_error(cancel *c, weft_err code) {
  status why = {0};
  weft__status_update(&why, code);
  cancel_fire_status(c, why);
}

bool weft__cancel_fired(const cancel *c) { return __atomic_load_n(&c->fired, __ATOMIC_ACQUIRE); }

weft_err weft__cancel_raise(cancel *c) { return weft__cancel_fired(c) ? weft__status_raise(&c->why) : WEFT_OK; }
