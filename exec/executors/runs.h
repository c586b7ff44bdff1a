/* runs.h - the runs of a session in flight, so that closing the session can cancel them and wait for their end.
 *
 * The owner's lock guards the list.  Callers hold it in every function here except init and finish. */
#ifndef WEFT_EXEC_EXECUTORS_RUNS_H
#define WEFT_EXEC_EXECUTORS_RUNS_H

#include "base/cancel.h"
#include "base/list.h"

typedef struct run_entry { /* its token is the owner's to init and finish */
  cancel cancel;
  list_link link; /* of the list of runs */
} run_entry;

typedef struct runs {
  linked_list list;
  int n;
  pthread_cond_t none;
  bool closed; /* the owner adds no more, but for the call that closes it elsewhere */
} runs;

/* init cannot fail; at finish no run is listed.  The owner of an entry keeps it, and its token, until it is removed. */
void weft__runs_init(runs *r);
void weft__runs_finish(runs *r);
void weft__runs_add(runs *r, run_entry *e);
void weft__runs_remove(runs *r, run_entry *e);
/* Closes and fires every token with this code and message.  True: it was open before. */
bool weft__runs_stop(runs *r, weft_err code, const char *message);
/* Closes, fires every token with CANCELLED and this message, and waits (without the lock) until none is left.  True: it
 * was open before. */
bool weft__runs_close(runs *r, pthread_mutex_t *lock, const char *message);

#endif
