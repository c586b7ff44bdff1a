/* open.c - where the sessions of supervised programs come from. */
#include "train/open.h"

static session_opts inside(const weft_session_opts *o) {
  if (!o) return (session_opts){0};
  return (session_opts){.intra_threads = o->intra_op_threads,
                        .inter_threads = o->inter_op_threads,
                        .allow_soft_placement = o->allow_soft_placement,
                        .log_device_placement = o->log_device_placement,
                        .timeout_ms = o->timeout_ms};
}

weft_err weft__open_session(weft_session **out, const char *target, weft_graph *g, const weft_session_opts *opts) {
  session_opts o = inside(opts);
  WEFT_TRY(weft__status_raise(&g->sticky));
  if (!target || !*target || strcmp(target, "local") == 0) return weft__session_create(out, g, &o);
  return weft__fail(WEFT_UNIMPLEMENTED, "a session on %s: this build has no cluster", target);
}
