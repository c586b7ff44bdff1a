/* run.h - small runs on a session: one fetch, one target. */
#ifndef WEFT_TRAIN_SESSION_RUN_H
#define WEFT_TRAIN_SESSION_RUN_H

#include "exec/session.h"

/* What to fetch for an output: for the handle of a resource variable its value, else the output itself. */
weft_out weft__run_value(const weft_session *sess, weft_out o);
weft_err weft__run_target(weft_session *sess, int node);
weft_err weft__run_fetch(weft_session *sess, weft_out o, weft_tensor **out);
/* A scalar of any number type, or a variable that has one. */
weft_err weft__run_int(weft_session *sess, weft_out o, int64_t *out);

#endif
