/* defer_updates_test.c - which chains become one item, and that the steps then give the same bits. */
#include "base/alloc.h"
#include "exec/compile.h"
#include "exec/test_graph.h"
#include "graph/build.h"
#include "kernels/training/deferred_adam.h"
#include <stdlib.h>

enum { ROWS = 60, WIDTH = 5, FEW = 3 };

typedef enum twist { /* how a chain differs from TensorFlow's */
                     AS_IS,
                     OPERANDS_SWAPPED, /* beta * m, m_t * rate, epsilon + root */
                     WAITED_FOR,       /* an op waits for the scatter and for the root */
                     MORE_CONTROL,     /* every op waits for another one, too */
                     RECOGNIZED,       /* --- from here on the chain must stay as it is */
                     SLOT_READ,        /* another op reads m_t */
                     WAITER_WITHIN,    /* the root waits for an op that waits for the scatter */
                     RATE_IS_A_VECTOR,
                     INDICES_DIFFER,
                     NO_ORDER,    /* the scatter does not wait for the decay */
                     OTHER_TABLE, /* the decay is of another variable than the scatter */
                     DOUBLES,
                     TWISTS
} twist;

typedef struct chain_graph {
  bench b;
  bool resource;
  twist how;
  weft_dtype type;
  weft_out var, m, v, other, indices, other_indices, rows, found, step, extra;
  int start[4], before, scatter;
} chain_graph;

static weft_out input(chain_graph *c, const char *name, weft_dtype type, shape s) {
  return weft__b_node(c->b.g, "Placeholder", name, 0, NULL, 2, (attr[]){A_TYPE("dtype", type), A_SHAPE("shape", &s)});
}

static weft_out table(chain_graph *c, const char *name, double first, int *start) {
  shape s = SHAPE2(ROWS, WIDTH);
  attr of[] = {A_TYPE("dtype", c->type), A_SHAPE("shape", &s), A_STR("shared_name", name)};
  weft_out t = weft__b_node(c->b.g, c->resource ? "VarHandleOp" : "VariableV2", name, 0, NULL, 3, of);
  weft_out first_value = weft__b_fill(c->b.g, weft__b_ints(c->b.g, s.dim, 2), weft__b_scalar(c->b.g, c->type, first));
  *start =
      weft__b_node(c->b.g, c->resource ? "AssignVariableOp" : "Assign", NULL, 2, (weft_out[]){t, first_value}, 0, NULL)
          .node;
  return t;
}

static weft_out value_of(chain_graph *c, weft_out t) {
  if (!c->resource) return weft__b_unary(c->b.g, "Identity", t);
  return weft__b_node(c->b.g, "ReadVariableOp", NULL, 1, &t, 1, &A_TYPE("dtype", c->type));
}

static weft_out binary(chain_graph *c, const char *name, weft_out x, weft_out y) {
  const bool swap = c->how == OPERANDS_SWAPPED && strcmp(name, "RealDiv") != 0;
  return weft__b_binary(c->b.g, name, swap ? y : x, swap ? x : y);
}

static weft_out number(chain_graph *c, double x) { return weft__b_scalar(c->b.g, c->type, x); }

/* Decays the slot, adds rows, and gives the new value. */
static weft_out new_slot(chain_graph *c, weft_out slot, double beta, weft_out indices, weft_out rows) {
  weft_graph *g = c->b.g;
  const weft_out decayed_table = c->how == OTHER_TABLE ? c->other : slot;
  const weft_out in[] = {decayed_table, binary(c, "Mul", value_of(c, decayed_table), number(c, beta))};
  const int assign = weft__b_node(g, c->resource ? "AssignVariableOp" : "Assign", NULL, 2, in, 0, NULL).node;
  weft__b_push_control(g, c->how != NO_ORDER, &assign);
  weft_out add[] = {slot, indices, rows};
  weft_out added = weft__b_node(g, c->resource ? "ResourceScatterAdd" : "ScatterAdd", NULL, 3, add, 0, NULL);
  weft__b_push_control(g, 1, &added.node);
  if (c->how == WAITER_WITHIN) c->extra = weft__b_node(g, "NoOp", NULL, 0, NULL, 0, NULL);
  c->scatter = added.node;
  if (c->resource) added = value_of(c, slot);
  weft__b_pop(g);
  weft__b_pop(g);
  return added;
}

static void build_step(chain_graph *c) {
  weft_graph *g = c->b.g;
  c->before = c->how == MORE_CONTROL ? weft__b_unary(g, "Identity", c->rows).node : -1;
  weft__b_push_control(g, c->before >= 0, &c->before);
  const weft_out m = new_slot(c, c->m, 0.9, c->indices, c->rows);
  const weft_out square = weft__b_binary(g, "Mul", c->rows, c->rows);
  const weft_out v = new_slot(c, c->v, 0.99, c->how == INDICES_DIFFER ? c->other_indices : c->indices, square);
  if (c->how == SLOT_READ) c->extra = weft__b_unary(g, "Neg", m);
  weft_out rate = number(c, 0.01);
  if (c->how == RATE_IS_A_VECTOR) rate = weft__b_reshape(g, rate, weft__b_ints(g, (int64_t[]){1}, 1));
  const weft_out below = binary(c, "AddV2", weft__b_unary(g, "Sqrt", v), number(c, 1e-8));
  const weft_out change = binary(c, "RealDiv", binary(c, "Mul", rate, m), below);
  weft__b_push_control(g, c->how == WAITER_WITHIN, &c->extra.node);
  c->step = weft__b_node(g, c->resource ? "AssignSubVariableOp" : "AssignSub", NULL, 2, (weft_out[]){c->var, change}, 0,
                         NULL);
  weft__b_pop(g);
  weft__b_pop(g);
  weft__b_push_control(g, 2, (int[]){c->step.node, c->scatter});
  if (c->how == WAITED_FOR) c->extra = weft__b_node(g, "NoOp", NULL, 0, NULL, 0, NULL);
  weft__b_pop(g);
}

static chain_graph build(bool resource, twist how) {
  chain_graph c = {.b = begin(), .resource = resource, .how = how, .type = how == DOUBLES ? WEFT_DOUBLE : WEFT_FLOAT};
  c.extra = WEFT_NONE;
  c.var = table(&c, "var", 0.5, &c.start[0]);
  c.m = table(&c, "m", 0, &c.start[1]);
  c.v = table(&c, "v", 0, &c.start[2]);
  c.other = table(&c, "other", 0, &c.start[3]);
  c.indices = input(&c, "indices", WEFT_INT32, SHAPE1(-1));
  c.other_indices = input(&c, "other_indices", WEFT_INT32, SHAPE1(-1));
  c.rows = input(&c, "rows", c.type, SHAPE2(-1, WIDTH));
  const attr type = A_TYPE("dtype", c.type);
  c.found = c.resource ? weft__b_node(c.b.g, "ResourceGather", NULL, 2, (weft_out[]){c.var, c.indices}, 1, &type)
                       : weft__b_node(c.b.g, "Gather", NULL, 2, (weft_out[]){value_of(&c, c.var), c.indices}, 0, NULL);
  build_step(&c);
  EXPECT_OK(weft__b_ok(c.b.g));
  EXPECT_OK(weft__session_create(&c.b.s, c.b.g, &(session_opts){.intra_threads = 2, .inter_threads = 1}));
  EXPECT_OK(weft__session_run(c.b.s, &(plan_request){.n_target = 4, .target = c.start}, NULL, NULL, NULL));
  return c;
}

static plan_request step_request(const chain_graph *c, weft_out feed[3], int target[2]) {
  feed[0] = c->indices, feed[1] = c->rows, feed[2] = c->other_indices;
  target[0] = c->step.node, target[1] = c->extra.node;
  return (plan_request){.n_feed = c->how == INDICES_DIFFER ? 3 : 2,
                        .feed = feed,
                        .n_fetch = 1,
                        .fetch = &c->found,
                        .n_target = c->extra.node >= 0 ? 2 : 1,
                        .target = target};
}

static int deferred_in_plan(const chain_graph *c) {
  plan *p;
  weft_out feed[3];
  int target[2], n = 0;
  const plan_request r = step_request(c, feed, target);
  EXPECT_OK(weft__plan_create(&p, c->b.g, &r));
  for (int i = 0; i < p->n_item; i++) n += p->item[i].op == &weft__deferred_adam_op;
  weft__plan_destroy(p);
  return n;
}

/* One step on rows that i determines; what was found before it. */
static weft_tensor *run_step(const chain_graph *c, int i) {
  weft_tensor *fed[3], *out = NULL;
  weft_out feed[3];
  int target[2];
  EXPECT_OK(weft__tensor_create(&fed[0], WEFT_INT32, &SHAPE1(FEW)));
  EXPECT_OK(weft__tensor_create(&fed[1], c->type, &SHAPE2(FEW, WIDTH)));
  for (int j = 0; j < FEW; j++) TENSOR_DATA(fed[0], int32_t)[j] = (i * i + j * 7) % ROWS;
  for (int j = 0; j < FEW * WIDTH; j++) {
    const float x = (float)((i * 37 + j * 11) % 19 - 9) * 0.01f;
    if (c->type == WEFT_FLOAT)
      TENSOR_DATA(fed[1], float)[j] = x;
    else
      TENSOR_DATA(fed[1], double)[j] = x;
  }
  fed[2] = fed[0];
  const plan_request r = step_request(c, feed, target);
  EXPECT_OK(weft__session_run(c->b.s, &r, (const weft_tensor *const *)fed, &out, NULL));
  weft_tensor_destroy(fed[0]);
  weft_tensor_destroy(fed[1]);
  return out;
}

static void expect_equal(weft_tensor *a, weft_tensor *b) {
  EXPECT_EQ_MEM(a->data, b->data, weft__tensor_bytes(a));
  weft_tensor_destroy(a);
  weft_tensor_destroy(b);
}

static weft_tensor *read_table(chain_graph *c, weft_out t) {
  weft_tensor *out = NULL;
  const weft_out now = value_of(c, t);
  EXPECT_OK(weft__session_run(c->b.s, &(plan_request){.n_fetch = 1, .fetch = &now}, NULL, &out, NULL));
  return out;
}

static void compare_with_dense(bool resource, twist how) {
  chain_graph now = build(resource, how);
  EXPECT_OK(weft__b_ok(now.b.g));
  if (deferred_in_plan(&now) != (how < RECOGNIZED)) FAIL("variant %d: %d chains were replaced", how, how >= RECOGNIZED);
  setenv("WEFT_DENSE_UPDATES", "1", 1);
  chain_graph dense = build(resource, how);
  EXPECT_EQ_INT(deferred_in_plan(&dense), 0);
  for (int i = 0; i < 50; i++) {
    setenv("WEFT_DENSE_UPDATES", "1", 1);
    weft_tensor *want = run_step(&dense, i);
    unsetenv("WEFT_DENSE_UPDATES");
    expect_equal(run_step(&now, i), want);
    if (i % 20 == 19) expect_equal(read_table(&now, now.v), read_table(&dense, dense.v));
  }
  expect_equal(read_table(&now, now.var), read_table(&dense, dense.var));
  expect_equal(read_table(&now, now.m), read_table(&dense, dense.m));
  expect_equal(read_table(&now, now.v), read_table(&dense, dense.v));
  end(&now.b);
  end(&dense.b);
}

TEST_WITHIN(60, chains_of_reference_variables_are_recognized_where_that_is_safe) {
  for (twist how = AS_IS; how < TWISTS; how++)
    if (how != RECOGNIZED) compare_with_dense(false, how);
}

TEST_WITHIN(60, chains_of_resource_variables_are_recognized_where_that_is_safe) {
  for (twist how = AS_IS; how < TWISTS; how++)
    if (how != RECOGNIZED) compare_with_dense(true, how);
}

TEST(a_failed_allocation_in_the_pass_is_an_error) {
  chain_graph c = build(false, AS_IS);
  plan *p = NULL;
  weft_out feed[3];
  int target[2];
  const plan_request r = step_request(&c, feed, target);
  for (long after = 1;; after++) {
    weft__alloc_fail_after(after);
    const weft_err err = weft__plan_create(&p, c.b.g, &r);
    weft__alloc_fail_after(0);
    if (!err) break;
    EXPECT_EQ_INT(err, WEFT_RESOURCE_EXHAUSTED);
  }
  weft__plan_destroy(p);
  end(&c.b);
}
