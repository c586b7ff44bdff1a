/* dataflow_start_test.c - asynchronous runs: parked without a thread, resumed by strangers, ended once. */
#include "exec/compile.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "exec/executors/dataflow.h"
#include "graph/build.h"
#include "ops/all.h"
#include "state/rendezvous.h"
#include "state/step_objects.h"
#include "tests/check.h"
#include <stdio.h>
#include <unistd.h>

static weft_err sleep_cpu(kernel *k) {
  usleep(20000);
  return weft__forward(k, 0, 0, &k->in[0]->shape);
}

static OPS(start_test) = {
    {"TestSleep(x:T) -> (y:T) | T:type", "Takes its time.", .flags = OP_NO_FOLD, .infer = weft__infer_same,
     .cpu = sleep_cpu},
    {0},
};

typedef struct rig {
  op_table *ops;
  weft_graph *g;
  plan *plan;
  pool *tasks;
} rig;

static void rig_init(rig *r, int threads) {
  const op *const *all = weft__ops_all();
  int n = 0;
  while (all[n]) n++;
  const op **lists = weft__alloc_zero((size_t)n + 2, sizeof *lists);
  for (int i = 0; i < n; i++) lists[i] = all[i];
  lists[n] = weft__ops_start_test;
  *r = (rig){0};
  EXPECT_OK(weft__op_table_create(&r->ops, lists));
  EXPECT_OK(weft__graph_create(&r->g, r->ops));
  EXPECT_OK(weft__pool_create(&r->tasks, threads));
  weft__free(lists);
}

static void rig_finish(rig *r) {
  weft__pool_destroy(r->tasks);
  weft__plan_destroy(r->plan);
  weft__graph_destroy(r->g);
  weft__op_table_destroy(r->ops);
}

#define EDGE(type_name, name)                                                                                          \
  (attr[]) {                                                                                                           \
    A_TYPE(type_name, WEFT_FLOAT), A_STR("tensor_name", name), A_STR("send_device", "/a"),                             \
        A_INT("send_device_incarnation", 1), A_STR("recv_device", "/b")                                                \
  }
#define KEY(name) "/a;0000000000000001;/b;" name ";0:0"

static weft_out recv_edge(rig *r, const char *name) {
  return weft__b_node(r->g, "_Recv", "recv", 0, NULL, 5, EDGE("tensor_type", name));
}

static int send_edge(rig *r, const char *name, weft_out x) {
  weft_node *n = NULL;
  EXPECT_OK(weft__b_ok(r->g));
  EXPECT_OK(weft__graph_add(
      r->g, &(node_spec){.op = "_Send", .name = "send", .n_in = 1, .in = &x, .n_attr = 5, .attr = EDGE("T", name)},
      &n));
  return n->id;
}

/* One run of the rig's plan. */
typedef struct started {
  plan_run run;
  cancel cancel;
  step_objects objects;
  weft_tensor *got;
  atomic_int ended;
  weft_err err;
  pthread_t where;
} started;

static void on_end(void *arg, weft_err err) {
  started *s = arg;
  s->err = err;
  s->where = pthread_self();
  atomic_fetch_add(&s->ended, 1);
}

static void start(rig *r, started *s, bool borrowed) {
  *s = (started){.got = NULL};
  weft__cancel_init(&s->cancel);
  weft__step_objects_init(&s->objects);
  s->run = (plan_run){.fetched = &s->got, .step = {.id = 1, .cancel = &s->cancel, .objects = &s->objects}};
  EXPECT_OK(weft__rendezvous_create(&s->run.step.rendezvous, NULL));
  weft__dataflow_start(r->plan, &s->run, r->tasks, borrowed, on_end, s);
}

static void await(started *s) {
  for (int i = 0; i < 5000 && !atomic_load(&s->ended); i++) usleep(1000);
  EXPECT_EQ_INT(atomic_load(&s->ended), 1);
}

static void finish(started *s) {
  EXPECT_EQ_INT(atomic_load(&s->ended), 1);
  weft_tensor_destroy(s->got);
  weft__rendezvous_release(s->run.step.rendezvous);
  weft__step_objects_finish(&s->objects);
  weft__cancel_finish(&s->cancel);
}

static void send_scalar(started *s, const char *key, double v) {
  weft_tensor *t = NULL;
  EXPECT_OK(weft__tensor_scalar(&t, WEFT_FLOAT, v));
  EXPECT_OK(weft__rendezvous_send(s->run.step.rendezvous, key, t, false));
  weft_tensor_destroy(t);
}

static void make_plan(rig *r, weft_out fetch, int n_target, const int *target) {
  EXPECT_OK(weft__b_ok(r->g));
  plan_request q = {.n_fetch = fetch.node >= 0, .fetch = &fetch, .n_target = n_target, .target = target};
  EXPECT_OK(weft__plan_create(&r->plan, r->g, &q));
}

TEST(runs_that_wait_hold_no_thread) {
  enum { RUNS = 200 };
  static started s[RUNS];
  for (int threads = 1; threads <= 2; threads++) {
    rig r;
    rig_init(&r, threads);
    weft_out x = weft__b_add(r.g, recv_edge(&r, "x"), recv_edge(&r, "y"));
    make_plan(&r, x, 0, NULL);
    for (int i = 0; i < RUNS; i++) start(&r, &s[i], i % 2);
    for (int i = 0; i < RUNS; i++) send_scalar(&s[i], KEY("x"), i);
    for (int i = 0; i < RUNS; i++) EXPECT_EQ_INT(atomic_load(&s[i].ended), 0);
    for (int i = 0; i < RUNS; i++) send_scalar(&s[i], KEY("y"), 1);
    for (int i = 0; i < RUNS; i++) {
      await(&s[i]);
      EXPECT_OK(s[i].err);
      EXPECT_NEAR(weft__tensor_double(s[i].got, 0), i + 1, 0);
      finish(&s[i]);
    }
    rig_finish(&r);
  }
}

TEST(a_run_in_which_nothing_waits_ends_before_start_returns) {
  rig r;
  started s;
  rig_init(&r, 1);
  weft_out x = recv_edge(&r, "loop");
  int send = send_edge(&r, "loop", weft__b_scalar(r.g, WEFT_FLOAT, 5));
  make_plan(&r, x, 1, &send);
  for (int i = 0; i < 3; i++) {
    start(&r, &s, false);
    EXPECT_EQ_INT(atomic_load(&s.ended), 1);
    EXPECT_OK(s.err);
    EXPECT_NEAR(weft__tensor_double(s.got, 0), 5, 0);
    EXPECT(pthread_equal(s.where, pthread_self()));
    finish(&s);
  }
  rig_finish(&r);
}

TEST(firing_the_token_ends_a_run_that_waits) {
  rig r;
  started s;
  rig_init(&r, 2);
  make_plan(&r, weft__b_neg(r.g, weft__b_add(r.g, recv_edge(&r, "x"), recv_edge(&r, "y"))), 0, NULL);
  for (int i = 0; i < 20; i++) {
    start(&r, &s, true);
    if (i % 2) send_scalar(&s, KEY("x"), 1);
    weft__cancel_fire(&s.cancel, WEFT_DEADLINE_EXCEEDED, "too late");
    await(&s);
    EXPECT_EQ_INT(s.err, WEFT_DEADLINE_EXCEEDED);
    finish(&s);
  }
  rig_finish(&r);
}

TEST(a_token_that_has_fired_lets_no_run_begin) {
  rig r;
  rig_init(&r, 1);
  make_plan(&r, recv_edge(&r, "x"), 0, NULL);
  started s = {.got = NULL};
  weft__cancel_init(&s.cancel);
  weft__step_objects_init(&s.objects);
  s.run = (plan_run){.fetched = &s.got, .step = {.id = 1, .cancel = &s.cancel, .objects = &s.objects}};
  EXPECT_OK(weft__rendezvous_create(&s.run.step.rendezvous, NULL));
  weft__cancel_fire(&s.cancel, WEFT_CANCELLED, "no more");
  weft__dataflow_start(r.plan, &s.run, r.tasks, false, on_end, &s);
  EXPECT_EQ_INT(s.err, WEFT_CANCELLED);
  finish(&s);
  rig_finish(&r);
}

TEST(long_kernels_do_not_run_on_a_borrowed_thread) {
  rig r;
  started s;
  rig_init(&r, 2);
  make_plan(&r, weft__b_unary(r.g, "TestSleep", recv_edge(&r, "x")), 0, NULL);
  for (int i = 0; i < 3; i++) { /* also the first time, when nobody knows yet that it is long */
    start(&r, &s, true);
    int64_t begin = weft__clock_now_ns();
    send_scalar(&s, KEY("x"), 4);
    EXPECT(weft__clock_now_ns() - begin < 15000000);
    await(&s);
    EXPECT_OK(s.err);
    EXPECT(!pthread_equal(s.where, pthread_self()));
    finish(&s);
  }
  rig_finish(&r);
}

enum { HOPS = 3000 };

TEST(runs_that_wake_each_other_do_not_pile_up_on_the_stack) {
  rig r;
  started s;
  rig_init(&r, 1);
  int *send = weft__alloc_zero(HOPS, sizeof *send);
  char name[32];
  for (int i = 0; i < HOPS; i++) { /* one run is enough: its sends end its own waits, as two runs' would */
    snprintf(name, sizeof name, "hop%d", i);
    weft_out x = recv_edge(&r, name);
    snprintf(name, sizeof name, "hop%d", i + 1);
    send[i] = send_edge(&r, name, x);
  }
  snprintf(name, sizeof name, "hop%d", HOPS);
  make_plan(&r, recv_edge(&r, name), HOPS, send);
  start(&r, &s, true);
  send_scalar(&s, KEY("hop0"), 3);
  await(&s);
  EXPECT_OK(s.err);
  EXPECT_NEAR(weft__tensor_double(s.got, 0), 3, 0);
  finish(&s);
  weft__free(send);
  rig_finish(&r);
}

static void count(void *arg, weft_err err, const weft_tensor *t, bool dead) { *(int *)arg += !err && t && !dead; }

TEST(a_loop_has_the_number_that_tensorflow_gives_it) {
  rig r;
  started s;
  rig_init(&r, 1);
  weft_out zero = weft__b_scalar(r.g, WEFT_FLOAT, 0), no = weft__b_scalar(r.g, WEFT_BOOL, 0);
  attr frame_attrs[] = {A_STR("frame_name", "while/while_context")};
  weft_out in = weft__b_node(r.g, "Enter", NULL, 1, &zero, 1, frame_attrs);
  weft_out stop = weft__b_node(r.g, "Enter", NULL, 1, &no, 1, frame_attrs);
  weft_out sw = weft__b_binary(r.g, "Switch", in, weft__b_unary(r.g, "LoopCond", stop));
  int send = send_edge(&r, "x", sw);
  make_plan(&r, weft__b_unary(r.g, "Exit", sw), 1, &send);
  start(&r, &s, false);
  EXPECT_OK(s.err);
  int calls = 0;
  weft__rendezvous_recv(s.run.step.rendezvous, "/a;0000000000000001;/b;x;18186195969791715286:0", count, &calls);
  EXPECT_EQ_INT(calls, 1); /* the key TensorFlow 2.15.1 asks for */
  finish(&s);
  rig_finish(&r);
}
