/* wait_queue.h - requests that wait in line until they are served or their step is cancelled.
 *
 * The line belongs to an object and is guarded by that object's lock.  A request's watch may run at any
 * moment from weft__waiter_start on, also before the request stands in line; `cancelled` and `listed`,
 * both under the lock, make sure that it is ended once: by whoever took it out of the line, or by its
 * own thread if it never got there.  Ending means weft__waiter_stop and then its function, without any
 * lock. */
#ifndef WEFT_STATE_WAIT_QUEUE_H
#define WEFT_STATE_WAIT_QUEUE_H

#include "base/assert.h"
#include "base/cancel.h"

typedef struct waiter { /* the first member of a request */
  struct waiter *next;
  cancel *cancel; /* NULL: nothing cancels it */
  cancel_watch watch;
  bool listed, cancelled;
} waiter;

typedef struct wait_queue {
  waiter *first, **last;
} wait_queue;

static inline void weft__wait_queue_init(wait_queue *l) {
  l->first = NULL;
  l->last = &l->first;
}

/* Without the lock: from now on fn(w) runs if the token fires.  The token's error if it has fired already. */
static inline weft_err weft__waiter_start(waiter *w, cancel *c, cancel_fn *fn) {
  w->cancel = c;
  return c ? weft__cancel_watch_add(c, &w->watch, fn, w) : WEFT_OK;
}

/* Without the lock: fn(w) has run or never will. */
static inline void weft__waiter_stop(waiter *w) {
  WEFT_ASSERT(!w->listed);
  if (w->cancel) weft__cancel_watch_remove(w->cancel, &w->watch);
}

static inline void weft__wait_queue_push(wait_queue *l, waiter *w) {
  WEFT_ASSERT(!w->listed && !*l->last);
  w->next = NULL;
  *l->last = w;
  l->last = &w->next;
}

/* w joins the end; false: it was cancelled on its way here and is not listed. */
static inline bool weft__wait_queue_enter(wait_queue *l, waiter *w) {
  if (w->cancelled) return false;
  weft__wait_queue_push(l, w);
  return w->listed = true;
}

/* w, which is listed, leaves. */
static inline void weft__wait_queue_remove(wait_queue *l, waiter *w) {
  WEFT_ASSERT(w->listed && l->first);
  waiter **at = &l->first;
  while (*at != w) at = &(*at)->next;
  *at = w->next;
  if (!*at) l->last = at;
  w->listed = false;
}

#endif
