/* wrong_test.c - a worker with invalid calls and graphs, and with masters and tasks that fail. */
#include "base/clock.h"
#include "cluster/worker/test_worker.h"

/* ---- tokens of synchronous jobs ---- */

static weft_out token_queue(weft_graph *g) {
  weft_dtype type = WEFT_FLOAT;
  shape of = SHAPE_SCALAR;
  attr attrs[] = {A_TYPES("component_types", &type, 1), A_SHAPES("shapes", &of, 1), A_INT("capacity", -1),
                  A_STR("shared_name", "sync_token_q")};
  return add_node(g, "FIFOQueueV2", "sync_token_q", PS CPU, 0, NULL, 4, attrs);
}

/* Registers two graphs: one enqueues a token, the other dequeues one and sends it to the worker. */
static void register_tokens(test_cluster *r, const edge *to, graph_handle *put, graph_handle *take) {
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

/* Dequeues a token in a step of its own and receives it. */
static weft_err take_one(test_cluster *r, graph_handle *take, const edge *to, int64_t id) {
  edge_key key;
  double got = 0;
  WEFT_TRY(run_step(&r->ps, "", take, id, NULL, NULL));
  EXPECT_OK(recv_tensor(&r->ps, id, key_of(to, &key), 0, 0, &got));
  EXPECT_NEAR(got, 5, 0);
  return WEFT_OK;
}

/* Calls the task and expects the run to go on.  A run that had ended before the call would have been answered first. */
static void expect_still_runs(test_task *s, pending_run *p) {
  Tensorflow__GetStatusRequest q = TENSORFLOW__GET_STATUS_REQUEST__INIT;
  EXPECT_OK(call_task_no_reply(s, METHOD("GetStatus"), &q.base));
  EXPECT_EQ_INT(atomic_load(&p->ended), 0);
}

TEST_WITHIN(30, the_token_of_a_lost_worker_returns_to_the_queue) {
  test_cluster r;
  graph_handle put, take;
  pending_run p;
  test_cluster_open(&r);
  edge to = {"token", &r.ps, &r.wk};
  register_tokens(&r, &to, &put, &take);
  for (int i = 1; i <= 2; i++) EXPECT_OK(run_step(&r.ps, "", &put, i, NULL, NULL));
  /* when it requests the second token, it has used the first one */
  for (int i = 3; i <= 4; i++) EXPECT_OK(take_one(&r, &take, &to, i));
  start_step(&r.ps, "", &take, 5, NULL, &p);                           /* waits, like another worker */
  weft__worker_task_lost(r.ps.worker, "/job:worker/replica:0/task:9"); /* another task: no effect */
  expect_still_runs(&r.ps, &p);
  cleanup_step(&r.ps, 5);
  EXPECT_OK(run_step(&r.ps, "", &put, 6, NULL, NULL)); /* ends the waiting run */
  await_run(&p);
  weft__worker_task_lost(r.ps.worker, WK);
  EXPECT_OK(run_step(&r.ps, "", &take, 7, NULL, NULL)); /* the token that was returned */
  test_cluster_close(&r);
}

TEST_WITHIN(30, a_closed_token_queue_is_closed_for_all_workers) {
  test_cluster r;
  graph_handle put, take, close;
  test_cluster_open(&r);
  edge to = {"token", &r.ps, &r.wk};
  register_tokens(&r, &to, &put, &take);
  weft_graph *g = new_graph();
  weft_out q = token_queue(g);
  add_node(g, "QueueCloseV2", "close", PS CPU, 1, &q, 1, (attr[]){A_BOOL("cancel_pending_enqueues", true)});
  EXPECT_OK(register_in(&r.ps, "", g, &close));
  for (int i = 1; i <= 2; i++) EXPECT_OK(run_step(&r.ps, "", &put, i, NULL, NULL));
  EXPECT_OK(take_one(&r, &take, &to, 2));
  EXPECT_OK(run_step(&r.ps, "", &close, 3, NULL, NULL));
  EXPECT_OK(take_one(&r, &take, &to, 4)); /* its elements can still be dequeued */
  EXPECT_ERR(take_one(&r, &take, &to, 5), WEFT_OUT_OF_RANGE, "is closed and has insufficient elements");
  cleanup_step(&r.ps, 5);
  weft__worker_task_lost(r.ps.worker, WK); /* it holds no token */
  EXPECT_ERR(take_one(&r, &take, &to, 6), WEFT_OUT_OF_RANGE, "is closed and has insufficient elements");
  cleanup_step(&r.ps, 6);
  test_cluster_close(&r);
}

TEST(sessions_of_a_master_that_does_not_come_back_are_dropped) {
  test_cluster r;
  worker *w;
  Tensorflow__CreateWorkerSessionRequest q = TENSORFLOW__CREATE_WORKER_SESSION_REQUEST__INIT;
  test_cluster_open(&r);
  w = r.ps.worker;
  q.weft_master = (char *)(uintptr_t)WK;
  q.session_handle = (char *)(uintptr_t) "a";
  EXPECT_OK(call_task_no_reply(&r.ps, METHOD("CreateWorkerSession"), &q.base));
  q.session_handle = (char *)(uintptr_t) "b";
  EXPECT_OK(call_task_no_reply(&r.ps, METHOD("CreateWorkerSession"), &q.base));
  EXPECT_OK(create_session(&r.ps, "tf", false)); /* its master is not known */
  weft__worker_task_lost(w, WK);
  weft__worker_sessions_sweep(w);
  EXPECT_EQ_INT(weft__worker_sessions(w), 3); /* the master may come back */
  pthread_mutex_lock(&w->lock);
  for (int i = 0; i < w->sessions.used; i++) {
    worker_session *s = w->sessions.entries[i].value;
    if (s->lost_ns) s->lost_ns -= 601 * NS_PER_S;
  }
  pthread_mutex_unlock(&w->lock);
  graph_handle h;
  weft_graph *g = new_graph();
  constant(g, PS CPU, "c", 1);
  EXPECT_OK(register_in(&r.ps, "b", g, &h)); /* the master of this one is back */
  weft__worker_sessions_sweep(w);
  EXPECT_EQ_INT(weft__worker_sessions(w), 2);
  EXPECT_OK(run_step(&r.ps, "b", &h, 1, NULL, NULL));
  EXPECT_ERR(run_step(&r.ps, "a", &h, 2, NULL, NULL), WEFT_ABORTED, "Session handle is not found");
  cleanup_step(&r.ps, 1);
  test_cluster_close(&r);
}

TEST_WITHIN(30, runs_that_exchange_tensors_with_a_lost_task_end) {
  test_cluster r;
  round_trip t;
  pending_run p;
  test_cluster_open(&r);
  register_both(&r, "", &t);
  start_step(&r.wk, "", &t.wk, 3, NULL, &p);
  await_steps(&r.ps, 1);                                           /* the worker's RecvTensor has arrived */
  weft__worker_task_lost(r.wk.worker, "/job:ps/replica:0/task:1"); /* another task */
  expect_still_runs(&r.wk, &p);
  weft__worker_task_lost(r.wk.worker, PS);
  await_run(&p);
  EXPECT_EQ_INT(p.err, WEFT_UNAVAILABLE);
  EXPECT_CONTAINS(p.text, PS " is gone");
  await_no_steps(&r.wk);
  test_cluster_close(&r);
}

/* ---- failures ---- */

TEST_WITHIN(30, an_error_on_one_task_ends_the_step_on_the_other) {
  test_cluster r;
  graph_handle ps, wk;
  pending_run p;
  test_cluster_open(&r);
  edge x = {"x", &r.ps, &r.wk}, w = {"w", &r.ps, &r.ps};
  weft_graph *g = counter(&w, false); /* uninitialized */
  weft_out never = {g->n_node - 2, 0};
  send_node(g, &x, never);
  EXPECT_OK(register_in(&r.ps, "", g, &ps));
  g = new_graph();
  negate(g, WK CPU, "neg", recv_node(g, &x));
  EXPECT_OK(register_in(&r.wk, "", g, &wk));
  start_step(&r.wk, "", &wk, 1, NULL, &p);
  EXPECT_ERR(run_step(&r.ps, "", &ps, 1, NULL, NULL), WEFT_FAILED_PRECONDITION, "uninitialized value w");
  await_run(&p);
  EXPECT_EQ_INT(p.err, WEFT_FAILED_PRECONDITION);
  cleanup_step(&r.ps, 1);
  cleanup_step(&r.wk, 1);
  test_cluster_close(&r);
}

TEST_WITHIN(30, cleanup_ends_waiting_receives) {
  test_cluster r;
  round_trip t;
  pending_run p;
  test_cluster_open(&r);
  register_both(&r, "", &t);
  start_step(&r.wk, "", &t.wk, 77, NULL, &p);
  await_steps(&r.ps, 1); /* the worker's RecvTensor has arrived */
  cleanup_step(&r.ps, 77);
  await_run(&p);
  EXPECT_EQ_INT(p.err, WEFT_ABORTED);
  EXPECT_CONTAINS(p.text, "[_Derived_]Cleanup 77");
  cleanup_step(&r.wk, 77);
  test_cluster_close(&r);
}

TEST_WITHIN(30, a_step_canceled_by_its_master_expires) {
  test_cluster r;
  round_trip t;
  pending_run p;
  cancel token;
  test_cluster_open(&r);
  register_both(&r, "", &t);
  weft__cancel_init(&token);
  start_step(&r.wk, "", &t.wk, 3, &token, &p); /* the part of the ps is never started */
  await_steps(&r.wk, 1);
  weft__cancel_fire(&token, WEFT_CANCELLED, "enough");
  await_run(&p);
  EXPECT_EQ_INT(p.err, WEFT_CANCELLED);
  await_no_steps(&r.wk);
  EXPECT_ERR(recv_tensor(&r.ps, 4, "no key", 0, 0, NULL), WEFT_INVALID_ARGUMENT, "rendezvous key");
  weft__cancel_finish(&token);
  test_cluster_close(&r);
}

TEST_WITHIN(30, closing_a_task_ends_its_runs) {
  test_cluster r;
  round_trip t;
  pending_run p;
  test_cluster_open(&r);
  register_both(&r, "", &t);
  start_step(&r.wk, "", &t.wk, 3, NULL, &p);
  await_steps(&r.ps, 1); /* the worker's RecvTensor has arrived */
  test_task_close(&r.wk);
  await_run(&p);
  EXPECT(p.err != WEFT_OK);
  test_task_close(&r.ps);
}

TEST_WITHIN(30, calls_out_of_order_get_an_error_each) {
  test_cluster r;
  graph_handle h = {"0000000000000001"}, other;
  edge_key key;
  test_cluster_open(&r);
  edge x = {"x", &r.ps, &r.wk};
  EXPECT_ERR(create_session(&r.ps, "", false), WEFT_INVALID_ARGUMENT, "non-empty");
  EXPECT_ERR(run_step(&r.ps, "nobody", &h, 1, NULL, NULL), WEFT_ABORTED, "Session handle is not found: nobody");
  EXPECT_ERR(run_step(&r.ps, "", &h, 1, NULL, NULL), WEFT_ABORTED, "Graph handle is not found: 0000000000000001");
  EXPECT_ERR(register_in(&r.ps, "nobody", new_graph(), &other), WEFT_ABORTED, "Session handle is not found");
  Tensorflow__DeregisterGraphRequest q = TENSORFLOW__DEREGISTER_GRAPH_REQUEST__INIT;
  q.graph_handle = h.text;
  EXPECT_ERR(call_task_no_reply(&r.ps, METHOD("DeregisterGraph"), &q.base), WEFT_ABORTED, "Graph handle is not found");
  weft_graph *g = new_graph();
  constant(g, PS CPU, "c", 1);
  EXPECT_OK(register_in(&r.ps, "", g, &other));
  q.graph_handle = other.text;
  EXPECT_OK(run_step(&r.ps, "", &other, 1, NULL, NULL));
  EXPECT_OK(call_task_no_reply(&r.ps, METHOD("DeregisterGraph"), &q.base));
  EXPECT_ERR(call_task_no_reply(&r.ps, METHOD("DeregisterGraph"), &q.base), WEFT_ABORTED, "Graph handle is not found");
  cleanup_step(&r.ps, 1);
  cleanup_step(&r.ps, 12345); /* unknown: accepted */

  key_of(&x, &key);
  EXPECT_ERR(recv_tensor(&r.ps, 1, key.text, 0, 100, NULL), WEFT_DEADLINE_EXCEEDED, "");
  EXPECT_ERR(recv_tensor(&r.ps, 1, "a;b", 0, 0, NULL), WEFT_INVALID_ARGUMENT, "rendezvous key: a;b");
  static const char *const iterations[] = {"", "0", "0:", ":0", "0:0x", "x:0", "-1:0", "0:-", "0:0:0", "0: 0"};
  for (size_t i = 0; i < sizeof iterations / sizeof *iterations; i++) {
    strcpy(strrchr(key.text, ';') + 1, iterations[i]);
    EXPECT_ERR(weft__worker_check_key(r.ps.worker, key.text), WEFT_INVALID_ARGUMENT, "rendezvous key");
  }
  strcpy(strrchr(key.text, ';') + 1, "18446744073709551615:-1");
  EXPECT_OK(weft__worker_check_key(r.ps.worker, key.text));
  memcpy(strchr(key.text, ';') + 1, "0123456789abcdef", 16);
  EXPECT_ERR(recv_tensor(&r.ps, 1, key.text, 0, 0, NULL), WEFT_ABORTED,
             "RecvTensor expects a different device incarnation: 81985529216486895 vs. ");
  EXPECT_ERR(recv_tensor(&r.ps, 1, PS "/device:GPU:3;0123456789abcdef;" WK CPU ";x;0:0", 0, 0, NULL),
             WEFT_INVALID_ARGUMENT, "unknown device");
  Tensorflow__RecvBufRequest buf = TENSORFLOW__RECV_BUF_REQUEST__INIT;
  EXPECT_ERR(call_task_no_reply(&r.ps, METHOD("RecvBuf"), &buf.base), WEFT_INVALID_ARGUMENT, "no device");
  buf.src_device = r.ps.task->device[0]->name;
  buf.src_incarnation = 5;
  EXPECT_ERR(call_task_no_reply(&r.ps, METHOD("RecvBuf"), &buf.base), WEFT_FAILED_PRECONDITION, "incarnation: 5");
  Tensorflow__CompleteGroupRequest group = TENSORFLOW__COMPLETE_GROUP_REQUEST__INIT;
  EXPECT_ERR(call_task_no_reply(&r.ps, METHOD("CompleteGroup"), &group.base), WEFT_INVALID_ARGUMENT, "size 0");
  EXPECT_ERR(call_task_no_reply(&r.ps, METHOD("Tracing"), &q.base), WEFT_UNIMPLEMENTED, "");
  Tensorflow__LoggingRequest log = TENSORFLOW__LOGGING_REQUEST__INIT;
  EXPECT_OK(call_task_no_reply(&r.ps, METHOD("Logging"), &log.base));
  test_cluster_close(&r);
}

TEST_WITHIN(30, a_request_that_arrives_twice_runs_once) {
  test_cluster r;
  graph_handle h;
  Tensorflow__RunGraphRequest q;
  edge_key key;
  test_cluster_open(&r);
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
  cleanup_step(&r.ps, 1);
  test_cluster_close(&r);
}

TEST_WITHIN(30, graphs_that_cannot_run_are_rejected_when_registered) {
  test_cluster r;
  graph_handle h;
  test_cluster_open(&r);
  weft_graph *g = new_graph();
  add_node(g, "NoSuchOp", "n", PS CPU, 0, NULL, 0, NULL);
  EXPECT_ERR(register_in(&r.ps, "", g, &h), WEFT_NOT_FOUND, "Op type not registered 'NoSuchOp'");
  g = new_graph();
  constant(g, "", "c", 1);
  EXPECT_ERR(register_in(&r.ps, "", g, &h), WEFT_INVALID_ARGUMENT, "missing a device");
  EXPECT_OK(create_session(&r.ps, "x", false)); /* it keeps serving */
  test_cluster_close(&r);
}

TEST_WITHIN(60, random_bytes_get_an_error_and_the_task_keeps_serving) {
  static const char *const names[] = {"RunGraph",      "RecvTensor",      "CleanupGraph", "CreateWorkerSession",
                                      "RegisterGraph", "DeregisterGraph", "CleanupAll",   "DeleteWorkerSession",
                                      "Logging",       "Tracing",         "GetStatus",    "MarkRecvFinished"};
  test_cluster r;
  test_cluster_open(&r);
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
  test_cluster_close(&r);
}

TEST_WITHIN(60, steps_may_be_canceled_at_any_time) {
  test_cluster r;
  round_trip t;
  uint32_t chance = 1;
  test_cluster_open(&r);
  register_both(&r, "", &t);
  for (int id = 1; id <= 200; id++) {
    pending_run ps, wk;
    cancel token;
    weft__cancel_init(&token);
    start_step(&r.wk, "", &t.wk, id, id % 3 ? NULL : &token, &wk);
    start_step(&r.ps, "", &t.ps, id, NULL, &ps);
    chance = chance * 1664525 + 1013904223;
    usleep(chance >> 21); /* up to 2 ms: before, during or after the run */
    if (id % 3 == 0) weft__cancel_fire(&token, WEFT_CANCELLED, "enough");
    if (id % 3 == 1) weft__worker_task_lost(r.ps.worker, WK);
    if (id % 3 == 2) cleanup_step(&r.ps, id);
    for (int i = 0; i < 2000 && !(i && atomic_load(&ps.ended) && atomic_load(&wk.ended)); i++) {
      cleanup_step(&r.wk, id); /* repeated: a call in transit may have created the step again */
      cleanup_step(&r.ps, id);
      usleep(100);
    }
    await_run(&ps);
    await_run(&wk);
    weft__cancel_finish(&token);
  }
  await_no_steps(&r.wk);
  test_cluster_close(&r);
}
