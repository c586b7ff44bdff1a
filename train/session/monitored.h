/* monitored.h - MonitoredSession: a session with hooks that recovers from lost tasks and knows when to stop. */
#ifndef WEFT_TRAIN_SESSION_MONITORED_H
#define WEFT_TRAIN_SESSION_MONITORED_H

#include "train/session/hook.h"

/* Opens the session, which may wait for other tasks.  The caller destroys *out.  Hooks and functions in opts must
 * outlive it; strings are copied. */
weft_err weft__monitored_create(weft_session **out, weft_graph *g, const weft_monitored_opts *opts);
/* Returns INVALID_ARGUMENT if the session is of another kind. */
weft_err weft__monitored_of(weft_session *sess, monitored **out);
bool weft__monitored_should_stop(monitored *m);
void weft__monitored_request_stop(monitored *m);
/* why: WEFT_OK, or the error that ended the program's loop.  The hooks' end callbacks run if it was no failure. */
weft_err weft__monitored_close(monitored *m, weft_err why);
weft_session *weft__monitored_raw(monitored *m); /* without hooks */

#endif
