/* train_input.c - the public functions of coordinators, queue runners and input pipelines. */
#include "api/argument.h"
#include "train/session/coordinator.h"
#include "train/model/input.h"
#include "train/session/queue_runner.h"

weft_err weft_coordinator_create(weft_coordinator **out, int n, const weft_err *clean) {
  API_NEED(out);
  API_ARRAY(n, clean);

  return weft__coordinator_create(out, n, clean);
}
void weft_coordinator_destroy(weft_coordinator *c) { weft__coordinator_destroy(c); }
weft_err weft_coordinator_start(weft_coordinator *c, const char *name, double seconds, weft_thread_fn *fn, void *arg) {
  API_NEED(c);
  API_NEED(fn);

  return weft__coordinator_start(c, name, seconds, fn, arg);
}
void weft_coordinator_request_stop(weft_coordinator *c, weft_err code) {
  API_NEED_OR(c, );
  weft__coordinator_request_stop(c, code);
}
bool weft_coordinator_should_stop(weft_coordinator *c) {
  API_NEED_OR(c, false);
  return weft__coordinator_should_stop(c);
}
void weft_coordinator_clear_stop(weft_coordinator *c) {
  API_NEED_OR(c, );
  weft__coordinator_clear_stop(c);
}
bool weft_coordinator_wait(weft_coordinator *c, double seconds) {
  API_NEED_OR(c, false);
  return weft__coordinator_wait(c, seconds);
}
weft_err weft_coordinator_join(weft_coordinator *c, double grace_secs, bool ignore_live) {
  API_NEED(c);

  return weft__coordinator_join(c, grace_secs == 0 ? -1 : grace_secs, ignore_live);
}
weft_err weft_coordinator_raise(weft_coordinator *c) {
  API_NEED(c);
  return weft__coordinator_raise(c);
}

weft_err weft_queue_runner_add(weft_graph *g, weft_out queue, int n, const weft_out *enqueue, const char *list) {
  API_NEED(g);
  API_ARRAY(n, enqueue);
  API_OF(g, queue);
  API_ALL_OF(g, n, enqueue);

  return weft__queue_runner_add(g, queue, n, enqueue, list);
}
weft_err weft_queue_runners_start(weft_session *sess, weft_coordinator *c, const char *list, int *started) {
  API_NEED(sess);

  return weft__queue_runners_start(sess, c, list, started);
}
weft_err weft_queue_runner_start(weft_session *sess, weft_coordinator *c, const void *queue_runner_def, size_t size,
                                 int *started) {
  API_NEED(sess);
  API_ITEMS(size, queue_runner_def);

  return weft__queue_runner_start(sess, c, queue_runner_def, size, started);
}

weft_out weft_input_producer(weft_graph *g, weft_out x, const weft_producer_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_OF_OUT(g, x);
  API_OPTS_OUT(g, weft_producer_opts, opts);

  return weft__input_producer(g, x, opts);
}
weft_out weft_string_input_producer(weft_graph *g, weft_out x, int n, const char *const *strings,
                                    const weft_producer_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_ARRAY_OUT(g, n, strings);
  API_OF_OUT(g, x);
  API_OPTS_OUT(g, weft_producer_opts, opts);

  return weft__input_string_producer(g, x, n, strings, opts);
}
weft_out weft_range_input_producer(weft_graph *g, weft_out x, int64_t limit, const weft_producer_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_OF_OUT(g, x);
  API_OPTS_OUT(g, weft_producer_opts, opts);

  return weft__input_range_producer(g, x, limit, opts);
}
void weft_slice_input_producer(weft_graph *g, int n, const weft_out *x, weft_out *out, const weft_producer_opts *opts) {
  API_NEED_OR(g, );
  API_ARRAY_ON(g, n, x);
  API_ARRAY_ON(g, n, out);
  API_ALL_OF_ON(g, n, x);
  API_OPTS_ON(g, weft_producer_opts, opts);

  weft__input_slice_producer(g, n, x, out, opts);
}
weft_out weft_limit_epochs(weft_graph *g, weft_out x, int64_t epochs, const char *name) {
  API_NEED_OUT(NULL, g);

  return weft__input_limit_epochs(g, x, epochs, name);
}

weft_out weft_batch(weft_graph *g, int n, const weft_out *x, const weft_batch_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_ARRAY_OUT(g, n, x);
  API_NEED_OUT(g, opts);
  API_ALL_OF_OUT(g, n, x);
  API_OPTS_OUT(g, weft_batch_opts, opts);

  return weft__input_batch(g, 1, n, x, opts, false);
}
weft_out weft_shuffle_batch(weft_graph *g, int n, const weft_out *x, const weft_batch_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_ARRAY_OUT(g, n, x);
  API_NEED_OUT(g, opts);
  API_ALL_OF_OUT(g, n, x);
  API_OPTS_OUT(g, weft_batch_opts, opts);

  return weft__input_batch(g, 1, n, x, opts, true);
}
weft_out weft_batch_join(weft_graph *g, int lists, int n, const weft_out *x, const weft_batch_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_ARRAY_OUT(g, n, x);
  API_NEED_OUT(g, opts);
  API_ALL_OF_OUT(g, n, x);
  API_OPTS_OUT(g, weft_batch_opts, opts);

  return weft__input_batch(g, lists, n, x, opts, false);
}
weft_out weft_shuffle_batch_join(weft_graph *g, int lists, int n, const weft_out *x, const weft_batch_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_ARRAY_OUT(g, n, x);
  API_NEED_OUT(g, opts);
  API_ALL_OF_OUT(g, n, x);
  API_OPTS_OUT(g, weft_batch_opts, opts);

  return weft__input_batch(g, lists, n, x, opts, true);
}
