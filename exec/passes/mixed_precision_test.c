/* mixed_precision_test.c - which nodes automatic mixed precision changes, and what their plans compute, on a simulated
 * card, whose kernels are the CPU's. */
#include "exec/passes/mixed_precision.h"

#include "base/alloc.h"
#include "exec/passes/order.h"
#include "exec/session.h"
#include "exec/task.h"
#include "graph/build.h"
#include "ops/all.h"
#include "tests/check.h"
#include <stdlib.h>
#include <string.h>

typedef struct rig {
  weft_graph *g;
  task *task;
} rig;

static rig mixed_begin(void) {
  rig r = {0};
  const op_table *ops;
  setenv("WEFT_CUDA_PLUGIN", "simulated", 1);
  EXPECT_OK(weft__ops_table(&ops));
  EXPECT_OK(weft__graph_create(&r.g, ops));
  EXPECT_OK(weft__task_create(&r.task, "/job:localhost/replica:0/task:0", 1, 1));
  EXPECT_OK(weft__task_add_gpus(r.task, &(gpu_options){0}));
  return r;
}

static void mixed_end(rig *r) {
  weft__task_destroy(r->task);
  weft__graph_destroy(r->g);
}

static weft_out node(rig *r, const char *op_name, const char *name, int n_in, const weft_out *in) {
  weft_node *n = NULL;
  node_spec spec = {.op = op_name, .name = name, .device = "/device:GPU:0", .exact = true, .n_in = n_in, .in = in};
  EXPECT_OK(weft__graph_add(r->g, &spec, &n));
  return (weft_out){n->id, 0};
}

static weft_out of_two(rig *r, const char *op_name, const char *name, weft_out x, weft_out y) {
  return node(r, op_name, name, 2, (weft_out[]){x, y});
}

static weft_out matrix(rig *r, const char *name) {
  shape s = {.rank = 2, .dim = {2, 2}};
  weft_node *n = NULL;
  attr attrs[] = {A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &s)};
  EXPECT_OK(weft__graph_add(
      r->g, &(node_spec){.op = "Placeholder", .name = name, .exact = true, .n_attr = 2, .attr = attrs}, &n));
  return (weft_out){n->id, 0};
}

/* The names of the nodes that become half when `fetch` is fetched, in the order of the graph. */
static const char *half_nodes(rig *r, weft_out feed, weft_out fetch) {
  static char text[512];
  int *order = NULL, n_order = 0, *of_node = weft__alloc_zero((size_t)r->g->n_node + 1, sizeof *of_node);
  bool *half = NULL;
  for (int i = 0; i < r->g->n_node; i++) of_node[i] = *r->g->node[i]->device ? 1 : 0;
  const plan_request q = {.n_feed = 1, .n_fetch = 1, .feed = &feed, .fetch = &fetch};
  EXPECT_OK(weft__order(r->g, &q, &order, &n_order));
  EXPECT_OK(weft__mixed_choose(r->g, &q, &(plan_devices){.device = r->task->device, .of_node = of_node}, order, n_order,
                               &half));
  *text = '\0';
  for (int i = 0; i < r->g->n_node; i++)
    if (half[i]) {
      strcat(text, r->g->node[i]->name);
      strcat(text, " ");
    }
  weft__free(half);
  weft__free(order);
  weft__free(of_node);
  return text;
}

TEST(ops_between_two_products_become_half) {
  rig r = mixed_begin();
  weft_out x = matrix(&r, "x"), m0 = of_two(&r, "MatMul", "m0", x, x), add = of_two(&r, "AddV2", "add", m0, x);
  weft_out relu = node(&r, "Relu", "relu", 1, &add), m1 = of_two(&r, "MatMul", "m1", relu, relu);
  weft_out exp = node(&r, "Exp", "exp", 1, &m1), end = node(&r, "Identity", "end", 1, &exp);
  EXPECT_EQ_STR(half_nodes(&r, x, end), "m0 add relu m1 ");
  mixed_end(&r);
}

TEST(an_op_that_needs_float_keeps_what_is_computed_from_it_in_float) {
  rig r = mixed_begin();
  weft_out x = matrix(&r, "x"), m0 = of_two(&r, "MatMul", "m0", x, x), exp = node(&r, "Exp", "exp", 1, &x);
  weft_out relu = node(&r, "Relu", "relu", 1, &exp), add = of_two(&r, "AddV2", "add", m0, relu);
  weft_out m1 = of_two(&r, "MatMul", "m1", add, add), end = node(&r, "Sqrt", "end", 1, &m1);
  EXPECT_EQ_STR(half_nodes(&r, x, end), "m0 m1 ");
  mixed_end(&r);
}

TEST(ops_that_lose_nothing_become_half_beside_a_product) {
  rig r = mixed_begin();
  weft_out x = matrix(&r, "x"), before = node(&r, "Neg", "before", 1, &x);
  weft_out m = of_two(&r, "MatMul", "m", before, before), after = node(&r, "Abs", "after", 1, &m);
  weft_out tanh = node(&r, "Tanh", "tanh", 1, &after), end = node(&r, "Identity", "end", 1, &tanh);
  EXPECT_EQ_STR(half_nodes(&r, x, end), "before m after ");
  EXPECT_EQ_STR(half_nodes(&r, x, m), ""); /* a fetched node keeps its type */
  mixed_end(&r);
}

/* Fetches MatMul(x, x) + y in a session; the sum keeps it from being fetched itself. */
static float product(rig *r, weft_out x, weft_out fetch, bool mixed, float diagonal) {
  weft_session *s;
  weft_tensor in, *out = NULL;
  EXPECT_OK(weft__session_create(&s, r->g, &(session_opts){.allow_soft_placement = true, .mixed_precision = mixed}));
  shape two = {.rank = 2, .dim = {2, 2}};
  EXPECT_OK(weft__tensor_init(&in, WEFT_FLOAT, &two));
  for (int i = 0; i < 4; i++) TENSOR_DATA(&in, float)[i] = i % 3 ? 0 : diagonal;
  const weft_tensor *fed = &in;
  const plan_request q = {.n_feed = 1, .n_fetch = 1, .feed = &x, .fetch = &fetch};
  for (int i = 0; i < 3; i++) {
    if (out) weft_tensor_destroy(out);
    EXPECT_OK(weft__session_run(s, &q, &fed, &out, NULL));
  }
  const float got = TENSOR_DATA(out, float)[0];
  weft_tensor_destroy(out);
  weft__tensor_clear(&in);
  weft__session_destroy(s);
  return got;
}

TEST(a_rewritten_plan_computes_in_half_and_gives_float) {
  rig r = mixed_begin();
  weft_out x = matrix(&r, "x"), m = of_two(&r, "MatMul", "m", x, x), end = node(&r, "Exp", "end", 1, &m);
  const float diagonal = 0.7001f;
  const float exact = product(&r, x, end, false, diagonal), mixed = product(&r, x, end, true, diagonal);
  EXPECT(exact > 1.632f && exact < 1.6329f);
  EXPECT(mixed != exact && mixed > exact - 0.01f && mixed < exact + 0.01f);
  mixed_end(&r);
}
