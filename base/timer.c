/* timer.c - a list of timers, the earliest first, and the thread that sleeps until the first one is due.
 *
 * Most timers are canceled before they are due, and most new ones are due after all others.  So the position of a new
 * one is searched from the end.  One lock, a leaf, guards the list; it is not held while a function runs. */
#include "base/timer.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include <pthread.h>
#include <signal.h>

struct timers {
  pthread_mutex_t lock;
  pthread_cond_t wake; /* the earliest timer changed */
  pthread_cond_t ran;  /* a function has ended */
  linked_list set;     /* the earliest first */
  timer *running;
  pthread_t thread;
  bool started, stop;
};

/* Returns the timer that is due first; NULL if none is set.  The lock is held. */
static timer *timers_earliest(const timers *ts) {
  WEFT_ASSERT(weft__lock_is_held(&ts->lock));
  list_link *first = weft__list_first(&ts->set);
  return first ? WEFT_LIST_ITEM(first, timer, link) : NULL;
}

/* Runs the timers that are due.  The lock is held at entry and exit. */
static void timers_run_due(timers *ts) {
  WEFT_ASSERT(weft__lock_is_held(&ts->lock));
  for (timer *t; (t = timers_earliest(ts)) && !ts->stop && t->at_ns <= weft__clock_now_ns();) {
    timer_fn *fn = t->fn;
    void *arg = t->arg;
    WEFT_ASSERT(!ts->running);
    weft__list_remove(&t->link);
    ts->running = t;
    pthread_mutex_unlock(&ts->lock);
    fn(arg);
    pthread_mutex_lock(&ts->lock);
    ts->running = NULL;
    pthread_cond_broadcast(&ts->ran);
  }
}

static void *timers_thread_main(void *arg) {
  timers *ts = arg;
  pthread_mutex_lock(&ts->lock);
  while (!ts->stop) {
    timers_run_due(ts);
    if (ts->stop) break;
    const timer *next = timers_earliest(ts);
    int64_t left = next ? next->at_ns - weft__clock_now_ns() : -1;
    struct timespec until = weft__clock_deadline(left < 0 && next ? 0 : left);
    pthread_cond_clockwait(&ts->wake, &ts->lock, CLOCK_MONOTONIC, &until);
  }
  pthread_mutex_unlock(&ts->lock);
  return NULL;
}

weft_err weft__timers_create(timers **out) {
  timers *ts = weft__alloc_zero(1, sizeof *ts);
  if (!ts) return WEFT_OOM;
  pthread_mutex_init(&ts->lock, NULL);
  pthread_cond_init(&ts->wake, NULL);
  pthread_cond_init(&ts->ran, NULL);
  weft__list_init(&ts->set);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* signals belong to the program */
  int failed = pthread_create(&ts->thread, NULL, timers_thread_main, ts);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  ts->started = !failed;
  if (failed) {
    weft__timers_destroy(ts);
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "Cannot start the timers' thread: error %d", failed);
  }
  *out = ts;
  return WEFT_OK;
}

void weft__timers_destroy(timers *ts) {
  if (!ts) return;
  pthread_mutex_lock(&ts->lock);
  ts->stop = true;
  for (list_link *k; (k = weft__list_first(&ts->set));) weft__list_remove(k);
  pthread_cond_signal(&ts->wake);
  pthread_mutex_unlock(&ts->lock);
  if (ts->started) pthread_join(ts->thread, NULL);
  WEFT_ASSERT(!ts->running);
  pthread_cond_destroy(&ts->wake);
  pthread_cond_destroy(&ts->ran);
  pthread_mutex_destroy(&ts->lock);
  weft__free(ts);
}

void weft__timer_set(timers *ts, timer *t, int64_t at_ns, timer_fn *fn, void *arg) {
  pthread_mutex_lock(&ts->lock);
  WEFT_ASSERT(fn && !weft__list_is_linked(&t->link));
  *t = (timer){.at_ns = at_ns, .fn = fn, .arg = arg};
  list_link *before = ts->set.head.prev;
  while (before != &ts->set.head && WEFT_LIST_ITEM(before, timer, link)->at_ns > at_ns) before = before->prev;
  if (!ts->stop) {
    weft__list_insert_after(before, &t->link);
    WEFT_ASSERT(t->link.next == &ts->set.head || WEFT_LIST_ITEM(t->link.next, timer, link)->at_ns >= at_ns);
    if (before == &ts->set.head) pthread_cond_signal(&ts->wake);
  }
  pthread_mutex_unlock(&ts->lock);
}

bool weft__timer_cancel(timers *ts, timer *t) {
  pthread_mutex_lock(&ts->lock);
  bool set = weft__list_is_linked(&t->link);
  if (set) weft__list_remove(&t->link);
  while (ts->running == t && !pthread_equal(ts->thread, pthread_self())) pthread_cond_wait(&ts->ran, &ts->lock);
  pthread_mutex_unlock(&ts->lock);
  return set;
}
