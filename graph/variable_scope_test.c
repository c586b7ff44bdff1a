/* variable_scope_test.c - tests variable scopes; the expected results are TensorFlow 2.15.1's for the same programs. */
#include "graph/variable_scope.h"
#include "base/alloc.h"
#include "graph/collection.h"
#include "graph/scope.h"
#include "graph/test_ops.h"

static const variable_scope *enter(weft_graph *g, const variable_scope_opts *o) {
  const variable_scope *s;
  EXPECT_OK(weft__variable_scope_push(g, o, &s));
  return s;
}

static const variable_scope *enter_name(weft_graph *g, const char *name) {
  return enter(g, &(variable_scope_opts){.name = name});
}

/* Returns the name of the variable's node. */
static const char *get(weft_graph *g, const char *name) {
  variable_nodes v;
  EXPECT_OK(weft__variable_get(g, &(variable_spec){.name = name, .has_shape = true, .shape = SHAPE1(1)}, &v));
  return g->node[v.variable.node]->name;
}

static void expect_get_error(weft_graph *g, const variable_spec *spec, const char *message) {
  variable_nodes v;
  int n = g->n_node;
  EXPECT_ERR(weft__variable_get(g, spec, &v), WEFT_INVALID_ARGUMENT, message);
  EXPECT_EQ_INT(g->n_node, n);
}

static const char *no_op_name(weft_graph *g) { return test_no_op(g, NULL)->name; }

TEST(variables_go_by_variable_scopes_and_ops_by_name_scopes) {
  weft_graph *g = test_graph();
  enter_name(g, "a");
  EXPECT_EQ_STR(get(g, "v"), "a/v");
  EXPECT_EQ_STR(no_op_name(g), "a/NoOp");
  const variable_scope *b = enter_name(g, "b");
  EXPECT_EQ_STR(get(g, "v"), "a/b/v");
  EXPECT_EQ_STR(no_op_name(g), "a/b/NoOp");
  EXPECT_EQ_STR(b->name, "a/b");
  EXPECT_EQ_STR(b->name_scope, "a/b/");
  weft__scope_pop(g);
  weft__scope_pop(g);
  EXPECT_EQ_INT(weft__scope_depth(g), 0);
  const variable_scope *a2 = enter_name(g, "a");
  EXPECT_EQ_STR(a2->name, "a");
  EXPECT_EQ_STR(a2->name_scope, "a_1/");
  EXPECT_EQ_STR(get(g, "w"), "a/w");
  EXPECT_EQ_STR(no_op_name(g), "a_1/NoOp");
  weft__scope_pop(g);
  enter(g, &(variable_scope_opts){.again = b});
  EXPECT_EQ_STR(get(g, "w"), "a/b/w");
  EXPECT_EQ_STR(no_op_name(g), "b/NoOp");
  EXPECT_EQ_STR(weft__variable_scope_now(g)->name_scope, "a/b/");
  weft__scope_pop(g);
  EXPECT_OK(weft__scope_push_name(g, "ns"));
  enter_name(g, "c");
  EXPECT_EQ_STR(get(g, "w"), "c/w");
  EXPECT_EQ_STR(no_op_name(g), "ns/c/NoOp");
  weft__scope_pop(g);
  EXPECT_EQ_STR(get(g, "q"), "q");
  weft__scope_pop(g);
  enter(g, &(variable_scope_opts){.name = "a", .no_name_scope = true});
  EXPECT_EQ_STR(no_op_name(g), "NoOp");
  test_graph_destroy(g);
}

static const char *default_scope(weft_graph *g, const char *name) {
  const char *full = enter(g, &(variable_scope_opts){.default_name = name})->name;
  weft__scope_pop(g);
  return full;
}

TEST(default_names_are_counted_until_their_scope_is_left) {
  weft_graph *g = test_graph();
  EXPECT_EQ_STR(default_scope(g, "d"), "d");
  EXPECT_EQ_STR(default_scope(g, "d"), "d_1");
  const variable_scope *x = enter_name(g, "x");
  EXPECT_EQ_STR(default_scope(g, "d"), "x/d");
  enter(g, &(variable_scope_opts){.again = x});
  EXPECT_EQ_STR(default_scope(g, "d"), "x/d_1");
  EXPECT_EQ_STR(default_scope(g, "d"), "x/d_2");
  weft__scope_pop(g);
  EXPECT_EQ_STR(default_scope(g, "d"), "x/d_1");
  enter_name(g, "y");
  EXPECT_EQ_STR(default_scope(g, "q"), "x/y/q");
  weft__scope_pop(g);
  enter_name(g, "y");
  EXPECT_EQ_STR(default_scope(g, "q"), "x/y/q");
  weft__scope_pop(g);
  weft__scope_pop(g);
  enter_name(g, "x");
  EXPECT_EQ_STR(default_scope(g, "d"), "x/d");
  weft__scope_pop(g);
  EXPECT_ERR(weft__variable_scope_push(g, &(variable_scope_opts){.default_name = "d", .reuse = REUSE_ALWAYS}, NULL),
             WEFT_INVALID_ARGUMENT, "reuse=True cannot be used without a name_or_scope");
  EXPECT_ERR(weft__variable_scope_push(g, &(variable_scope_opts){0}, NULL), WEFT_INVALID_ARGUMENT,
             "If default_name is None then name_or_scope is required");
  EXPECT_ERR(weft__variable_scope_push(g, &(variable_scope_opts){.name = "a b"}, NULL), WEFT_INVALID_ARGUMENT,
             "'a b' is not a valid scope name");
  EXPECT_EQ_INT(weft__scope_depth(g), 0);
  test_graph_destroy(g);
}

TEST(reuse_is_inherited_and_only_ever_asked_for) {
  const struct {
    reuse_mode outer, inner, want;
  } c[] = {{REUSE_INHERIT, REUSE_INHERIT, REUSE_NEVER}, {REUSE_NEVER, REUSE_ALWAYS, REUSE_ALWAYS},
           {REUSE_ALWAYS, REUSE_NEVER, REUSE_ALWAYS},   {REUSE_ALWAYS, REUSE_AUTO, REUSE_AUTO},
           {REUSE_AUTO, REUSE_NEVER, REUSE_AUTO},       {REUSE_AUTO, REUSE_ALWAYS, REUSE_ALWAYS}};
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    weft_graph *g = test_graph();
    enter(g, &(variable_scope_opts){.name = "a", .reuse = c[i].outer});
    EXPECT_EQ_INT(enter(g, &(variable_scope_opts){.name = "b", .reuse = c[i].inner})->reuse, c[i].want);
    test_graph_destroy(g);
  }
  weft_graph *g = test_graph();
  const variable_scope *o = enter_name(g, "o");
  weft__scope_pop(g);
  enter(g, &(variable_scope_opts){.name = "a", .reuse = REUSE_ALWAYS});
  EXPECT_EQ_INT(enter(g, &(variable_scope_opts){.again = o})->reuse, REUSE_NEVER);
  test_graph_destroy(g);
}

TEST(a_variable_is_shared_or_refused_as_the_scope_says) {
  weft_graph *g = test_graph();
  variable_spec v = {.name = "v", .has_shape = true, .shape = SHAPE1(1)};
  variable_nodes first, second;
  enter_name(g, "a");
  EXPECT_OK(weft__variable_get(g, &v, &first));
  expect_get_error(g, &v,
                   "Variable a/v already exists, disallowed. Did you mean to set reuse=True or "
                   "reuse=tf.AUTO_REUSE in VarScope?");
  weft__variable_scope_reuse(g);
  EXPECT_OK(weft__variable_get(g, &v, &second));
  EXPECT(second.found && second.variable.node == first.variable.node);
  v.name = "w";
  expect_get_error(g, &v,
                   "Variable a/w does not exist, or was not created with tf.get_variable(). Did you mean to set "
                   "reuse=tf.AUTO_REUSE in VarScope?");
  v.reuse = REUSE_AUTO;
  EXPECT_OK(weft__variable_get(g, &v, &second));
  EXPECT(!second.found);
  v.name = "v", v.shape = SHAPE1(2);
  expect_get_error(g, &v, "Trying to share variable a/v, but specified shape (2,) and found shape (1,).");
  v.shape = SHAPE1(-1);
  EXPECT_OK(weft__variable_get(g, &v, &second));
  v.dtype = WEFT_INT32;
  expect_get_error(g, &v, "Trying to share variable a/v, but specified dtype int32 and found dtype float32_ref.");
  test_graph_destroy(g);
}

TEST(what_cannot_be_made_is_refused_with_tensorflows_words) {
  weft_graph *g = test_graph();
  expect_get_error(g, &(variable_spec){.name = "v"},
                   "Variable v did not get an initializer, so its `shape` argument must be specified.");
  expect_get_error(g, &(variable_spec){.name = "v", .has_shape = true, .shape = SHAPE1(-1)},
                   "Shape of a new variable (v) must be fully defined, but instead was [?].");
  expect_get_error(g, &(variable_spec){.name = "v", .has_shape = true, .shape = SHAPE1(1), .dtype = WEFT_COMPLEX64},
                   "An initializer for variable v of complex64 is required");
  weft_tensor *t;
  EXPECT_OK(weft__tensor_scalar(&t, WEFT_FLOAT, 1));
  expect_get_error(
      g,
      &(variable_spec){.name = "v", .has_shape = true, .shape = SHAPE1(1), .init = {.kind = INIT_TENSOR, .tensor = t}},
      "If initializer is a constant, do not specify shape.");
  weft_tensor_destroy(t);
  expect_get_error(g, &(variable_spec){.name = "a b", .has_shape = true}, "is not a valid scope name");
  EXPECT_EQ_INT(weft__scope_depth(g), 0);
  EXPECT_EQ_STR(get(g, "v"), "v");
  test_graph_destroy(g);
}

static void expect_nodes(const weft_graph *g, const char *want) {
  text t = {0};
  for (int i = 0; i < g->n_node; i++) {
    const weft_node *n = g->node[i];
    const attr *class = weft__node_attr(n, "_class");
    weft__text_printf(&t, "%s:%s%s%s%s%s\n", n->name, n->op_name, class ? " " : "", class ? class->ss[0].data + 5 : "",
                      *n->device ? " " : "", n->device);
  }
  EXPECT_EQ_STR(weft__text_get(&t), want);
  weft__text_finish(&t);
}

TEST(the_nodes_of_a_variable_are_tensorflows) {
  weft_graph *g = test_graph();
  variable_nodes v;
  EXPECT_OK(weft__scope_push_device(g, "/cpu:0"));
  EXPECT_OK(weft__scope_push_name(g, "elsewhere"));
  EXPECT_OK(weft__scope_push_control(g, 1, (int[]){test_no_op(g, "n/")->id}));
  EXPECT_OK(weft__variable_get(g, &(variable_spec){.name = "v", .has_shape = true, .shape = SHAPE2(2, 3)}, &v));
  EXPECT_OK(weft__variable_get(
      g,
      &(variable_spec){
          .name = "z", .has_shape = true, .shape = SHAPE1(2000), .init = {.kind = INIT_ZEROS}, .resource = true},
      &v));
  EXPECT_EQ_INT(g->node[v.assign]->n_control, 0);
  expect_nodes(g, "n:NoOp /device:CPU:0\n"
                  "v/Initializer/random_uniform/shape:Const v\n"
                  "v/Initializer/random_uniform/min:Const v\n"
                  "v/Initializer/random_uniform/max:Const v\n"
                  "v/Initializer/random_uniform/RandomUniform:RandomUniform v\n"
                  "v/Initializer/random_uniform/sub:Sub v\n"
                  "v/Initializer/random_uniform/mul:Mul v\n"
                  "v/Initializer/random_uniform:AddV2 v\n"
                  "v:VariableV2 v /device:CPU:0\n"
                  "v/Assign:Assign v /device:CPU:0\n"
                  "v/read:Identity v /device:CPU:0\n"
                  "z/Initializer/zeros/shape_as_tensor:Const z\n"
                  "z/Initializer/zeros/Const:Const z\n"
                  "z/Initializer/zeros:Fill z\n"
                  "z:VarHandleOp z /device:CPU:0\n"
                  "z/IsInitialized/VarIsInitializedOp:VarIsInitializedOp /device:CPU:0\n"
                  "z/Assign:AssignVariableOp /device:CPU:0\n"
                  "z/Read/ReadVariableOp:ReadVariableOp /device:CPU:0\n");
  EXPECT_EQ_INT(weft__collection_get(g, "trainable_variables")->n, 2);
  test_graph_destroy(g);
}

TEST(a_node_in_the_way_renames_the_variable_but_not_its_entry) {
  weft_graph *g = test_graph();
  test_no_op(g, "v");
  EXPECT_EQ_STR(get(g, "v"), "v_1");
  EXPECT(weft__graph_find(g, "v_1/Initializer/random_uniform/RandomUniform") != NULL);
  weft__variable_scope_reuse(g);
  EXPECT_EQ_STR(get(g, "v"), "v_1");
  test_graph_destroy(g);
}

static double const_value(const weft_graph *g, const char *name) {
  const weft_node *n = weft__graph_find(g, name);
  EXPECT(n != NULL);
  return weft__tensor_double(weft__node_attr(n, "value")->tensor, 0);
}

TEST(initializers_come_from_the_scope_and_scale_by_fan) {
  weft_graph *g = test_graph();
  enter(g, &(variable_scope_opts){.name = "a", .init = {.kind = INIT_CONSTANT, .a = 3}});
  get(g, "v");
  EXPECT_NEAR(const_value(g, "a/v/Initializer/Const"), 3, 0);
  variable_nodes v;
  EXPECT_OK(weft__variable_get(g,
                               &(variable_spec){.name = "he",
                                                .has_shape = true,
                                                .shape = SHAPE2(2, 2),
                                                .init = {.kind = INIT_SCALING, .a = 1, .spread = SCALE_TRUNCATED}},
                               &v));
  EXPECT_NEAR(const_value(g, "a/he/Initializer/truncated_normal/stddev"), 0.803872406, 1e-7);
  EXPECT_OK(weft__variable_get(
      g,
      &(variable_spec){.name = "gn",
                       .has_shape = true,
                       .shape = SHAPE4(3, 3, 2, 2),
                       .init = {.kind = INIT_SCALING, .a = 1, .fan = FAN_AVG, .spread = SCALE_TRUNCATED}},
      &v));
  EXPECT_NEAR(const_value(g, "a/gn/Initializer/truncated_normal/stddev"), 0.267957449, 1e-7);
  test_graph_destroy(g);
}

TEST_WITHIN(60, every_failed_allocation_of_get_variable_is_an_error) {
  weft_graph *g = test_graph();
  variable_nodes v;
  weft_err err = WEFT_RESOURCE_EXHAUSTED;
  int failures = 0;
  for (long n = 1; err != WEFT_OK && n < 100000; n++, failures++) {
    weft__alloc_fail_after(n);
    err = weft__variable_scope_push(g, &(variable_scope_opts){.name = "a"}, NULL);
    if (err == WEFT_OK)
      err = weft__variable_get(g, &(variable_spec){.name = "v", .has_shape = true, .shape = SHAPE2(2, 3)}, &v);
    weft__alloc_fail_after(0);
    if (err == WEFT_OK) break;
    EXPECT_ERR(err, WEFT_RESOURCE_EXHAUSTED, "");
    EXPECT_EQ_INT(g->n_node, 0);
    weft__scope_pop_to(g, 0);
  }
  EXPECT(failures > 50);
  EXPECT_EQ_STR(g->node[v.variable.node]->name, "a/v");
  test_graph_destroy(g);
}
