/* client.c - a session whose master is in another process: tf.Session("grpc://host:port").
 *
 * The first call creates the session on the master.  Every run first sends the nodes that were added to the graph
 * since.  Feeds and fetches are sent by name.
 *
 * Runs may overlap.  Only one call at a time creates or extends the session (an update).  No lock is held meanwhile:
 * `updating` marks the update, and the other calls wait for its end until their own deadline.  The lock guards that
 * mark and the list of calls. */
#include "cluster/master/client.h"

#include "base/alloc.h"
#include "cluster/config.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "cluster/named_tensor.h"
#include "exec/executors/runs.h"
#include "graph/graphdef.h"
#include "net/message_reader.h"
#include "rpc.pb-c.h"
#include "tensor/tensor_proto.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLACK_MS = 1000, CLOSE_MS = 10000, RETRY_MIN_MS = 10, RETRY_MAX_MS = 150, REPORT_MS = 10000 };
enum { STEP_VALUES = 1 }; /* of a RunStepResponse */

/* ---- calls ---- */

weft_err weft__client_begin_call(client *s, run_entry *a, bool closing) {
  weft_err err = WEFT_OK;
  weft__cancel_init(&a->cancel);
  pthread_mutex_lock(&s->lock);
  if (s->calls.closed && !closing) err = weft__fail(WEFT_FAILED_PRECONDITION, "Session is closed.");
  if (!err) weft__runs_add(&s->calls, a);
  pthread_mutex_unlock(&s->lock);
  if (err) weft__cancel_finish(&a->cancel);
  return err;
}

void weft__client_end_call(client *s, run_entry *a) {
  pthread_mutex_lock(&s->lock);
  weft__runs_remove(&s->calls, a);
  pthread_mutex_unlock(&s->lock);
  weft__cancel_finish(&a->cancel);
}

weft_err weft__client_call_master(client *s, run_entry *a, const char *method, message *request, int64_t timeout_ms,
                                  const ProtobufCMessageDescriptor *d, ProtobufCMessage **answer) {
  message reply = {0};
  call_opts opts = {.timeout_ms = timeout_ms, .cancel = &a->cancel};
  *answer = NULL;
  weft_err err = weft__channel_call_wait(s->channel, method, request, &opts, &reply);
  if (!err) err = weft__message_unpack(answer, &reply, d);
  weft__message_finish(&reply);
  return err;
}

/* ---- the session on the master ---- */

static weft_err client_pack_config(client *s, const session_opts *o) {
  Tensorflow__ConfigProto c = TENSORFLOW__CONFIG_PROTO__INIT;
  Tensorflow__GraphOptions graph = TENSORFLOW__GRAPH_OPTIONS__INIT;
  Tensorflow__RewriterConfig rewrite = TENSORFLOW__REWRITER_CONFIG__INIT;
  c.allow_soft_placement = o->allow_soft_placement;
  c.log_device_placement = o->log_device_placement;
  c.isolate_session_state = o->isolate_session_state;
  c.operation_timeout_in_ms = o->timeout_ms;
  c.n_device_filters = (size_t)o->n_filter;
  c.device_filters = (char **)o->filter;
  graph.build_cost_model = o->build_cost_model;
  graph.build_cost_model_after = o->build_cost_model_after;
  rewrite.auto_mixed_precision = REWRITE_ON;
  if (o->mixed_precision) graph.rewrite_options = &rewrite;
  if (o->build_cost_model || o->mixed_precision) c.graph_options = &graph;
  s->config_size = tensorflow__config_proto__get_packed_size(&c);
  if (!(s->config = weft__alloc(s->config_size + 1))) return WEFT_OOM;
  tensorflow__config_proto__pack(&c, s->config);
  return WEFT_OK;
}

/* Adds the nodes that the master does not have yet as a field. */
static weft_err client_add_graph(client *s, message *m, int field, int *end_node) {
  uint8_t *bytes;
  size_t size;
  weft_graph *g = s->base.graph;
  pthread_mutex_lock(&g->lock);
  *end_node = g->n_node;
  weft_err err = weft__graph_export(g, &(export_opts){.first = s->sent}, &bytes, &size);
  pthread_mutex_unlock(&g->lock);
  if (err) return err;
  err = weft__message_add_length(m, field, size);
  if (!err) return weft__message_add_adopt(m, bytes, size);
  weft__free(bytes);
  return err;
}

static weft_err client_try_create(client *s, run_entry *a, int64_t timeout_ms) {
  message m = {0};
  int nodes = 0;
  ProtobufCMessage *answer = NULL;
  weft_err err = client_add_graph(s, &m, 1, &nodes);
  if (!err) err = weft__message_add_string(&m, 2, s->config, s->config_size);
  if (!err) err = weft__message_add_string(&m, 3, s->target, strlen(s->target));
  if (!err)
    err = weft__client_call_master(s, a, MASTER "CreateSession", &m, timeout_ms,
                                   &tensorflow__create_session_response__descriptor, &answer);
  if (!err) {
    const Tensorflow__CreateSessionResponse *r = (Tensorflow__CreateSessionResponse *)answer;
    s->handle = weft__strdup(r->session_handle);
    s->version = r->graph_version;
    s->sent = nodes;
    if (!s->handle) err = WEFT_OOM;
  }
  if (answer) protobuf_c_message_free_unpacked(answer, NULL);
  weft__message_finish(&m);
  return err;
}

/* Sleeps, unless the session is closed or the program is interrupted. */
static weft_err client_sleep(run_entry *a, int64_t ms) {
  for (int64_t until = weft__clock_now_ns() + ms * NS_PER_MS; weft__clock_now_ns() < until;) {
    WEFT_TRY(weft__cancel_raise(&a->cancel));
    if (weft__interrupt_pending() > 0) return weft__fail(WEFT_CANCELLED, "interrupted while waiting for the master");
    nanosleep(&(struct timespec){0, 5 * NS_PER_MS}, NULL);
  }
  return WEFT_OK;
}

static weft_err client_late(const client *s, int64_t timeout_ms) {
  return weft__fail_in(WEFT_DEADLINE_EXCEEDED, "%s did not answer within the timeout of %lld ms", s->target,
                       (long long)timeout_ms);
}

/* Creates the session.  The master may not be up yet, so the call is retried until the deadline. */
static weft_err client_create(client *s, run_entry *a, int64_t timeout_ms) {
  int64_t began = weft__clock_now_ns(), reported = began, pause = RETRY_MIN_MS;
  for (;;) {
    int64_t left = timeout_ms ? timeout_ms - (weft__clock_now_ns() - began) / NS_PER_MS : 0;
    weft_err err = client_try_create(s, a, left > 0 ? left : timeout_ms ? 1 : 0);
    if (err != WEFT_UNAVAILABLE) return err;
    if (timeout_ms && left <= pause) return client_late(s, timeout_ms);
    if (weft__clock_now_ns() - reported > REPORT_MS * NS_PER_MS) {
      weft__log(LOG_INFO, "CreateSession still waiting for response from %s: %s", s->target, weft__error_message());
      reported = weft__clock_now_ns();
    }
    WEFT_TRY(client_sleep(a, pause));
    pause = pause * 2 > RETRY_MAX_MS ? RETRY_MAX_MS : pause * 2;
  }
}

static weft_err client_extend(client *s, run_entry *a, int64_t timeout_ms) {
  message m = {0};
  int nodes = 0;
  ProtobufCMessage *answer = NULL;
  weft_err err = weft__message_add_string(&m, 1, s->handle, strlen(s->handle));
  if (!err) err = client_add_graph(s, &m, 2, &nodes);
  if (!err) err = weft__message_add_varint(&m, 3, (uint64_t)s->version);
  if (!err)
    err = weft__client_call_master(s, a, MASTER "ExtendSession", &m, timeout_ms,
                                   &tensorflow__extend_session_response__descriptor, &answer);
  if (!err) {
    s->version = ((Tensorflow__ExtendSessionResponse *)answer)->new_graph_version;
    s->sent = nodes;
  }
  if (answer) protobuf_c_message_free_unpacked(answer, NULL);
  weft__message_finish(&m);
  return err;
}

static weft_err client_check_wait(const run_entry *a, int64_t deadline_ns) {
  WEFT_TRY(weft__cancel_raise((cancel *)(uintptr_t)&a->cancel));
  if (weft__interrupt_pending() > 0) return weft__fail(WEFT_CANCELLED, "interrupted while waiting for the master");
  if (deadline_ns && weft__clock_now_ns() > deadline_ns)
    return weft__fail(WEFT_DEADLINE_EXCEEDED, "Timed out while another thread created or extended the session");
  return WEFT_OK;
}

static weft_err client_begin_update(client *s, const run_entry *a, int64_t deadline_ns) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&s->lock);
  while (s->updating && !err) {
    struct timespec until = weft__clock_deadline(WEFT_WAIT_SLICE_MS * NS_PER_MS);
    pthread_cond_clockwait(&s->update_ended, &s->lock, CLOCK_MONOTONIC, &until);
    if (s->updating) err = client_check_wait(a, deadline_ns);
  }
  if (!err) s->updating = true;
  pthread_mutex_unlock(&s->lock);
  return err;
}

static void client_end_update(client *s) {
  pthread_mutex_lock(&s->lock);
  s->updating = false;
  pthread_cond_signal(&s->update_ended);
  pthread_mutex_unlock(&s->lock);
}

weft_err weft__client_update_session(client *s, run_entry *a, int64_t timeout_ms) {
  pthread_mutex_lock(&s->base.graph->lock);
  int nodes = s->base.graph->n_node;
  pthread_mutex_unlock(&s->base.graph->lock);
  WEFT_TRY(client_begin_update(s, a, timeout_ms ? weft__clock_now_ns() + timeout_ms * NS_PER_MS : 0));
  weft_err err = WEFT_OK;
  if (!s->handle)
    err = client_create(s, a, timeout_ms);
  else if (nodes > s->sent)
    err = client_extend(s, a, timeout_ms);
  client_end_update(s);
  return err;
}

/* ---- runs ---- */

uint64_t weft__client_new_request_id(void) {
  char digits[WEFT_HANDLE_SIZE];
  weft__session_make_handle(digits);
  return strtoull(digits, NULL, 16) >> 1 | 1;
}

char *weft__client_output_name(const weft_graph *g, weft_out o) {
  return weft__sprintf("%s:%d", g->node[o.node]->name, o.slot);
}

weft_err weft__client_add_name(message *m, int field, char *name) {
  weft_err err = name ? weft__message_add_string(m, field, name, strlen(name)) : WEFT_OOM;
  weft__free(name);
  return err;
}

static weft_err client_add_feed(message *m, const weft_graph *g, weft_out to, const weft_tensor *t) {
  WEFT_TRY(weft__session_check_feed(g->node[to.node], to.slot, t));
  char *name = weft__client_output_name(g, to);
  weft_err err = name ? weft__message_add_named_tensor(m, 2, name, t) : WEFT_OOM;
  weft__free(name);
  return err;
}

static bool client_fetched_before(const plan_request *r, int i) {
  for (int j = 0; j < i; j++)
    if (r->fetch[j].node == r->fetch[i].node && r->fetch[j].slot == r->fetch[i].slot) return true;
  return false;
}

static weft_err client_add_request(message *m, const weft_graph *g, const plan_request *r,
                                   const weft_tensor *const *feed) {
  for (int i = 0; i < r->n_feed; i++) WEFT_TRY(client_add_feed(m, g, r->feed[i], feed[i]));
  for (int i = 0; i < r->n_fetch; i++)
    if (!client_fetched_before(r, i)) WEFT_TRY(weft__client_add_name(m, 3, weft__client_output_name(g, r->fetch[i])));
  for (int i = 0; i < r->n_target; i++)
    WEFT_TRY(weft__client_add_name(m, 4, weft__strdup(g->node[r->target[i]]->name)));
  return WEFT_OK;
}

static weft_err client_write_run_step(client *s, const plan_request *r, const weft_tensor *const *feed,
                                      int64_t timeout_ms, const run_opts *run, const char *partial, message *m) {
  weft_graph *g = s->base.graph;
  Tensorflow__RunOptions opts = TENSORFLOW__RUN_OPTIONS__INIT;
  Tensorflow__RunOptionsExperimental more = TENSORFLOW__RUN_OPTIONS_EXPERIMENTAL__INIT;
  uint8_t packed[64];
  opts.timeout_in_ms = timeout_ms;
  opts.trace_level = run && run->trace ? 3 : 0; /* FULL_TRACE */
  opts.output_partition_graphs = run && run->partition_graphs;
  more.collective_graph_key = run ? run->collective_graph_key : 0;
  if (more.collective_graph_key) opts.experimental = &more;
  size_t size = tensorflow__run_options__pack(&opts, packed);
  WEFT_TRY(weft__message_add_string(m, 1, s->handle, strlen(s->handle)));
  pthread_mutex_lock(&g->lock);
  weft_err err = client_add_request(m, g, r, feed);
  pthread_mutex_unlock(&g->lock);
  if (!err) err = weft__message_add_string(m, 5, packed, size);
  if (!err && partial) err = weft__message_add_string(m, 6, partial, strlen(partial));
  if (!err) err = weft__message_add_varint(m, 7, 1); /* store_errors_in_response_body */
  return err ? err : weft__message_add_varint(m, 8, weft__client_new_request_id());
}

static weft_err client_read_fetch(client *s, const named_tensor_list *values, weft_out o, weft_tensor **out) {
  pthread_mutex_lock(&s->base.graph->lock);
  char *name = weft__client_output_name(s->base.graph, o);
  pthread_mutex_unlock(&s->base.graph->lock);
  if (!name) return WEFT_OOM;
  weft_tensor *found = NULL;
  for (int i = 0; i < values->n && !found; i++)
    if (strcmp(values->item[i].name, name) == 0) found = values->item[i].tensor;
  weft_err err = WEFT_OK;
  if (!found)
    err = weft__fail(WEFT_INTERNAL, "the master's answer has no value for %s", name);
  else
    *out = weft_tensor_retain(found);
  weft__free(name);
  return err;
}

static weft_err client_read_metadata(const Tensorflow__RunStepResponse *r, const run_opts *o) {
  if (!o || !o->metadata || !r->metadata) return WEFT_OK;
  *o->metadata_size = tensorflow__run_metadata__get_packed_size(r->metadata);
  if (!(*o->metadata = weft__alloc(*o->metadata_size + 1))) return WEFT_OOM;
  tensorflow__run_metadata__pack(r->metadata, *o->metadata);
  return WEFT_OK;
}

static weft_err client_read_fetches(client *s, const plan_request *r, message *reply, weft_tensor **fetched) {
  named_tensor_list values;
  WEFT_TRY(weft__named_tensors_read(&values, reply, STEP_VALUES));
  weft_err err = WEFT_OK;
  for (int i = 0; i < r->n_fetch && !err; i++) err = client_read_fetch(s, &values, r->fetch[i], &fetched[i]);
  weft__named_tensors_finish(&values);
  return err;
}

/* The tensors are read directly from the message; protobuf-c unpacks the other fields. */
static weft_err client_read_run_step(client *s, const plan_request *r, message *reply, weft_tensor **fetched,
                                     const run_opts *opts) {
  message rest = {0};
  ProtobufCMessage *m = NULL;
  weft_err err = weft__message_copy_without(&rest, reply, STEP_VALUES);
  if (!err) err = weft__message_unpack(&m, &rest, &tensorflow__run_step_response__descriptor);
  weft__message_finish(&rest);
  if (err) return err;
  const Tensorflow__RunStepResponse *answer = (const Tensorflow__RunStepResponse *)m;
  if (answer->status_code)
    err = weft__rpc_error(weft__fail((weft_err)answer->status_code, "%s", answer->status_error_message));
  else if (!(err = client_read_fetches(s, r, reply, fetched)))
    err = client_read_metadata(answer, opts);
  protobuf_c_message_free_unpacked(m, NULL);
  for (int i = 0; i < r->n_fetch && err; i++) {
    weft_tensor_destroy(fetched[i]);
    fetched[i] = NULL;
  }
  return err;
}

weft_err weft__client_run_step(client *s, const plan_request *r, const weft_tensor *const *feed, weft_tensor **fetched,
                               const run_opts *opts, const char *partial) {
  run_entry a;
  message m = {0}, reply = {0};
  int64_t timeout_ms = opts && opts->timeout_ms ? opts->timeout_ms : s->opts.timeout_ms;
  for (int i = 0; i < r->n_fetch; i++) fetched[i] = NULL;
  WEFT_TRY(weft__request_check(s->base.graph, r));
  WEFT_TRY(weft__client_begin_call(s, &a, false));
  weft_err err = weft__client_update_session(s, &a, timeout_ms);
  if (!err) err = client_write_run_step(s, r, feed, timeout_ms, opts, partial, &m);
  call_opts how = {.timeout_ms = timeout_ms ? timeout_ms + SLACK_MS : 0, .cancel = &a.cancel};
  if (!err) err = weft__channel_call_wait(s->channel, MASTER "RunStep", &m, &how, &reply);
  if (!err) err = client_read_run_step(s, r, &reply, fetched, opts);
  weft__message_finish(&reply);
  weft__message_finish(&m);
  weft__client_end_call(s, &a);
  return err;
}

static weft_err client_run(weft_session *base, const plan_request *r, const weft_tensor *const *feed,
                           weft_tensor **fetched, const run_opts *opts) {
  return weft__client_run_step((client *)base, r, feed, fetched, opts, NULL);
}

/* ---- devices ---- */

static weft_err client_copy_devices(device_info *to, int *n, Tensorflow__DeviceAttributes *const *from, size_t count) {
  for (size_t i = 0; i < count; i++, ++*n) {
    to[*n] = (device_info){.name = weft__strdup(from[i]->name),
                           .type = weft__strdup(from[i]->device_type),
                           .description = weft__strdup(from[i]->physical_device_desc),
                           .memory_limit = from[i]->memory_limit,
                           .incarnation = from[i]->incarnation};
    if (!to[*n].name || !to[*n].type || !to[*n].description) return ++*n, WEFT_OOM;
  }
  return WEFT_OK;
}

static weft_err client_read_devices(const Tensorflow__ListDevicesResponse *r, device_info **out, int *n) {
  device_info *list = weft__alloc_zero(r->n_local_device + r->n_remote_device + 1, sizeof *list);
  if (!list) return WEFT_OOM;
  *n = 0;
  weft_err err = client_copy_devices(list, n, r->local_device, r->n_local_device);
  if (!err) err = client_copy_devices(list, n, r->remote_device, r->n_remote_device);
  if (err)
    weft__place_infos_free(list, *n);
  else
    *out = list;
  return err;
}

static weft_err client_devices(weft_session *base, device_info **out, int *n) {
  client *s = (client *)base;
  run_entry a;
  message m = {0};
  ProtobufCMessage *answer = NULL;
  WEFT_TRY(weft__client_begin_call(s, &a, false));
  weft_err err = weft__client_update_session(s, &a, s->opts.timeout_ms);
  if (!err) err = weft__message_add_string(&m, 1, s->handle, strlen(s->handle));
  if (!err)
    err = weft__client_call_master(s, &a, MASTER "ListDevices", &m, s->opts.timeout_ms,
                                   &tensorflow__list_devices_response__descriptor, &answer);
  if (!err) err = client_read_devices((Tensorflow__ListDevicesResponse *)answer, out, n);
  if (answer) protobuf_c_message_free_unpacked(answer, NULL);
  weft__message_finish(&m);
  weft__client_end_call(s, &a);
  return err;
}

/* ---- closing ---- */

static weft_err client_close_on_master(client *s) {
  run_entry a;
  message m = {0};
  ProtobufCMessage *answer = NULL;
  WEFT_TRY(weft__client_begin_call(s, &a, true));
  weft_err err = weft__message_add_string(&m, 1, s->handle, strlen(s->handle));
  if (!err)
    err = weft__client_call_master(s, &a, MASTER "CloseSession", &m, CLOSE_MS,
                                   &tensorflow__close_session_response__descriptor, &answer);
  if (answer) protobuf_c_message_free_unpacked(answer, NULL);
  weft__message_finish(&m);
  weft__client_end_call(s, &a);
  return err;
}

static weft_err client_close(weft_session *base) {
  client *s = (client *)base;
  pthread_mutex_lock(&s->lock);
  bool first = weft__runs_close(&s->calls, &s->lock, "Session has been closed.");
  pthread_mutex_unlock(&s->lock);
  return first && s->handle ? client_close_on_master(s) : WEFT_OK;
}

static void client_destroy(weft_session *base) {
  client *s = (client *)base;
  weft__channel_destroy(s->channel);
  weft__runs_finish(&s->calls);
  pthread_mutex_destroy(&s->lock);
  pthread_cond_destroy(&s->update_ended);
  weft__free(s->handle);
  weft__free(s->config);
  weft__free(s->target);
  weft__free(s);
}

static const session_ops client_ops = {.run = client_run,
                                       .close = client_close,
                                       .destroy = client_destroy,
                                       .devices = client_devices,
                                       .partial_setup = weft__client_partial_setup,
                                       .make_callable = weft__client_make_callable};

/* ---- opening ---- */

/* Returns the address in "grpc://host:port". */
static weft_err client_parse_target(const char *target, const char **address) {
  char host[WEFT_HOST_SIZE];
  int port;
  const char *scheme = "grpc://";
  if (strncmp(target, scheme, strlen(scheme)) != 0)
    return weft__fail(WEFT_NOT_FOUND,
                      "No session factory registered for the given session options: {target: \"%s\"} "
                      "(a target is empty, or begins with grpc://)",
                      target);
  *address = target + strlen(scheme);
  return weft__address_split(*address, host, &port);
}

weft_err weft__client_open(weft_session **out, const char *target, weft_graph *g, const session_opts *opts,
                           const security *sec) {
  const char *address;
  WEFT_TRY(client_parse_target(target, &address));
  client *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  s->base = (weft_session){&client_ops, g};
  s->opts = *opts;
  s->opts.filter = NULL, s->opts.n_filter = 0, s->opts.config_text = NULL;
  weft__runs_init(&s->calls);
  pthread_cond_init(&s->update_ended, NULL);
  pthread_mutex_init(&s->lock, NULL);
  channel_opts how = {.security = *sec};
  weft_err err = (s->target = weft__strdup(target)) ? client_pack_config(s, opts) : WEFT_OOM;
  if (!err) err = weft__channel_create(&s->channel, address, &how);
  if (!err)
    *out = &s->base;
  else
    client_destroy(&s->base);
  return err;
}

weft_err weft__client_reset(const char *target, int n, const char *const *container, int64_t timeout_ms,
                            const security *sec) {
  const char *address;
  channel *c;
  message m = {0}, reply = {0};
  WEFT_TRY(client_parse_target(target, &address));
  weft_err err = WEFT_OK;
  for (int i = 0; i < n && !err; i++) err = weft__message_add_string(&m, 1, container[i], strlen(container[i]));
  channel_opts how = {.security = *sec};
  if (!err) err = weft__channel_create(&c, address, &how);
  if (!err) {
    call_opts opts = {.timeout_ms = timeout_ms};
    err = weft__channel_call_wait(c, MASTER "Reset", &m, &opts, &reply);
    weft__channel_destroy(c);
  }
  weft__message_finish(&m);
  weft__message_finish(&reply);
  return err;
}
