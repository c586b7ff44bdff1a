/* run.c - runs a request in this process, or on a server over the network. */
#include "base/alloc.h"
#include "cluster/named_tensor.h"
#include "exec/session.h"
#include "graph/gradient.h"
#include "graph/graphdef.h"
#include "net/rpc.h"
#include "rpc.pb-c.h"
#include "tests/opfuzz/opfuzz.h"
#include <stdio.h>

enum { SHORT_MS = 60, LONG_MS = 4000, CALL_MS = 30000 };
#define MASTER "/tensorflow.MasterService/"

/* Graphs that may wait for something that never comes get little time. */
static int64_t time_limit(const request *q, const op_table *ops) {
  for (int i = 0; i < q->n_op; i++) {
    const op *o = weft__op_find(ops, q->op[i]);
    if (o && (o->flags & OP_ASYNC)) return SHORT_MS;
  }
  return LONG_MS;
}

static int64_t step_ms(const request *q, const op_table *ops, bool first) {
  int64_t ms = time_limit(q, ops);
  return first ? ms * 8 : ms;
}

/* ---- here ---- */

static weft_err find_request(const weft_graph *g, const request *q, weft_out *feed, weft_out *fetch, int *target) {
  for (int i = 0; i < q->n_feed; i++) WEFT_TRY(weft__graph_find_out(g, q->feed[i], &feed[i]));
  for (int i = 0; i < q->n_fetch; i++) WEFT_TRY(weft__graph_find_out(g, q->fetch[i], &fetch[i]));
  for (int i = 0; i < q->n_target; i++) {
    const weft_node *n = weft__graph_find(g, q->target[i]);
    if (!n) return weft__fail(WEFT_NOT_FOUND, "no node %s", q->target[i]);
    target[i] = n->id;
  }
  return WEFT_OK;
}

static weft_err initialize(weft_session *s, const request *q) {
  int init[16];
  for (int i = 0; i < q->n_init; i++) {
    const weft_node *n = weft__graph_find(s->graph, q->init[i]);
    if (!n) return weft__fail(WEFT_NOT_FOUND, "no node %s", q->init[i]);
    init[i] = n->id;
  }
  plan_request r = {.n_target = q->n_init, .target = init};
  return q->n_init ? weft__session_run(s, &r, NULL, NULL, &(run_opts){.timeout_ms = LONG_MS}) : WEFT_OK;
}

/* The gradient of the first fetch by a feed is fetched too. */
static void add_gradient(weft_graph *g, const request *q, plan_request *r, weft_out *fetch) {
  grad_value d;
  weft_out x;
  if (q->differentiate < 0 || r->n_fetch == 0 || r->n_fetch > 15) return;
  if (weft__graph_find_out(g, q->feed[q->differentiate], &x) != WEFT_OK) return;
  if (weft__gradients(g, 1, &fetch[0], 1, &x, NULL, NULL, &d) != WEFT_OK) return;
  if (d.dense.node >= 0)
    fetch[r->n_fetch++] = d.dense;
  else if (d.values.node >= 0)
    fetch[r->n_fetch++] = d.values;
}

static weft_err run_session(weft_graph *g, const request *q, const op_table *ops) {
  weft_session *s;
  weft_out feed[64], fetch[17];
  int target[64];
  weft_tensor *fetched[17] = {NULL};
  WEFT_TRY(find_request(g, q, feed, fetch, target));
  plan_request r = {.n_feed = q->n_feed,
                    .n_fetch = q->n_fetch,
                    .n_target = q->n_target,
                    .feed = feed,
                    .fetch = fetch,
                    .target = target};
  add_gradient(g, q, &r, fetch);
  WEFT_TRY(weft__session_create(&s, g, &(session_opts){.intra_threads = 1, .inter_threads = 1}));
  weft_err err = initialize(s, q);
  for (int i = 0; i < 2 && !err; i++) { /* the second run uses the memory that the first one laid out */
    if (i) {
      err = weft__session_run(s, &r, q->fed, fetched, &(run_opts){.timeout_ms = step_ms(q, ops, false)});
      if (err) err = WEFT_OK; /* a queue may be empty now */
    } else
      err = weft__session_run(s, &r, q->fed, fetched, &(run_opts){.timeout_ms = step_ms(q, ops, true)});
    for (int k = 0; k < r.n_fetch; k++) weft_tensor_destroy(fetched[k]), fetched[k] = NULL;
  }
  weft__session_destroy(s);
  return err;
}

/* What PyFunc calls: gives its first inputs back. */
static weft_err call_back(void *arg, const char *token, int n_in, const weft_tensor *const *in, int n_out,
                          weft_tensor **out) {
  (void)arg, (void)token;
  for (int i = 0; i < n_out; i++) {
    if (i < n_in)
      WEFT_TRY(weft__tensor_create_like(&out[i], in[i]));
    else
      WEFT_TRY(weft__tensor_scalar(&out[i], WEFT_FLOAT, 1));
  }
  return WEFT_OK;
}

weft_err fuzz_run_here(const request *q, const op_table *ops) {
  weft_graph *g;
  weft_call_set(call_back, NULL);
  WEFT_TRY(weft__graph_create(&g, ops));
  weft_err err = weft__graph_import(g, q->bytes, q->size, NULL);
  if (!err) err = run_session(g, q, ops);
  weft__graph_destroy(g);
  return err;
}

/* ---- there ---- */

static weft_err ask(channel *c, const char *method, message *m, message *reply) {
  return weft__channel_call_wait(c, method, m, &(call_opts){.timeout_ms = CALL_MS}, reply);
}

static weft_err create(channel *c, const request *q, char *handle, size_t room) {
  message m = {0}, reply = {0};
  ProtobufCMessage *answer = NULL;
  Tensorflow__ConfigProto config = TENSORFLOW__CONFIG_PROTO__INIT;
  uint8_t packed[64];
  config.isolate_session_state = true;
  config.operation_timeout_in_ms = LONG_MS;
  size_t size = tensorflow__config_proto__pack(&config, packed);
  weft_err err = weft__message_add_string(&m, 1, q->bytes, q->size);
  if (!err) err = weft__message_add_string(&m, 2, packed, size);
  if (!err) err = ask(c, MASTER "CreateSession", &m, &reply);
  if (!err) err = weft__message_unpack(&answer, &reply, &tensorflow__create_session_response__descriptor);
  if (!err) snprintf(handle, room, "%s", ((Tensorflow__CreateSessionResponse *)answer)->session_handle);
  if (answer) protobuf_c_message_free_unpacked(answer, NULL);
  weft__message_finish(&m);
  weft__message_finish(&reply);
  return err;
}

static weft_err write_step(message *m, const request *q, const char *handle, bool init, uint64_t id) {
  Tensorflow__RunOptions opts = TENSORFLOW__RUN_OPTIONS__INIT;
  uint8_t packed[64];
  opts.timeout_in_ms = q->n_init || init ? LONG_MS : SHORT_MS * 8;
  size_t size = tensorflow__run_options__pack(&opts, packed);
  WEFT_TRY(weft__message_add_string(m, 1, handle, strlen(handle)));
  for (int i = 0; i < q->n_feed && !init; i++) WEFT_TRY(weft__message_add_named_tensor(m, 2, q->feed[i], q->fed[i]));
  for (int i = 0; i < q->n_fetch && !init; i++)
    WEFT_TRY(weft__message_add_string(m, 3, q->fetch[i], strlen(q->fetch[i])));
  for (int i = 0; i < (init ? q->n_init : q->n_target); i++) {
    const char *name = init ? q->init[i] : q->target[i];
    WEFT_TRY(weft__message_add_string(m, 4, name, strlen(name)));
  }
  WEFT_TRY(weft__message_add_string(m, 5, packed, size));
  return weft__message_add_varint(m, 8, id);
}

static weft_err run_step(channel *c, const request *q, const char *handle, bool init) {
  message m = {0}, reply = {0};
  weft_err err = write_step(&m, q, handle, init, init ? 1 : 2);
  if (!err) err = ask(c, MASTER "RunStep", &m, &reply);
  weft__message_finish(&m);
  weft__message_finish(&reply);
  return err;
}

static void close_session(channel *c, const char *handle) {
  message m = {0}, reply = {0};
  if (!weft__message_add_string(&m, 1, handle, strlen(handle))) ask(c, MASTER "CloseSession", &m, &reply);
  weft__message_finish(&m);
  weft__message_finish(&reply);
}

weft_err fuzz_run_there(const request *q, channel *c) {
  char handle[128] = "";
  WEFT_TRY(create(c, q, handle, sizeof handle));
  weft_err err = q->n_init ? run_step(c, q, handle, true) : WEFT_OK;
  if (!err) err = run_step(c, q, handle, false);
  close_session(c, handle);
  return err;
}
