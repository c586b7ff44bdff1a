/* run.c - small runs on a session. */
#include "train/session/run.h"

weft_err weft__run_target(weft_session *sess, int node) {
  return weft__session_run(sess, &(plan_request){.n_target = 1, .target = &node}, NULL, NULL, NULL);
}

weft_err weft__run_fetch(weft_session *sess, weft_out o, weft_tensor **out) {
  *out = NULL;
  return weft__session_run(sess, &(plan_request){.n_fetch = 1, .fetch = &o}, NULL, out, NULL);
}

weft_err weft__run_int(weft_session *sess, weft_out o, int64_t *out) {
  weft_tensor *t;
  WEFT_TRY(weft__run_fetch(sess, o, &t));
  weft_err err = WEFT_OK;
  if (weft__tensor_count(t) == 1 && weft__dtype_is_plain(t->dtype))
    *out = weft__tensor_int(t, 0);
  else
    err = weft__fail(WEFT_INVALID_ARGUMENT, "a single number was expected, not a %s tensor of shape %s",
                     weft__dtype_name(t->dtype), weft__shape_text(&t->shape));
  weft_tensor_destroy(t);
  return err;
}
