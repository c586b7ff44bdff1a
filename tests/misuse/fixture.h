/* fixture.h - valid values for every type of parameter in the public headers, for the calls that tests/misuse.py
 * writes.
 *
 * Each call runs in a process of its own, so nothing here is freed. */
#ifndef WEFT_TESTS_MISUSE_FIXTURE_H
#define WEFT_TESTS_MISUSE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/function.h>
#include <weft/weft.h>

static weft_graph *graph;
static weft_out out, variable;

static inline weft_graph *a_graph(void) {
  if (graph) return graph;
  weft_must(weft_graph_create(&graph));
  out = weft_scalar(graph, WEFT_FLOAT, 1);
  variable = weft_variable(graph, "v", out, true);
  weft_must(weft_graph_error(graph));
  return graph;
}
static inline weft_out an_out(void) { return a_graph(), out; }
static inline weft_out a_foreign_out(void) { /* of another graph, with a node number that a_graph has too */
  weft_graph *other = NULL;
  weft_must(weft_graph_create(&other));
  return weft_variable(other, "v", weft_scalar(other, WEFT_FLOAT, 1), true);
}
static inline weft_out a_variable(void) { return a_graph(), variable; }
static inline weft_session *a_session(void) {
  weft_session *s = NULL;
  weft_must(weft_session_create(&s, a_graph(), NULL));
  weft_out init = weft_initializer(graph);
  weft_must(weft_session_run_target(s, init));
  return s;
}
static inline weft_tensor *a_tensor(void) {
  weft_tensor *t = NULL;
  weft_must(weft_tensor_create(&t, WEFT_FLOAT, 0, NULL, NULL));
  return t;
}
static inline const weft_node *a_node(void) { return weft_graph_node(a_graph(), 0); }
static inline weft_builder *a_builder(void) { return weft_node_begin(a_graph(), "NoOp", "made"); }
static inline weft_replica *a_replica(void) {
  weft_replica *r = NULL;
  weft_must(weft_replica_create(&r, 1, NULL, NULL, false));
  return r;
}
static inline const weft_variable_scope *a_variable_scope(void) { return weft_variable_scope_now(a_graph()); }
static inline weft_optimizer *an_optimizer(void) {
  weft_optimizer *o = NULL;
  weft_must(weft_optimizer_create(&o, a_graph(), "Adam", NULL));
  return o;
}
static inline weft_average *an_average(void) {
  weft_average *a = NULL;
  weft_must(weft_average_create(&a, a_graph(), NULL, 0.9, WEFT_NONE, false));
  return a;
}
static inline weft_sync *a_sync(void) {
  weft_sync *s = NULL;
  weft_must(weft_sync_create(&s, an_optimizer(), NULL, 1, 1));
  return s;
}
static inline weft_saver *a_saver(void) {
  weft_saver *s = NULL;
  weft_must(weft_saver_create(&s, a_graph(), NULL));
  return s;
}
static inline weft_event_writer *a_writer(void) {
  weft_event_writer *w = NULL;
  weft_must(weft_event_writer_create(&w, "events", NULL));
  return w;
}
static inline weft_coordinator *a_coordinator(void) {
  weft_coordinator *c = NULL;
  weft_must(weft_coordinator_create(&c, 0, NULL));
  return c;
}
static inline weft_cluster *a_cluster(void) {
  weft_cluster *c = NULL;
  weft_must(weft_cluster_create(&c));
  return c;
}
static inline weft_server *a_server(void) {
  weft_server *s = NULL;
  weft_must(weft_server_create_local(&s, NULL));
  return s;
}
static inline weft_supervisor *a_supervisor(void) {
  weft_supervisor *s = NULL;
  weft_must(weft_supervisor_create(&s, a_graph(), NULL));
  return s;
}
static inline weft_hook *a_hook(void) {
  weft_hook *h = NULL;
  weft_must(weft_hook_stop_at_step(&h, 1, 0));
  return h;
}
static inline weft_devices *some_devices(void) {
  weft_devices *d = NULL;
  weft_must(weft_session_devices(&d, a_session()));
  return d;
}
static inline weft_samples *some_samples(void) {
  weft_samples *d = NULL;
  weft_tensor *images = NULL, *labels = NULL;
  weft_must(weft_tensor_create(&images, WEFT_UINT8, 2, (const int64_t[]){2, 3}, NULL));
  weft_must(weft_tensor_create(&labels, WEFT_UINT8, 1, (const int64_t[]){2}, NULL));
  weft_must(weft_samples_create(&d, images, labels, NULL));
  return d;
}
static inline weft_partial_run *a_partial_run(void) {
  weft_partial_run *r = NULL;
  weft_out x = an_out();
  weft_must(weft_session_partial_setup(&r, a_session(), &(weft_request){.n_fetch = 1, .fetches = &x}));
  return r;
}
static inline weft_callable *a_callable(void) {
  weft_callable *c = NULL;
  weft_out x = an_out();
  weft_must(weft_session_callable_create(&c, a_session(), &(weft_request){.n_fetch = 1, .fetches = &x}));
  return c;
}
static inline weft_record_writer *a_record_writer(void) {
  weft_record_writer *w = NULL;
  weft_must(weft_record_writer_create(&w, "records"));
  return w;
}
static inline weft_saved_model *a_saved_model(void) {
  weft_saved_model *m = NULL;
  weft_must(weft_saved_model_create(&m, "exported"));
  return m;
}
static inline weft_checkpoint *a_checkpoint(void) {
  weft_checkpoint *c = NULL;
  char *path = NULL;
  weft_must(weft_saver_save(a_saver(), a_session(), "saved", NULL, &path));
  weft_must(weft_checkpoint_open(&c, path));
  return c;
}
static inline weft_checkpoint_state *a_checkpoint_state(void) {
  weft_checkpoint_state *s = NULL;
  weft_must(weft_saver_kept(&s, a_saver()));
  return s;
}
static inline void a_function(void) {}

#endif
