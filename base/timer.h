/* timer.h - timers: functions that are called at a given time, on one thread.
 *
 * A timer is a struct that its caller owns, and which must stay until the timer has fired or was canceled.  Its
 * function runs on the timers' thread, without a lock, and must not block.  The function may set or cancel any timer,
 * its own included.  Any thread may set and cancel timers. */
#ifndef WEFT_BASE_TIMER_H
#define WEFT_BASE_TIMER_H

#include "base/list.h"
#include "base/status.h"

typedef struct timers timers;
typedef void timer_fn(void *arg);

typedef struct timer { /* {0} is a timer that is not set */
  int64_t at_ns;       /* monotonic */
  timer_fn *fn;
  void *arg;
  list_link link; /* in no list: not set */
} timer;

/* Starts the thread.  The caller destroys *out.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__timers_create(timers **out);
/* Waits for a function that runs now; timers that are still set never fire.  Does nothing for NULL. */
void weft__timers_destroy(timers *ts);
/* Sets t, which must not be set already, to call fn(arg) once at this monotonic time, or at once if that is past.  Does
 * nothing once the timers are being destroyed. */
void weft__timer_set(timers *ts, timer *t, int64_t at_ns, timer_fn *fn, void *arg);
/* Cancels t.  If its function runs on the timers' thread now, waits until it has ended, unless this is that thread.
 * Returns true if the timer was set and its function will not run. */
bool weft__timer_cancel(timers *ts, timer *t);

#endif
