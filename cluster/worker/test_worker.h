/* test_worker.h - for the worker's tests: two tasks on loopback, with the test as their master. */
#ifndef WEFT_CLUSTER_WORKER_TEST_WORKER_H
#define WEFT_CLUSTER_WORKER_TEST_WORKER_H

#include "base/alloc.h"
#include "base/clock.h"
#include "cluster/worker/state.h"
#include "graph/attr.h"
#include "graph/build.h"
#include "graph/graphdef.h"
#include "ops/all.h"
#include "tensor/tensor_proto.h"
#include "tests/check.h"
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* ---- tasks ---- */

typedef struct test_task {
  task *task;
  listener *listener;
  peers *peers;
  _Atomic(worker *) worker; /* calls may arrive as soon as the port is open */
  channel *to;              /* the test's connection, as its master */
} test_task;

typedef struct test_cluster {
  test_task ps, wk;
} test_cluster;

#define PS "/job:ps/replica:0/task:0"
#define WK "/job:worker/replica:0/task:0"
#define CPU "/device:CPU:0"

static inline void handle_call(void *arg, call *c) { weft__worker_handle(((test_task *)arg)->worker, c); }

static inline void test_task_listen(test_task *s, const char *name) {
  EXPECT_OK(weft__task_create(&s->task, name, 1, 2));
  EXPECT_OK(weft__listener_create(&s->listener, &(listener_opts){.host = "127.0.0.1"}, handle_call, s));
}

static inline void test_task_open(test_task *s, const cluster *c) {
  char address[64];
  security none = {0};
  snprintf(address, sizeof address, "127.0.0.1:%d", weft__listener_port(s->listener));
  EXPECT_OK(weft__peers_create(&s->peers, c, s->task->name, &none));
  worker *w;
  EXPECT_OK(weft__worker_create(&w, s->task, s->peers));
  s->worker = w;
  EXPECT_OK(weft__channel_create(&s->to, address, NULL));
}

static inline void test_task_close(test_task *s) {
  weft__channel_destroy(s->to);
  weft__listener_destroy(s->listener);
  weft__worker_destroy(s->worker);
  weft__peers_destroy(s->peers);
  weft__task_destroy(s->task);
  *s = (test_task){0};
}

static inline void test_cluster_open(test_cluster *r) {
  cluster c;
  char address[64];
  test_task_listen(&r->ps, PS);
  test_task_listen(&r->wk, WK);
  weft__cluster_init(&c);
  snprintf(address, sizeof address, "127.0.0.1:%d", weft__listener_port(r->ps.listener));
  EXPECT_OK(weft__cluster_add(&c, "ps", 0, address));
  snprintf(address, sizeof address, "127.0.0.1:%d", weft__listener_port(r->wk.listener));
  EXPECT_OK(weft__cluster_add(&c, "worker", 0, address));
  test_task_open(&r->ps, &c);
  test_task_open(&r->wk, &c);
  weft__cluster_finish(&c);
}

static inline void test_cluster_close(test_cluster *r) {
  test_task_close(&r->wk);
  test_task_close(&r->ps);
}

/* ---- calls ---- */

#define METHOD(name) "/tensorflow.WorkerService/" name

static inline weft_err call_task(test_task *s, const char *method, const ProtobufCMessage *request, int64_t timeout_ms,
                                 message *reply) {
  message m = {0};
  EXPECT_OK(weft__message_pack(&m, request));
  return weft__channel_call_wait(s->to, method, &m, &(call_opts){.timeout_ms = timeout_ms ? timeout_ms : 20000}, reply);
}

static inline weft_err call_task_no_reply(test_task *s, const char *method, const ProtobufCMessage *request) {
  message reply = {0};
  weft_err err = call_task(s, method, request, 0, &reply);
  weft__message_finish(&reply);
  return err;
}

static inline weft_err create_session(test_task *s, const char *name, bool isolate) {
  Tensorflow__CreateWorkerSessionRequest q = TENSORFLOW__CREATE_WORKER_SESSION_REQUEST__INIT;
  q.session_handle = (char *)(uintptr_t)name;
  q.isolate_session_state = isolate;
  return call_task_no_reply(s, METHOD("CreateWorkerSession"), &q.base);
}

static inline weft_err delete_session(test_task *s, const char *name) {
  Tensorflow__DeleteWorkerSessionRequest q = TENSORFLOW__DELETE_WORKER_SESSION_REQUEST__INIT;
  q.session_handle = (char *)(uintptr_t)name;
  return call_task_no_reply(s, METHOD("DeleteWorkerSession"), &q.base);
}

typedef struct graph_handle {
  char text[32];
} graph_handle;

/* Registers the graph and destroys it. */
static inline weft_err register_in(test_task *s, const char *session, weft_graph *g, graph_handle *out) {
  Tensorflow__RegisterGraphRequest q = TENSORFLOW__REGISTER_GRAPH_REQUEST__INIT;
  Tensorflow__GraphDef def = TENSORFLOW__GRAPH_DEF__INIT;
  arena a = {0};
  message reply = {0};
  EXPECT_OK(weft__b_ok(g));
  EXPECT_OK(weft__graph_export_proto(g, NULL, &def, &a));
  q.session_handle = (char *)(uintptr_t)session;
  q.create_worker_session_called = *session != 0;
  q.graph_def = &def;
  weft_err err = call_task(s, METHOD("RegisterGraph"), &q.base, 0, &reply);
  if (!err) {
    ProtobufCMessage *m;
    EXPECT_OK(weft__message_unpack(&m, &reply, &tensorflow__register_graph_response__descriptor));
    snprintf(out->text, sizeof out->text, "%s", ((Tensorflow__RegisterGraphResponse *)m)->graph_handle);
    protobuf_c_message_free_unpacked(m, NULL);
  }
  weft__message_finish(&reply);
  weft__arena_finish(&a);
  weft__graph_destroy(g);
  return err;
}

static inline void run_request(Tensorflow__RunGraphRequest *q, const char *session, graph_handle *g, int64_t id) {
  tensorflow__run_graph_request__init(q);
  q->session_handle = (char *)(uintptr_t)session;
  q->create_worker_session_called = *session != 0;
  q->graph_handle = g->text;
  q->step_id = id;
  q->store_errors_in_response_body = true;
}

static inline weft_err body_error(message *reply, Tensorflow__RunGraphResponse **out) {
  ProtobufCMessage *m;
  EXPECT_OK(weft__message_unpack(&m, reply, &tensorflow__run_graph_response__descriptor));
  *out = (Tensorflow__RunGraphResponse *)m;
  weft_err code = (weft_err)(*out)->status_code;
  return code ? weft__rpc_error(weft__fail(code, "%s", (*out)->status_error_message)) : WEFT_OK;
}

/* Runs the graph; *got is the value of its only recv_key. */
static inline weft_err run_graph(test_task *s, const Tensorflow__RunGraphRequest *q, int64_t timeout_ms, double *got) {
  message reply = {0};
  Tensorflow__RunGraphResponse *body = NULL;
  weft_err err = call_task(s, METHOD("RunGraph"), &q->base, timeout_ms, &reply);
  if (!err) err = body_error(&reply, &body);
  if (!err && got) {
    weft_tensor *t;
    EXPECT_EQ_INT(body->n_recv, 1);
    EXPECT_OK(weft__tensor_from_proto(&t, body->recv[0]->tensor));
    *got = weft__tensor_double(t, 0);
    weft_tensor_destroy(t);
  }
  if (body) protobuf_c_message_free_unpacked(&body->base, NULL);
  weft__message_finish(&reply);
  return err;
}

static inline weft_err run_step(test_task *s, const char *session, graph_handle *g, int64_t id, const char *key,
                                double *got) {
  Tensorflow__RunGraphRequest q;
  run_request(&q, session, g, id);
  char *keys[] = {(char *)(uintptr_t)key};
  if (key) q.n_recv_key = 1, q.recv_key = keys;
  return run_graph(s, &q, 0, got);
}

/* A RunGraph call that the test does not wait for at once. */
typedef struct pending_run {
  atomic_int ended;
  weft_err err;
  char text[512];
} pending_run;

static inline void pending_run_on_reply(void *arg, weft_err err, message *reply) {
  pending_run *p = arg;
  Tensorflow__RunGraphResponse *body = NULL;
  p->err = err ? err : body_error(reply, &body);
  if (p->err) snprintf(p->text, sizeof p->text, "%s", weft__error_message());
  if (body) protobuf_c_message_free_unpacked(&body->base, NULL);
  atomic_store(&p->ended, 1);
}

static inline void start_step(test_task *s, const char *session, graph_handle *g, int64_t id, cancel *token,
                              pending_run *p) {
  Tensorflow__RunGraphRequest q;
  message m = {0};
  run_request(&q, session, g, id);
  EXPECT_OK(weft__message_pack(&m, &q.base));
  *p = (pending_run){0};
  weft__channel_call(s->to, METHOD("RunGraph"), &m, &(call_opts){.cancel = token}, pending_run_on_reply, p);
}

static inline void await_run(pending_run *p) {
  for (int i = 0; i < 8000 && !atomic_load(&p->ended); i++) usleep(1000);
  EXPECT_EQ_INT(atomic_load(&p->ended), 1);
}

static inline weft_err recv_tensor(test_task *s, int64_t id, const char *key, int64_t request_id, int64_t timeout_ms,
                                   double *got) {
  Tensorflow__RecvTensorRequest q = TENSORFLOW__RECV_TENSOR_REQUEST__INIT;
  message reply = {0};
  received_tensor r = {0};
  q.step_id = id;
  q.rendezvous_key = (char *)(uintptr_t)key;
  q.request_id = request_id;
  weft_err err = call_task(s, METHOD("RecvTensor"), &q.base, timeout_ms, &reply);
  if (!err) {
    EXPECT_OK(weft__received_tensor_read(&r, &reply));
    if (got) *got = r.tensor ? weft__tensor_double(r.tensor, 0) : NAN;
  }
  weft_tensor_destroy(r.tensor);
  weft__message_finish(&reply);
  return err;
}

static inline void cleanup_step(test_task *s, int64_t id) {
  Tensorflow__CleanupGraphRequest q = TENSORFLOW__CLEANUP_GRAPH_REQUEST__INIT;
  q.step_id = id;
  EXPECT_OK(call_task_no_reply(s, METHOD("CleanupGraph"), &q.base));
}

static inline int count_steps(test_task *s) {
  pthread_mutex_lock(&s->worker->lock);
  int n = s->worker->n_step;
  pthread_mutex_unlock(&s->worker->lock);
  return n;
}

/* Waits until the task takes part in n steps: a RunGraph, or the RecvTensor of another task, has arrived. */
static inline void await_steps(test_task *s, int n) {
  for (int i = 0; i < 8000 && count_steps(s) != n; i++) usleep(1000);
  EXPECT_EQ_INT(count_steps(s), n);
}

static inline void await_no_steps(test_task *s) { await_steps(s, 0); }

/* ---- graphs ---- */

static inline weft_graph *new_graph(void) {
  const op_table *ops;
  weft_graph *g;
  EXPECT_OK(weft__ops_table(&ops));
  EXPECT_OK(weft__graph_create(&g, ops));
  return g;
}

static inline weft_out add_node(weft_graph *g, const char *op_name, const char *name, const char *device_name, int n_in,
                                const weft_out *in, int n_attr, const attr *attrs) {
  weft_node *n = NULL;
  EXPECT_OK(weft__graph_add(g,
                            &(node_spec){.op = op_name,
                                         .name = name,
                                         .device = device_name,
                                         .exact = true,
                                         .n_in = n_in,
                                         .in = in,
                                         .n_attr = n_attr,
                                         .attr = attrs},
                            &n));
  return (weft_out){n->id, 0};
}

static inline weft_out constant(weft_graph *g, const char *device_name, const char *name, double v) {
  weft_tensor *t;
  EXPECT_OK(weft__tensor_scalar(&t, WEFT_FLOAT, v));
  weft_out o =
      add_node(g, "Const", name, device_name, 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_TENSOR("value", t)});
  weft_tensor_destroy(t);
  return o;
}

typedef struct edge { /* of one value from one task to another */
  const char *name;
  test_task *from, *to;
} edge;

static inline const char *device_of(const test_task *s) { return s->task->device[0]->name; }

static inline weft_out edge_node(weft_graph *g, const edge *e, bool sends, const weft_out *x) {
  char name[64];
  const char *device_name = device_of(sends ? e->from : e->to);
  snprintf(name, sizeof name, "_%s_%s", sends ? "send" : "recv", e->name);
  attr attrs[] = {A_TYPE(sends ? "T" : "tensor_type", WEFT_FLOAT), A_STR("tensor_name", e->name),
                  A_STR("send_device", device_of(e->from)),
                  A_INT("send_device_incarnation", (int64_t)e->from->task->device[0]->incarnation),
                  A_STR("recv_device", device_of(e->to))};
  return add_node(g, sends ? "_Send" : "_Recv", name, device_name, sends, x, 5, attrs);
}

static inline weft_out recv_node(weft_graph *g, const edge *e) { return edge_node(g, e, false, NULL); }
static inline void send_node(weft_graph *g, const edge *e, weft_out x) { edge_node(g, e, true, &x); }

static inline weft_out negate(weft_graph *g, const char *device_name, const char *name, weft_out x) {
  return add_node(g, "Neg", name, device_name, 1, &x, 1, (attr[]){A_TYPE("T", WEFT_FLOAT)});
}

typedef struct edge_key {
  char text[300];
} edge_key;

static inline const char *key_of(const edge *e, edge_key *out) {
  snprintf(out->text, sizeof out->text, "%s;%016" PRIx64 ";%s;%s;0:0", device_of(e->from),
           e->from->task->device[0]->incarnation, device_of(e->to), e->name);
  return out->text;
}

/* The ps sends x to the worker, which sends -x back. */
typedef struct round_trip {
  edge x, y, out;
  graph_handle ps, wk;
} round_trip;

static inline void register_both(test_cluster *r, const char *session, round_trip *t) {
  *t = (round_trip){{"x", &r->ps, &r->wk}, {"y", &r->wk, &r->ps}, {"out", &r->ps, &r->ps}, {{0}}, {{0}}};
  weft_graph *g = new_graph();
  send_node(g, &t->x, constant(g, PS CPU, "c", 7));
  send_node(g, &t->out, recv_node(g, &t->y));
  EXPECT_OK(register_in(&r->ps, session, g, &t->ps));
  g = new_graph();
  send_node(g, &t->y, negate(g, WK CPU, "neg", recv_node(g, &t->x)));
  EXPECT_OK(register_in(&r->wk, session, g, &t->wk));
}

/* Sets w = 10 (init) or w += 1, and sends the value; w is a VariableV2. */
static inline weft_graph *counter(const edge *out, bool init) {
  weft_graph *g = new_graph();
  weft_out w = add_node(g, "VariableV2", "w", PS CPU, 0, NULL, 2,
                        (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &SHAPE_SCALAR)});
  weft_out v = constant(g, PS CPU, "v", init ? 10 : 1);
  weft_out set = add_node(g, init ? "Assign" : "AssignAdd", "set", PS CPU, 2, (weft_out[]){w, v}, 1,
                          (attr[]){A_TYPE("T", WEFT_FLOAT)});
  send_node(g, out, set);
  return g;
}

#endif
