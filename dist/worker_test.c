/* worker_test.c - two tasks on loopback, with the test as their master. */
#include "base/alloc.h"
#include "base/clock.h"
#include "dist/worker_state.h"
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

typedef struct seat {
  task *task;
  listener *listener;
  peers *peers;
  worker *worker;
  channel *to; /* as a master reaches it */
} seat;

typedef struct rig {
  seat ps, wk;
} rig;

#define PS "/job:ps/replica:0/task:0"
#define WK "/job:worker/replica:0/task:0"
#define CPU "/device:CPU:0"

static void handle_call(void *arg, call *c) { weft__worker_handle(((seat *)arg)->worker, c); }

static void seat_listen(seat *s, const char *name) {
  EXPECT_OK(weft__task_create(&s->task, name, 1, 2));
  EXPECT_OK(weft__listener_create(&s->listener, &(listener_opts){.host = "127.0.0.1"}, handle_call, s));
}

static void seat_open(seat *s, const cluster *c) {
  char address[64];
  security none = {0};
  snprintf(address, sizeof address, "127.0.0.1:%d", weft__listener_port(s->listener));
  EXPECT_OK(weft__peers_create(&s->peers, c, s->task->name, &none));
  EXPECT_OK(weft__worker_create(&s->worker, s->task, s->peers));
  EXPECT_OK(weft__channel_create(&s->to, address, NULL));
}

static void seat_close(seat *s) {
  weft__channel_destroy(s->to);
  weft__listener_destroy(s->listener);
  weft__worker_destroy(s->worker);
  weft__peers_destroy(s->peers);
  weft__task_destroy(s->task);
  *s = (seat){0};
}

static void rig_open(rig *r) {
  cluster c;
  char address[64];
  seat_listen(&r->ps, PS);
  seat_listen(&r->wk, WK);
  weft__cluster_init(&c);
  snprintf(address, sizeof address, "127.0.0.1:%d", weft__listener_port(r->ps.listener));
  EXPECT_OK(weft__cluster_add(&c, "ps", 0, address));
  snprintf(address, sizeof address, "127.0.0.1:%d", weft__listener_port(r->wk.listener));
  EXPECT_OK(weft__cluster_add(&c, "worker", 0, address));
  seat_open(&r->ps, &c);
  seat_open(&r->wk, &c);
  weft__cluster_finish(&c);
}

static void rig_close(rig *r) {
  seat_close(&r->wk);
  seat_close(&r->ps);
}

/* ---- calls ---- */

#define METHOD(name) "/tensorflow.WorkerService/" name

static weft_err ask(seat *s, const char *method, const ProtobufCMessage *request, int64_t timeout_ms, message *reply) {
  message m = {0};
  EXPECT_OK(weft__message_pack(&m, request));
  return weft__channel_call_wait(s->to, method, &m, &(call_opts){.timeout_ms = timeout_ms ? timeout_ms : 20000}, reply);
}

static weft_err tell(seat *s, const char *method, const ProtobufCMessage *request) {
  message reply = {0};
  weft_err err = ask(s, method, request, 0, &reply);
  weft__message_finish(&reply);
  return err;
}

static weft_err create_session(seat *s, const char *name, bool isolate) {
  Tensorflow__CreateWorkerSessionRequest q = TENSORFLOW__CREATE_WORKER_SESSION_REQUEST__INIT;
  q.session_handle = (char *)(uintptr_t)name;
  q.isolate_session_state = isolate;
  return tell(s, METHOD("CreateWorkerSession"), &q.base);
}

static weft_err delete_session(seat *s, const char *name) {
  Tensorflow__DeleteWorkerSessionRequest q = TENSORFLOW__DELETE_WORKER_SESSION_REQUEST__INIT;
  q.session_handle = (char *)(uintptr_t)name;
  return tell(s, METHOD("DeleteWorkerSession"), &q.base);
}

typedef struct graph_handle {
  char text[32];
} graph_handle;

/* Registers g and destroys it. */
static weft_err register_in(seat *s, const char *session, weft_graph *g, graph_handle *out) {
  Tensorflow__RegisterGraphRequest q = TENSORFLOW__REGISTER_GRAPH_REQUEST__INIT;
  Tensorflow__GraphDef def = TENSORFLOW__GRAPH_DEF__INIT;
  arena a = {0};
  message reply = {0};
  EXPECT_OK(weft__b_ok(g));
  EXPECT_OK(weft__graph_export_proto(g, NULL, &def, &a));
  q.session_handle = (char *)(uintptr_t)session;
  q.create_worker_session_called = *session != 0;
  q.graph_def = &def;
  weft_err err = ask(s, METHOD("RegisterGraph"), &q.base, 0, &reply);
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

static void run_request(Tensorflow__RunGraphRequest *q, const char *session, graph_handle *g, int64_t id) {
  tensorflow__run_graph_request__init(q);
  q->session_handle = (char *)(uintptr_t)session;
  q->create_worker_session_called = *session != 0;
  q->graph_handle = g->text;
  q->step_id = id;
  q->store_errors_in_response_body = true;
}

static weft_err body_error(message *reply, Tensorflow__RunGraphResponse **out) {
  ProtobufCMessage *m;
  EXPECT_OK(weft__message_unpack(&m, reply, &tensorflow__run_graph_response__descriptor));
  *out = (Tensorflow__RunGraphResponse *)m;
  weft_err code = (weft_err)(*out)->status_code;
  return code ? weft__fail(code, "%s", (*out)->status_error_message) : WEFT_OK;
}

/* Runs and, if key is given, takes the value under it. */
static weft_err run_graph(seat *s, const Tensorflow__RunGraphRequest *q, int64_t timeout_ms, double *got) {
  message reply = {0};
  Tensorflow__RunGraphResponse *body = NULL;
  weft_err err = ask(s, METHOD("RunGraph"), &q->base, timeout_ms, &reply);
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

static weft_err run(seat *s, const char *session, graph_handle *g, int64_t id, const char *key, double *got) {
  Tensorflow__RunGraphRequest q;
  run_request(&q, session, g, id);
  char *keys[] = {(char *)(uintptr_t)key};
  if (key) q.n_recv_key = 1, q.recv_key = keys;
  return run_graph(s, &q, 0, got);
}

/* A RunGraph that the test does not wait for. */
typedef struct pending {
  atomic_int ended;
  weft_err err;
  char text[512];
} pending;

static void on_ended(void *arg, weft_err err, message *reply) {
  pending *p = arg;
  Tensorflow__RunGraphResponse *body = NULL;
  p->err = err ? err : body_error(reply, &body);
  if (p->err) snprintf(p->text, sizeof p->text, "%s", weft__error_message());
  if (body) protobuf_c_message_free_unpacked(&body->base, NULL);
  atomic_store(&p->ended, 1);
}

static void start(seat *s, const char *session, graph_handle *g, int64_t id, cancel *token, pending *p) {
  Tensorflow__RunGraphRequest q;
  message m = {0};
  run_request(&q, session, g, id);
  EXPECT_OK(weft__message_pack(&m, &q.base));
  *p = (pending){0};
  weft__channel_call(s->to, METHOD("RunGraph"), &m, &(call_opts){.cancel = token}, on_ended, p);
}

static void await(pending *p) {
  for (int i = 0; i < 8000 && !atomic_load(&p->ended); i++) usleep(1000);
  EXPECT_EQ_INT(atomic_load(&p->ended), 1);
}

static weft_err recv_tensor(seat *s, int64_t id, const char *key, int64_t request_id, int64_t timeout_ms, double *got) {
  Tensorflow__RecvTensorRequest q = TENSORFLOW__RECV_TENSOR_REQUEST__INIT;
  message reply = {0};
  received r = {0};
  q.step_id = id;
  q.rendezvous_key = (char *)(uintptr_t)key;
  q.request_id = request_id;
  weft_err err = ask(s, METHOD("RecvTensor"), &q.base, timeout_ms, &reply);
  if (!err) {
    EXPECT_OK(weft__message_to_received(&r, &reply));
    if (got) *got = r.tensor ? weft__tensor_double(r.tensor, 0) : NAN;
  }
  weft_tensor_destroy(r.tensor);
  weft__message_finish(&reply);
  return err;
}

static void cleanup(seat *s, int64_t id) {
  Tensorflow__CleanupGraphRequest q = TENSORFLOW__CLEANUP_GRAPH_REQUEST__INIT;
  q.step_id = id;
  EXPECT_OK(tell(s, METHOD("CleanupGraph"), &q.base));
}

static int steps_of(seat *s) {
  pthread_mutex_lock(&s->worker->lock);
  int n = s->worker->n_step;
  pthread_mutex_unlock(&s->worker->lock);
  return n;
}

static void await_no_steps(seat *s) {
  for (int i = 0; i < 5000 && steps_of(s); i++) usleep(1000);
  EXPECT_EQ_INT(steps_of(s), 0);
}

/* ---- graphs ---- */

static weft_graph *new_graph(void) {
  const op_table *ops;
  weft_graph *g;
  EXPECT_OK(weft__ops_table(&ops));
  EXPECT_OK(weft__graph_create(&g, ops));
  return g;
}

static weft_out add_node(weft_graph *g, const char *op_name, const char *name, const char *device_name, int n_in,
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

static weft_out constant(weft_graph *g, const char *at, const char *name, double v) {
  weft_tensor *t;
  EXPECT_OK(weft__tensor_scalar(&t, WEFT_FLOAT, v));
  weft_out o = add_node(g, "Const", name, at, 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_TENSOR("value", t)});
  weft_tensor_destroy(t);
  return o;
}

typedef struct edge { /* of one value from one task to another */
  const char *name;
  seat *from, *to;
} edge;

static const char *device_of(const seat *s) { return s->task->device[0]->name; }

static weft_out edge_node(weft_graph *g, const edge *e, bool sends, const weft_out *x) {
  char name[64];
  const char *at = device_of(sends ? e->from : e->to);
  snprintf(name, sizeof name, "_%s_%s", sends ? "send" : "recv", e->name);
  attr attrs[] = {A_TYPE(sends ? "T" : "tensor_type", WEFT_FLOAT), A_STR("tensor_name", e->name),
                  A_STR("send_device", device_of(e->from)),
                  A_INT("send_device_incarnation", (int64_t)e->from->task->device[0]->incarnation),
                  A_STR("recv_device", device_of(e->to))};
  return add_node(g, sends ? "_Send" : "_Recv", name, at, sends, x, 5, attrs);
}

static weft_out recv_node(weft_graph *g, const edge *e) { return edge_node(g, e, false, NULL); }
static void send_node(weft_graph *g, const edge *e, weft_out x) { edge_node(g, e, true, &x); }

static weft_out negate(weft_graph *g, const char *at, const char *name, weft_out x) {
  return add_node(g, "Neg", name, at, 1, &x, 1, (attr[]){A_TYPE("T", WEFT_FLOAT)});
}

typedef struct edge_key {
  char text[300];
} edge_key;

static const char *key_of(const edge *e, edge_key *out) {
  snprintf(out->text, sizeof out->text, "%s;%016" PRIx64 ";%s;%s;0:0", device_of(e->from),
           e->from->task->device[0]->incarnation, device_of(e->to), e->name);
  return out->text;
}

/* x goes from the ps to the worker, -x comes back. */
typedef struct there_and_back {
  edge x, y, out;
  graph_handle ps, wk;
} there_and_back;

static void register_both(rig *r, const char *session, there_and_back *t) {
  *t = (there_and_back){{"x", &r->ps, &r->wk}, {"y", &r->wk, &r->ps}, {"out", &r->ps, &r->ps}, {{0}}, {{0}}};
  weft_graph *g = new_graph();
  send_node(g, &t->x, constant(g, PS CPU, "c", 7));
  send_node(g, &t->out, recv_node(g, &t->y));
  EXPECT_OK(register_in(&r->ps, session, g, &t->ps));
  g = new_graph();
  send_node(g, &t->y, negate(g, WK CPU, "neg", recv_node(g, &t->x)));
  EXPECT_OK(register_in(&r->wk, session, g, &t->wk));
}

/* ---- what works ---- */

TEST_WITHIN(30, two_tasks_run_a_step_together) {
  rig r;
  there_and_back t;
  edge_key key;
  rig_open(&r);
  EXPECT_OK(create_session(&r.ps, "s", false));
  EXPECT_OK(create_session(&r.wk, "s", false));
  EXPECT_OK(create_session(&r.wk, "s", false)); /* again: accepted */
  register_both(&r, "s", &t);
  for (int i = 1; i <= 20; i++) {
    pending p;
    double got = 0;
    if (i % 2) start(&r.wk, "s", &t.wk, i, NULL, &p); /* either may come first */
    EXPECT_OK(i % 2 ? run(&r.ps, "s", &t.ps, i, key_of(&t.out, &key), &got) : WEFT_OK);
    if (i % 2 == 0) {
      start(&r.ps, "s", &t.ps, i, NULL, &p);
      EXPECT_OK(run(&r.wk, "s", &t.wk, i, NULL, NULL));
      EXPECT_OK(recv_tensor(&r.ps, i, key_of(&t.out, &key), i, 0, &got));
    }
    await(&p);
    EXPECT_EQ_INT(p.err, WEFT_OK);
    EXPECT_NEAR(got, -7, 0);
    cleanup(&r.ps, i);
    cleanup(&r.wk, i);
  }
  EXPECT_EQ_INT(steps_of(&r.ps) + steps_of(&r.wk), 0);
  EXPECT_OK(delete_session(&r.ps, "s"));
  EXPECT_OK(delete_session(&r.ps, "s")); /* unknown: still fine */
  EXPECT_ERR(run(&r.ps, "s", &t.ps, 99, NULL, NULL), WEFT_ABORTED, "Session handle is not found: s.");
  rig_close(&r);
}

TEST_WITHIN(30, a_tensor_may_be_asked_for_before_the_step_begins) {
  rig r;
  there_and_back t;
  pending p[2];
  rig_open(&r);
  register_both(&r, "", &t); /* a master before 1.9: no session at all */
  start(&r.wk, "", &t.wk, 5, NULL, &p[0]);
  usleep(50000);
  EXPECT_EQ_INT(steps_of(&r.ps), 1); /* the worker's RecvTensor made it */
  start(&r.ps, "", &t.ps, 5, NULL, &p[1]);
  await(&p[0]);
  await(&p[1]);
  EXPECT_EQ_INT(p[0].err, WEFT_OK);
  EXPECT_EQ_INT(p[1].err, WEFT_OK);
  cleanup(&r.ps, 5);
  cleanup(&r.wk, 5);
  rig_close(&r);
}

TEST_WITHIN(60, many_steps_wait_at_once) {
  enum { STEPS = 64 };
  rig r;
  there_and_back t;
  static pending wk[STEPS], ps[STEPS];
  rig_open(&r);
  register_both(&r, "", &t);
  for (int i = 0; i < STEPS; i++) start(&r.wk, "", &t.wk, 100 + i, NULL, &wk[i]);
  usleep(50000);
  for (int i = 0; i < STEPS; i++) EXPECT_EQ_INT(atomic_load(&wk[i].ended), 0);
  for (int i = 0; i < STEPS; i++) start(&r.ps, "", &t.ps, 100 + i, NULL, &ps[i]);
  for (int i = 0; i < STEPS; i++) {
    await(&wk[i]);
    await(&ps[i]);
    EXPECT_EQ_INT(wk[i].err, WEFT_OK);
    EXPECT_EQ_INT(ps[i].err, WEFT_OK);
    cleanup(&r.ps, 100 + i);
    cleanup(&r.wk, 100 + i);
  }
  EXPECT_EQ_INT(steps_of(&r.ps) + steps_of(&r.wk), 0);
  rig_close(&r);
}

TEST(inputs_come_with_the_call_and_its_times_go_back) {
  rig r;
  graph_handle h;
  edge_key in_key, out_key;
  rig_open(&r);
  edge in = {"in", &r.ps, &r.ps}, out = {"out", &r.ps, &r.ps};
  weft_graph *g = new_graph();
  send_node(g, &out, negate(g, PS CPU, "neg", recv_node(g, &in)));
  EXPECT_OK(register_in(&r.ps, "", g, &h));
  Tensorflow__RunGraphRequest q;
  Tensorflow__NamedTensorProto named = TENSORFLOW__NAMED_TENSOR_PROTO__INIT, *send[] = {&named};
  Tensorflow__TensorProto fed = TENSORFLOW__TENSOR_PROTO__INIT;
  Tensorflow__ExecutorOpts opts = TENSORFLOW__EXECUTOR_OPTS__INIT;
  float number = 2.5f;
  char *keys[] = {(char *)(uintptr_t)key_of(&out, &out_key)};
  run_request(&q, "", &h, 1);
  fed.dtype = WEFT_FLOAT;
  fed.n_float_val = 1;
  fed.float_val = &number;
  named.name = (char *)(uintptr_t)key_of(&in, &in_key);
  named.tensor = &fed;
  opts.record_timeline = opts.record_partition_graphs = true;
  q.n_send = 1, q.send = send;
  q.n_recv_key = 1, q.recv_key = keys;
  q.exec_opts = &opts;
  message reply = {0};
  Tensorflow__RunGraphResponse *body;
  EXPECT_OK(ask(&r.ps, METHOD("RunGraph"), &q.base, 0, &reply));
  EXPECT_OK(body_error(&reply, &body));
  EXPECT(body->step_stats && body->step_stats->n_dev_stats == 1);
  EXPECT_EQ_STR(body->step_stats->dev_stats[0]->device, PS CPU);
  EXPECT_EQ_INT(body->step_stats->dev_stats[0]->n_node_stats, 3);
  EXPECT_EQ_INT(body->n_partition_graph, 1);
  EXPECT_EQ_INT(body->partition_graph[0]->n_node, 3);
  EXPECT_EQ_INT(body->n_recv, 1);
  protobuf_c_message_free_unpacked(&body->base, NULL);
  weft__message_finish(&reply);
  cleanup(&r.ps, 1);
  rig_close(&r);
}

TEST(the_devices_are_those_of_the_task) {
  rig r;
  rig_open(&r);
  message reply = {0};
  ProtobufCMessage *m;
  Tensorflow__GetStatusRequest q = TENSORFLOW__GET_STATUS_REQUEST__INIT;
  EXPECT_OK(ask(&r.ps, METHOD("GetStatus"), &q.base, 0, &reply));
  EXPECT_OK(weft__message_unpack(&m, &reply, &tensorflow__get_status_response__descriptor));
  const Tensorflow__GetStatusResponse *s = (Tensorflow__GetStatusResponse *)m;
  EXPECT_EQ_INT(s->n_device_attributes, 1);
  EXPECT_EQ_STR(s->device_attributes[0]->name, PS CPU);
  EXPECT_EQ_STR(s->device_attributes[0]->device_type, "CPU");
  EXPECT_EQ_INT(s->device_attributes[0]->memory_limit, 268435456);
  EXPECT(s->device_attributes[0]->incarnation == r.ps.task->device[0]->incarnation);
  protobuf_c_message_free_unpacked(m, NULL);
  weft__message_finish(&reply);
  rig_close(&r);
}

/* w = 0; w += 1 and its value sent: a VariableV2 named "w". */
static weft_graph *counter(const edge *out, bool init) {
  weft_graph *g = new_graph();
  weft_out w = add_node(g, "VariableV2", "w", PS CPU, 0, NULL, 2,
                        (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &SHAPE_SCALAR)});
  weft_out v = constant(g, PS CPU, "v", init ? 10 : 1);
  weft_out set = add_node(g, init ? "Assign" : "AssignAdd", "set", PS CPU, 2, (weft_out[]){w, v}, 1,
                          (attr[]){A_TYPE("T", WEFT_FLOAT)});
  send_node(g, out, set);
  return g;
}

TEST(an_isolated_session_has_variables_of_its_own) {
  rig r;
  graph_handle init, add;
  edge_key key;
  double got = 0;
  rig_open(&r);
  edge out = {"w", &r.ps, &r.ps};
  EXPECT_OK(create_session(&r.ps, "a", false));
  EXPECT_OK(create_session(&r.ps, "b", false));
  EXPECT_OK(create_session(&r.ps, "alone", true));
  EXPECT_OK(register_in(&r.ps, "a", counter(&out, true), &init));
  EXPECT_OK(run(&r.ps, "a", &init, 1, NULL, NULL));
  EXPECT_OK(register_in(&r.ps, "b", counter(&out, false), &add));
  EXPECT_OK(run(&r.ps, "b", &add, 2, key_of(&out, &key), &got));
  EXPECT_NEAR(got, 11, 0);
  EXPECT_OK(register_in(&r.ps, "alone", counter(&out, false), &add));
  EXPECT_ERR(run(&r.ps, "alone", &add, 3, NULL, NULL), WEFT_FAILED_PRECONDITION, "uninitialized value w");
  Tensorflow__CleanupAllRequest q = TENSORFLOW__CLEANUP_ALL_REQUEST__INIT;
  EXPECT_OK(tell(&r.ps, METHOD("CleanupAll"), &q.base));
  EXPECT_OK(register_in(&r.ps, "b", counter(&out, false), &add));
  EXPECT_ERR(run(&r.ps, "b", &add, 4, NULL, NULL), WEFT_FAILED_PRECONDITION, "uninitialized");
  rig_close(&r);
}

TEST(a_value_that_was_sent_does_not_change_with_its_variable) {
  rig r;
  graph_handle init, add;
  edge_key key;
  double got = 0;
  rig_open(&r);
  edge out = {"w", &r.ps, &r.wk};
  EXPECT_OK(register_in(&r.ps, "", counter(&out, true), &init));
  EXPECT_OK(register_in(&r.ps, "", counter(&out, false), &add));
  EXPECT_OK(run(&r.ps, "", &init, 1, NULL, NULL));
  for (int i = 2; i < 6; i++) EXPECT_OK(run(&r.ps, "", &add, i, NULL, NULL));
  for (int i = 1; i < 6; i++) {
    EXPECT_OK(recv_tensor(&r.ps, i, key_of(&out, &key), 0, 0, &got));
    EXPECT_NEAR(got, 9 + i, 0);
    cleanup(&r.ps, i);
  }
  rig_close(&r);
}

TEST(a_partial_run_is_fed_and_fetched_from_by_several_calls) {
  rig r;
  graph_handle h;
  edge_key key[4];
  rig_open(&r);
  edge in[2] = {{"a", &r.ps, &r.ps}, {"b", &r.ps, &r.ps}}, out[2] = {{"p", &r.ps, &r.ps}, {"q", &r.ps, &r.ps}};
  weft_graph *g = new_graph();
  send_node(g, &out[0], negate(g, PS CPU, "n1", recv_node(g, &in[0])));
  send_node(g, &out[1], negate(g, PS CPU, "n2", recv_node(g, &in[1])));
  EXPECT_OK(register_in(&r.ps, "", g, &h));
  for (int i = 0; i < 2; i++) {
    Tensorflow__RunGraphRequest q;
    Tensorflow__NamedTensorProto named = TENSORFLOW__NAMED_TENSOR_PROTO__INIT, *send[] = {&named};
    Tensorflow__TensorProto fed = TENSORFLOW__TENSOR_PROTO__INIT;
    float number = (float)i + 1;
    double got = 0;
    char *keys[] = {(char *)(uintptr_t)key_of(&out[i], &key[i])};
    run_request(&q, "", &h, 1);
    fed.dtype = WEFT_FLOAT;
    fed.n_float_val = 1;
    fed.float_val = &number;
    named.name = (char *)(uintptr_t)key_of(&in[i], &key[2 + i]);
    named.tensor = &fed;
    q.n_send = 1, q.send = send;
    q.n_recv_key = 1, q.recv_key = keys;
    q.is_partial = true;
    q.is_last_partial_run = i == 1;
    EXPECT_OK(run_graph(&r.ps, &q, 0, &got));
    EXPECT_NEAR(got, -number, 0);
  }
  cleanup(&r.ps, 1);
  EXPECT_EQ_INT(steps_of(&r.ps), 0);
  rig_close(&r);
}

/* ---- tokens of synchronous jobs ---- */

static weft_out token_queue(weft_graph *g) {
  weft_dtype type = WEFT_FLOAT;
  shape of = SHAPE_SCALAR;
  attr attrs[] = {A_TYPES("component_types", &type, 1), A_SHAPES("shapes", &of, 1), A_INT("capacity", -1),
                  A_STR("shared_name", "sync_token_q")};
  return add_node(g, "FIFOQueueV2", "sync_token_q", PS CPU, 0, NULL, 4, attrs);
}

/* One graph puts a token in, the other takes one and sends it to the worker. */
static void register_tokens(rig *r, const edge *to, graph_handle *put, graph_handle *take) {
  weft_dtype type = WEFT_FLOAT;
  weft_graph *g = new_graph();
  weft_out q = token_queue(g), v = constant(g, PS CPU, "token", 5);
  weft_node *n;
  EXPECT_OK(weft__graph_add(g,
                            &(node_spec){.op = "QueueEnqueueV2",
                                         .name = "put",
                                         .device = PS CPU,
                                         .exact = true,
                                         .n_in = 2,
                                         .in = (weft_out[]){q, v},
                                         .n_attr = 1,
                                         .attr = (attr[]){A_TYPES("Tcomponents", &type, 1)}},
                            &n));
  EXPECT_OK(register_in(&r->ps, "", g, put));
  g = new_graph();
  q = token_queue(g);
  send_node(g, to,
            add_node(g, "QueueDequeueV2", "take", PS CPU, 1, &q, 1, (attr[]){A_TYPES("component_types", &type, 1)}));
  EXPECT_OK(register_in(&r->ps, "", g, take));
}

TEST_WITHIN(30, the_token_of_a_lost_worker_goes_back_to_the_queue) {
  rig r;
  graph_handle put, take;
  edge_key key;
  double got = 0;
  pending p;
  rig_open(&r);
  edge to = {"token", &r.ps, &r.wk};
  register_tokens(&r, &to, &put, &take);
  for (int i = 1; i <= 2; i++) EXPECT_OK(run(&r.ps, "", &put, i, NULL, NULL));
  for (int i = 3; i <= 4; i++) { /* the second time it asks, it has used the first token */
    EXPECT_OK(run(&r.ps, "", &take, i, NULL, NULL));
    EXPECT_OK(recv_tensor(&r.ps, i, key_of(&to, &key), 0, 0, &got));
    EXPECT_NEAR(got, 5, 0);
  }
  start(&r.ps, "", &take, 5, NULL, &p); /* waits, as another worker would */
  weft__worker_lost(r.ps.worker, PS);   /* somebody else: nothing happens */
  usleep(20000);
  EXPECT_EQ_INT(atomic_load(&p.ended), 0);
  cleanup(&r.ps, 5);
  EXPECT_OK(run(&r.ps, "", &put, 6, NULL, NULL)); /* ends the waiting one */
  await(&p);
  weft__worker_lost(r.ps.worker, WK);
  EXPECT_OK(run(&r.ps, "", &take, 7, NULL, NULL)); /* the one that came back */
  rig_close(&r);
}

TEST_WITHIN(30, what_runs_with_a_lost_task_ends) {
  rig r;
  there_and_back t;
  pending p;
  rig_open(&r);
  register_both(&r, "", &t);
  start(&r.wk, "", &t.wk, 3, NULL, &p);
  usleep(50000);
  weft__worker_lost(r.wk.worker, "/job:ps/replica:0/task:1"); /* another */
  usleep(20000);
  EXPECT_EQ_INT(atomic_load(&p.ended), 0);
  weft__worker_lost(r.wk.worker, PS);
  await(&p);
  EXPECT_EQ_INT(p.err, WEFT_UNAVAILABLE);
  EXPECT_CONTAINS(p.text, PS " is gone");
  await_no_steps(&r.wk);
  rig_close(&r);
}

/* ---- the same without a wire ---- */

typedef struct local_run {
  atomic_int ended;
  weft_err err;
  weft_tensor *got;
} local_run;

static void on_local(void *arg, weft_err err) {
  local_run *l = arg;
  l->err = err;
  atomic_store(&l->ended, 1);
}

TEST(parts_of_one_task_meet_in_the_step) {
  rig r;
  part *a, *b;
  local_run la = {0}, lb = {0};
  rig_open(&r);
  EXPECT_OK(weft__worker_open(r.ps.worker, "s", false));
  edge x = {"x", &r.ps, &r.ps};
  weft_graph *g = new_graph();
  weft_out fetch = negate(g, PS CPU, "neg", recv_node(g, &x));
  EXPECT_OK(weft__part_create(&a, r.ps.worker, "s", g, 0, NULL, 1, &fetch));
  g = new_graph();
  weft_out feed = add_node(g, "Placeholder", "p", PS CPU, 0, NULL, 1, (attr[]){A_TYPE("dtype", WEFT_FLOAT)});
  send_node(g, &x, feed);
  EXPECT_OK(weft__part_create(&b, r.ps.worker, "s", g, 1, &feed, 0, NULL));
  weft__part_run(a, &(part_run){.step = 8, .fetched = &la.got, .done = on_local, .arg = &la});
  EXPECT_EQ_INT(la.ended, 0);
  weft_tensor *fed;
  EXPECT_OK(weft__tensor_scalar(&fed, WEFT_FLOAT, 3));
  const weft_tensor *const feeds[] = {fed};
  weft__part_run(b, &(part_run){.step = 8, .feed = feeds, .done = on_local, .arg = &lb});
  for (int i = 0; i < 5000 && !(atomic_load(&la.ended) && atomic_load(&lb.ended)); i++) usleep(1000);
  EXPECT_OK(la.err);
  EXPECT_OK(lb.err);
  EXPECT_NEAR(weft__tensor_double(la.got, 0), -3, 0);
  weft_tensor_destroy(la.got);
  weft_tensor_destroy(fed);
  weft__worker_cleanup(r.ps.worker, 8);
  la = (local_run){0}; /* and now nobody sends: the deadline ends it */
  weft__part_run(
      a, &(part_run){
             .step = 9, .fetched = &la.got, .deadline_ns = weft__now_ns() + 30000000, .done = on_local, .arg = &la});
  for (int i = 0; i < 5000 && !atomic_load(&la.ended); i++) usleep(1000);
  EXPECT_EQ_INT(la.err, WEFT_DEADLINE_EXCEEDED);
  weft__worker_cleanup(r.ps.worker, 9);
  weft__part_release(a);
  weft__part_release(b);
  weft__worker_close(r.ps.worker, "s");
  g = new_graph();
  EXPECT_ERR(weft__part_create(&a, r.ps.worker, "s", g, 0, NULL, 0, NULL), WEFT_ABORTED, "Session handle is not found");
  rig_close(&r);
}

/* ---- what goes wrong ---- */

TEST_WITHIN(30, an_error_on_one_task_ends_the_step_on_the_other) {
  rig r;
  graph_handle ps, wk;
  pending p;
  rig_open(&r);
  edge x = {"x", &r.ps, &r.wk}, w = {"w", &r.ps, &r.ps};
  weft_graph *g = counter(&w, false); /* uninitialised */
  weft_out never = {g->n_node - 2, 0};
  send_node(g, &x, never);
  EXPECT_OK(register_in(&r.ps, "", g, &ps));
  g = new_graph();
  negate(g, WK CPU, "neg", recv_node(g, &x));
  EXPECT_OK(register_in(&r.wk, "", g, &wk));
  start(&r.wk, "", &wk, 1, NULL, &p);
  EXPECT_ERR(run(&r.ps, "", &ps, 1, NULL, NULL), WEFT_FAILED_PRECONDITION, "uninitialized value w");
  await(&p);
  EXPECT_EQ_INT(p.err, WEFT_FAILED_PRECONDITION);
  cleanup(&r.ps, 1);
  cleanup(&r.wk, 1);
  rig_close(&r);
}

TEST_WITHIN(30, cleaning_up_ends_who_waits) {
  rig r;
  there_and_back t;
  pending p;
  rig_open(&r);
  register_both(&r, "", &t);
  start(&r.wk, "", &t.wk, 77, NULL, &p);
  usleep(50000);
  cleanup(&r.ps, 77);
  await(&p);
  EXPECT_EQ_INT(p.err, WEFT_ABORTED);
  EXPECT_CONTAINS(p.text, "[_Derived_]Cleanup 77");
  cleanup(&r.wk, 77);
  rig_close(&r);
}

TEST_WITHIN(30, a_step_given_up_by_its_master_is_forgotten) {
  rig r;
  there_and_back t;
  pending p;
  cancel token;
  rig_open(&r);
  register_both(&r, "", &t);
  weft__cancel_init(&token);
  start(&r.wk, "", &t.wk, 3, &token, &p); /* the ps part never comes */
  usleep(50000);
  EXPECT_EQ_INT(steps_of(&r.wk), 1);
  weft__cancel_fire(&token, WEFT_CANCELLED, "enough");
  await(&p);
  EXPECT_EQ_INT(p.err, WEFT_CANCELLED);
  await_no_steps(&r.wk);
  EXPECT_ERR(recv_tensor(&r.ps, 4, "no key", 0, 0, NULL), WEFT_INVALID_ARGUMENT, "rendezvous key");
  weft__cancel_finish(&token);
  rig_close(&r);
}

TEST_WITHIN(30, closing_a_task_ends_its_runs) {
  rig r;
  there_and_back t;
  pending p;
  rig_open(&r);
  register_both(&r, "", &t);
  start(&r.wk, "", &t.wk, 3, NULL, &p);
  usleep(50000);
  seat_close(&r.wk);
  await(&p);
  EXPECT(p.err != WEFT_OK);
  seat_close(&r.ps);
}

TEST_WITHIN(30, calls_out_of_order_get_an_error_each) {
  rig r;
  graph_handle h = {"0000000000000001"}, other;
  edge_key key;
  rig_open(&r);
  edge x = {"x", &r.ps, &r.wk};
  EXPECT_ERR(create_session(&r.ps, "", false), WEFT_INVALID_ARGUMENT, "non-empty");
  EXPECT_ERR(run(&r.ps, "nobody", &h, 1, NULL, NULL), WEFT_ABORTED, "Session handle is not found: nobody");
  EXPECT_ERR(run(&r.ps, "", &h, 1, NULL, NULL), WEFT_ABORTED, "Graph handle is not found: 0000000000000001");
  EXPECT_ERR(register_in(&r.ps, "nobody", new_graph(), &other), WEFT_ABORTED, "Session handle is not found");
  Tensorflow__DeregisterGraphRequest q = TENSORFLOW__DEREGISTER_GRAPH_REQUEST__INIT;
  q.graph_handle = h.text;
  EXPECT_ERR(tell(&r.ps, METHOD("DeregisterGraph"), &q.base), WEFT_ABORTED, "Graph handle is not found");
  weft_graph *g = new_graph();
  constant(g, PS CPU, "c", 1);
  EXPECT_OK(register_in(&r.ps, "", g, &other));
  q.graph_handle = other.text;
  EXPECT_OK(run(&r.ps, "", &other, 1, NULL, NULL));
  EXPECT_OK(tell(&r.ps, METHOD("DeregisterGraph"), &q.base));
  EXPECT_ERR(tell(&r.ps, METHOD("DeregisterGraph"), &q.base), WEFT_ABORTED, "Graph handle is not found");
  cleanup(&r.ps, 1);
  cleanup(&r.ps, 12345); /* never heard of: fine */

  key_of(&x, &key);
  EXPECT_ERR(recv_tensor(&r.ps, 1, key.text, 0, 100, NULL), WEFT_DEADLINE_EXCEEDED, "");
  EXPECT_ERR(recv_tensor(&r.ps, 1, "a;b", 0, 0, NULL), WEFT_INVALID_ARGUMENT, "rendezvous key: a;b");
  memcpy(strchr(key.text, ';') + 1, "0123456789abcdef", 16);
  EXPECT_ERR(recv_tensor(&r.ps, 1, key.text, 0, 0, NULL), WEFT_ABORTED,
             "RecvTensor expects a different device incarnation: 81985529216486895 vs. ");
  EXPECT_ERR(recv_tensor(&r.ps, 1, PS "/device:GPU:3;0123456789abcdef;" WK CPU ";x;0:0", 0, 0, NULL),
             WEFT_INVALID_ARGUMENT, "unknown device");
  EXPECT_ERR(tell(&r.ps, METHOD("RecvBuf"), &q.base), WEFT_UNIMPLEMENTED, "RecvBuf");
  EXPECT_ERR(tell(&r.ps, METHOD("Tracing"), &q.base), WEFT_UNIMPLEMENTED, "");
  Tensorflow__LoggingRequest log = TENSORFLOW__LOGGING_REQUEST__INIT;
  EXPECT_OK(tell(&r.ps, METHOD("Logging"), &log.base));
  rig_close(&r);
}

TEST_WITHIN(30, a_request_that_comes_twice_is_answered_once) {
  rig r;
  graph_handle h;
  Tensorflow__RunGraphRequest q;
  edge_key key;
  rig_open(&r);
  edge x = {"x", &r.ps, &r.wk};
  weft_graph *g = new_graph();
  send_node(g, &x, constant(g, PS CPU, "c", 1));
  EXPECT_OK(register_in(&r.ps, "", g, &h));
  run_request(&q, "", &h, 1);
  q.request_id = 4711;
  EXPECT_OK(run_graph(&r.ps, &q, 0, NULL));
  EXPECT_ERR(run_graph(&r.ps, &q, 0, NULL), WEFT_ABORTED, "The same RunGraph request was received twice");
  EXPECT_OK(recv_tensor(&r.ps, 1, key_of(&x, &key), 99, 0, NULL));
  EXPECT_ERR(recv_tensor(&r.ps, 1, key.text, 99, 0, NULL), WEFT_ABORTED,
             "The same RecvTensor request was received twice");
  cleanup(&r.ps, 1);
  rig_close(&r);
}

TEST_WITHIN(30, graphs_that_cannot_be_run_are_refused_when_registered) {
  rig r;
  graph_handle h;
  rig_open(&r);
  weft_graph *g = new_graph();
  add_node(g, "NoSuchOp", "n", PS CPU, 0, NULL, 0, NULL);
  EXPECT_ERR(register_in(&r.ps, "", g, &h), WEFT_NOT_FOUND, "Op type not registered 'NoSuchOp'");
  g = new_graph();
  constant(g, "", "c", 1);
  EXPECT_ERR(register_in(&r.ps, "", g, &h), WEFT_INVALID_ARGUMENT, "missing a device");
  EXPECT_OK(create_session(&r.ps, "x", false)); /* and it serves on */
  rig_close(&r);
}

TEST_WITHIN(60, random_bytes_get_an_error_and_the_task_serves_on) {
  static const char *const names[] = {"RunGraph",      "RecvTensor",      "CleanupGraph", "CreateWorkerSession",
                                      "RegisterGraph", "DeregisterGraph", "CleanupAll",   "DeleteWorkerSession",
                                      "Logging",       "Tracing",         "GetStatus",    "MarkRecvFinished"};
  rig r;
  rig_open(&r);
  uint64_t state = 42;
  for (int i = 0; i < 600; i++) {
    char method[80];
    uint8_t bytes[40];
    message m = {0}, reply = {0};
    snprintf(method, sizeof method, METHOD("%s"), names[i % 12]);
    for (size_t j = 0; j < sizeof bytes; j++) bytes[j] = (uint8_t)((state = state * 6364136223846793005u + 1) >> 56);
    EXPECT_OK(weft__message_add_copy(&m, bytes, (size_t)i % sizeof bytes));
    weft_err err =
        weft__channel_call_wait(r.ps.to, method, &m, &(call_opts){.timeout_ms = i % 12 == 1 ? 50 : 5000}, &reply);
    EXPECT(err != WEFT_UNAVAILABLE && (err != WEFT_DEADLINE_EXCEEDED || i % 12 == 1));
    weft__message_finish(&reply);
  }
  EXPECT_OK(create_session(&r.ps, "x", false));
  rig_close(&r);
}
