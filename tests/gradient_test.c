/* gradient_test.c - tests gradients of small graphs against derivatives that are easy to compute by hand. */
#include "graph/gradient.h"
#include "base/alloc.h"
#include "exec/session.h"
#include "graph/build.h"
#include "graph/frames.h"
#include "graph/scope.h"
#include "ops/all.h"
#include "tests/check.h"

static weft_graph *new_graph(void) {
  op_table *table;
  weft_graph *g;
  EXPECT_OK(weft__op_table_create(&table, weft__ops_all()));
  EXPECT_OK(weft__graph_create(&g, table));
  return g;
}

static void free_graph(weft_graph *g) {
  op_table *table = (op_table *)(uintptr_t)g->ops;
  weft__graph_destroy(g);
  weft__op_table_destroy(table);
}

static weft_out input(weft_graph *g, const char *name, weft_dtype type, const shape *s) {
  shape copy = *s;
  weft_out o =
      weft__b_node(g, "Placeholder", name, 0, NULL, 2, (attr[]){A_TYPE("dtype", type), A_SHAPE("shape", &copy)});
  EXPECT_OK(weft__b_ok(g));
  return o;
}

static weft_out scalar_input(weft_graph *g, const char *name) { return input(g, name, WEFT_FLOAT, &SHAPE_SCALAR); }

static weft_tensor *scalar(weft_dtype type, double v) {
  weft_tensor *t;
  EXPECT_OK(weft__tensor_scalar(&t, type, v));
  return t;
}

/* The value of y with x (and p) fed. */
static double run(weft_graph *g, weft_out y, weft_out x, double at, weft_out p, double p_at) {
  weft_session *sess;
  EXPECT_OK(weft__session_create(&sess, g, &(session_opts){.intra_threads = 1}));
  weft_tensor *fed[2] = {scalar(weft__out_type(g, x), at), NULL}, *got = NULL;
  weft_out to[2] = {x, p};
  if (p.node >= 0) fed[1] = scalar(weft__out_type(g, p), p_at);
  plan_request r = {.n_feed = p.node >= 0 ? 2 : 1, .feed = to, .n_fetch = 1, .fetch = &y};
  EXPECT_OK(weft__session_run(sess, &r, (const weft_tensor *const *)fed, &got, &(run_opts){.timeout_ms = 20000}));
  double v = weft__tensor_double(got, 0);
  weft_tensor_destroy(got);
  weft_tensor_destroy(fed[0]);
  weft_tensor_destroy(fed[1]);
  weft__session_destroy(sess);
  return v;
}

static weft_out gradient(weft_graph *g, weft_out y, weft_out x, const gradient_opts *o) {
  grad_value d;
  EXPECT_OK(weft__b_ok(g));
  EXPECT_OK(weft__gradients(g, 1, &y, 1, &x, NULL, o, &d));
  EXPECT(d.dense.node >= 0);
  return d.dense;
}

TEST(several_paths_are_added) {
  weft_graph *g = new_graph();
  weft_out x = scalar_input(g, "x");
  weft_out y = weft__b_add(g, weft__b_mul(g, x, x), weft__b_unary(g, "Exp", x)); /* x^2 + e^x */
  weft_out dx = gradient(g, y, x, NULL);
  EXPECT_NEAR(run(g, dx, x, 2, WEFT_NONE, 0), 4 + exp(2), 1e-5);
  EXPECT_EQ_STR(g->node[dx.node]->name, "gradients/AddN");
  weft_out again = gradient(g, y, x, NULL); /* adds nodes: the list of them may move */
  EXPECT_EQ_STR(g->node[again.node]->name, "gradients_1/AddN");
  EXPECT_EQ_INT(weft__scope_depth(g), 0);
  free_graph(g);
}

TEST(nothing_leads_nowhere) {
  weft_graph *g = new_graph();
  weft_out x = scalar_input(g, "x"), w = scalar_input(g, "w");
  weft_out i = weft__b_cast(g, x, WEFT_INT32), y = weft__b_add(g, weft__b_cast(g, i, WEFT_FLOAT), w);
  grad_value d[2];
  EXPECT_OK(weft__gradients(g, 1, &y, 2, (weft_out[]){x, w}, NULL, NULL, d));
  EXPECT(d[0].dense.node < 0 && d[0].indices.node < 0);
  EXPECT(d[1].dense.node >= 0);
  EXPECT_OK(weft__gradients(g, 1, &i, 1, &x, NULL, NULL, d)); /* an integer has no derivative */
  EXPECT(d[0].dense.node < 0);
  free_graph(g);
}

TEST(a_stopped_tensor_counts_as_a_constant) {
  weft_graph *g = new_graph();
  weft_out x = scalar_input(g, "x"), z = weft__b_mul(g, x, x), y = weft__b_mul(g, z, x);
  weft_out dx = gradient(g, y, x, &(gradient_opts){.n_stop = 1, .stop = &z});
  EXPECT_NEAR(run(g, dx, x, 3, WEFT_NONE, 0), 9, 1e-6);
  EXPECT_NEAR(run(g, gradient(g, y, x, NULL), x, 3, WEFT_NONE, 0), 27, 1e-5);
  free_graph(g);
}

TEST(slices_stay_slices_until_something_dense_meets_them) {
  weft_graph *g = new_graph();
  weft_out p = input(g, "p", WEFT_FLOAT, &SHAPE2(5, 3)), axis = weft__b_scalar(g, WEFT_INT32, 0);
  weft_out rows = weft__b_gather(g, weft__b_identity(g, p), weft__b_ints(g, (int64_t[]){1, 4}, 2), axis);
  weft_out more = weft__b_gather(g, p, weft__b_ints(g, (int64_t[]){1, 0}, 2), axis);
  weft_out y = weft__b_mul(g, rows, more);
  grad_value d;
  EXPECT_OK(weft__gradients(g, 1, &y, 1, &p, NULL, NULL, &d));
  EXPECT(d.indices.node >= 0 && d.values.node >= 0 && d.dense_shape.node >= 0);
  EXPECT_EQ_INT(weft__out_shape(g, d.indices)->dim[0], 4);
  EXPECT_EQ_STR(g->node[d.values.node]->op_name, "ConcatV2");
  free_graph(g);
}

TEST(gates_and_colocation_are_tensorflows) {
  weft_graph *g = new_graph();
  weft_out x = scalar_input(g, "x"), w = scalar_input(g, "w");
  weft_out in[] = {x, w}, y = weft__b_node(g, "Mul", "mul", 2, in, 0, NULL);
  grad_value d[2];
  EXPECT_OK(weft__gradients(g, 1, &y, 2, in, NULL, &(gradient_opts){.gate = true, .colocate = true}, d));
  const weft_node *n = g->node[d[1].dense.node];
  EXPECT_EQ_STR(n->name, "gradients/mul_grad/tuple/control_dependency_1");
  EXPECT_EQ_STR(g->node[n->control[0]]->name, "gradients/mul_grad/tuple/group_deps");
  EXPECT_EQ_STR(weft__node_attr(n, "_class")->ss[0].data, "loc:@mul");
  free_graph(g);
}

TEST(a_gate_stands_where_the_gradients_are) {
  weft_graph *g = new_graph();
  EXPECT_OK(weft__scope_push_device(g, "/job:worker/task:1"));
  weft_out x = scalar_input(g, "x"), w = scalar_input(g, "w");
  weft_out in[] = {x, w}, y = weft__b_node(g, "Mul", "mul", 2, in, 0, NULL);
  grad_value d[2];
  EXPECT_OK(weft__gradients(g, 1, &y, 2, in, NULL, &(gradient_opts){.gate = true}, d));
  const weft_node *n = g->node[d[1].dense.node];
  EXPECT_EQ_STR(g->node[n->control[0]]->name, "gradients/mul_grad/tuple/group_deps");
  EXPECT_EQ_STR(g->node[n->control[0]]->device, "/job:worker/task:1");
  free_graph(g);
}

/* Three times what arrives, for the name "Mine"; counts how often it is asked. */
static weft_err program_gradient(void *arg, int node, const char *type, int n_out, const weft_gradient *dout, int n_in,
                                 weft_gradient *din, bool *found) {
  weft_graph *g = ((void **)arg)[0];
  int *asked = ((void **)arg)[1];
  (void)node, (void)n_out, (void)n_in;
  ++*asked;
  *found = strcmp(type, "Mine") == 0;
  if (*found) din[0].dense = weft__b_mul(g, dout[0].dense, weft__b_scalar(g, WEFT_FLOAT, 3));
  return WEFT_OK;
}

TEST(a_program_differentiates_ops_that_have_no_gradient) {
  weft_graph *g = new_graph();
  int asked = 0;
  void *arg[] = {g, &asked};
  weft_graph_set_gradient_fn(g, program_gradient, arg);
  weft_out x = scalar_input(g, "x"), y = weft__b_unary(g, "Square", x);
  EXPECT_OK(weft__scope_push_gradient(g, "Sin", "Mine"));
  EXPECT_OK(weft__scope_push_gradient(g, "Cos", "Square"));
  weft_out z = weft__b_unary(g, "Sin", y), c = weft__b_unary(g, "Cos", x);
  weft__scope_pop_to(g, 0);
  weft_out m = weft__b_node(g, "Mod", "mod", 2, (weft_out[]){x, y}, 0, NULL);
  grad_value d;
  EXPECT_OK(weft__gradients(g, 1, &z, 1, &x, NULL, NULL, &d));
  EXPECT_EQ_INT(asked, 1);
  EXPECT_EQ_STR(g->node[g->node[d.dense.node]->in[0].node]->name, "gradients/Sin_grad/mul");
  EXPECT_OK(weft__gradients(g, 1, &c, 1, &x, NULL, NULL, &d)); /* as a Square's, which the library has */
  EXPECT_EQ_INT(asked, 1);
  EXPECT_ERR(weft__gradients(g, 1, &m, 1, &x, NULL, NULL, &d), WEFT_NOT_FOUND,
             "No gradient defined for operation'mod' (op type: Mod)");
  EXPECT_EQ_INT(asked, 2);
  free_graph(g);
}

TEST(a_refusal_names_the_op_and_leaves_the_graph_alone) {
  weft_graph *g = new_graph();
  weft_out x = input(g, "x", WEFT_FLOAT, &SHAPE1(3));
  weft_out y = weft__b_node(g, "Unique", "in_the_way", 1, &x, 0, NULL), z = weft__b_mul(g, y, y);
  int n = g->n_node, generation = g->generation;
  grad_value d;
  EXPECT_OK(weft__b_ok(g));
  EXPECT_ERR(weft__gradients(g, 1, &z, 1, &x, NULL, NULL, &d), WEFT_NOT_FOUND,
             "No gradient defined for operation'in_the_way' (op type: Unique)");
  EXPECT_EQ_INT(g->n_node, n);
  EXPECT_EQ_INT(g->generation, generation);
  EXPECT_OK(weft__b_ok(g));
  EXPECT(weft__graph_find(g, "gradients/grad_ys_0") == NULL);
  EXPECT_EQ_INT(weft__scope_depth(g), 0);
  weft_out c = input(g, "c", WEFT_COMPLEX64, &SHAPE_SCALAR);
  EXPECT_ERR(weft__gradients(g, 1, &c, 1, &c, NULL, NULL, &d), WEFT_INVALID_ARGUMENT, "must set grad_ys");
  EXPECT_ERR(weft__gradients(g, 1, &z, 1, &(weft_out){999, 0}, NULL, NULL, &d), WEFT_INVALID_ARGUMENT, "xs[0]");
  free_graph(g);
}

TEST(given_gradients_of_ys_weigh_them) {
  weft_graph *g = new_graph();
  weft_out x = scalar_input(g, "x"), y = weft__b_mul(g, x, x), five = weft__b_scalar(g, WEFT_FLOAT, 5);
  grad_value d;
  EXPECT_OK(weft__gradients(g, 1, &y, 1, &x, &five, NULL, &d));
  EXPECT_NEAR(run(g, d.dense, x, 3, WEFT_NONE, 0), 30, 1e-5);
  weft_out wrong = weft__b_scalar(g, WEFT_INT32, 5);
  EXPECT_ERR(weft__gradients(g, 1, &y, 1, &x, &wrong, NULL, &d), WEFT_INVALID_ARGUMENT, "of its type float32");
  free_graph(g);
}

/* cond(p, x * x, exp(x)) as TF builds it. */
static weft_out build_cond(weft_graph *g, weft_out x, weft_out p) {
  weft_out a = weft__b_binary(g, "Switch", x, p), b = weft__b_binary(g, "Switch", x, p);
  weft_out in[] = {weft__b_unary(g, "Exp", b), weft__b_mul(g, weft__b_slot(a, 1), weft__b_slot(a, 1))};
  return weft__b_node(g, "Merge", NULL, 2, in, 0, NULL);
}

TEST_WITHIN(30, a_branch_is_differentiated_on_the_side_taken) {
  weft_graph *g = new_graph();
  weft_out x = scalar_input(g, "x"), p = input(g, "p", WEFT_BOOL, &SHAPE_SCALAR);
  weft_out dx = gradient(g, build_cond(g, x, p), x, NULL);
  EXPECT_NEAR(run(g, dx, x, 3, p, 1), 6, 1e-6);
  EXPECT_NEAR(run(g, dx, x, 3, p, 0), exp(3), 1e-4);
  free_graph(g);
}

typedef struct loop_parts {
  weft_out enter_i, enter_a, limit, times, merge_i, merge_a, sw_i, sw_a;
} loop_parts;

static weft_out enter(weft_graph *g, weft_out x, bool constant) {
  return weft__b_node(g, "Enter", NULL, 1, &x, 2,
                      (attr[]){A_STR("frame_name", "loop"), A_BOOL("is_constant", constant)});
}

static void close_loop(weft_graph *g, weft_out merge, weft_out turned) {
  weft_out next = weft__b_unary(g, "NextIteration", turned);
  EXPECT_OK(weft__graph_set_input(g, g->node[merge.node], 1, next));
}

/* while i < n: a = a * x, from a = 1; gives x^n. */
static weft_out build_power(weft_graph *g, weft_out x, weft_out n) {
  loop_parts l;
  l.enter_i = enter(g, weft__b_scalar(g, WEFT_INT32, 0), false);
  l.enter_a = enter(g, weft__b_ones_like(g, x), false);
  l.limit = enter(g, n, true);
  l.times = enter(g, x, true);
  l.merge_i = weft__b_node(g, "Merge", NULL, 2, (weft_out[]){l.enter_i, l.enter_i}, 0, NULL);
  l.merge_a = weft__b_node(g, "Merge", NULL, 2, (weft_out[]){l.enter_a, l.enter_a}, 0, NULL);
  weft_out cond = weft__b_unary(g, "LoopCond", weft__b_binary(g, "Less", l.merge_i, l.limit));
  l.sw_i = weft__b_binary(g, "Switch", l.merge_i, cond);
  l.sw_a = weft__b_binary(g, "Switch", l.merge_a, cond);
  weft_out i = weft__b_identity(g, weft__b_slot(l.sw_i, 1)), a = weft__b_identity(g, weft__b_slot(l.sw_a, 1));
  weft_tensor *t = scalar(WEFT_INT32, 1);
  weft_out one = weft__b_add_node(g, &(node_spec){.op = "Const",
                                                  .n_attr = 2,
                                                  .attr = (attr[]){A_TENSOR("value", t), A_TYPE("dtype", WEFT_INT32)},
                                                  .n_control = 1,
                                                  .control = &i.node});
  weft_tensor_destroy(t);
  close_loop(g, l.merge_i, weft__b_add(g, i, one));
  close_loop(g, l.merge_a, weft__b_mul(g, a, l.times));
  weft__b_unary(g, "Exit", l.sw_i);
  return weft__b_unary(g, "Exit", l.sw_a);
}

TEST_WITHIN(60, a_loop_is_run_back_iteration_by_iteration) {
  weft_graph *g = new_graph();
  weft_out x = scalar_input(g, "x"), n = input(g, "n", WEFT_INT32, &SHAPE_SCALAR);
  weft_out y = build_power(g, x, n), dx = gradient(g, y, x, NULL);
  EXPECT_NEAR(run(g, y, x, 2, n, 10), 1024, 1e-3);
  for (int turns = 0; turns < 6; turns++) EXPECT_NEAR(run(g, dx, x, 1.5, n, turns), turns * pow(1.5, turns - 1), 1e-4);
  grad_value d;
  EXPECT_ERR(weft__gradients(g, 1, &dx, 1, &x, NULL, NULL, &d), WEFT_UNIMPLEMENTED,
             "Second-order gradient for while loops not supported");
  free_graph(g);
}

TEST(frames_and_their_parts_are_found) {
  weft_graph *g = new_graph();
  weft_out x = scalar_input(g, "x"), n = input(g, "n", WEFT_INT32, &SHAPE_SCALAR), y = build_power(g, x, n);
  arena a = {0};
  frames f;
  EXPECT_OK(weft__frames_find(&f, g, false, &a));
  EXPECT_EQ_INT(f.n_frame, 2);
  EXPECT_EQ_STR(f.frame[1].name, "loop");
  EXPECT_EQ_INT(f.frame[1].n_var, 2);
  EXPECT_EQ_INT(f.frame[1].n_enter, 4);
  EXPECT_EQ_INT(f.frame[1].var[1].exit, y.node);
  EXPECT_EQ_INT(f.home[y.node], 0);
  EXPECT_EQ_INT(f.home[f.frame[1].loop_cond], 1);
  weft_out inside = {f.frame[1].var[1].sw, 1};
  weft__arena_finish(&a);
  grad_value d;
  EXPECT_ERR(weft__gradients(g, 1, &inside, 1, &x, NULL, NULL, &d), WEFT_UNIMPLEMENTED, "is inside loop 'loop'");
  free_graph(g);
}

/* Fails the n-th allocation, for every n; the graph stays as it was until one goes through. */
TEST_WITHIN(120, every_failed_allocation_of_a_loops_gradient_is_an_error) {
  weft_graph *g = new_graph();
  weft_out x = scalar_input(g, "x"), n = input(g, "n", WEFT_INT32, &SHAPE_SCALAR), y = build_power(g, x, n);
  int before = g->n_node, failures = 0;
  weft_err err = WEFT_RESOURCE_EXHAUSTED;
  grad_value d;
  for (long i = 1; err != WEFT_OK && i < 100000; i++) {
    weft__alloc_fail_after(i);
    err = weft__gradients(g, 1, &y, 1, &x, NULL, NULL, &d);
    weft__alloc_fail_after(0);
    if (err == WEFT_OK) break;
    EXPECT_ERR(err, WEFT_RESOURCE_EXHAUSTED, "");
    EXPECT_EQ_INT(g->n_node, before);
    EXPECT_EQ_INT(weft__scope_depth(g), 0);
    failures++;
  }
  EXPECT_OK(err);
  EXPECT(failures > 300);
  EXPECT_NEAR(run(g, d.dense, x, 1.5, n, 3), 3 * 1.5 * 1.5, 1e-5);
  free_graph(g);
}
