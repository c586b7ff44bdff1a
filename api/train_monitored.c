/* train_monitored.c - the public functions of hooks and monitored sessions. */
#include "api/argument.h"
#include "train/session/monitored.h"
#include "train/session/sync_run.h"

weft_err weft_hook_create(weft_hook **out, const weft_hook_fns *fns, void *arg) {
  API_NEED(out);
  API_NEED(fns);

  return weft__hook_create(out, fns, arg, NULL);
}
void weft_hook_destroy(weft_hook *h) { weft__hook_destroy(h); }

weft_err weft_run_context_fetch(weft_run_context *c, int n, const weft_out *fetches) {
  API_NEED(c);
  API_ARRAY(n, fetches);
  API_ALL_OF(c->sess->graph, n, fetches);

  return weft__context_fetch(c, n, fetches);
}
weft_err weft_run_context_target(weft_run_context *c, int n, const weft_out *nodes) {
  API_NEED(c);
  API_ARRAY(n, nodes);
  API_ALL_OF(c->sess->graph, n, nodes);

  return weft__context_target(c, n, nodes);
}
weft_err weft_run_context_feed(weft_run_context *c, weft_out to, const weft_tensor *fed) {
  API_NEED(c);
  API_NEED(fed);
  API_OF(c->sess->graph, to);

  return weft__context_feed(c, to, fed);
}
void weft_run_context_partition_graphs(weft_run_context *c) {
  API_NEED_OR(c, );
  c->partition_graphs = true;
}
void weft_run_context_trace(weft_run_context *c) {
  API_NEED_OR(c, );
  c->trace = true;
}
const weft_tensor *weft_run_context_value(const weft_run_context *c, int i) {
  API_NEED_OR(c, NULL);
  return weft__context_value(c, i);
}
const void *weft_run_context_metadata(const weft_run_context *c, size_t *size) {
  API_NEED_OR(c, NULL);
  API_NEED_OR(size, NULL);

  *size = c->metadata_size;
  return c->metadata;
}
weft_session *weft_run_context_session(const weft_run_context *c) {
  API_NEED_OR(c, NULL);
  return c->sess;
}
int weft_run_context_fetches(const weft_run_context *c, const weft_out **fetches) {
  API_NEED_OR(c, 0);
  API_NEED_OR(fetches, 0);

  *fetches = c->caller->fetch;
  return c->caller->n_fetch;
}
void weft_run_context_request_stop(weft_run_context *c) {
  API_NEED_OR(c, );
  c->stop = true;
}

weft_err weft_hook_stop_at_step(weft_hook **out, int64_t num_steps, int64_t last_step) {
  API_NEED(out);

  return weft__hook_stop_at_step(out, num_steps, last_step);
}
weft_err weft_hook_nan_tensor(weft_hook **out, weft_out loss, bool only_stop) {
  API_NEED(out);

  return weft__hook_nan(out, loss, only_stop);
}
weft_err weft_hook_global_step_waiter(weft_hook **out, int64_t wait_until_step) {
  API_NEED(out);

  return weft__hook_wait_for_step(out, wait_until_step);
}
weft_err weft_hook_feed(weft_hook **out, weft_err (*fn)(void *arg, weft_run_context *c), void *arg) {
  API_NEED(out);
  API_NEED(fn);

  return weft__hook_create(out, &(weft_hook_fns){.before_run = fn}, arg, NULL);
}
weft_err weft_hook_final_ops(weft_hook **out, int n, const weft_out *fetches, int n_feed, const weft_feed *feeds) {
  API_NEED(out);
  API_ARRAY(n, fetches);
  API_ARRAY(n_feed, feeds);

  return weft__hook_final_ops(out, n, fetches, n_feed, feeds);
}
weft_err weft_hook_final_value(weft_tensor **out, const weft_hook *h, int i) {
  API_NEED(out);
  API_NEED(h);

  return weft__hook_final_value(h, i, out);
}
weft_err weft_hook_logging(weft_hook **out, const weft_logging_opts *opts) {
  API_NEED(out);
  API_NEED(opts);
  API_OPTS(weft_logging_opts, opts);
  return weft__hook_logging(out, opts);
}
weft_err weft_hook_checkpoint_saver(weft_hook **out, const weft_checkpoint_hook_opts *opts) {
  API_NEED(out);
  API_NEED(opts);
  API_OPTS(weft_checkpoint_hook_opts, opts);

  return weft__hook_checkpoint(out, opts);
}
weft_err weft_hook_summary_saver(weft_hook **out, const weft_summary_hook_opts *opts) {
  API_NEED(out);
  API_NEED(opts);
  API_OPTS(weft_summary_hook_opts, opts);

  return weft__hook_summary(out, opts);
}
weft_err weft_hook_step_counter(weft_hook **out, const weft_step_counter_opts *opts) {
  API_NEED(out);
  API_NEED(opts);
  API_OPTS(weft_step_counter_opts, opts);

  return weft__hook_step_counter(out, opts);
}
weft_err weft_hook_sync(weft_hook **out, weft_sync *s, bool is_chief, int num_tokens) {
  API_NEED(out);
  API_NEED(s);

  return weft__hook_sync(out, s, is_chief, num_tokens);
}
weft_err weft_sync_queue_runner(void **out, size_t *size, const weft_sync *s) {
  API_NEED(out);
  API_NEED(size);
  API_NEED(s);

  return weft__sync_runner_def(s, (uint8_t **)out, size);
}

weft_err weft_monitored_create(weft_session **out, weft_graph *g, const weft_monitored_opts *opts) {
  API_NEED(out);
  API_NEED(g);
  API_OPTS(weft_monitored_opts, opts);
  const weft_session_opts *config = opts ? opts->config : NULL;
  API_OPTS(weft_session_opts, config);

  weft_monitored_opts all = {0};
  if (opts) all = *opts;
  all.config = config;
  return weft__monitored_create(out, g, &all);
}
bool weft_monitored_should_stop(weft_session *sess) {
  API_NEED_OR(sess, false);

  monitored *m;
  return weft__monitored_of(sess, &m) == WEFT_OK && weft__monitored_should_stop(m);
}
void weft_monitored_request_stop(weft_session *sess) {
  API_NEED_OR(sess, );

  monitored *m;
  if (weft__monitored_of(sess, &m) == WEFT_OK) weft__monitored_request_stop(m);
}
weft_err weft_monitored_close(weft_session *sess, weft_err why) {
  API_NEED(sess);

  monitored *m;
  WEFT_TRY(weft__monitored_of(sess, &m));
  return weft__monitored_close(m, why);
}
weft_session *weft_monitored_raw(weft_session *sess) {
  API_NEED_OR(sess, NULL);

  monitored *m;
  return weft__monitored_of(sess, &m) == WEFT_OK ? weft__monitored_raw(m) : NULL;
}
