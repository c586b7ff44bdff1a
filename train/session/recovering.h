/* recovering.h - a session that recovers: when a task is lost, runs wait until a new session is ready and are retried.
 * Supervisors and monitored sessions return such sessions.  Any thread may run one. */
#ifndef WEFT_TRAIN_SESSION_RECOVERING_H
#define WEFT_TRAIN_SESSION_RECOVERING_H

#include "exec/session.h"

typedef struct recovery {
  /* Required.  Opens a session to replace the lost one.  It may take long, and fails if the program is to stop. */
  weft_err (*reopen)(void *arg, weft_session **out);
  /* Optional.  Returns true if an error such as an uninitialized variable means that the state was lost. */
  bool (*state_lost)(void *arg, weft_session *sess);
  /* Optional.  Called after the session was replaced, before any run is retried. */
  weft_err (*reopened)(void *arg, weft_session *sess);
  void *arg;
  /* Optional.  A run failed and no task was lost: returns the error that the program gets. */
  weft_err (*failed)(void *arg, weft_err err);
  /* The owner defers interrupts while a session runs.  They are not deferred during `reopen`, which may wait for
   * tasks. */
  bool defers_interrupts;
} recovery;

/* Takes ownership of `first`.  Destroying the session closes it; its memory is freed when the last share was
 * dropped. */
weft_err weft__recovering_create(weft_session **out, weft_session *first, const recovery *r);
void weft__recovering_share(weft_session *s);
void weft__recovering_drop(weft_session *s); /* NULL is fine */

#endif
