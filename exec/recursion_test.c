/* recursion_test.c - functions that call functions without end, too deep, or too often: an error, not a crash. */
#include "base/alloc.h"
#include "exec/test_graph.h"
#include "graph/attr_proto.h"
#include "graph/build.h"
#include "graph/expansion.h"
#include "graph/function.h"
#include <stdio.h>

static weft_dtype number = WEFT_FLOAT;

/* The AttrValue that names one function, or a list of them. */
static attr func(const char *attr_name, int n, const char *const *name, uint8_t *room) {
  Tensorflow__AttrValue v;
  Tensorflow__NameAttrList f[4], *list[4];
  Tensorflow__AttrValueListValue l = TENSORFLOW__ATTR_VALUE_LIST_VALUE__INIT;
  for (int i = 0; i < n; i++) {
    tensorflow__name_attr_list__init(&f[i]);
    f[i].name = (char *)(uintptr_t)name[i];
    list[i] = &f[i];
  }
  tensorflow__attr_value__init(&v);
  if (n == 1) {
    v.value_case = TENSORFLOW__ATTR_VALUE__VALUE_FUNC;
    v.func = &f[0];
  } else {
    v.value_case = TENSORFLOW__ATTR_VALUE__VALUE_LIST;
    v.list = &l;
    l.n_func = (size_t)n;
    l.func = list;
  }
  const size_t size = tensorflow__attr_value__pack(&v, room);
  return (attr){.name = attr_name, .kind = ATTR_OPAQUE, .s = {(const char *)room, size}};
}

/* How a body calls: each makes f(x) of the function named. */
typedef weft_out caller_of(weft_graph *g, weft_out x, const char *name);

static weft_out by_call(weft_graph *g, weft_out x, const char *name) {
  uint8_t room[200];
  return weft__b_node(g, "PartitionedCall", NULL, 1, &x, 3,
                      (attr[]){A_TYPES("Tin", &number, 1), A_TYPES("Tout", &number, 1), func("f", 1, &name, room)});
}

static weft_out by_stateful_call(weft_graph *g, weft_out x, const char *name) {
  uint8_t room[200];
  return weft__b_node(g, "StatefulPartitionedCall", NULL, 1, &x, 3,
                      (attr[]){A_TYPES("Tin", &number, 1), A_TYPES("Tout", &number, 1), func("f", 1, &name, room)});
}

/* In a body that the dataflow executor runs: it has a Switch and a Merge. */
static weft_out by_dataflow_call(weft_graph *g, weft_out x, const char *name) {
  const weft_out yes = weft__b_scalar(g, WEFT_BOOL, 1);
  const weft_out branch = weft__b_node(g, "Switch", NULL, 2, (weft_out[]){x, yes}, 0, NULL);
  const weft_out both[] = {weft__b_slot(branch, 0), weft__b_slot(branch, 1)};
  return by_call(g, weft__b_node(g, "Merge", NULL, 2, both, 0, NULL), name);
}

static weft_out by_gradient(weft_graph *g, weft_out x, const char *name) {
  uint8_t room[200];
  weft_dtype two[] = {WEFT_FLOAT, WEFT_FLOAT};
  return weft__b_node(g, "SymbolicGradient", NULL, 2, (weft_out[]){x, x}, 3,
                      (attr[]){A_TYPES("Tin", two, 2), A_TYPES("Tout", &number, 1), func("f", 1, &name, room)});
}

/* The other branch would end it. */
static weft_out by_if(weft_graph *g, weft_out x, const char *name) {
  uint8_t room[2][200];
  const weft_out zero = weft__b_scalar(g, WEFT_FLOAT, 0);
  return weft__b_node(g, "If", NULL, 2, (weft_out[]){zero, x}, 5,
                      (attr[]){A_TYPE("Tcond", WEFT_FLOAT), A_TYPES("Tin", &number, 1), A_TYPES("Tout", &number, 1),
                               func("then_branch", 1, &name, room[0]),
                               func("else_branch", 1, (const char *const[]){"leaf"}, room[1])});
}

static weft_out by_case(weft_graph *g, weft_out x, const char *name) {
  uint8_t room[200];
  const weft_out zero = weft__b_scalar(g, WEFT_INT32, 0);
  return weft__b_node(g, "Case", NULL, 2, (weft_out[]){zero, x}, 3,
                      (attr[]){A_TYPES("Tin", &number, 1), A_TYPES("Tout", &number, 1),
                               func("branches", 2, (const char *const[]){"leaf", name}, room)});
}

static weft_out by_while(weft_graph *g, weft_out x, const char *name) {
  uint8_t room[2][200];
  return weft__b_node(g, "While", NULL, 1, &x, 3,
                      (attr[]){A_TYPES("T", &number, 1), func("cond", 1, (const char *const[]){"leaf"}, room[0]),
                               func("body", 1, &name, room[1])});
}

static weft_out by_map(weft_graph *g, weft_out x, const char *name) {
  uint8_t room[200];
  shape scalar = SHAPE_SCALAR;
  const attr out[] = {A_TYPES("output_types", &number, 1), A_SHAPES("output_shapes", &scalar, 1)};
  const weft_out set =
      weft__b_node(g, "TensorDataset", NULL, 1, &x, 2,
                   (attr[]){A_TYPES("Toutput_types", &number, 1), A_SHAPES("output_shapes", &scalar, 1)});
  const weft_out mapped =
      weft__b_node(g, "MapDataset", NULL, 1, &set, 4,
                   (attr[]){A_TYPES("Targuments", NULL, 0), out[0], out[1], func("f", 1, &name, room)});
  return weft__b_node(g, "DatasetToSingleElement", NULL, 1, &mapped, 2, out);
}

/* Adds a function that gives the sum of `times` calls of another. */
static void add_function(bench *b, const char *name, caller_of *how, const char *callee, int times) {
  weft_graph *body;
  shape s = SHAPE_SCALAR;
  EXPECT_OK(weft__graph_create(&body, b->ops));
  const weft_out x =
      weft__b_node(body, "Placeholder", "x", 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &s)});
  weft_out y = times ? how(body, x, callee) : weft__b_add(body, x, x);
  for (int i = 1; i < times; i++) y = weft__b_add(body, y, how(body, x, callee));
  EXPECT_OK(weft__b_ok(body));
  EXPECT_OK(weft__function_add(b->g, body, &(function_spec){.name = name, .n_in = 1, .in = &x, .n_out = 1, .out = &y}));
  weft__graph_destroy(body);
}

static weft_err run(bench *b, const char *name, double *out) {
  weft_session *s;
  weft_tensor *t = NULL;
  const weft_out y = by_call(b->g, weft__b_scalar(b->g, WEFT_FLOAT, 1), name);
  EXPECT_OK(weft__b_ok(b->g));
  EXPECT_OK(weft__session_create(&s, b->g, &(session_opts){.intra_threads = 1, .inter_threads = 1}));
  const weft_err err = weft__session_run(s, &(plan_request){.n_fetch = 1, .fetch = &y}, NULL, &t, NULL);
  if (!err && out) *out = weft__tensor_double(t, 0);
  weft_tensor_destroy(t);
  weft__session_destroy(s);
  return err;
}

static caller_of *const ways[] = {by_call, by_stateful_call, by_gradient, by_if, by_case, by_while, by_map};
enum { WAYS = sizeof ways / sizeof ways[0] };

TEST(a_function_that_calls_itself_is_refused) {
  for (int i = 0; i < WAYS; i++) {
    bench b = begin();
    add_function(&b, "leaf", NULL, NULL, 0);
    add_function(&b, "f", ways[i], "f", 1);
    EXPECT_ERR(run(&b, "f", NULL), WEFT_INVALID_ARGUMENT, "Function f calls itself: f -> f");
    end(&b);
  }
}

TEST(functions_that_call_each_other_are_refused) {
  for (int i = 0; i < WAYS; i++) {
    bench b = begin();
    add_function(&b, "leaf", NULL, NULL, 0);
    add_function(&b, "start", by_call, "f", 1);
    add_function(&b, "f", by_call, "g", 1);
    add_function(&b, "g", ways[i], "f", 1);
    EXPECT_ERR(run(&b, "start", NULL), WEFT_INVALID_ARGUMENT, "Function f calls itself: f -> g -> f");
    end(&b);
  }
}

static void name_of(char *name, int i) { sprintf(name, "f%d", i); }

/* f0 is x + x; each other calls the one before so many times.  The name of the last. */
static const char *add_chain(bench *b, int n, caller_of *how, int times) {
  static char name[16];
  char before[16];
  for (int i = 0; i < n; i++) {
    name_of(name, i);
    name_of(before, i - 1);
    add_function(b, name, how, before, i ? times : 0);
  }
  return name;
}

TEST_WITHIN(60, calls_nest_as_deep_as_the_limit_and_no_deeper) {
  caller_of *const how[] = {by_call, by_dataflow_call};
  for (int i = 0; i < 2; i++) {
    bench b = begin();
    double y = 0;
    const char *last = add_chain(&b, FUNCTION_MAX_DEPTH + 1, how[i], 1);
    char fits[16];
    name_of(fits, FUNCTION_MAX_DEPTH - 1);
    EXPECT_OK(run(&b, fits, &y));
    EXPECT_NEAR(y, 2, 0);
    EXPECT_ERR(run(&b, last, &y), WEFT_INVALID_ARGUMENT, "nested at most 256 deep");
    end(&b);
  }
}

/* What takes long is not the number of functions in the library. */
TEST_WITHIN(60, a_long_chain_is_refused_at_once) {
  bench b = begin();
  EXPECT_ERR(run(&b, add_chain(&b, 3000, by_call, 1), NULL), WEFT_INVALID_ARGUMENT, "nested at most 256 deep");
  end(&b);
}

TEST_WITHIN(60, functions_that_double_their_calls_are_bounded) {
  bench b = begin();
  double y = 0;
  const char *last = add_chain(&b, 40, by_call, 2);
  EXPECT_OK(run(&b, "f10", &y)); /* 1023 instances */
  EXPECT_NEAR(y, 2048, 0);
  EXPECT_ERR(run(&b, last, &y), WEFT_RESOURCE_EXHAUSTED, "16384");
  EXPECT_OK(run(&b, "f10", &y)); /* the instances of the failed step are gone */
  end(&b);
}

/* A call has no more instances than functions in flight: many calls of one function are fine. */
TEST(many_calls_of_one_function_are_fine) {
  bench b = begin();
  double y = 0;
  add_function(&b, "leaf", NULL, NULL, 0);
  add_function(&b, "wide", by_call, "leaf", 500);
  EXPECT_OK(run(&b, "wide", &y));
  EXPECT_NEAR(y, 1000, 0);
  end(&b);
}
