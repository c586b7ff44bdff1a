/* cancel.h - how a step is told to stop, and how everything that blocks hears of it.
 *
 * A token is fired at most once, with a code and message.  A blocked operation adds a watch; the
 * watch's function runs on the thread that fires.  weft__cancel_watch_remove is the other half: once it
 * returns, the function has either run to its end or never will. */
#ifndef WEFT_BASE_CANCEL_H
#define WEFT_BASE_CANCEL_H

#include "base/list.h"
#include "base/status.h"
#include <pthread.h>

typedef void cancel_fn(void *arg);

typedef struct cancel_watch {
  cancel_fn *fn;
  void *arg;
  list_link link; /* of the token's watches */
  int state;      /* 0 idle, 1 listed, 2 running, 3 ran */
} cancel_watch;

typedef struct cancel {
  pthread_mutex_t lock;
  pthread_cond_t ran;
  linked_list watches;
  cancel_watch *running;
  pthread_t runner; /* the thread that fires; meaningful while `running` is set */
  bool fired;       /* read without the lock through weft__cancel_fired */
  status why;
} cancel;

void weft__cancel_init(cancel *c);
void weft__cancel_finish(cancel *c);
/* Lists the watch.  If the token has already fired, lists nothing and returns its code and message. */
weft_err weft__cancel_watch_add(cancel *c, cancel_watch *w, cancel_fn *fn, void *arg);
/* Unlists it; waits for the function if it is running now on another thread.  True: it never ran.
 * Every watch that was listed is taken off before its memory goes; its own function may do so. */
bool weft__cancel_watch_remove(cancel *c, cancel_watch *w);
/* Fires with `code` and the formatted message; later calls do nothing. */
void weft__cancel_fire(cancel *c, weft_err code, const char *fmt, ...) WEFT_PRINTF(3, 4);
bool weft__cancel_fired(const cancel *c);
/* The code and message it fired with; WEFT_OK if it has not. */
weft_err weft__cancel_raise(cancel *c);

#endif
