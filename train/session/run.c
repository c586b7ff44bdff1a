/* run.c - small runs on a session. */
#include "train/session/run.h"
#include "base/alloc.h"
#include <string.h>

weft_out weft__run_value(const weft_session *sess, weft_out o) {
  const weft_graph *g = sess->graph;
  if (o.node < 0 || o.node >= g->n_node || !weft__node_is(g->node[o.node], KIND_HANDLE)) return o;
  char *name = weft__sprintf("%s/Read/ReadVariableOp", g->node[o.node]->name);
  const weft_node *read = name ? weft__graph_find(g, name) : NULL;
  weft__free(name);
  return read ? (weft_out){read->id, 0} : o;
}

weft_err weft__run_target(weft_session *sess, int node) {
  return weft__session_run(sess, &(plan_request){.n_target = 1, .target = &node}, NULL, NULL, NULL);
}

weft_err weft__run_fetch(weft_session *sess, weft_out o, weft_tensor **out) {
  *out = NULL;
  return weft__session_run(sess, &(plan_request){.n_fetch = 1, .fetch = &o}, NULL, out, NULL);
}

weft_err weft__run_int(weft_session *sess, weft_out o, int64_t *out) {
  weft_tensor *t;
  WEFT_TRY(weft__run_fetch(sess, weft__run_value(sess, o), &t));
  weft_err err = WEFT_OK;
  if (weft__tensor_count(t) == 1 && weft__dtype_is_plain(t->dtype))
    *out = weft__tensor_int(t, 0);
  else
    err = weft__fail(WEFT_INVALID_ARGUMENT, "a single number was expected, not a %s tensor of shape %s",
                     weft__dtype_name(t->dtype), weft__shape_text(&t->shape));
  weft_tensor_destroy(t);
  return err;
}
