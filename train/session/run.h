/* run.h - small runs on a session: one fetch, one target. */
#ifndef WEFT_TRAIN_SESSION_RUN_H
#define WEFT_TRAIN_SESSION_RUN_H

#include "exec/session.h"

/* Returns the output to fetch: for the handle of a resource variable its value, otherwise the output itself. */
weft_out weft__run_value(const weft_session *sess, weft_out o);
weft_err weft__run_target(weft_session *sess, int node);
weft_err weft__run_fetch(weft_session *sess, weft_out o, weft_tensor **out);
/* Reads a scalar of any number type, or a variable with one. */
weft_err weft__run_int(weft_session *sess, weft_out o, int64_t *out);

#endif
