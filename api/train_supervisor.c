/* train_supervisor.c - the public functions of the Supervisor. */
#include "api/argument.h"
#include "train/session/queue_runner.h"
#include "train/session/supervisor.h"

weft_err weft_supervisor_create(weft_supervisor **out, weft_graph *g, const weft_supervisor_opts *opts) {
  API_NEED(out);
  API_NEED(g);
  API_OPTS(weft_supervisor_opts, opts);

  return weft__supervisor_create(out, g, opts);
}
void weft_supervisor_destroy(weft_supervisor *sv) { weft__supervisor_destroy(sv); }
weft_err weft_supervisor_session(weft_session **out, weft_supervisor *sv, const char *target,
                                 const weft_session_opts *config, const weft_supervisor_wait *wait) {
  API_NEED(out);
  API_NEED(sv);
  API_OPTS(weft_session_opts, config);
  API_OPTS(weft_supervisor_wait, wait);

  return weft__supervisor_session(out, sv, target, config, wait);
}
weft_err weft_supervisor_start_services(weft_supervisor *sv, weft_session *sess) {
  API_NEED(sv);
  API_NEED(sess);

  return weft__supervisor_start_services(sv, sess);
}
weft_err weft_supervisor_start_queue_runners(weft_supervisor *sv, weft_session *sess, const char *list, int *started) {
  API_NEED(sv);
  API_NEED(sess);

  return weft__queue_runners_start(sess, weft__supervisor_coordinator(sv), list, started);
}
weft_err weft_supervisor_loop(weft_supervisor *sv, double seconds, weft_thread_fn *fn, void *arg) {
  API_NEED(sv);
  API_NEED(fn);

  return weft__coordinator_start(weft__supervisor_coordinator(sv), "loop", seconds, fn, arg);
}
bool weft_supervisor_should_stop(weft_supervisor *sv) {
  API_NEED_OR(sv, false);

  return weft__coordinator_should_stop(weft__supervisor_coordinator(sv));
}
void weft_supervisor_request_stop(weft_supervisor *sv, weft_err code) {
  API_NEED_OR(sv, );

  weft__coordinator_request_stop(weft__supervisor_coordinator(sv), code);
}
bool weft_supervisor_wait_for_stop(weft_supervisor *sv, double seconds) {
  API_NEED_OR(sv, false);

  return weft__coordinator_wait(weft__supervisor_coordinator(sv), seconds);
}
weft_err weft_supervisor_stop(weft_supervisor *sv, bool keep_summary_writer, bool ignore_live_threads) {
  API_NEED(sv);

  return weft__supervisor_stop(sv, keep_summary_writer, ignore_live_threads);
}
weft_err weft_supervisor_add_summary(weft_supervisor *sv, weft_session *sess, const void *summary, size_t size,
                                     const int64_t *at) {
  API_NEED(sv);
  API_NEED(sess);
  API_ITEMS(size, summary);

  return weft__supervisor_add_summary(sv, sess, summary, size, at);
}
weft_coordinator *weft_supervisor_coordinator(weft_supervisor *sv) {
  API_NEED_OR(sv, NULL);
  return weft__supervisor_coordinator(sv);
}
weft_saver *weft_supervisor_saver(weft_supervisor *sv) {
  API_NEED_OR(sv, NULL);
  return weft__supervisor_saver(sv);
}
weft_event_writer *weft_supervisor_summary_writer(weft_supervisor *sv) {
  API_NEED_OR(sv, NULL);
  return weft__supervisor_writer(sv);
}
weft_out weft_supervisor_global_step(weft_supervisor *sv) {
  API_NEED_OUT(NULL, sv);
  return weft__supervisor_global_step(sv);
}
const char *weft_supervisor_save_path(weft_supervisor *sv) {
  API_NEED_OR(sv, NULL);
  return weft__supervisor_save_path(sv);
}
