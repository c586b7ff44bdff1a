/* cancel.h - cancellation tokens: how a step is told to stop, and how everything that waits for it learns of that.
 *
 * A token is fired at most once, with a code and a message.  An operation that blocks adds a watch to the token; the
 * function of the watch runs on the thread that fires.  After weft__cancel_watch_remove has returned, that function has
 * either run to its end or will never run.
 *
 * The lock of a token guards its watches.  It is a leaf and is not held while a function runs.  Any thread may call
 * these functions.  The owner of the token keeps it until every watch is removed. */
#ifndef WEFT_BASE_CANCEL_H
#define WEFT_BASE_CANCEL_H

#include "base/list.h"
#include "base/status.h"
#include <pthread.h>

typedef void cancel_fn(void *arg);

typedef struct cancel_watch { /* a member of its owner's struct */
  cancel_fn *fn;
  void *arg;
  list_link link; /* of the token's watches */
  int state;      /* 0 idle, 1 listed, 2 running, 3 ran; guarded by the token's lock */
} cancel_watch;

typedef struct cancel {
  pthread_mutex_t lock;
  pthread_cond_t ran; /* signaled when a function has ended */
  linked_list watches;
  cancel_watch *running; /* the watch whose function runs now, or NULL */
  pthread_t runner;      /* the thread that fires; meaningful while `running` is set */
  bool fired;            /* read without the lock through weft__cancel_fired */
  status why;            /* constant once the token has fired */
} cancel;

/* Makes a token that has not fired; cannot fail. */
void weft__cancel_init(cancel *c);
void weft__cancel_finish(cancel *c); /* no watch is listed, and no other thread uses the token */
/* Lists the watch; fn(arg) runs when the token fires.  If the token has already fired, lists nothing and returns its
 * code with its message set.  The caller owns the watch and must remove it before its memory is freed, also if fn has
 * run. */
weft_err weft__cancel_watch_add(cancel *c, cancel_watch *w, cancel_fn *fn, void *arg);
/* Removes the watch, and waits for its function if that runs on another thread now; so do not hold a lock that the
 * function takes.  The function may remove its own watch.  Returns true if the function never ran. */
bool weft__cancel_watch_remove(cancel *c, cancel_watch *w);
/* Fires the token with `code` (not WEFT_OK) and the formatted message, and runs the functions of its watches on this
 * thread.  Later calls do nothing. */
void weft__cancel_fire(cancel *c, weft_err code, const char *fmt, ...) WEFT_PRINTF(3, 4);
/* Fires the token with `code` and the message and the facts of this thread's present error. */
void weft__cancel_fire_error(cancel *c, weft_err code);
bool weft__cancel_fired(const cancel *c); /* takes no lock */
/* Returns the code that the token fired with and sets this thread's message to its message; WEFT_OK if it has not
 * fired. */
weft_err weft__cancel_raise(cancel *c);

#endif
