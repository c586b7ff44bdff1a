/* recovering.h - a session that mends itself: when a task is lost, runs wait until a new session is ready and are tried
 * again.  Supervisors and monitored sessions hand these out. */
#ifndef WEFT_TRAIN_SESSION_RECOVERING_H
#define WEFT_TRAIN_SESSION_RECOVERING_H

#include "exec/session.h"

typedef struct recovery {
  /* Required.  A new session in the place of a lost one; may take long, and fails when the program wants to stop. */
  weft_err (*reopen)(void *arg, weft_session **out);
  /* Optional.  After an error that might come of a lost state (an uninitialized variable): is it so? */
  bool (*state_lost)(void *arg, weft_session *sess);
  /* Optional.  Called once the new session is in place, before any run goes on. */
  weft_err (*reopened)(void *arg, weft_session *sess);
  void *arg;
  /* Optional.  A run failed and no task was lost: what the program shall see. */
  weft_err (*failed)(void *arg, weft_err err);
} recovery;

/* Takes `first` over.  Destroyed by its holder, it is closed, and gone once those who share it have let it go too. */
weft_err weft__recovering_create(weft_session **out, weft_session *first, const recovery *r);
void weft__recovering_share(weft_session *s);
void weft__recovering_drop(weft_session *s); /* NULL is fine */

#endif
