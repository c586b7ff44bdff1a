/* fuse_test.c - chains on a card that end in the update of a variable, on a simulated one. */
#include "exec/session.h"

#include "graph/build.h"
#include "ops/all.h"
#include "tests/check.h"
#include <stdlib.h>
#include <string.h>

#define GPU0 "/device:GPU:0"

typedef struct rig {
  weft_graph *g;
  weft_session *s;
  int init[4], n_init;
} rig;

static rig begin(void) {
  rig r = {0};
  const op_table *ops;
  setenv("WEFT_CUDA_PLUGIN", "simulated", 1);
  EXPECT_OK(weft__ops_table(&ops));
  EXPECT_OK(weft__graph_create(&r.g, ops));
  return r;
}

static void end(rig *r) {
  weft__session_destroy(r->s);
  weft__graph_destroy(r->g);
}

static weft_out at(rig *r, const char *op_name, int n_in, const weft_out *in, int n_attr, const attr *attrs,
                   const weft_out *after) {
  weft_node *n = NULL;
  node_spec spec = {.op = op_name, .device = GPU0, .n_in = n_in, .in = in, .n_attr = n_attr, .attr = attrs};
  if (after) spec.n_control = 1, spec.control = &after->node;
  EXPECT_OK(weft__graph_add(r->g, &spec, &n));
  return (weft_out){n->id, 0};
}

static weft_out binary(rig *r, const char *op_name, weft_out x, weft_out y) {
  return at(r, op_name, 2, (weft_out[]){x, y}, 0, NULL, NULL);
}

static weft_out scalar(rig *r, double v) { return weft__b_scalar(r->g, WEFT_FLOAT, v); }

/* A variable of three elements, all `initial`. */
static weft_out variable_of(rig *r, double initial) {
  shape s = SHAPE1(3);
  weft_out v = at(r, "VariableV2", 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &s)}, NULL);
  weft_out dims = weft__b_ints(r->g, (int64_t[]){3}, 1);
  weft_out filled = at(r, "Fill", 2, (weft_out[]){dims, scalar(r, initial)}, 0, NULL, NULL);
  r->init[r->n_init++] = binary(r, "Assign", v, filled).node;
  return v;
}

static void start(rig *r) {
  EXPECT_OK(weft__session_create(&r->s, r->g, &(session_opts){0}));
  plan_request q = {.n_target = r->n_init, .target = r->init};
  EXPECT_OK(weft__session_run(r->s, &q, NULL, NULL, NULL));
}

static void train_once(rig *r, weft_out target) {
  plan_request q = {.n_target = 1, .target = &target.node};
  EXPECT_OK(weft__session_run(r->s, &q, NULL, NULL, NULL));
}

static double value_of(rig *r, weft_out v) {
  weft_tensor *out = NULL;
  EXPECT_OK(weft__session_run(r->s, &(plan_request){.n_fetch = 1, .fetch = &v}, NULL, &out, NULL));
  const float *x = TENSOR_DATA(out, float);
  EXPECT(x[0] == x[1] && x[1] == x[2]);
  const double got = (double)x[0];
  weft_tensor_destroy(out);
  return got;
}

TEST(a_gradient_its_decay_and_the_descent_are_one_update) {
  rig r = begin();
  weft_out v = variable_of(&r, 8), w = variable_of(&r, 2);
  weft_out decay = binary(&r, "Mul", v, scalar(&r, 0.5)), grad = binary(&r, "Add", binary(&r, "Mul", w, w), decay);
  weft_out train = at(&r, "ApplyGradientDescent", 3, (weft_out[]){v, scalar(&r, 0.25), grad}, 0, NULL, NULL);
  double want = 8;
  start(&r);
  for (int i = 0; i < 5; i++) { /* learning a layout, and using it */
    train_once(&r, train);
    want -= 0.25 * (4 + 0.5 * want);
    EXPECT(value_of(&r, v) == want);
  }
  end(&r);
}

TEST(an_average_follows_its_variable_after_the_step) {
  rig r = begin();
  weft_out v = variable_of(&r, 8), average = variable_of(&r, 0);
  weft_out train = binary(&r, "AssignAdd", v, binary(&r, "Mul", v, v));
  weft_out apart = at(&r, "Sub", 2, (weft_out[]){average, v}, 0, NULL, &train);
  weft_out follow = binary(&r, "AssignSub", average, binary(&r, "Mul", apart, scalar(&r, 0.5)));
  start(&r);
  train_once(&r, follow);
  EXPECT(value_of(&r, v) == 72);
  EXPECT(value_of(&r, average) == 36);
  end(&r);
}

TEST(what_was_read_before_a_variable_changed_is_not_read_again_later) {
  rig r = begin();
  weft_out v = variable_of(&r, 1), sum = variable_of(&r, 0);
  weft_out before = binary(&r, "Add", v, scalar(&r, 1));
  weft_out change = at(&r, "AssignAdd", 2, (weft_out[]){v, binary(&r, "Mul", v, scalar(&r, 9))}, 0, NULL, &before);
  weft_out add = at(&r, "AssignAdd", 2, (weft_out[]){sum, binary(&r, "Mul", before, scalar(&r, 3))}, 0, NULL, &change);
  weft_out other = variable_of(&r, 5); /* the step does not use it, so it keeps its value */
  start(&r);
  train_once(&r, add);
  EXPECT(value_of(&r, v) == 10);
  EXPECT(value_of(&r, sum) == 6);
  EXPECT(value_of(&r, other) == 5);
  end(&r);
}
