/* staged_test.c - straight plans that pause: two parts of one step that need each other, and every way they end. */
#include "exec/compile.h"
#include "exec/executors/staged.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "graph/build.h"
#include "ops/all.h"
#include "state/rendezvous.h"
#include "state/resource.h"
#include "state/step_objects.h"
#include "tests/check.h"
#include <unistd.h>

#define EDGE(type_name, name)                                                                                          \
  A_TYPE(type_name, WEFT_FLOAT), A_STR("tensor_name", name), A_STR("send_device", "/a"),                               \
      A_INT("send_device_incarnation", 1), A_STR("recv_device", "/b")
#define KEY(name) "/a;0000000000000001;/b;" name ";0:0"

typedef struct side { /* one part of the step */
  weft_graph *g;
  plan *plan;
  plan_run run;
  cancel cancel;
  step_objects objects;
  weft_tensor *got;
  atomic_int ended;
  weft_err err;
  status why;
} side;

typedef struct rig {
  pool *tasks;
  resources *resources;
  rendezvous *meet;
  side a, b;
} rig;

static weft_out recv_at(side *s, const char *name, int64_t stage) {
  return weft__b_node(s->g, "_Recv", name, 0, NULL, 6,
                      (attr[]){EDGE("tensor_type", name), A_INT(WEFT_STAGE_ATTR, stage)});
}

static int send_at(side *s, const char *name, weft_out x) {
  weft_node *n = NULL;
  EXPECT_OK(weft__graph_add(
      s->g,
      &(node_spec){.op = "_Send", .name = "send", .n_in = 1, .in = &x, .n_attr = 5, .attr = (attr[]){EDGE("T", name)}},
      &n));
  return n->id;
}

static void side_init(side *s) {
  const op_table *ops;
  EXPECT_OK(weft__ops_table(&ops));
  EXPECT_OK(weft__graph_create(&s->g, ops));
  weft__cancel_init(&s->cancel);
  weft__step_objects_init(&s->objects);
}

static void rig_init(rig *r) {
  *r = (rig){0};
  EXPECT_OK(weft__pool_create(&r->tasks, 2));
  EXPECT_OK(weft__resources_create(&r->resources));
  side_init(&r->a);
  side_init(&r->b);
}

static void side_finish(side *s) {
  weft__plan_destroy(s->plan);
  weft__graph_destroy(s->g);
  weft__step_objects_finish(&s->objects);
  weft__cancel_finish(&s->cancel);
  weft__status_finish(&s->why);
}

static void rig_finish(rig *r) {
  side_finish(&r->a);
  side_finish(&r->b);
  weft__pool_destroy(r->tasks);
  weft__resources_destroy(r->resources);
}

/* a: x -> send "there" (stage 0); recv "back" (stage 2) is fetched.  b: recv "there" (stage 1), negated, sent back. */
static void ping_pong(rig *r, weft_out *x) {
  shape any = SHAPE1(-1);
  *x = weft__b_node(r->a.g, "Placeholder", "x", 0, NULL, 2,
                    (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &any)});
  int out = send_at(&r->a, "there", weft__b_add(r->a.g, *x, *x));
  weft_out back = recv_at(&r->a, "back", 2);
  weft_out twice = weft__b_add(r->a.g, back, back);
  plan_request qa = {.n_feed = 1, .feed = x, .n_fetch = 1, .fetch = &twice, .n_target = 1, .target = &out};
  EXPECT_OK(weft__plan_create(&r->a.plan, r->a.g, &qa));
  int answer = send_at(&r->b, "back", weft__b_neg(r->b.g, recv_at(&r->b, "there", 1)));
  plan_request qb = {.n_target = 1, .target = &answer};
  EXPECT_OK(weft__plan_create(&r->b.plan, r->b.g, &qb));
  EXPECT(r->a.plan->executor == PLAN_STAGED && r->b.plan->executor == PLAN_STAGED);
}

static void on_end(void *arg, weft_err err) {
  side *s = arg;
  weft__status_update(&s->why, err);
  s->err = err;
  atomic_fetch_add(&s->ended, 1);
}

static void prepare(rig *r, side *s, const weft_tensor *const *feed) {
  s->run = (plan_run){.feed = feed, .fetched = &s->got};
  s->run.step =
      (step){.id = 1, .cancel = &s->cancel, .resources = r->resources, .rendezvous = r->meet, .objects = &s->objects};
  atomic_store(&s->ended, 0);
}

static void await(side *s) {
  for (int i = 0; i < 5000 && !atomic_load(&s->ended); i++) usleep(1000);
  EXPECT_EQ_INT(atomic_load(&s->ended), 1);
}

static weft_tensor *pair(float x, float y) {
  weft_tensor *t;
  EXPECT_OK(weft__tensor_create(&t, WEFT_FLOAT, &SHAPE1(2)));
  TENSOR_DATA(t, float)[0] = x;
  TENSOR_DATA(t, float)[1] = y;
  return t;
}

TEST(two_parts_that_need_each_other_run_to_their_end_many_times) {
  rig r;
  weft_out x;
  rig_init(&r);
  ping_pong(&r, &x);
  for (int i = 0; i < 300; i++) {
    const weft_tensor *in = pair((float)i, 1);
    EXPECT_OK(weft__rendezvous_create(&r.meet, NULL));
    prepare(&r, &r.a, &in);
    prepare(&r, &r.b, NULL);
    if (i % 2) weft__staged_start(r.b.plan, &r.b.run, r.tasks, i % 4 == 1, on_end, &r.b);
    weft__staged_start(r.a.plan, &r.a.run, r.tasks, false, on_end, &r.a);
    if (i % 2 == 0) weft__staged_start(r.b.plan, &r.b.run, r.tasks, i % 4 == 0, on_end, &r.b);
    await(&r.a);
    await(&r.b);
    EXPECT_EQ_INT(r.a.err, WEFT_OK);
    EXPECT_NEAR((double)TENSOR_DATA(r.a.got, float)[0], -4.0 * i, 1e-3);
    EXPECT_NEAR((double)TENSOR_DATA(r.a.got, float)[1], -4.0, 1e-6);
    weft_tensor_destroy(r.a.got);
    weft_tensor_destroy((weft_tensor *)(uintptr_t)in);
    weft__rendezvous_release(r.meet);
  }
  rig_finish(&r);
}

TEST(a_thread_that_waits_runs_its_part_itself) {
  rig r;
  weft_out x;
  rig_init(&r);
  ping_pong(&r, &x);
  for (int i = 0; i < 100; i++) {
    const weft_tensor *in = pair(1, 2);
    EXPECT_OK(weft__rendezvous_create(&r.meet, NULL));
    prepare(&r, &r.a, &in);
    prepare(&r, &r.b, NULL);
    weft__staged_start(r.b.plan, &r.b.run, r.tasks, false, on_end, &r.b);
    EXPECT_OK(weft__staged_run(r.a.plan, &r.a.run));
    await(&r.b);
    EXPECT_NEAR((double)TENSOR_DATA(r.a.got, float)[1], -8.0, 1e-6);
    weft_tensor_destroy(r.a.got);
    weft_tensor_destroy((weft_tensor *)(uintptr_t)in);
    weft__rendezvous_release(r.meet);
  }
  rig_finish(&r);
}

/* Prepares the first of the two parts of a step; the second never runs.  The run refers to *in, the feed. */
static void rig_init_first_part(rig *r, const weft_tensor **in) {
  weft_out x;
  rig_init(r);
  ping_pong(r, &x);
  *in = pair(1, 2);
  EXPECT_OK(weft__rendezvous_create(&r->meet, NULL));
  prepare(r, &r->a, in);
}

static void rig_finish_first_part(rig *r, const weft_tensor *in) {
  weft_tensor_destroy((weft_tensor *)(uintptr_t)in);
  weft__rendezvous_release(r->meet);
  rig_finish(r);
}

TEST(a_part_that_fails_ends_with_its_error_and_takes_nothing_along) {
  rig r;
  const weft_tensor *in;
  rig_init_first_part(&r, &in);
  weft__staged_start(r.a.plan, &r.a.run, r.tasks, false, on_end, &r.a);
  weft_tensor *wrong;
  EXPECT_OK(weft__tensor_scalar(&wrong, WEFT_INT32, 1));
  EXPECT_OK(weft__rendezvous_send(r.meet, KEY("back"), wrong, false));
  await(&r.a);
  EXPECT_EQ_INT(r.a.err, WEFT_INTERNAL);
  EXPECT_CONTAINS(r.a.why.message, "int32");
  EXPECT(r.a.got == NULL);
  weft_tensor_destroy(wrong);
  rig_finish_first_part(&r, in);
}

TEST(cancelling_ends_a_part_that_waits) {
  rig r;
  const weft_tensor *in;
  rig_init_first_part(&r, &in);
  weft__staged_start(r.a.plan, &r.a.run, r.tasks, false, on_end, &r.a);
  EXPECT_EQ_INT(atomic_load(&r.a.ended), 0);
  weft__cancel_fire(&r.a.cancel, WEFT_CANCELLED, "enough");
  await(&r.a);
  EXPECT_EQ_INT(r.a.err, WEFT_CANCELLED);
  EXPECT_CONTAINS(r.a.why.message, "enough");
  rig_finish_first_part(&r, in);
}

TEST(a_step_that_was_cancelled_before_starts_nothing) {
  rig r;
  const weft_tensor *in;
  rig_init_first_part(&r, &in);
  weft__cancel_fire(&r.a.cancel, WEFT_CANCELLED, "too late");
  EXPECT_ERR(weft__staged_run(r.a.plan, &r.a.run), WEFT_CANCELLED, "too late");
  weft__staged_start(r.a.plan, &r.a.run, r.tasks, false, on_end, &r.a);
  await(&r.a);
  EXPECT_EQ_INT(r.a.err, WEFT_CANCELLED);
  rig_finish_first_part(&r, in);
}

TEST(a_deadline_ends_a_thread_that_waits) {
  rig r;
  const weft_tensor *in;
  rig_init_first_part(&r, &in);
  r.a.run.deadline_ns = weft__clock_now_ns() + 100000000;
  EXPECT_ERR(weft__staged_run(r.a.plan, &r.a.run), WEFT_DEADLINE_EXCEEDED, "Timed out");
  rig_finish_first_part(&r, in);
}
