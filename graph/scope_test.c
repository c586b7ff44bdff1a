/* scope_test.c - tests scopes; the expected results are TensorFlow 2.15.1's for the same programs. */
#include "graph/scope.h"
#include "graph/mark.h"
#include "graph/test_ops.h"

static void expect_controls(const weft_node *n, const char *names) {
  text t = {0};
  for (int i = 0; i < n->n_control; i++)
    weft__text_printf(&t, "%s%s", i ? " " : "", n->graph->node[n->control[i]]->name);
  EXPECT_EQ_STR(weft__text_get(&t), names);
  weft__text_finish(&t);
}

static void expect_class(const weft_node *n, const char *groups) {
  text t = {0};
  const attr *a = weft__node_attr(n, "_class");
  for (int i = 0; a && i < a->n; i++) weft__text_printf(&t, "%s%s", i ? " " : "", a->ss[i].data);
  EXPECT_EQ_STR(weft__text_get(&t), groups);
  weft__text_finish(&t);
}

TEST(a_taken_name_gets_the_first_free_suffix_whatever_its_case) {
  weft_graph *g = test_graph();
  EXPECT_EQ_STR(test_no_op(g, "a")->name, "a");
  EXPECT_EQ_STR(test_no_op(g, "A")->name, "A_1");
  EXPECT_EQ_STR(test_no_op(g, "a_1")->name, "a_1_1");
  EXPECT_EQ_STR(test_no_op(g, "a")->name, "a_2");
  EXPECT_EQ_STR(test_no_op(g, NULL)->name, "NoOp");
  test_graph_destroy(g);
}

TEST(name_scopes_are_made_unique_and_entered_again_with_a_slash) {
  weft_graph *g = test_graph();
  EXPECT_OK(weft__scope_push_name(g, "b"));
  EXPECT_EQ_STR(test_no_op(g, "z")->name, "b/z");
  EXPECT_OK(weft__scope_push_name(g, "c/d"));
  EXPECT_EQ_STR(test_no_op(g, "z")->name, "b/c/d/z");
  weft__scope_pop(g);
  EXPECT_OK(weft__scope_push_name(g, NULL));
  EXPECT_EQ_STR(test_no_op(g, "z")->name, "z");
  weft__scope_pop(g);
  weft__scope_pop(g);
  EXPECT_EQ_STR(test_no_op(g, "b")->name, "b_1");
  EXPECT_OK(weft__scope_push_name(g, "b"));
  EXPECT_EQ_STR(weft__scope_prefix(g), "b_2");
  weft__scope_pop(g);
  EXPECT_OK(weft__scope_push_name(g, "b/"));
  EXPECT_EQ_STR(test_no_op(g, "z")->name, "b/z_1");
  EXPECT_EQ_STR(test_no_op(g, "q/")->name, "q");
  weft__scope_pop(g);
  EXPECT_EQ_STR(weft__scope_prefix(g), "");
  test_graph_destroy(g);
}

TEST(a_name_tensorflow_refuses_is_refused) {
  weft_graph *g = test_graph();
  const char *const bad[] = {"a b", "_a", "-a", "/a", "a:0", "\\x", "\xc3\xa9"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    EXPECT_ERR(weft__graph_add(g, &(node_spec){.op = "NoOp", .name = bad[i]}, NULL), WEFT_INVALID_ARGUMENT,
               "is not a valid node name");
    EXPECT_ERR(weft__scope_push_name(g, bad[i]), WEFT_INVALID_ARGUMENT, "is not a valid scope name");
  }
  EXPECT_ERR(weft__graph_add(g, &(node_spec){.op = "NoOp", .name = ""}, NULL), WEFT_INVALID_ARGUMENT,
             "'' is not a valid");
  EXPECT_EQ_INT(g->n_node, 0);
  EXPECT_OK(weft__scope_push_name(g, "r"));
  EXPECT_EQ_STR(test_no_op(g, "_x")->name, "r/_x");
  EXPECT_OK(weft__scope_push_name(g, "-a"));
  EXPECT_EQ_STR(weft__scope_prefix(g), "r/-a");
  EXPECT_ERR(weft__scope_push_name(g, "a b"), WEFT_INVALID_ARGUMENT, "'a b' is not a valid scope name");
  test_no_op(g, "b");
  EXPECT_ERR(weft__graph_add(g, &(node_spec){.op = "NoOp", .name = "r/-a/b/"}, NULL), WEFT_INVALID_ARGUMENT,
             "Duplicate node name in graph: 'r/-a/b'");
  test_graph_destroy(g);
}

static void expect_device(int n, const char *const *scopes, const char *want) {
  weft_graph *g = test_graph();
  for (int i = 0; i < n; i++) EXPECT_OK(weft__scope_push_device(g, scopes[i]));
  EXPECT_EQ_STR(test_no_op(g, NULL)->device, want);
  test_graph_destroy(g);
}

TEST(device_scopes_merge_field_by_field) {
  expect_device(1, (const char *[]){"/cpu:0"}, "/device:CPU:0");
  expect_device(1, (const char *[]){"/gpu:1"}, "/device:GPU:1");
  expect_device(1, (const char *[]){"/device:GPU:*"}, "/device:GPU:*");
  expect_device(1, (const char *[]){"/task:1/job:ps"}, "/job:ps/task:1");
  expect_device(2, (const char *[]){"/job:worker/task:3/gpu:1", "/job:ps"}, "/job:ps/task:3/device:GPU:1");
  expect_device(2, (const char *[]){"/job:ps/device:GPU:*", "/cpu:1"}, "/job:ps/device:CPU:1");
  expect_device(2, (const char *[]){"/job:ps/cpu:0", "/gpu"}, "/job:ps/device:GPU:0");
  expect_device(2, (const char *[]){"/cpu:0", NULL}, "");
  expect_device(3, (const char *[]){"/job:ps", NULL, "/cpu:0"}, "/device:CPU:0");
  expect_device(1, (const char *[]){""}, "");
}

TEST(a_bad_device_string_is_refused_where_it_is_entered) {
  weft_graph *g = test_graph();
  EXPECT_ERR(weft__scope_push_device(g, "/foo:0"), WEFT_INVALID_ARGUMENT, "/foo:0");
  EXPECT_EQ_INT(weft__scope_depth(g), 0);
  test_graph_destroy(g);
}

static weft_err job_x(void *arg, const weft_node *n, const char *current, text *out) {
  (*(int *)arg)++;
  weft__text_printf(out, "/job:x%s", current);
  return n->op ? WEFT_OK : WEFT_INTERNAL;
}

TEST(a_device_function_sees_what_inner_scopes_said_and_replaces_it) {
  weft_graph *g = test_graph();
  int calls = 0;
  EXPECT_OK(weft__scope_push_device(g, "/task:2"));
  EXPECT_OK(weft__scope_push_device_fn(g, job_x, &calls));
  EXPECT_OK(weft__scope_push_device(g, "/cpu:0"));
  EXPECT_EQ_STR(test_no_op(g, NULL)->device, "/job:x/task:2/device:CPU:0");
  EXPECT_ERR(weft__graph_add(g, &(node_spec){.op = "Identity"}, NULL), WEFT_INVALID_ARGUMENT, "");
  EXPECT_EQ_INT(calls, 1); /* a rejected node does not advance the round robin */
  test_graph_destroy(g);
}

TEST(control_scopes_add_edges_unless_an_input_waits_already) {
  weft_graph *g = test_graph();
  int z = test_no_op(g, "z")->id, b = test_no_op(g, "b")->id, a = test_no_op(g, "a")->id;
  weft_node *c = test_const(g, "c", 1);
  EXPECT_OK(weft__scope_push_control(g, 2, (int[]){z, b}));
  EXPECT_OK(weft__scope_push_control(g, 3, (int[]){a, b, c->id}));
  weft_node *x = test_identity(g, "x", c);
  expect_controls(x, "z b a");
  expect_controls(test_identity(g, "y", x), "");
  EXPECT_OK(weft__scope_push_control(g, -1, NULL));
  weft_node *n = test_identity(g, "n", c);
  expect_controls(n, "");
  EXPECT_OK(weft__scope_push_control(g, 1, &a));
  weft_node *n2 = test_identity(g, "n2", n);
  expect_controls(n2, "a");
  weft__scope_pop(g);
  weft__scope_pop(g);
  expect_controls(test_identity(g, "w", n), "z b a c");
  expect_controls(test_identity(g, "w2", n2), "z b a c");
  weft__scope_pop(g);
  expect_controls(test_identity(g, "v", x), "");
  expect_controls(test_identity(g, "u", c), "z b");
  EXPECT_ERR(weft__scope_push_control(g, 1, (int[]){999}), WEFT_INVALID_ARGUMENT, "999");
  test_graph_destroy(g);
}

/* Nodes made under control_dependencies(None), also nested and repeated, count as not waiting. */
TEST(many_gaps_are_told_from_what_waits) {
  weft_graph *g = test_graph();
  const weft_node *free_node[50], *waiting[50];
  const int a = test_no_op(g, "a")->id;
  EXPECT_OK(weft__scope_push_control(g, 1, &a));
  for (int i = 0; i < 50; i++) {
    waiting[i] = test_const(g, "waiting", 1);
    EXPECT_OK(weft__scope_push_control(g, -1, NULL));
    if (i % 2) EXPECT_OK(weft__scope_push_control(g, -1, NULL));
    free_node[i] = test_const(g, "free", 1);
    if (i % 2) weft__scope_pop(g);
    test_no_op(g, "other");
    weft__scope_pop(g);
  }
  for (int i = 0; i < 50; i++) {
    expect_controls(test_identity(g, "x", free_node[i]), "a");
    expect_controls(test_identity(g, "y", waiting[i]), "");
  }
  weft__scope_pop(g);
  test_graph_destroy(g);
}

/* A node that replaces a removed one is not part of a gap. */
TEST(a_gap_ends_where_the_graph_is_rewound_to) {
  weft_graph *g = test_graph();
  const int a = test_no_op(g, "a")->id;
  EXPECT_OK(weft__scope_push_control(g, 1, &a));
  const graph_mark before = weft__graph_mark(g);
  EXPECT_OK(weft__scope_push_control(g, -1, NULL));
  test_const(g, "gone", 1);
  weft__scope_pop(g);
  weft__graph_rewind(g, &before);
  expect_controls(test_identity(g, "x", test_const(g, "new", 1)), "");
  weft__scope_pop(g);
  test_graph_destroy(g);
}

TEST(a_control_input_given_twice_is_one_edge) {
  weft_graph *g = test_graph();
  int a = test_no_op(g, "a")->id;
  EXPECT_OK(weft__scope_push_control(g, 2, (int[]){a, a}));
  expect_controls(test_no_op(g, "x"), "a");
  test_graph_destroy(g);
}

TEST(colocation_suspends_devices_and_gathers_groups) {
  weft_graph *g = test_graph();
  EXPECT_OK(weft__scope_push_device(g, "/job:a"));
  weft_node *a = test_no_op(g, "a");
  weft__scope_pop(g);
  weft_node *b = test_no_op(g, "b");
  EXPECT_OK(weft__scope_push_device(g, "/job:z"));
  weft_node *q = test_no_op(g, "q");
  weft__scope_pop(g);
  EXPECT_OK(weft__scope_push_device(g, "/job:o"));
  EXPECT_OK(weft__scope_push_colocate(g, b->id, false));
  weft_node *n = test_no_op(g, "inb");
  EXPECT_EQ_STR(n->device, "");
  expect_class(n, "loc:@b");
  EXPECT_OK(weft__scope_push_device(g, "/cpu:0"));
  EXPECT_EQ_STR(test_no_op(g, "inbc")->device, "/device:CPU:0");
  weft__scope_pop(g);
  EXPECT_OK(weft__scope_push_colocate(g, a->id, false));
  weft_node *x = test_no_op(g, "x");
  EXPECT_EQ_STR(x->device, "/job:a");
  expect_class(x, "loc:@a loc:@b");
  EXPECT_OK(weft__scope_push_device(g, "/job:b/cpu:1"));
  EXPECT_EQ_STR(test_no_op(g, "xd")->device, "/job:a");
  weft__scope_pop(g);
  EXPECT_OK(weft__scope_push_colocate(g, q->id, false));
  n = test_no_op(g, "xq");
  EXPECT_EQ_STR(n->device, "/job:z");
  expect_class(n, "loc:@a loc:@b loc:@q");
  weft__scope_pop(g);
  EXPECT_OK(weft__scope_push_colocate(g, q->id, true));
  expect_class(test_no_op(g, "xqi"), "loc:@q");
  weft__scope_pop(g);
  EXPECT_OK(weft__scope_push_colocate(g, -1, true));
  expect_class(test_no_op(g, "xn"), "");
  weft__scope_pop_to(g, 1);
  EXPECT_OK(weft__scope_push_colocate(g, x->id, false));
  expect_class(test_no_op(g, "cx"), "loc:@a loc:@b");
  weft__scope_pop(g);
  EXPECT_EQ_STR(test_no_op(g, "after")->device, "/job:o");
  EXPECT_ERR(weft__scope_push_colocate(g, -1, false), WEFT_INVALID_ARGUMENT, "Trying to reset colocation");
  test_graph_destroy(g);
}

TEST(a_class_scope_names_the_group_and_leaves_devices_alone) {
  weft_graph *g = test_graph();
  EXPECT_OK(weft__scope_push_device(g, "/job:o"));
  EXPECT_OK(weft__scope_push_class(g, "w"));
  weft_node *n = test_no_op(g, "n");
  EXPECT_EQ_STR(n->device, "/job:o");
  expect_class(n, "loc:@w");
  EXPECT_OK(weft__scope_push_colocate(g, test_no_op(g, "v")->id, true));
  expect_class(test_no_op(g, "in_v"), "loc:@w"); /* v is in the group of w */
  test_graph_destroy(g);
}

TEST(a_container_goes_to_stateful_nodes_that_name_none) {
  weft_graph *g = test_graph();
  EXPECT_OK(weft__scope_push_container(g, "exp0"));
  EXPECT_EQ_STR(weft__node_str(test_variable(g, "v", 1), "container").data, "exp0");
  EXPECT(weft__node_attr(test_no_op(g, "n"), "container") == NULL);
  test_graph_destroy(g);
}

TEST(replica_device_setter_takes_turns_as_tensorflow_does) {
  weft_graph *g = test_graph();
  replica_setter *r;
  EXPECT_OK(
      weft__replica_setter_create(&r, &(replica_opts){.ps_tasks = 3, .worker_device = "/job:worker/task:7/cpu:0"}));
  EXPECT_OK(weft__scope_push_device_fn(g, weft__replica_setter_device, r));
  const char *const turn[] = {"/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:2", "/job:ps/task:0"};
  for (int i = 0; i < 4; i++) EXPECT_EQ_STR(test_variable(g, "v", 3)->device, turn[i]);
  EXPECT_EQ_STR(test_no_op(g, "n")->device, "/job:worker/task:7/device:CPU:0");
  const char *const inner[][2] = {{"/job:worker", "/job:worker"},
                                  {"/gpu:1", "/job:ps/task:1/device:GPU:1"},
                                  {"/task:9", "/job:ps/task:9"},
                                  {"/job:ps/task:9", "/job:ps/task:9"},
                                  {"/job:ps", "/job:ps/task:1"}};
  for (int i = 0; i < 5; i++) {
    EXPECT_OK(weft__scope_push_device(g, inner[i][0]));
    EXPECT_EQ_STR(test_variable(g, "w", 3)->device, inner[i][1]);
    weft__scope_pop(g);
  }
  EXPECT_OK(weft__scope_push_colocate(g, weft__graph_find(g, "v")->id, false));
  EXPECT_EQ_STR(test_variable(g, "v/Adam", 3)->device, "/job:ps/task:0");
  weft__scope_pop(g);
  EXPECT_EQ_STR(test_variable(g, "next", 3)->device, "/job:ps/task:2");
  test_graph_destroy(g);
  weft__replica_setter_destroy(r);
}

TEST(replica_device_setter_by_bytes_fills_the_emptiest_task) {
  weft_graph *g = test_graph();
  replica_setter *r;
  EXPECT_OK(weft__replica_setter_create(&r, &(replica_opts){.ps_tasks = 2, .by_bytes = true}));
  EXPECT_OK(weft__scope_push_device_fn(g, weft__replica_setter_device, r));
  EXPECT_EQ_STR(test_variable(g, "v", 100)->device, "/job:ps/task:0");
  EXPECT_EQ_STR(test_variable(g, "v", 10)->device, "/job:ps/task:1");
  EXPECT_EQ_STR(test_variable(g, "v", 10)->device, "/job:ps/task:1");
  EXPECT_EQ_STR(test_variable(g, "v", 90)->device, "/job:ps/task:1");
  EXPECT_EQ_STR(test_variable(g, "v", 1)->device, "/job:ps/task:0");
  EXPECT_ERR(weft__graph_add(
                 g,
                 &(node_spec){.op = "VariableV2",
                              .n_attr = 2,
                              .attr = (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", (&(shape){1, {-1}}))}},
                 NULL),
             WEFT_INVALID_ARGUMENT, "must be fully defined");
  test_graph_destroy(g);
  weft__replica_setter_destroy(r);
}

typedef struct seed_case {
  bool has_graph;
  int64_t graph;
  bool has_op;
  int64_t op, seed, seed2;
} seed_case;

TEST(seeds_are_drawn_as_tensorflow_draws_them) {
  weft_graph *g = test_graph();
  const seed_case c[] = {
      {false, 0, false, 0, 0, 0},
      {false, 0, true, 5, 87654321, 5},
      {false, 0, true, -1, 87654321, 2147483646},
      {false, 0, true, 2147483647, 87654321, 0},
      {false, 0, true, (int64_t)1 << 40, 87654321, 512},
      {true, 7, false, 0, 7, 0},
      {true, 7, true, 5, 7, 5},
      {true, 7, false, 0, 7, 1},
      {true, -3, true, -4, 2147483644, 2147483643},
      {true, ((int64_t)1 << 35) + 11, true, 1, 27, 1},
      {true, 0, true, 0, 0, 2147483647},
      {true, 2147483647, true, 0, 0, 2147483647},
  };
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    int64_t seed, seed2;
    g->has_seed = c[i].has_graph;
    g->seed = c[i].graph;
    weft__graph_seeds(g, c[i].has_op, c[i].op, &seed, &seed2);
    EXPECT_EQ_INT(seed, c[i].seed);
    EXPECT_EQ_INT(seed2, c[i].seed2);
  }
  test_no_op(g, "a");
  test_no_op(g, "b");
  weft__graph_seed_by_nodes(g, true);
  int64_t seed, seed2;
  g->has_seed = true;
  g->seed = 7;
  weft__graph_seeds(g, false, 0, &seed, &seed2);
  EXPECT_EQ_INT(seed2, 2);
  test_graph_destroy(g);
}

TEST(a_refused_node_has_no_type_and_an_unknown_shape) {
  weft_graph *g = test_graph();
  test_no_op(g, "a");
  EXPECT_EQ_INT(weft__out_type(g, WEFT_NONE), WEFT_INVALID);
  EXPECT_EQ_INT(weft__out_shape(g, WEFT_NONE)->rank, -1);
  EXPECT(!weft__out_is_ref(g, WEFT_NONE));
  test_graph_destroy(g);
}
