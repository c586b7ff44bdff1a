/* train_manager.c - the public functions that open sessions with initialized variables, for programs without a
 * Supervisor. */
#include "api/argument.h"
#include "train/session/session_manager.h"
#include "weft/supervise.h"

typedef struct managed {
  session_manager manager;
  prepare_opts how;
} managed;

static weft_out manager_output(const weft_out *o) { return o ? *o : WEFT_NONE; }

static managed read_opts(weft_graph *g, const weft_manager_opts *opts) {
  static const weft_manager_opts none = {0};
  const weft_manager_opts *o = opts ? opts : &none;
  return (managed){{.graph = g,
                    .ready = manager_output(o->ready_op),
                    .ready_for_local_init = manager_output(o->ready_for_local_init_op),
                    .local_init = manager_output(o->local_init_op).node,
                    .local_timeout_ms = o->local_init_timeout_ms,
                    .n_local_feed = o->n_local_init_feed,
                    .local_feed = o->local_init_feed,
                    .log_secs = o->recovery_wait_secs},
                   {.target = o->target ? o->target : "",
                    .max_wait_secs = o->max_wait_secs,
                    .init = manager_output(o->init_op).node,
                    .n_init_feed = o->n_init_feed,
                    .init_feed = o->init_feed,
                    .init_fn = o->init_fn,
                    .init_arg = o->init_arg,
                    .saver = o->saver,
                    .checkpoint_dir = o->checkpoint_dir,
                    .checkpoint_path = o->checkpoint_path,
                    .wait_for_checkpoint = o->wait_for_checkpoint}};
}

weft_err weft_manager_prepare(weft_session **out, weft_graph *g, const weft_manager_opts *opts) {
  API_NEED(out);
  API_NEED(g);
  API_OPTS(weft_manager_opts, opts);
  const weft_session_opts *config = opts ? opts->config : NULL;
  API_OPTS(weft_session_opts, config);

  managed m = read_opts(g, opts);
  m.how.config = config;
  *out = NULL;
  return weft__manager_prepare(&m.manager, &m.how, out);
}

weft_err weft_manager_wait(weft_session **out, weft_graph *g, const weft_manager_opts *opts) {
  API_NEED(out);
  API_NEED(g);
  API_OPTS(weft_manager_opts, opts);
  const weft_session_opts *config = opts ? opts->config : NULL;
  API_OPTS(weft_session_opts, config);

  managed m = read_opts(g, opts);
  m.how.config = config;
  *out = NULL;
  return weft__manager_wait(&m.manager, &m.how, out);
}

weft_err weft_manager_recover(weft_session **out, weft_graph *g, const weft_manager_opts *opts, bool *restored) {
  API_NEED(out);
  API_NEED(g);
  API_OPTS(weft_manager_opts, opts);
  const weft_session_opts *config = opts ? opts->config : NULL;
  API_OPTS(weft_session_opts, config);

  managed m = read_opts(g, opts);
  m.how.config = config;
  bool unused;
  *out = NULL;
  return weft__manager_recover(&m.manager, &m.how, out, restored ? restored : &unused);
}
