/* coordinator.h - threads that stop together.
 *
 * Any of them may request the stop, with an error or without; all see it. join waits for them and returns the error.
 * The first interrupt of the program counts as a request. */
#ifndef WEFT_TRAIN_SESSION_COORDINATOR_H
#define WEFT_TRAIN_SESSION_COORDINATOR_H

#include "base/status.h"
#include "weft/train.h"

/* Errors with these codes stop the threads but are not returned by join; n = 0: OUT_OF_RANGE. */
weft_err weft__coordinator_create(weft_coordinator **out, int n, const weft_err *clean);
void weft__coordinator_destroy(weft_coordinator *c); /* threads that still run keep what they need */
/* Starts a thread that runs fn once, or every `seconds` (< 0: once; 0: without a pause) until the stop.  If fn
 * fails, that requests a stop.  The name is for messages. */
weft_err weft__coordinator_start(weft_coordinator *c, const char *name, double seconds, weft_thread_fn *fn, void *arg);
/* `code` is this thread's last failure, or WEFT_OK.  Only the first request counts. */
void weft__coordinator_request_stop(weft_coordinator *c, weft_err code);
bool weft__coordinator_should_stop(weft_coordinator *c);
void weft__coordinator_clear_stop(weft_coordinator *c);
/* Returns true if stopped. seconds < 0: waits without a limit. */
bool weft__coordinator_wait(weft_coordinator *c, double seconds);
/* Waits for the stop or the end of all threads, then at most `grace` seconds (< 0: 120) for the rest.  Returns the
 * error that stopped them.  DEADLINE_EXCEEDED names the threads that still run; with ignore_live they are only
 * logged. */
weft_err weft__coordinator_join(weft_coordinator *c, double grace, bool ignore_live);
weft_err weft__coordinator_raise(weft_coordinator *c);

#endif
