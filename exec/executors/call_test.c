/* call_test.c - functions called by nodes, and data sets made of them, in a session. */
#include "base/alloc.h"
#include "exec/executors/call.h"
#include "exec/test_graph.h"
#include "graph/attr_proto.h"
#include "graph/build.h"

static weft_out placeholder(weft_graph *g, weft_dtype type) {
  shape s = SHAPE_SCALAR;
  return weft__b_node(g, "Placeholder", "x", 0, NULL, 2, (attr[]){A_TYPE("dtype", type), A_SHAPE("shape", &s)});
}

/* The AttrValue that names a function. */
static attr func(const char *attr_name, const char *name, uint8_t *room) {
  Tensorflow__AttrValue v;
  Tensorflow__NameAttrList f = TENSORFLOW__NAME_ATTR_LIST__INIT;
  f.name = (char *)(uintptr_t)name;
  tensorflow__attr_value__init(&v);
  v.value_case = TENSORFLOW__ATTR_VALUE__VALUE_FUNC;
  v.func = &f;
  size_t size = tensorflow__attr_value__pack(&v, room);
  return (attr){.name = attr_name, .kind = ATTR_OPAQUE, .s = {(const char *)room, size}};
}

/* Adds a function of one argument to the library: what `build` makes of it. */
static void add_function(bench *b, const char *name, weft_dtype type, weft_out (*build)(weft_graph *, weft_out)) {
  weft_graph *body;
  EXPECT_OK(weft__graph_create(&body, b->ops));
  weft_out x = placeholder(body, type), y = build(body, x);
  EXPECT_OK(weft__b_ok(body));
  EXPECT_OK(weft__function_add(b->g, body, &(function_spec){.name = name, .n_in = 1, .in = &x, .n_out = 1, .out = &y}));
  weft__graph_destroy(body);
}

static weft_out twice(weft_graph *g, weft_out x) { return weft__b_mul(g, x, weft__b_scalar_like(g, x, 2)); }
static weft_out is_small(weft_graph *g, weft_out x) {
  return weft__b_binary(g, "Less", x, weft__b_scalar_like(g, x, 100));
}
static weft_out always(weft_graph *g, weft_out x) { return weft__b_binary(g, "Equal", x, x); }
static weft_out same(weft_graph *g, weft_out x) { return weft__b_identity(g, x); }

static weft_err run(bench *b, weft_out fetch, const run_opts *opts, double *out) {
  weft_tensor *t = NULL;
  if (!b->s) EXPECT_OK(weft__session_create(&b->s, b->g, NULL));
  weft_err err = weft__session_run(b->s, &(plan_request){.n_fetch = 1, .fetch = &fetch}, NULL, &t, opts);
  if (!err) *out = weft__tensor_double(t, 0);
  weft_tensor_destroy(t);
  return err;
}

static weft_out call(bench *b, const char *name, weft_out x) {
  uint8_t room[100];
  weft_dtype type = weft__out_type(b->g, x);
  return weft__b_node(b->g, "PartitionedCall", NULL, 1, &x, 3,
                      (attr[]){A_TYPES("Tin", &type, 1), A_TYPES("Tout", &type, 1), func("f", name, room)});
}

static weft_out looped(bench *b, const char *cond, const char *body, weft_out x) {
  uint8_t room[2][100];
  weft_dtype type = weft__out_type(b->g, x);
  return weft__b_node(b->g, "StatelessWhile", NULL, 1, &x, 3,
                      (attr[]){A_TYPES("T", &type, 1), func("cond", cond, room[0]), func("body", body, room[1])});
}

TEST(a_graph_becomes_a_function_that_a_node_calls) {
  bench b = begin();
  double y;
  add_function(&b, "twice", WEFT_FLOAT, twice);
  weft_out x = weft__b_scalar(b.g, WEFT_FLOAT, 3);
  EXPECT_OK(run(&b, call(&b, "twice", call(&b, "twice", x)), NULL, &y));
  EXPECT_NEAR(y, 12, 0);
  EXPECT_ERR(run(&b, call(&b, "thrice", x), NULL, &y), WEFT_NOT_FOUND, "thrice");
  EXPECT_ERR(run(&b, call(&b, "twice", weft__b_scalar(b.g, WEFT_INT32, 3)), NULL, &y), WEFT_INVALID_ARGUMENT,
             "takes float32");
  end(&b);
}

TEST(a_function_of_a_taken_name_must_be_the_same) {
  bench b = begin();
  weft_graph *body;
  add_function(&b, "f", WEFT_FLOAT, twice);
  add_function(&b, "f", WEFT_FLOAT, twice);
  EXPECT_OK(weft__graph_create(&body, b.ops));
  weft_out x = placeholder(body, WEFT_FLOAT), y = weft__b_neg(body, x);
  function_spec f = {.name = "f", .n_in = 1, .in = &x, .n_out = 1, .out = &y};
  EXPECT_ERR(weft__function_add(b.g, body, &f), WEFT_INVALID_ARGUMENT, "different function");
  f.out = &(weft_out){y.node, 7};
  EXPECT_ERR(weft__function_add(b.g, body, &f), WEFT_INVALID_ARGUMENT, "result 0");
  weft__graph_destroy(body);
  end(&b);
}

TEST(a_function_may_call_functions_and_itself_be_looped) {
  bench b = begin();
  weft_graph *body;
  uint8_t room[100];
  weft_dtype type = WEFT_FLOAT;
  double y;
  add_function(&b, "twice", WEFT_FLOAT, twice);
  add_function(&b, "is_small", WEFT_FLOAT, is_small);
  EXPECT_OK(weft__graph_create(&body, b.ops));
  weft_out x = placeholder(body, WEFT_FLOAT),
           called =
               weft__b_node(body, "PartitionedCall", NULL, 1, &x, 3,
                            (attr[]){A_TYPES("Tin", &type, 1), A_TYPES("Tout", &type, 1), func("f", "twice", room)});
  called = weft__b_add(body, called, weft__b_scalar(body, WEFT_FLOAT, 1));
  EXPECT_OK(weft__function_add(b.g, body,
                               &(function_spec){.name = "outer", .n_in = 1, .in = &x, .n_out = 1, .out = &called}));
  weft__graph_destroy(body);
  EXPECT_OK(run(&b, looped(&b, "is_small", "outer", weft__b_scalar(b.g, WEFT_FLOAT, 1)), NULL, &y));
  EXPECT_NEAR(y, 127, 0);
  end(&b);
}

static weft_out yes(weft_graph *g, weft_out x) { return (void)x, weft__b_scalar(g, WEFT_BOOL, 1); }
static weft_out itself(weft_graph *g, weft_out x) { return (void)g, x; }

TEST_WITHIN(20, a_loop_that_runs_no_node_is_cancelled_too) {
  bench b = begin();
  double y = 0;
  add_function(&b, "yes", WEFT_FLOAT, yes);
  add_function(&b, "itself", WEFT_FLOAT, itself);
  weft_out forever = looped(&b, "yes", "itself", weft__b_scalar(b.g, WEFT_FLOAT, 1));
  EXPECT_ERR(run(&b, forever, &(run_opts){.timeout_ms = 50}, &y), WEFT_DEADLINE_EXCEEDED, "");
  end(&b);
}

TEST(a_loop_without_end_is_cancelled) {
  bench b = begin();
  double y;
  cancel c;
  weft__cancel_init(&c);
  add_function(&b, "always", WEFT_FLOAT, always);
  add_function(&b, "same", WEFT_FLOAT, same);
  weft_out forever = looped(&b, "always", "same", weft__b_scalar(b.g, WEFT_FLOAT, 1));
  EXPECT_ERR(run(&b, forever, &(run_opts){.timeout_ms = 50}, &y), WEFT_DEADLINE_EXCEEDED, "");
  weft__cancel_fire(&c, WEFT_ABORTED, "enough");
  EXPECT_ERR(run(&b, forever, &(run_opts){.cancel = &c}, &y), WEFT_ABORTED, "enough");
  weft__cancel_finish(&c);
  end(&b);
}

/* ---- data sets ---- */

static const weft_dtype number = WEFT_INT64;
static shape scalar = {.rank = 0};
#define OUTPUTS A_TYPES("output_types", (weft_dtype *)(uintptr_t)&number, 1), A_SHAPES("output_shapes", &scalar, 1)

static weft_out i64(bench *b, double v) { return weft__b_scalar(b->g, WEFT_INT64, v); }

static weft_out range(bench *b, double n) {
  return weft__b_node(b->g, "RangeDataset", NULL, 3, (weft_out[]){i64(b, 0), i64(b, n), i64(b, 1)}, 2,
                      (attr[]){OUTPUTS});
}

static weft_out counted(bench *b, const char *op_name, weft_out set, double n) {
  return weft__b_node(b->g, op_name, NULL, 2, (weft_out[]){set, i64(b, n)}, 2, (attr[]){OUTPUTS});
}

static weft_out mapped(bench *b, const char *f, weft_out set, double calls) {
  uint8_t room[100];
  weft_out in[] = {set, i64(b, calls)};
  return weft__b_node(b->g, calls > 0 ? "ParallelMapDatasetV2" : "MapDataset", NULL, calls > 0 ? 2 : 1, in, 4,
                      (attr[]){A_TYPES("Targuments", NULL, 0), OUTPUTS, func("f", f, room)});
}

/* An iterator over the data set, set at its beginning; the next element of it. */
static weft_out iterate(bench *b, weft_out set, weft_out *next) {
  weft_out it = weft__b_node(b->g, "IteratorV2", NULL, 0, NULL, 4,
                             (attr[]){A_STR("shared_name", ""), A_STR("container", ""), OUTPUTS});
  weft_out make = weft__b_node(b->g, "MakeIterator", NULL, 2, (weft_out[]){set, it}, 0, NULL);
  *next = weft__b_node(b->g, "IteratorGetNext", NULL, 1, &it, 2, (attr[]){OUTPUTS});
  EXPECT_OK(weft__b_ok(b->g));
  return make;
}

static void initialize(bench *b, weft_out make) {
  if (!b->s) EXPECT_OK(weft__session_create(&b->s, b->g, NULL));
  EXPECT_OK(weft__session_run(b->s, &(plan_request){.n_target = 1, .target = &make.node}, NULL, NULL, NULL));
}

TEST(elements_come_in_order_and_end) {
  bench b = begin();
  weft_out next;
  double y;
  add_function(&b, "twice", WEFT_INT64, twice);
  weft_out make = iterate(&b, counted(&b, "PrefetchDataset", mapped(&b, "twice", range(&b, 100), 5), 3), &next);
  initialize(&b, make);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 100; i++) {
      EXPECT_OK(run(&b, next, NULL, &y));
      EXPECT_EQ_INT(y, 2 * i);
    }
    for (int i = 0; i < 3; i++) EXPECT_ERR(run(&b, next, NULL, &y), WEFT_OUT_OF_RANGE, "End of sequence");
    initialize(&b, make);
  }
  end(&b);
}

TEST(an_iterator_that_was_never_set_says_so) {
  bench b = begin();
  weft_out next;
  double y;
  iterate(&b, range(&b, 3), &next);
  EXPECT_ERR(run(&b, next, NULL, &y), WEFT_FAILED_PRECONDITION, "has not been initialized");
  end(&b);
}

typedef struct taker {
  bench *b;
  weft_out next;
  int *seen;
  int got;
} taker;

static void *take_all(void *arg) {
  taker *t = arg;
  double y;
  while (run(t->b, t->next, NULL, &y) == WEFT_OK) {
    __atomic_add_fetch(&t->seen[(int)y / 2], 1, __ATOMIC_RELAXED);
    t->got++;
  }
  return NULL;
}

TEST_WITHIN(60, threads_that_share_an_iterator_get_each_element_once) {
  enum { N = 400, THREADS = 4 };
  bench b = begin();
  weft_out next;
  int seen[N] = {0}, total = 0;
  pthread_t id[THREADS];
  taker t[THREADS];
  add_function(&b, "twice", WEFT_INT64, twice);
  initialize(&b, iterate(&b, counted(&b, "PrefetchDataset", mapped(&b, "twice", range(&b, N), 3), 2), &next));
  for (int i = 0; i < THREADS; i++) {
    t[i] = (taker){&b, next, seen, 0};
    EXPECT_EQ_INT(pthread_create(&id[i], NULL, take_all, &t[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(id[i], NULL), total += t[i].got;
  EXPECT_EQ_INT(total, N);
  for (int i = 0; i < N; i++) EXPECT_EQ_INT(seen[i], 1);
  end(&b);
}

TEST(a_wait_for_an_element_ends_and_the_iterator_goes_on) {
  bench b = begin();
  weft_out next;
  double y;
  uint8_t room[100];
  add_function(&b, "is_small", WEFT_INT64, is_small);
  weft_out endless = counted(&b, "RepeatDataset", counted(&b, "SkipDataset", range(&b, 101), 100), -1);
  weft_out none = weft__b_node(b.g, "FilterDataset", NULL, 1, &endless, 4,
                               (attr[]){A_TYPES("Targuments", NULL, 0), OUTPUTS, func("predicate", "is_small", room)});
  initialize(&b, iterate(&b, counted(&b, "PrefetchDataset", none, 1), &next));
  for (int i = 0; i < 2; i++) EXPECT_ERR(run(&b, next, &(run_opts){.timeout_ms = 30}, &y), WEFT_DEADLINE_EXCEEDED, "");
  end(&b); /* and its thread is stopped */
}

/* Every allocation of making and walking a pipeline fails in turn: an error comes back, nothing leaks. */
TEST_WITHIN(60, no_memory_is_an_error) {
  for (long n = 1; n < 400; n += 3) {
    bench b = begin();
    weft_out next;
    double y;
    add_function(&b, "twice", WEFT_INT64, twice);
    weft_out make = iterate(&b, counted(&b, "TakeDataset", mapped(&b, "twice", range(&b, 9), 0), 5), &next);
    EXPECT_OK(weft__session_create(&b.s, b.g, &(session_opts){.intra_threads = 1, .inter_threads = 1}));
    weft__alloc_fail_after(n);
    weft_err err = weft__session_run(b.s, &(plan_request){.n_target = 1, .target = &make.node}, NULL, NULL, NULL);
    if (!err) err = run(&b, next, NULL, &y);
    weft__alloc_fail_after(0);
    EXPECT(err == WEFT_OK || err == WEFT_OOM);
    end(&b);
  }
}
