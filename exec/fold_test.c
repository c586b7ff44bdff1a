/* fold_test.c - constant folding: what must not be run ahead of a step, and what must not be kept. */
#include "base/alloc.h"
#include "exec/test_graph.h"
#include "graph/build.h"
#include "graph/fold.h"

static weft_err run(bench *b, weft_out fetch, weft_tensor **out) {
  weft_session *s;
  *out = NULL;
  EXPECT_OK(weft__b_ok(b->g));
  EXPECT_OK(weft__session_create(&s, b->g, &(session_opts){.intra_threads = 1, .inter_threads = 1}));
  weft_err err = weft__session_run(s, &(plan_request){.n_fetch = 1, .fetch = &fetch}, NULL, out, NULL);
  weft__session_destroy(s);
  return err;
}

static weft_out strings(bench *b, const char *first, const char *second) {
  weft_tensor *t;
  EXPECT_OK(weft__tensor_create(&t, WEFT_STRING, &SHAPE1(2)));
  EXPECT_OK(weft__str_set(&TENSOR_DATA(t, str)[0], first, strlen(first)));
  EXPECT_OK(weft__str_set(&TENSOR_DATA(t, str)[1], second, strlen(second)));
  weft_out o =
      weft__b_node(b->g, "Const", NULL, 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_STRING), A_TENSOR("value", t)});
  weft_tensor_destroy(t);
  return o;
}

static weft_out number(bench *b, weft_dtype type, double v) { return weft__b_scalar(b->g, type, v); }

/* Every op that finds a tensor array by two strings, on constants. */
TEST(a_tensor_array_of_a_constant_handle_is_not_looked_up_while_folding) {
  bench b = begin();
  weft_tensor *t;
  const weft_out h = strings(&b, "_tensor_arrays", "no_such_array"), flow = number(&b, WEFT_FLOAT, 0);
  const weft_out one = weft__b_ints(b.g, (int64_t[]){0}, 1), index = number(&b, WEFT_INT32, 0);
  const weft_out lengths = weft__b_cast(b.g, weft__b_ints(b.g, (int64_t[]){1}, 1), WEFT_INT64),
                 floats = weft__b_cast(b.g, one, WEFT_FLOAT);
  const attr type = A_TYPE("dtype", WEFT_FLOAT);
  const struct {
    const char *op;
    int n;
    weft_out in[4];
    bool typed;
  } calls[] = {{"TensorArraySizeV2", 2, {h, flow}, false},
               {"TensorArrayConcatV2", 2, {h, flow}, true},
               {"TensorArrayReadV2", 3, {h, index, flow}, true},
               {"TensorArrayGatherV2", 3, {h, one, flow}, true},
               {"TensorArrayWriteV2", 4, {h, index, floats, flow}, false},
               {"TensorArrayScatterV2", 4, {h, one, floats, flow}, false},
               {"TensorArraySplitV2", 4, {h, floats, lengths, flow}, false}};
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    weft_out o = weft__b_node(b.g, calls[i].op, NULL, calls[i].n, calls[i].in, calls[i].typed, &type);
    EXPECT_ERR(run(&b, o, &t), WEFT_NOT_FOUND, "no_such_array does not exist in this step");
  }
  end(&b);
}

/* A shape rule asks for the value of `dims`, which only a step could give. */
TEST(a_shape_rule_does_not_look_up_a_tensor_array) {
  bench b = begin();
  weft_tensor *t;
  const weft_out in[] = {strings(&b, "_tensor_arrays", "x"), number(&b, WEFT_FLOAT, 0)};
  const weft_out size = weft__b_node(b.g, "TensorArraySizeV2", NULL, 2, in, 0, NULL);
  const weft_out filled = weft__b_node(
      b.g, "Range", NULL, 3, (weft_out[]){number(&b, WEFT_INT32, 0), size, number(&b, WEFT_INT32, 1)}, 0, NULL);
  EXPECT_OK(weft__b_ok(b.g));
  EXPECT_EQ_INT(weft__out_shape(b.g, filled)->dim[0], -1);
  EXPECT_ERR(run(&b, filled, &t), WEFT_NOT_FOUND, "does not exist in this step");
  end(&b);
}

/* Names of a step's objects come from tensors: that of a stack's reference is not a tensor array. */
TEST(an_object_of_another_type_is_not_taken_for_a_tensor_array) {
  bench b = begin();
  weft_tensor *t;
  const attr elem = A_TYPE("elem_type", WEFT_FLOAT), named = A_STR("stack_name", "s");
  const weft_out stack = weft__b_node(b.g, "Stack", NULL, 0, NULL, 2, (attr[]){elem, named});
  const char *const names[] = {"s_0", "handle_1"};
  for (int i = 0; i < 2; i++) {
    const weft_out in[] = {strings(&b, "_tensor_arrays", names[i]), number(&b, WEFT_FLOAT, 0)};
    const weft_out size = weft__b_node(b.g, "TensorArraySizeV2", NULL, 2, in, 0, NULL);
    EXPECT_OK(weft__b_ok(b.g));
    EXPECT_OK(weft__graph_add_control(b.g, b.g->node[size.node], stack.node));
    EXPECT_ERR(run(&b, size, &t), WEFT_NOT_FOUND, i ? "is a variable" : "is a stack");
  }
  end(&b);
}

/* The kernels themselves: every op that may be folded runs without a step, whatever it is given; one that needs a step
 * would say so here, and must be marked. */
TEST(a_kernel_that_needs_a_step_says_so) {
  bench b = begin();
  const weft_out in[] = {strings(&b, "_tensor_arrays", "x"), number(&b, WEFT_FLOAT, 0)};
  const weft_out size = weft__b_node(b.g, "TensorArraySizeV2", NULL, 2, in, 0, NULL);
  const weft_node *n = b.g->node[size.node];
  EXPECT(!weft__op_may_fold(n->op));
  value out[1] = {{.dead = false}};
  weft_tensor *handle = weft__graph_constant(b.g, in[0]), *flow = weft__graph_constant(b.g, in[1]);
  EXPECT_ERR(weft__node_fold(n, (const weft_tensor *const[]){handle, flow}, out, 0), WEFT_FAILED_PRECONDITION,
             "TensorArraySizeV2 needs a running step");
  weft_tensor_destroy(handle);
  weft_tensor_destroy(flow);
  end(&b);
}

TEST(no_op_with_objects_among_its_arguments_may_be_folded) {
  bench b = begin();
  for (int i = 0; i < b.ops->by_name.used; i++) {
    const op *o = b.ops->by_name.entries[i].value;
    if (!o || !weft__op_may_fold(o)) continue;
    for (int j = 0; j < o->opdef.n_in; j++)
      EXPECT(!o->opdef.in[j].is_ref && o->opdef.in[j].type != WEFT_RESOURCE && o->opdef.in[j].type != WEFT_VARIANT);
    for (int j = 0; j < o->opdef.n_attr; j++) EXPECT(o->opdef.attr[j].kind != ATTR_FUNC);
  }
  end(&b);
}

/* 16 GiB of zeros that nobody may ever ask for. */
TEST(a_huge_value_is_not_made_while_folding) {
  bench b = begin();
  value out[1] = {{.dead = false}};
  const weft_out dims = weft__b_ints(b.g, (int64_t[]){1 << 16, 1 << 16}, 2);
  const weft_out filled = weft__b_node(b.g, "Fill", NULL, 2, (weft_out[]){dims, number(&b, WEFT_FLOAT, 0)}, 0, NULL);
  EXPECT_OK(weft__b_ok(b.g));
  weft_tensor *d = weft__graph_constant(b.g, dims), *v = weft__graph_constant(b.g, b.g->node[filled.node]->in[1]);
  EXPECT_ERR(weft__node_fold(b.g->node[filled.node], (const weft_tensor *const[]){d, v}, out, 1 << 20),
             WEFT_RESOURCE_EXHAUSTED, "more than the 1048576 bytes of a folded value");
  EXPECT(weft__graph_constant(b.g, filled) == NULL);
  weft_tensor_destroy(d);
  weft_tensor_destroy(v);
  end(&b);
}

TEST(what_is_small_is_folded_still) {
  bench b = begin();
  weft_out x = weft__b_add(b.g, weft__b_ints(b.g, (int64_t[]){2, 3}, 2), weft__b_ints(b.g, (int64_t[]){1, 1}, 2));
  weft_tensor *t = weft__graph_constant(b.g, x);
  EXPECT(t && weft__tensor_int(t, 1) == 4);
  weft_tensor_destroy(t);
  end(&b);
}

/* x = 1; then x + 10, where the 10 is made of constants that wait for the update. */
TEST(a_constant_that_waits_is_folded_and_its_readers_wait) {
  bench b = begin();
  weft_tensor *t;
  shape scalar = SHAPE_SCALAR;
  const weft_out x = weft__b_node(b.g, "VariableV2", "x", 0, NULL, 2,
                                  (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &scalar)});
  const weft_out init = weft__b_binary(b.g, "Assign", x, number(&b, WEFT_FLOAT, 0));
  const weft_out one = number(&b, WEFT_FLOAT, 1), update = weft__b_binary(b.g, "AssignAdd", x, one);
  weft__b_push_control(b.g, 1, &update.node);
  const weft_out late = number(&b, WEFT_FLOAT, 5);
  weft__b_pop(b.g);
  const weft_out twice = weft__b_add(b.g, late, late), sum = weft__b_add(b.g, x, twice);
  weft__b_push_control(b.g, 1, &twice.node);
  const weft_out after = weft__b_neg(b.g, x);
  weft__b_pop(b.g);
  EXPECT_OK(weft__b_ok(b.g));
  EXPECT_OK(weft__session_create(&b.s, b.g, &(session_opts){.intra_threads = 1, .inter_threads = 1}));
  EXPECT_OK(weft__session_run(b.s, &(plan_request){.n_target = 1, .target = &init.node}, NULL, NULL, NULL));
  const weft_out fetch[] = {twice, sum, after, late}; /* each run adds one to x */
  const float want[] = {10, 12, -3, 5};
  for (int i = 0; i < 4; i++) {
    EXPECT_OK(weft__session_run(b.s, &(plan_request){.n_fetch = 1, .fetch = &fetch[i]}, NULL, &t, NULL));
    EXPECT(TENSOR_DATA(t, float)[0] == want[i]);
    weft_tensor_destroy(t);
  }
  end(&b);
}
