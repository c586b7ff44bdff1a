/* timer.h - functions called at a time: one thread, which sleeps until the next is due.
 *
 * A timer is a struct of its owner's.  Its function runs on the timers' thread, without a lock, and must
 * not block; it may set or take off any timer, its own included. */
#ifndef WEFT_BASE_TIMER_H
#define WEFT_BASE_TIMER_H

#include "base/list.h"
#include "base/status.h"

typedef struct timers timers;
typedef void timer_fn(void *arg);

typedef struct timer { /* {0} is one that was never set */
  int64_t at_ns;       /* monotonic */
  timer_fn *fn;
  void *arg;
  list_link link; /* in no list: not set */
} timer;

weft_err weft__timers_create(timers **out);
void weft__timers_destroy(timers *ts); /* what is set never runs; waits for what does */
/* Once at this monotonic time (at once, if that is past).  t is not set already. */
void weft__timer_set(timers *ts, timer *t, int64_t at_ns, timer_fn *fn, void *arg);
/* Afterwards its function runs no more; waits while it does on another thread.  True: it was set and will not run. */
bool weft__timer_cancel(timers *ts, timer *t);

#endif
