/* dataflow_test.c - branches, loops and waiting ops on graphs built by hand. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "exec/session.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "ops/all.h"
#include "tests/check.h"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- ops for the tests: one that waits for another thread, one that only cancelling ends, one that is late ---- */

static void *end_later(void *arg) {
  kernel *k = arg;
  weft__kernel_done(k, weft__forward(k, 0, 0, &k->in[0]->shape));
  return NULL;
}

static weft_err later_cpu(kernel *k) {
  pthread_t id;
  weft__kernel_defer(k);
  if (pthread_create(&id, NULL, end_later, k) != 0) return weft__fail(WEFT_INTERNAL, "no thread");
  pthread_detach(id);
  return WEFT_OK;
}

static weft_err now_cpu(kernel *k) { /* defers, and has ended before it returns */
  weft__kernel_defer(k);
  end_later(k);
  return WEFT_OK;
}

typedef struct stuck {
  kernel *k;
  cancel_watch watch;
} stuck;

static void *unstick(void *arg) {
  stuck *s = arg;
  kernel *k = s->k;
  weft__cancel_watch_remove(k->step->cancel, &s->watch);
  weft__free(s);
  weft__kernel_done(k, weft__cancel_raise(k->step->cancel));
  return NULL;
}

static void on_cancel(void *arg) { unstick(arg); }

static atomic_int never_began; /* how many of them wait or have waited */

static void await_never(void) {
  for (int i = 0; i < 8000 && !atomic_load(&never_began); i++) usleep(1000);
}

static weft_err never_cpu(kernel *k) {
  stuck *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  s->k = k;
  weft__kernel_defer(k);
  weft_err err = weft__cancel_watch_add(k->step->cancel, &s->watch, on_cancel, s);
  atomic_fetch_add(&never_began, 1);
  if (!err) return WEFT_OK;
  weft__free(s);
  weft__kernel_done(k, err);
  return WEFT_OK;
}

static weft_err sleep_cpu(kernel *k) {
  usleep(2000);
  return weft__forward(k, 0, 0, &k->in[0]->shape);
}

static weft_err fail_cpu(kernel *k) { return weft__kernel_fail(k, WEFT_DATA_LOSS, "it broke"); }

static weft_err fail_later_cpu(kernel *k) {
  weft__kernel_defer(k);
  weft__kernel_done(k, weft__fail(WEFT_DATA_LOSS, "it broke later"));
  return WEFT_OK;
}

static weft_err unset_cpu(kernel *k) {
  (void)k;
  return WEFT_OK;
}

#define PASS "(x:T) -> (y:T) | T:type"
static OPS(flow_test) = {
    {"TestLater" PASS, "Ends on another thread.", .flags = OP_ASYNC, .infer = weft__infer_same, .cpu = later_cpu},
    {"TestNow" PASS, "Defers and ends at once.", .flags = OP_ASYNC, .infer = weft__infer_same, .cpu = now_cpu},
    {"TestNever" PASS, "Waits to be cancelled.", .flags = OP_ASYNC, .infer = weft__infer_same, .cpu = never_cpu},
    {"TestSleep" PASS, "Takes its time.", .flags = OP_NO_FOLD, .infer = weft__infer_same, .cpu = sleep_cpu},
    {"TestFail" PASS, "Fails.", .flags = OP_NO_FOLD, .infer = weft__infer_same, .cpu = fail_cpu},
    {"TestUnset" PASS, "Sets no output.", .flags = OP_NO_FOLD, .infer = weft__infer_same, .cpu = unset_cpu},
    {"TestFailLater" PASS, "Fails, deferred.", .flags = OP_ASYNC, .infer = weft__infer_same, .cpu = fail_later_cpu},
    {0},
};

/* ---- a graph and its session ---- */

typedef struct rig {
  op_table *ops;
  weft_graph *g;
  weft_session *sess;
} rig;

static void rig_init(rig *r) {
  const op *const *all = weft__ops_all();
  int n = 0;
  while (all[n]) n++;
  const op **lists = weft__alloc_zero((size_t)n + 2, sizeof *lists);
  for (int i = 0; i < n; i++) lists[i] = all[i];
  lists[n] = weft__ops_flow_test;
  *r = (rig){0};
  EXPECT_OK(weft__op_table_create(&r->ops, lists));
  EXPECT_OK(weft__graph_create(&r->g, r->ops));
  weft__free(lists);
}

static void rig_open(rig *r, int threads) {
  session_opts opts = {.intra_threads = 1, .inter_threads = threads};
  EXPECT_OK(weft__b_ok(r->g));
  EXPECT_OK(weft__session_create(&r->sess, r->g, &opts));
}

static void rig_finish(rig *r) {
  weft__session_destroy(r->sess);
  weft__graph_destroy(r->g);
  weft__op_table_destroy(r->ops);
}

/* Feeds a scalar, fetches a scalar; `target` is a node to be run besides, or -1. */
static weft_err run_with(rig *r, weft_out feed, double fed, weft_out fetch, int target, double *got,
                         int64_t timeout_ms) {
  plan_request q = {
      .n_fetch = 1, .fetch = &fetch, .n_feed = 1, .feed = &feed, .n_target = target >= 0, .target = &target};
  weft_tensor *in = NULL, *out = NULL;
  EXPECT_OK(weft__tensor_scalar(&in, weft__out_type(r->g, feed), fed));
  run_opts opts = {.timeout_ms = timeout_ms};
  weft_err err = weft__session_run(r->sess, &q, (const weft_tensor *const *)&in, &out, &opts);
  if (!err) *got = weft__tensor_double(out, 0);
  weft_tensor_destroy(in);
  weft_tensor_destroy(out);
  return err;
}

static weft_err run(rig *r, weft_out feed, double fed, weft_out fetch, double *got, int64_t timeout_ms) {
  return run_with(r, feed, fed, fetch, -1, got, timeout_ms);
}

static void expect_run(rig *r, weft_out feed, double fed, weft_out fetch, double want) {
  double got = NAN;
  EXPECT_OK(run(r, feed, fed, fetch, &got, 0));
  EXPECT_NEAR(got, want, 1e-6);
}

static weft_out placeholder(rig *r, weft_dtype type) {
  return weft__b_node(r->g, "Placeholder", NULL, 0, NULL, 2,
                      (attr[]){A_TYPE("dtype", type), A_SHAPE("shape", &SHAPE_SCALAR)});
}

static weft_out scalar(rig *r, double v) { return weft__b_scalar(r->g, WEFT_FLOAT, v); }

static weft_out merge(rig *r, weft_out a, weft_out b) {
  return weft__b_node(r->g, "Merge", NULL, 2, (weft_out[]){a, b}, 1, (attr[]){A_INT("N", 2)});
}

/* ---- branches ---- */

TEST(a_switch_takes_one_branch_and_merge_says_which) {
  rig r;
  rig_init(&r);
  weft_out p = placeholder(&r, WEFT_BOOL);
  weft_out sw = weft__b_binary(r.g, "Switch", scalar(&r, 3), p);
  weft_out no = weft__b_add(r.g, sw, scalar(&r, 1)), yes = weft__b_mul(r.g, weft__b_slot(sw, 1), scalar(&r, 2));
  weft_out m = merge(&r, no, yes);
  rig_open(&r, 2);
  for (int i = 0; i < 20; i++) {
    expect_run(&r, p, 0, m, 4);
    expect_run(&r, p, 1, m, 6);
    expect_run(&r, p, 0, weft__b_slot(m, 1), 0);
    expect_run(&r, p, 1, weft__b_slot(m, 1), 1);
  }
  double got;
  EXPECT_ERR(run(&r, p, 1, no, &got, 0), WEFT_INVALID_ARGUMENT, "Retval[0] does not have value");
  rig_finish(&r);
}

TEST(control_edges_carry_deadness_and_a_trigger_stops_it) {
  rig r;
  rig_init(&r);
  weft_out p = placeholder(&r, WEFT_BOOL), two = placeholder(&r, WEFT_FLOAT);
  weft_out dead = weft__b_identity(r.g, weft__b_binary(r.g, "Switch", scalar(&r, 3), p));
  weft_out after = weft__b_add_node(r.g, &(node_spec){.op = "Identity",
                                                      .name = "after",
                                                      .n_in = 1,
                                                      .in = &two,
                                                      .n_attr = 1,
                                                      .attr = (attr[]){A_TYPE("T", WEFT_FLOAT)},
                                                      .n_control = 1,
                                                      .control = (int[]){dead.node}});
  weft_node *trigger = NULL, *later = NULL;
  EXPECT_OK(weft__b_ok(r.g));
  EXPECT_OK(weft__graph_add(r.g, &(node_spec){.op = "ControlTrigger", .n_control = 1, .control = (int[]){after.node}},
                            &trigger));
  EXPECT_OK(weft__graph_add(r.g,
                            &(node_spec){.op = "Identity",
                                         .name = "later",
                                         .n_in = 1,
                                         .in = (weft_out[]){p},
                                         .n_control = 1,
                                         .control = (int[]){trigger->id}},
                            &later));
  rig_open(&r, 1);
  plan_request q = {.n_feed = 2, .feed = (weft_out[]){p, two}, .n_fetch = 1, .fetch = (weft_out[]){{later->id, 0}}};
  weft_tensor *in[2], *out = NULL;
  EXPECT_OK(weft__tensor_scalar(&in[0], WEFT_BOOL, 1));
  EXPECT_OK(weft__tensor_scalar(&in[1], WEFT_FLOAT, 2));
  EXPECT_OK(weft__session_run(r.sess, &q, (const weft_tensor *const *)in, &out, NULL));
  EXPECT_EQ_INT(weft__tensor_int(out, 0), 1);
  weft_tensor_destroy(out);
  q.fetch = &after;
  EXPECT_ERR(weft__session_run(r.sess, &q, (const weft_tensor *const *)in, &out, NULL), WEFT_INVALID_ARGUMENT,
             "does not have value");
  weft_tensor_destroy(in[0]);
  weft_tensor_destroy(in[1]);
  rig_finish(&r);
}

TEST(numbers_too_small_count_as_zero_in_a_step_and_nowhere_else) {
  rig r;
  rig_init(&r);
  weft_out x = placeholder(&r, WEFT_FLOAT), straight = weft__b_mul(r.g, x, scalar(&r, 1));
  weft_out branch =
      weft__b_mul(r.g, weft__b_binary(r.g, "Switch", x, weft__b_scalar(r.g, WEFT_BOOL, 0)), scalar(&r, 1));
  rig_open(&r, 2);
  double got = NAN;
  EXPECT_OK(run(&r, x, 1e-40, straight, &got, 0));
  EXPECT_NEAR(got, 0, 0);
  EXPECT_OK(run(&r, x, 1e-40, branch, &got, 0));
  EXPECT_NEAR(got, 0, 0);
  volatile float tiny = 1e-40f, one = 1;
  EXPECT(tiny * one > 0);
  rig_finish(&r);
}

/* ---- loops ---- */

static weft_out enter(rig *r, weft_out x, const char *name, bool constant, int parallel) {
  return weft__b_node(
      r->g, "Enter", NULL, 1, &x, 3,
      (attr[]){A_STR("frame_name", name), A_BOOL("is_constant", constant), A_INT("parallel_iterations", parallel)});
}

typedef struct rounds {
  weft_out merge, body, exit; /* the variable at the top, in the body, and after the loop */
  weft_out cond;
} rounds;

/* The first loop variable of a loop that goes on while it is below `limit` (already inside). */
static rounds loop_begin(rig *r, weft_out first, weft_out limit, const char *name, int parallel) {
  weft_out in = enter(r, first, name, false, parallel);
  rounds l = {.merge = merge(r, in, in)};
  l.cond = weft__b_unary(r->g, "LoopCond", weft__b_binary(r->g, "Less", l.merge, limit));
  weft_out sw = weft__b_binary(r->g, "Switch", l.merge, l.cond);
  l.exit = weft__b_unary(r->g, "Exit", sw);
  l.body = weft__b_identity(r->g, weft__b_slot(sw, 1));
  return l;
}

/* Another loop variable, that goes on as l does. */
static rounds loop_more(rig *r, const rounds *l, weft_out first, const char *name, int parallel) {
  weft_out in = enter(r, first, name, false, parallel);
  rounds more = {.merge = merge(r, in, in), .cond = l->cond};
  weft_out sw = weft__b_binary(r->g, "Switch", more.merge, l->cond);
  more.exit = weft__b_unary(r->g, "Exit", sw);
  more.body = weft__b_identity(r->g, weft__b_slot(sw, 1));
  return more;
}

static void loop_close(rig *r, const rounds *l, weft_out next) {
  weft_out back = weft__b_unary(r->g, "NextIteration", next);
  EXPECT_OK(weft__b_ok(r->g));
  EXPECT_OK(weft__graph_set_input(r->g, r->g->node[l->merge.node], 1, back));
}

/* for (i = x; i < limit; i += 1) sum += of(i): the sum. */
static weft_out counting_loop(rig *r, weft_out x, double limit, const char *of, int parallel) {
  weft_out top = enter(r, scalar(r, limit), "count", true, parallel);
  weft_out one = enter(r, weft__b_scalar(r->g, WEFT_FLOAT, 1), "count", true, parallel);
  rounds i = loop_begin(r, x, top, "count", parallel), sum = loop_more(r, &i, scalar(r, 0), "count", parallel);
  weft_out used = of ? weft__b_unary(r->g, of, i.body) : i.body;
  loop_close(r, &sum, weft__b_add(r->g, sum.body, used));
  loop_close(r, &i, weft__b_add(r->g, i.body, one));
  return sum.exit;
}

TEST(a_loop_runs_all_iterations_for_any_parallel_iterations) {
  static const int parallel[] = {1, 2, 10, 32};
  for (int i = 0; i < 4; i++)
    for (int threads = 1; threads <= 3; threads++) {
      rig r;
      rig_init(&r);
      weft_out x = placeholder(&r, WEFT_FLOAT), sum = counting_loop(&r, x, 100, NULL, parallel[i]);
      rig_open(&r, threads);
      for (int n = 0; n < 5; n++) {
        expect_run(&r, x, 0, sum, 4950);
        expect_run(&r, x, 99, sum, 99);
        expect_run(&r, x, 100, sum, 0); /* no iteration at all */
      }
      rig_finish(&r);
    }
}

TEST(a_next_iteration_outside_of_every_loop_passes_its_value_on) {
  rig r;
  rig_init(&r);
  weft_out x = placeholder(&r, WEFT_FLOAT), next = weft__b_unary(r.g, "NextIteration", x);
  weft_out sum = weft__b_add(r.g, weft__b_unary(r.g, "NextIteration", next), x);
  rig_open(&r, 1);
  for (int n = 0; n < 3; n++) {
    expect_run(&r, x, 7, next, 7);
    expect_run(&r, x, 7, sum, 14);
  }
  rig_finish(&r);
}

TEST_WITHIN(60, slow_and_deferred_kernels_in_a_loop_keep_the_iterations_apart) {
  static const char *const ops[] = {"TestLater", "TestNow", "TestSleep"};
  for (int i = 0; i < 3; i++)
    for (int threads = 1; threads <= 3; threads += 2) {
      rig r;
      rig_init(&r);
      weft_out x = placeholder(&r, WEFT_FLOAT), sum = counting_loop(&r, x, 40, ops[i], 4);
      rig_open(&r, threads);
      for (int n = 0; n < 3; n++) expect_run(&r, x, 0, sum, 780);
      rig_finish(&r);
    }
}

/* for (i = 0; i < n; i++) for (j = 0; j < i; j++) sum += 1, both loops' iterations running at once */
static weft_out nested_loops(rig *r, weft_out n) {
  weft_out top = enter(r, n, "outer", true, 10), one = enter(r, scalar(r, 1), "outer", true, 10);
  rounds i = loop_begin(r, scalar(r, 0), top, "outer", 10), sum = loop_more(r, &i, scalar(r, 0), "outer", 10);
  weft_out zero = weft__b_mul(r->g, i.body, enter(r, scalar(r, 0), "outer", true, 10));
  weft_out limit = enter(r, i.body, "inner", true, 10), by = enter(r, one, "inner", true, 10);
  rounds j = loop_begin(r, zero, limit, "inner", 10), inner = loop_more(r, &j, sum.body, "inner", 10);
  loop_close(r, &j, weft__b_add(r->g, j.body, by));
  loop_close(r, &inner, weft__b_add(r->g, inner.body, by));
  loop_close(r, &sum, inner.exit);
  loop_close(r, &i, weft__b_add(r->g, i.body, one));
  return sum.exit;
}

TEST_WITHIN(60, loops_nest) {
  for (int threads = 1; threads <= 3; threads++) {
    rig r;
    rig_init(&r);
    weft_out n = placeholder(&r, WEFT_FLOAT), sum = nested_loops(&r, n);
    rig_open(&r, threads);
    for (int i = 0; i < 5; i++) {
      expect_run(&r, n, 20, sum, 190);
      expect_run(&r, n, 0, sum, 0);
      expect_run(&r, n, 1, sum, 0);
    }
    rig_finish(&r);
  }
}

TEST(a_loop_in_a_branch_not_taken_is_dead_to_its_exits) {
  rig r;
  rig_init(&r);
  weft_out p = placeholder(&r, WEFT_BOOL);
  weft_out sw = weft__b_binary(r.g, "Switch", scalar(&r, 3), p);
  weft_out looped = counting_loop(&r, weft__b_slot(sw, 1), 10, NULL, 10);
  weft_out m = merge(&r, weft__b_add(r.g, sw, scalar(&r, 4)), looped);
  rig_open(&r, 2);
  for (int i = 0; i < 10; i++) {
    expect_run(&r, p, 0, m, 7);
    expect_run(&r, p, 1, m, 42); /* 3 + 4 + ... + 9 */
  }
  rig_finish(&r);
}

TEST(a_branch_in_a_loop_is_decided_in_each_iteration) {
  rig r;
  rig_init(&r);
  weft_out x = placeholder(&r, WEFT_FLOAT);
  weft_out top = enter(&r, scalar(&r, 10), "f", true, 3), one = enter(&r, scalar(&r, 1), "f", true, 3);
  weft_out half = enter(&r, scalar(&r, 5), "f", true, 3);
  rounds i = loop_begin(&r, x, top, "f", 3), sum = loop_more(&r, &i, scalar(&r, 0), "f", 3);
  weft_out sw = weft__b_binary(r.g, "Switch", i.body, weft__b_binary(r.g, "Less", i.body, half));
  weft_out m = merge(&r, weft__b_neg(r.g, sw), weft__b_mul(r.g, weft__b_slot(sw, 1), top));
  loop_close(&r, &sum, weft__b_add(r.g, sum.body, m));
  loop_close(&r, &i, weft__b_add(r.g, i.body, one));
  rig_open(&r, 2);
  for (int n = 0; n < 10; n++) expect_run(&r, x, 0, sum.exit, 100 - 35);
  rig_finish(&r);
}

/* ---- sending and receiving ---- */

#define EDGE_ATTRS(type_name, type)                                                                                    \
  (attr[]) {                                                                                                           \
    A_TYPE(type_name, type), A_STR("tensor_name", "edge"), A_STR("send_device", "/cpu:0"),                             \
        A_INT("send_device_incarnation", 1), A_STR("recv_device", "/cpu:0")                                            \
  }

static int send_node(rig *r, weft_out x) {
  weft_node *n = NULL;
  EXPECT_OK(weft__b_ok(r->g));
  EXPECT_OK(weft__graph_add(
      r->g,
      &(node_spec){
          .op = "_Send", .name = "send", .n_in = 1, .in = &x, .n_attr = 5, .attr = EDGE_ATTRS("T", WEFT_FLOAT)},
      &n));
  return n->id;
}

/* Receives what is sent, after node `after` (-1: at once). */
static weft_out recv_node(rig *r, int after) {
  return weft__b_add_node(r->g, &(node_spec){.op = "_Recv",
                                             .name = "recv",
                                             .n_attr = 5,
                                             .attr = EDGE_ATTRS("tensor_type", WEFT_FLOAT),
                                             .n_control = after >= 0,
                                             .control = &after});
}

TEST(a_dead_value_is_sent_and_received_as_dead) {
  rig r;
  rig_init(&r);
  weft_out p = placeholder(&r, WEFT_BOOL), sw = weft__b_binary(r.g, "Switch", scalar(&r, 3), p);
  int sent = send_node(&r, weft__b_slot(sw, 1));
  weft_out got = weft__b_add(r.g, recv_node(&r, -1), scalar(&r, 1)), m = merge(&r, weft__b_neg(r.g, sw), got);
  rig_open(&r, 2);
  for (int i = 0; i < 10; i++) {
    double was = NAN;
    EXPECT_OK(run_with(&r, p, 1, m, sent, &was, 0));
    EXPECT_NEAR(was, 4, 0);
    EXPECT_OK(run_with(&r, p, 0, m, sent, &was, 0));
    EXPECT_NEAR(was, -3, 0);
  }
  double was;
  EXPECT_ERR(run(&r, p, 1, got, &was, 50), WEFT_DEADLINE_EXCEEDED, "Timed out"); /* nobody sends */
  rig_finish(&r);
}

TEST(every_iteration_of_a_loop_has_its_own_edge) {
  rig r;
  rig_init(&r);
  weft_out x = placeholder(&r, WEFT_FLOAT);
  weft_out top = enter(&r, scalar(&r, 20), "f", true, 5), one = enter(&r, scalar(&r, 1), "f", true, 5);
  rounds i = loop_begin(&r, x, top, "f", 5), sum = loop_more(&r, &i, scalar(&r, 0), "f", 5);
  int sent = send_node(&r, i.body);
  loop_close(&r, &sum, weft__b_add(r.g, sum.body, recv_node(&r, i.body.node)));
  loop_close(&r, &i, weft__b_add(r.g, i.body, one));
  rig_open(&r, 2);
  double was = NAN;
  EXPECT_OK(run_with(&r, x, 0, sum.exit, sent, &was, 0));
  EXPECT_NEAR(was, 190, 0);
  rig_finish(&r);
}

/* ---- what goes wrong ---- */

TEST(a_graph_that_mixes_frames_is_refused) {
  rig r;
  rig_init(&r);
  weft_out x = placeholder(&r, WEFT_FLOAT), y = weft__b_neg(r.g, x);
  weft_out e = enter(&r, x, "f", false, 1), mixed = weft__b_add(r.g, e, y), out = weft__b_unary(r.g, "Exit", y);
  rig_open(&r, 1);
  double got;
  EXPECT_ERR(run(&r, x, 1, mixed, &got, 0), WEFT_INVALID_ARGUMENT,
             "is in frame 'f'. The input {{node Neg}} is in frame ''");
  EXPECT_ERR(run(&r, x, 1, out, &got, 0), WEFT_INVALID_ARGUMENT, "Cannot find a corresponding Enter op");
  EXPECT_ERR(run(&r, x, 1, e, &got, 0), WEFT_INVALID_ARGUMENT, "inside the loop 'f'");
  rig_finish(&r);
}

TEST(the_first_error_ends_the_step_and_wakes_what_waits) {
  static const char *const ops[] = {"TestFail", "TestFailLater"};
  for (int i = 0; i < 2; i++)
    for (int threads = 1; threads <= 3; threads += 2) {
      rig r;
      rig_init(&r);
      weft_out x = placeholder(&r, WEFT_FLOAT);
      weft_out waits = weft__b_unary(r.g, "TestNever", x), fails = weft__b_unary(r.g, ops[i], x);
      weft_out both = weft__b_add(r.g, waits, fails);
      weft_out looped = counting_loop(&r, x, 10, ops[i], 2);
      rig_open(&r, threads);
      for (int n = 0; n < 10; n++) {
        double got;
        EXPECT_ERR(run(&r, x, 1, both, &got, 0), WEFT_DATA_LOSS, "it broke");
        EXPECT_CONTAINS(weft__error_message(), ops[i]);
        EXPECT_ERR(run(&r, x, 1, looped, &got, 0), WEFT_DATA_LOSS, "it broke");
      }
      rig_finish(&r);
    }
}

TEST(a_deadline_ends_a_step_that_waits_or_loops) {
  rig r;
  rig_init(&r);
  weft_out x = placeholder(&r, WEFT_FLOAT), waits = weft__b_unary(r.g, "TestNever", x);
  weft_out endless = counting_loop(&r, x, INFINITY, NULL, 10);
  rig_open(&r, 2);
  double got;
  int64_t begin = weft__clock_now_ns();
  EXPECT_ERR(run(&r, x, 1, waits, &got, 50), WEFT_DEADLINE_EXCEEDED, "Timed out");
  EXPECT_ERR(run(&r, x, 1, endless, &got, 50), WEFT_DEADLINE_EXCEEDED, "Timed out");
  EXPECT(weft__clock_now_ns() - begin < (int64_t)5000000000);
  rig_finish(&r);
}

static void *interrupt_what_waits(void *arg) {
  await_never();
  weft__interrupt_raise();
  return arg;
}

TEST(an_interrupt_ends_what_waits) {
  rig r;
  rig_init(&r);
  pthread_t id;
  weft_out x = placeholder(&r, WEFT_FLOAT), waits = weft__b_unary(r.g, "TestNever", x);
  rig_open(&r, 2);
  EXPECT_EQ_INT(pthread_create(&id, NULL, interrupt_what_waits, NULL), 0);
  double got;
  EXPECT_ERR(run(&r, x, 1, waits, &got, 0), WEFT_CANCELLED, "interrupted");
  pthread_join(id, NULL);
  weft__interrupt_clear();
  rig_finish(&r);
}

static void *close_what_waits(void *arg) {
  await_never();
  weft__session_close(arg);
  return NULL;
}

TEST(closing_the_session_cancels_what_waits) {
  rig r;
  rig_init(&r);
  pthread_t id;
  weft_out x = placeholder(&r, WEFT_FLOAT), waits = weft__b_unary(r.g, "TestNever", x);
  rig_open(&r, 2);
  EXPECT_EQ_INT(pthread_create(&id, NULL, close_what_waits, r.sess), 0);
  double got;
  EXPECT_ERR(run(&r, x, 1, waits, &got, 0), WEFT_CANCELLED, "closed");
  pthread_join(id, NULL);
  rig_finish(&r);
}

typedef struct runner {
  rig *r;
  weft_out feed, fetch;
} runner;

static void *run_often(void *arg) {
  runner *u = arg;
  for (int i = 0; i < 20; i++) expect_run(u->r, u->feed, 90, u->fetch, 90 + 91 + 92 + 93 + 94 + 95 + 96 + 97 + 98 + 99);
  return NULL;
}

TEST_WITHIN(60, steps_of_one_plan_may_run_at_once) {
  rig r;
  rig_init(&r);
  pthread_t ids[4];
  weft_out x = placeholder(&r, WEFT_FLOAT);
  runner u = {&r, x, counting_loop(&r, x, 100, "TestLater", 3)};
  rig_open(&r, 3);
  for (int i = 0; i < 4; i++) EXPECT_EQ_INT(pthread_create(&ids[i], NULL, run_often, &u), 0);
  for (int i = 0; i < 4; i++) pthread_join(ids[i], NULL);
  rig_finish(&r);
}

TEST_WITHIN(60, every_failed_allocation_of_a_run_is_an_error) {
  rig r;
  rig_init(&r);
  weft_out n = placeholder(&r, WEFT_FLOAT), sum = nested_loops(&r, n);
  rig_open(&r, 1);
  for (long fail_at = 1;; fail_at++) {
    double got = 0;
    plan_request q = {.n_fetch = 1, .fetch = &sum, .n_feed = 1, .feed = &n};
    weft_tensor *in = NULL, *out = NULL;
    EXPECT_OK(weft__tensor_scalar(&in, WEFT_FLOAT, 4));
    weft__alloc_fail_after(fail_at);
    weft_err err = weft__session_run(r.sess, &q, (const weft_tensor *const *)&in, &out, NULL);
    weft__alloc_fail_after(0);
    if (!err) got = weft__tensor_double(out, 0);
    weft_tensor_destroy(in);
    weft_tensor_destroy(out);
    if (err == WEFT_OK) {
      EXPECT_NEAR(got, 6, 0);
      break;
    }
    EXPECT_EQ_INT(err, WEFT_RESOURCE_EXHAUSTED);
    EXPECT(fail_at < 10000);
  }
  rig_finish(&r);
}

TEST(a_kernel_that_leaves_an_output_unset_is_named) {
  for (int waits = 0; waits < 2; waits++) { /* run in order, and by the dataflow executor */
    rig r;
    rig_init(&r);
    weft_out p = placeholder(&r, WEFT_FLOAT);
    weft_out unset = weft__b_node(r.g, "TestUnset", "left_out", 1, &p, 0, NULL);
    weft_out y = weft__b_node(r.g, waits ? "TestLater" : "Neg", NULL, 1, &unset, 0, NULL);
    rig_open(&r, 1);
    double got;
    EXPECT_ERR(run(&r, p, 1, y, &got, 0), WEFT_INTERNAL, "Missing 0-th output from {{node left_out}}");
    rig_finish(&r);
  }
}
