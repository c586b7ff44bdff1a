/* fuse_descent_test.c - a product that is a variable's gradient and is added to it at once changes it as before. */
#include "exec/compile.h"
#include "exec/session.h"
#include "exec/test_numbers.h"
#include "graph/build.h"
#include "ops/all.h"
#include "tests/check.h"

enum { ROWS = 7, M = 48, N = 40 };

typedef struct bench {
  op_table *ops;
  weft_graph *g;
  weft_session *s;
  weft_out var, x, dy, alpha, product, train;
  bool by_handle; /* var is a handle */
} bench;

static weft_out placeholder(weft_graph *g, const char *name, shape s) {
  return weft__b_node(g, "Placeholder", name, 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &s)});
}

/* var -= alpha x' dy; var has m rows. */
static bench begin_with(int64_t m, bool by_handle) {
  bench b = {.by_handle = by_handle};
  EXPECT_OK(weft__op_table_create(&b.ops, weft__ops_all()));
  EXPECT_OK(weft__graph_create(&b.g, b.ops));
  shape s = SHAPE2(m, N);
  b.var = weft__b_node(b.g, by_handle ? "VarHandleOp" : "VariableV2", NULL, 0, NULL, 2,
                       (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &s)});
  b.x = placeholder(b.g, "x", SHAPE2(-1, -1)), b.dy = placeholder(b.g, "dy", SHAPE2(-1, -1));
  b.alpha = placeholder(b.g, "alpha", SHAPE_SCALAR);
  b.product = weft__b_node(b.g, "MatMul", NULL, 2, (weft_out[]){b.x, b.dy}, 1, &A_BOOL("transpose_a", true));
  b.train = weft__b_node(b.g, by_handle ? "ResourceApplyGradientDescent" : "ApplyGradientDescent", NULL, 3,
                         (weft_out[]){b.var, b.alpha, b.product}, 0, NULL);
  EXPECT_OK(weft__b_ok(b.g));
  return b;
}

static bench begin(int64_t m) { return begin_with(m, false); }

static void assign_ones(bench *b, int64_t m) {
  const weft_out dims = weft__b_ints(b->g, (int64_t[]){m, N}, 2), one = weft__b_scalar(b->g, WEFT_FLOAT, 1);
  const weft_out ones = weft__b_node(b->g, "Fill", NULL, 2, (weft_out[]){dims, one}, 0, NULL);
  const weft_out start =
      weft__b_node(b->g, b->by_handle ? "AssignVariableOp" : "Assign", NULL, 2, (weft_out[]){b->var, ones}, 0, NULL);
  EXPECT_OK(weft__b_ok(b->g));
  EXPECT_OK(weft__session_create(&b->s, b->g, NULL));
  EXPECT_OK(weft__session_run(b->s, &(plan_request){.n_target = 1, .target = &start.node}, NULL, NULL, NULL));
}

static void end(bench *b) {
  weft__session_destroy(b->s);
  weft__graph_destroy(b->g);
  weft__op_table_destroy(b->ops);
}

/* One step over so many rows; the product is fetched too, and so stands alone, if `apart`. */
static weft_err train_on(const bench *b, int64_t rows, bool apart) {
  weft_tensor *fed[] = {numbers(SHAPE2(rows, M), 1), numbers(SHAPE2(rows, N), 2), numbers(SHAPE_SCALAR, 3)}, *out;
  plan_request r = {.n_feed = 3, .feed = (weft_out[]){b->x, b->dy, b->alpha}, .fetch = &b->product};
  r.n_target = 1, r.target = &b->train.node, r.n_fetch = apart;
  const weft_err err = weft__session_run(b->s, &r, (const weft_tensor *const *)fed, &out, NULL);
  if (!err && apart) weft_tensor_destroy(out);
  for (int i = 0; i < 3; i++) weft_tensor_destroy(fed[i]);
  return err;
}

static weft_tensor *value_of(const bench *b) {
  weft_tensor *out = NULL;
  const attr type = A_TYPE("dtype", WEFT_FLOAT);
  const weft_out read = b->by_handle ? weft__b_node(b->g, "ReadVariableOp", NULL, 1, &b->var, 1, &type) : b->var;
  EXPECT_OK(weft__b_ok(b->g));
  EXPECT_OK(weft__session_run(b->s, &(plan_request){.n_fetch = 1, .fetch = &read}, NULL, &out, NULL));
  return out;
}

static int products_in_plan(const bench *b) {
  plan *p;
  int n = 0;
  plan_request r = {.n_feed = 3, .feed = (weft_out[]){b->x, b->dy, b->alpha}};
  r.n_target = 1, r.target = &b->train.node;
  EXPECT_OK(weft__plan_create(&p, b->g, &r));
  for (int i = 0; i < p->n_item; i++) n += strcmp(p->item[i].node->op_name, "MatMul") == 0;
  weft__plan_destroy(p);
  return n;
}

/* 0 and 300 rows go the long way.  300 load oneDNN, if it is there, with which the scan of the leak sanitizer
 * faulted in the test of handles. */
static void expect_products_are_added(bool by_handle) {
  static const int64_t rows[] = {1, ROWS, 0, 300};
  for (int i = 0; i < (by_handle ? 3 : 4); i++) {
    bench joined = begin_with(M, by_handle), apart = begin_with(M, by_handle);
    assign_ones(&joined, M), assign_ones(&apart, M);
    EXPECT_EQ_INT(products_in_plan(&joined), 0);
    for (int n = 0; n < 3; n++) {
      EXPECT_OK(train_on(&joined, rows[i], false));
      EXPECT_OK(train_on(&apart, rows[i], true));
    }
    weft_tensor *got = value_of(&joined), *want = value_of(&apart);
    for (int64_t j = 0; j < M * N; j++) EXPECT_NEAR(TENSOR_DATA(got, float)[j], TENSOR_DATA(want, float)[j], 1e-5);
    weft_tensor_destroy(got), weft_tensor_destroy(want);
    end(&joined), end(&apart);
  }
}

TEST(a_product_adds_to_its_variable) { expect_products_are_added(false); }
TEST(a_product_adds_to_the_variable_of_a_handle) { expect_products_are_added(true); }

TEST(a_value_that_was_fetched_before_stays_as_it_was) {
  bench b = begin(M);
  assign_ones(&b, M);
  weft_tensor *before = value_of(&b);
  EXPECT_OK(train_on(&b, ROWS, false));
  for (int64_t j = 0; j < M * N; j++) EXPECT(TENSOR_DATA(before, float)[j] == 1);
  weft_tensor_destroy(before);
  end(&b);
}

TEST(what_does_not_fit_is_refused_as_before) {
  bench b = begin(M + 1);
  assign_ones(&b, M + 1);
  EXPECT_ERR(train_on(&b, ROWS, false), WEFT_INVALID_ARGUMENT, "same shape");
  weft_tensor *now = value_of(&b);
  for (int64_t j = 0; j < (M + 1) * N; j++) EXPECT(TENSOR_DATA(now, float)[j] == 1);
  weft_tensor_destroy(now);
  end(&b);
}

TEST(a_variable_without_a_value_is_refused) {
  bench b = begin(M);
  EXPECT_OK(weft__session_create(&b.s, b.g, NULL));
  EXPECT_ERR(train_on(&b, ROWS, false), WEFT_FAILED_PRECONDITION, "uninitialized");
  end(&b);
}
