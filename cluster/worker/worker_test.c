/* worker_test.c - steps of two tasks on loopback, and the methods of one task. */
#include "cluster/worker/test_worker.h"

/* ---- methods ---- */

TEST_WITHIN(30, two_tasks_run_a_step_together) {
  test_cluster r;
  round_trip t;
  edge_key key;
  test_cluster_open(&r);
  EXPECT_OK(create_session(&r.ps, "s", false));
  EXPECT_OK(create_session(&r.wk, "s", false));
  EXPECT_OK(create_session(&r.wk, "s", false)); /* a second time: accepted */
  register_both(&r, "s", &t);
  for (int i = 1; i <= 20; i++) {
    pending_run p;
    double got = 0;
    if (i % 2) start_step(&r.wk, "s", &t.wk, i, NULL, &p); /* either task may begin */
    EXPECT_OK(i % 2 ? run_step(&r.ps, "s", &t.ps, i, key_of(&t.out, &key), &got) : WEFT_OK);
    if (i % 2 == 0) {
      start_step(&r.ps, "s", &t.ps, i, NULL, &p);
      EXPECT_OK(run_step(&r.wk, "s", &t.wk, i, NULL, NULL));
      EXPECT_OK(recv_tensor(&r.ps, i, key_of(&t.out, &key), i, 0, &got));
    }
    await_run(&p);
    EXPECT_EQ_INT(p.err, WEFT_OK);
    EXPECT_NEAR(got, -7, 0);
    cleanup_step(&r.ps, i);
    cleanup_step(&r.wk, i);
  }
  EXPECT_EQ_INT(count_steps(&r.ps) + count_steps(&r.wk), 0);
  EXPECT_OK(delete_session(&r.ps, "s"));
  EXPECT_OK(delete_session(&r.ps, "s")); /* unknown: accepted */
  EXPECT_ERR(run_step(&r.ps, "s", &t.ps, 99, NULL, NULL), WEFT_ABORTED, "Session handle is not found: s.");
  test_cluster_close(&r);
}

TEST_WITHIN(30, a_tensor_may_be_requested_before_the_step_begins) {
  test_cluster r;
  round_trip t;
  pending_run p[2];
  test_cluster_open(&r);
  register_both(&r, "", &t); /* a master before TensorFlow 1.9 creates no session */
  start_step(&r.wk, "", &t.wk, 5, NULL, &p[0]);
  await_steps(&r.ps, 1); /* the worker's RecvTensor created it */
  start_step(&r.ps, "", &t.ps, 5, NULL, &p[1]);
  await_run(&p[0]);
  await_run(&p[1]);
  EXPECT_EQ_INT(p[0].err, WEFT_OK);
  EXPECT_EQ_INT(p[1].err, WEFT_OK);
  cleanup_step(&r.ps, 5);
  cleanup_step(&r.wk, 5);
  test_cluster_close(&r);
}

TEST_WITHIN(60, many_steps_wait_at_once) {
  enum { STEPS = 64 };
  test_cluster r;
  round_trip t;
  static pending_run wk[STEPS], ps[STEPS];
  test_cluster_open(&r);
  register_both(&r, "", &t);
  for (int i = 0; i < STEPS; i++) start_step(&r.wk, "", &t.wk, 100 + i, NULL, &wk[i]);
  await_steps(&r.ps, STEPS);
  for (int i = 0; i < STEPS; i++) EXPECT_EQ_INT(atomic_load(&wk[i].ended), 0);
  for (int i = 0; i < STEPS; i++) start_step(&r.ps, "", &t.ps, 100 + i, NULL, &ps[i]);
  for (int i = 0; i < STEPS; i++) {
    await_run(&wk[i]);
    await_run(&ps[i]);
    EXPECT_EQ_INT(wk[i].err, WEFT_OK);
    EXPECT_EQ_INT(ps[i].err, WEFT_OK);
    cleanup_step(&r.ps, 100 + i);
    cleanup_step(&r.wk, 100 + i);
  }
  EXPECT_EQ_INT(count_steps(&r.ps) + count_steps(&r.wk), 0);
  test_cluster_close(&r);
}

TEST(a_dead_value_travels_with_a_tensor_that_tensorflow_can_read) {
  test_cluster r;
  graph_handle h;
  edge_key key;
  test_cluster_open(&r);
  edge x = {"x", &r.ps, &r.wk};
  weft_graph *g = new_graph();
  weft_tensor *no;
  EXPECT_OK(weft__tensor_scalar(&no, WEFT_BOOL, 0));
  weft_out v = constant(g, PS CPU, "v", 1);
  weft_out p =
      add_node(g, "Const", "p", PS CPU, 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_BOOL), A_TENSOR("value", no)});
  weft_tensor_destroy(no);
  weft_out sw = add_node(g, "Switch", "sw", PS CPU, 2, (weft_out[]){v, p}, 1, (attr[]){A_TYPE("T", WEFT_FLOAT)});
  send_node(g, &x, (weft_out){sw.node, 1});
  EXPECT_OK(register_in(&r.ps, "", g, &h));
  EXPECT_OK(run_step(&r.ps, "", &h, 1, NULL, NULL));
  Tensorflow__RecvTensorRequest q = TENSORFLOW__RECV_TENSOR_REQUEST__INIT;
  message reply = {0};
  ProtobufCMessage *m;
  q.step_id = 1;
  q.rendezvous_key = (char *)(uintptr_t)key_of(&x, &key);
  EXPECT_OK(call_task(&r.ps, METHOD("RecvTensor"), &q.base, 0, &reply));
  EXPECT_OK(weft__message_unpack(&m, &reply, &tensorflow__recv_tensor_response__descriptor));
  const Tensorflow__RecvTensorResponse *got = (Tensorflow__RecvTensorResponse *)m;
  EXPECT(got->is_dead && got->tensor && got->tensor->dtype == WEFT_FLOAT);
  protobuf_c_message_free_unpacked(m, NULL);
  weft__message_finish(&reply);
  test_cluster_close(&r);
}

TEST(run_graph_takes_inputs_and_returns_stats) {
  test_cluster r;
  graph_handle h;
  edge_key in_key, out_key;
  test_cluster_open(&r);
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
  opts.record_timeline = opts.record_partition_graphs = opts.record_costs = true;
  q.n_send = 1, q.send = send;
  q.n_recv_key = 1, q.recv_key = keys;
  q.exec_opts = &opts;
  message reply = {0};
  Tensorflow__RunGraphResponse *body;
  EXPECT_OK(call_task(&r.ps, METHOD("RunGraph"), &q.base, 0, &reply));
  EXPECT_OK(body_error(&reply, &body));
  EXPECT(body->step_stats && body->step_stats->n_dev_stats == 1);
  EXPECT_EQ_STR(body->step_stats->dev_stats[0]->device, PS CPU);
  EXPECT_EQ_INT(body->step_stats->dev_stats[0]->n_node_stats, 3);
  EXPECT_EQ_INT(body->n_partition_graph, 1);
  EXPECT_EQ_INT(body->partition_graph[0]->n_node, 3);
  EXPECT(body->cost_graph && body->cost_graph->n_node == 5); /* with _SOURCE and _SINK */
  EXPECT_EQ_INT(body->n_recv, 1);
  protobuf_c_message_free_unpacked(&body->base, NULL);
  weft__message_finish(&reply);
  cleanup_step(&r.ps, 1);
  test_cluster_close(&r);
}

TEST(get_status_reports_the_devices_of_the_task) {
  test_cluster r;
  test_cluster_open(&r);
  message reply = {0};
  ProtobufCMessage *m;
  Tensorflow__GetStatusRequest q = TENSORFLOW__GET_STATUS_REQUEST__INIT;
  EXPECT_OK(call_task(&r.ps, METHOD("GetStatus"), &q.base, 0, &reply));
  EXPECT_OK(weft__message_unpack(&m, &reply, &tensorflow__get_status_response__descriptor));
  const Tensorflow__GetStatusResponse *s = (Tensorflow__GetStatusResponse *)m;
  EXPECT_EQ_INT(s->n_device_attributes, 1);
  EXPECT_EQ_STR(s->device_attributes[0]->name, PS CPU);
  EXPECT_EQ_STR(s->device_attributes[0]->device_type, "CPU");
  EXPECT_EQ_INT(s->device_attributes[0]->memory_limit, 268435456);
  EXPECT(s->device_attributes[0]->incarnation == r.ps.task->device[0]->incarnation);
  protobuf_c_message_free_unpacked(m, NULL);
  weft__message_finish(&reply);
  test_cluster_close(&r);
}

static void create_session_by(test_task *s, const char *session, Tensorflow__CreateWorkerSessionRequest q) {
  message m = {0}, reply = {0};
  q.session_handle = (char *)(uintptr_t)session;
  EXPECT_OK(weft__message_pack(&m, &q.base));
  EXPECT_OK(weft__channel_call_wait(s->to, "/tensorflow.WorkerService/CreateWorkerSession", &m,
                                    &(call_opts){.timeout_ms = 5000}, &reply));
  weft__message_finish(&reply);
}

static void create_session_from(test_task *s, const char *session, uint64_t incarnation) {
  Tensorflow__CreateWorkerSessionRequest q = TENSORFLOW__CREATE_WORKER_SESSION_REQUEST__INIT;
  q.weft_master = (char *)(uintptr_t)WK;
  q.weft_incarnation = incarnation;
  create_session_by(s, session, q);
}

static void create_session_from_tf(test_task *s, const char *session, const char *master, int64_t incarnation) {
  Tensorflow__CreateWorkerSessionRequest q = TENSORFLOW__CREATE_WORKER_SESSION_REQUEST__INIT;
  q.master_task = (char *)(uintptr_t)master;
  q.master_incarnation = incarnation;
  create_session_by(s, session, q);
}

/* Sessions are dropped on the task's pool, so this waits. */
static void expect_sessions(const test_task *s, int n) {
  for (int i = 0; i < 500 && weft__worker_sessions(s->worker) != n; i++) usleep(10000);
  EXPECT_EQ_INT(weft__worker_sessions(s->worker), n);
}

TEST(the_sessions_of_a_replaced_process_are_dropped_at_once) {
  test_cluster r;
  test_cluster_open(&r);
  create_session_from(&r.ps, "old", 7);
  create_session_from(&r.ps, "older", 6);
  create_session_from(&r.ps, "now", 8);
  create_session_from(&r.ps, "unknown", 0);
  weft__worker_task_lost(r.ps.worker, WK); /* this alone keeps them for ten minutes */
  EXPECT_EQ_INT(weft__worker_sessions(r.ps.worker), 4);
  weft__worker_task_replaced(r.ps.worker, PS, 1);
  weft__worker_task_replaced(r.ps.worker, WK, 8);
  expect_sessions(&r.ps, 2);
  weft__worker_task_replaced(r.ps.worker, WK, 0);
  expect_sessions(&r.ps, 1);
  test_cluster_close(&r);
}

TEST(a_tensorflow_master_that_was_restarted_replaces_its_sessions) {
  test_cluster r;
  test_cluster_open(&r);
  create_session_from_tf(&r.ps, "killed", WK, 7);
  create_session_from_tf(&r.ps, "of another task", PS, 5);
  create_session_from_tf(&r.ps, "before TensorFlow 1.14", "", 0);
  EXPECT_EQ_INT(weft__worker_sessions(r.ps.worker), 3);
  create_session_from_tf(&r.ps, "first", WK, -8); /* an incarnation is any number of 64 bits */
  expect_sessions(&r.ps, 3);
  create_session_from_tf(&r.ps, "second", WK, -8);
  expect_sessions(&r.ps, 4);
  test_cluster_close(&r);
}

TEST(an_isolated_session_has_variables_of_its_own) {
  test_cluster r;
  graph_handle init, add;
  edge_key key;
  double got = 0;
  test_cluster_open(&r);
  edge out = {"w", &r.ps, &r.ps};
  EXPECT_OK(create_session(&r.ps, "a", false));
  EXPECT_OK(create_session(&r.ps, "b", false));
  EXPECT_OK(create_session(&r.ps, "alone", true));
  EXPECT_OK(register_in(&r.ps, "a", counter(&out, true), &init));
  EXPECT_OK(run_step(&r.ps, "a", &init, 1, NULL, NULL));
  EXPECT_OK(register_in(&r.ps, "b", counter(&out, false), &add));
  EXPECT_OK(run_step(&r.ps, "b", &add, 2, key_of(&out, &key), &got));
  EXPECT_NEAR(got, 11, 0);
  EXPECT_OK(register_in(&r.ps, "alone", counter(&out, false), &add));
  EXPECT_ERR(run_step(&r.ps, "alone", &add, 3, NULL, NULL), WEFT_FAILED_PRECONDITION, "uninitialized value w");
  Tensorflow__CleanupAllRequest q = TENSORFLOW__CLEANUP_ALL_REQUEST__INIT;
  EXPECT_OK(call_task_no_reply(&r.ps, METHOD("CleanupAll"), &q.base));
  EXPECT_OK(register_in(&r.ps, "b", counter(&out, false), &add));
  EXPECT_ERR(run_step(&r.ps, "b", &add, 4, NULL, NULL), WEFT_FAILED_PRECONDITION, "uninitialized");
  test_cluster_close(&r);
}

TEST(a_value_that_was_sent_does_not_change_with_its_variable) {
  test_cluster r;
  graph_handle init, add;
  edge_key key;
  double got = 0;
  test_cluster_open(&r);
  edge out = {"w", &r.ps, &r.wk};
  EXPECT_OK(register_in(&r.ps, "", counter(&out, true), &init));
  EXPECT_OK(register_in(&r.ps, "", counter(&out, false), &add));
  EXPECT_OK(run_step(&r.ps, "", &init, 1, NULL, NULL));
  for (int i = 2; i < 6; i++) EXPECT_OK(run_step(&r.ps, "", &add, i, NULL, NULL));
  for (int i = 1; i < 6; i++) {
    EXPECT_OK(recv_tensor(&r.ps, i, key_of(&out, &key), 0, 0, &got));
    EXPECT_NEAR(got, 9 + i, 0);
    cleanup_step(&r.ps, i);
  }
  test_cluster_close(&r);
}

TEST(a_partial_run_is_fed_and_fetched_from_by_several_calls) {
  test_cluster r;
  graph_handle h;
  edge_key key[4];
  test_cluster_open(&r);
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
  cleanup_step(&r.ps, 1);
  EXPECT_EQ_INT(count_steps(&r.ps), 0);
  test_cluster_close(&r);
}

/* ---- parts of the master's own task ---- */

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

TEST(parts_of_one_task_exchange_tensors_in_the_step) {
  test_cluster r;
  part *a, *b;
  local_run la = {0}, lb = {0};
  test_cluster_open(&r);
  EXPECT_OK(weft__worker_open_session(r.ps.worker, "s", false));
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
  weft__worker_cleanup_step(r.ps.worker, 8);
  la = (local_run){0}; /* now nothing sends: the deadline ends the run */
  weft__part_run(
      a,
      &(part_run){
          .step = 9, .fetched = &la.got, .deadline_ns = weft__clock_now_ns() + 30000000, .done = on_local, .arg = &la});
  for (int i = 0; i < 5000 && !atomic_load(&la.ended); i++) usleep(1000);
  EXPECT_EQ_INT(la.err, WEFT_DEADLINE_EXCEEDED);
  weft__worker_cleanup_step(r.ps.worker, 9);
  weft__part_release(a);
  weft__part_release(b);
  weft__worker_close_session(r.ps.worker, "s");
  g = new_graph();
  EXPECT_ERR(weft__part_create(&a, r.ps.worker, "s", g, 0, NULL, 0, NULL), WEFT_ABORTED, "Session handle is not found");
  test_cluster_close(&r);
}

TEST(a_step_with_auto_cleanup_ends_when_the_last_value_was_received) {
  test_cluster r;
  round_trip t;
  Tensorflow__RunGraphRequest q;
  edge_key key;
  pending_run p;
  double got;
  test_cluster_open(&r);
  register_both(&r, "", &t);
  run_request(&q, "", &t.ps, 1);
  q.weft_auto_cleanup = true;
  start_step(&r.wk, "", &t.wk, 1, NULL, &p);
  EXPECT_OK(run_graph(&r.ps, &q, 0, NULL));
  await_run(&p);
  EXPECT_EQ_INT(count_steps(&r.ps), 1); /* "out" has not been received */
  EXPECT_OK(recv_tensor(&r.ps, 1, key_of(&t.out, &key), 0, 0, &got));
  await_no_steps(&r.ps);
  EXPECT_EQ_INT(count_steps(&r.wk), 1); /* that run had no auto_cleanup */
  cleanup_step(&r.wk, 1);
  test_cluster_close(&r);
}

/* ---- batched receives ---- */

typedef struct arrivals {
  atomic_int ended;
  weft_err err[3];
  double got[3];
} arrivals;

typedef struct arrival {
  arrivals *all;
  int i;
} arrival;

static void on_arrival(void *arg, weft_err err, const weft_tensor *t, bool dead) {
  arrival *a = arg;
  a->all->err[a->i] = err;
  if (!err && !dead) a->all->got[a->i] = weft__tensor_double(t, 0);
  atomic_fetch_add(&a->all->ended, 1);
}

static void await_arrivals(arrivals *a) {
  for (int i = 0; i < 8000 && atomic_load(&a->ended) < 3; i++) usleep(1000);
  EXPECT_EQ_INT(atomic_load(&a->ended), 3);
}

TEST_WITHIN(30, tensors_of_one_stage_are_received_in_one_call) {
  test_cluster r;
  graph_handle h[2];
  edge e[3] = {{"a", &r.ps, &r.wk}, {"b", &r.ps, &r.wk}, {"c", &r.ps, &r.wk}};
  edge_key key[3];
  peer *ps;
  test_cluster_open(&r);
  EXPECT_OK(weft__peers_find(r.wk.peers, PS, &ps));
  weft__peer_note_greeting(ps, false); /* it is Weft */
  for (int half = 0; half < 2; half++) {
    weft_graph *g = new_graph();
    send_node(g, &e[half], constant(g, PS CPU, "x", 10 + half));
    if (half) {
      weft_tensor *big;
      EXPECT_OK(weft__tensor_create(&big, WEFT_FLOAT, &SHAPE1(300000)));
      memset(big->data, 0, weft__tensor_bytes(big));
      TENSOR_DATA(big, float)[0] = 12;
      send_node(g, &e[2],
                add_node(g, "Const", "big", PS CPU, 0, NULL, 2,
                         (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_TENSOR("value", big)}));
      weft_tensor_destroy(big);
    }
    EXPECT_OK(register_in(&r.ps, "", g, &h[half]));
  }
  for (int id = 1; id <= 3; id++) { /* step 2 is cleaned up too early, step 3 does not fit one message */
    r.ps.worker->batch_bytes_max = id == 3 ? 1000 : (size_t)1 << 30;
    arrivals all = {0};
    arrival a[3] = {{&all, 0}, {&all, 1}, {&all, 2}};
    recv_request want[3];
    worker_step *s;
    for (int i = 0; i < 3; i++) want[i] = (recv_request){key_of(&e[i], &key[i]), on_arrival, &a[i]};
    EXPECT_OK(weft__worker_step_get(r.wk.worker, id, true, &s));
    weft__rendezvous_recv_all(s->rendezvous, 3, want);
    await_steps(&r.ps, 1); /* the call has reached the ps */
    EXPECT_OK(run_step(&r.ps, "", &h[0], id, NULL, NULL));
    usleep(20000);                             /* a tensor that is sent on its own would arrive meanwhile */
    EXPECT_EQ_INT(atomic_load(&all.ended), 0); /* all or none */
    if (id == 2)
      cleanup_step(&r.ps, id);
    else
      EXPECT_OK(run_step(&r.ps, "", &h[1], id, NULL, NULL));
    await_arrivals(&all);
    for (int i = 0; i < 3; i++) EXPECT_EQ_INT(all.err[i], id == 2 ? WEFT_ABORTED : WEFT_OK);
    for (int i = 0; i < 3 && id != 2; i++) EXPECT_NEAR(all.got[i], 10 + i, 0);
    weft__worker_step_release(s);
    cleanup_step(&r.ps, id);
    weft__worker_cleanup_step(r.wk.worker, id);
  }
  EXPECT_EQ_INT(count_steps(&r.ps), 0);
  test_cluster_close(&r);
}

TEST_WITHIN(30, canceling_a_batch_cancels_all_its_receives) {
  test_cluster r;
  arrivals all = {0};
  arrival a[3] = {{&all, 0}, {&all, 1}, {&all, 2}};
  edge e[3] = {{"a", &r.ps, &r.wk}, {"b", &r.ps, &r.wk}, {"c", &r.ps, &r.wk}};
  edge_key key[3];
  recv_request want[3];
  worker_step *s;
  peer *ps;
  test_cluster_open(&r);
  EXPECT_OK(weft__peers_find(r.wk.peers, PS, &ps));
  weft__peer_note_greeting(ps, false);
  for (int i = 0; i < 3; i++) want[i] = (recv_request){key_of(&e[i], &key[i]), on_arrival, &a[i]};
  EXPECT_OK(weft__worker_step_get(r.wk.worker, 1, true, &s));
  weft__rendezvous_recv_all(s->rendezvous, 3, want);
  await_steps(&r.ps, 1); /* the call has reached the ps */
  weft__worker_cleanup_step(r.wk.worker, 1);
  await_arrivals(&all);
  for (int i = 0; i < 3; i++) EXPECT_EQ_INT(all.err[i], WEFT_ABORTED);
  weft__worker_step_release(s);
  test_cluster_close(&r);
}
