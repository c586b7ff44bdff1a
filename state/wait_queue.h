/* wait_queue.h - a queue of requests that wait until they are served or their step is canceled.
 *
 * The queue belongs to an object and is guarded by the lock of that object.  The watch of a request may run at any time
 * after weft__waiter_start, even before the request is in the queue.  `cancelled` and `listed`, both guarded by the
 * lock, make sure that a request is completed exactly once: by the thread that removes it from the queue, or by its own
 * thread if it never entered.  To complete a request, call weft__waiter_stop and then its function, without any lock.
 */
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

/* Makes fn(w) run if the token c (may be NULL) fires.  Returns the token's error if it has fired already.  Call it
 * without the lock. */
static inline weft_err weft__waiter_start(waiter *w, cancel *c, cancel_fn *fn) {
  w->cancel = c;
  return c ? weft__cancel_watch_add(c, &w->watch, fn, w) : WEFT_OK;
}

/* Removes the watch: afterwards fn(w) has run or never will.  Call it without the lock, which fn takes. */
static inline void weft__waiter_stop(waiter *w) {
  WEFT_ASSERT(!w->listed);
  if (w->cancel) weft__cancel_watch_remove(w->cancel, &w->watch);
}

/* Appends w without listing it: for local queues of requests that are to be completed. */
static inline void weft__wait_queue_push(wait_queue *l, waiter *w) {
  WEFT_ASSERT(!w->listed && !*l->last);
  w->next = NULL;
  *l->last = w;
  l->last = &w->next;
}

/* Appends w; returns false if it was canceled before and is not listed.  The lock is held. */
static inline bool weft__wait_queue_enter(wait_queue *l, waiter *w) {
  if (w->cancelled) return false;
  weft__wait_queue_push(l, w);
  return w->listed = true;
}

/* Removes w, which is listed.  The lock is held. */
static inline void weft__wait_queue_remove(wait_queue *l, waiter *w) {
  WEFT_ASSERT(w->listed && l->first);
  waiter **at = &l->first;
  while (*at != w) at = &(*at)->next;
  *at = w->next;
  if (!*at) l->last = at;
  w->listed = false;
}

#endif
