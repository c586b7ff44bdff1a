/* train_helper_test.c - tests that helpers called by name build the same graph as the typed functions, and reject
 * invalid calls. */
#include "tests/check.h"
#include "weft/train.h"
#include <string.h>

static weft_graph *graph_with(weft_out *x) {
  weft_graph *g;
  EXPECT_OK(weft_graph_create(&g));
  *x = weft_input(g, "x", WEFT_FLOAT, 2, (int64_t[]){2, 3});
  return g;
}

/* Expects that the two graphs export to the same bytes. */
static void expect_same(weft_graph *a, weft_graph *b) {
  void *x = NULL, *y = NULL;
  size_t n = 0, m = 0;
  EXPECT_OK(weft_graph_export(&x, &n, a));
  EXPECT_OK(weft_graph_export(&y, &m, b));
  EXPECT(n == m && memcmp(x, y, n) == 0);
  weft_free(x);
  weft_free(y);
  weft_graph_destroy(a);
  weft_graph_destroy(b);
}

TEST(a_helper_builds_what_its_typed_function_builds) {
  weft_out x, y, out[3];
  weft_graph *a = graph_with(&x), *b = graph_with(&y);
  weft_clip_by_norm(a, NULL, x, 2);
  EXPECT_OK(weft_helper(b, "clip_by_norm", 2, (weft_operand[]){{&y, NULL, 0}, {NULL, NULL, 2}}, NULL, out));
  expect_same(a, b);
  a = graph_with(&x), b = graph_with(&y);
  weft_exponential_decay(a, "mine", .1, x, 10, .5, true);
  const weft_operand in[] = {{.number = .1}, {.out = &y}, {.number = 10}, {.number = .5}};
  EXPECT_OK(weft_helper(b, "exponential_decay", 4, in, &(weft_helper_opts){.name = "mine", .flag = true}, out));
  expect_same(a, b);
  a = graph_with(&x), b = graph_with(&y);
  weft_piecewise_constant(a, NULL, x, 1, &(double){3}, (double[]){.1, .2});
  const weft_operand piece[] = {{.out = &y}, {.number = 3}, {.number = .1}, {.number = .2}};
  EXPECT_OK(weft_helper(b, "piecewise_constant", 4, piece, NULL, out));
  expect_same(a, b);
}

/* A graph with the outputs of a sparse tensor of ids, their weights and a table. */
static weft_graph *graph_with_ids(weft_out *in) {
  weft_graph *g;
  EXPECT_OK(weft_graph_create(&g));
  in[0] = weft_input(g, "at", WEFT_INT64, 2, (int64_t[]){-1, 2});
  in[1] = weft_input(g, "ids", WEFT_INT64, 1, (int64_t[]){-1});
  in[2] = weft_input(g, "dims", WEFT_INT64, 1, (int64_t[]){2});
  in[3] = weft_input(g, "weights", WEFT_FLOAT, 1, (int64_t[]){-1});
  in[4] = weft_input(g, "table", WEFT_FLOAT, 2, (int64_t[]){5, 3});
  return g;
}

TEST(a_sparse_lookup_by_name_builds_what_its_typed_function_builds) {
  weft_out x[5], y[5], out[8];
  weft_graph *a = graph_with_ids(x), *b = graph_with_ids(y);
  weft_embedding_lookup_sparse(a, 1, &x[4], x[0], x[1],
                               &(weft_lookup_opts){.combiner = "sqrtn", .weights = &x[3], .max_norm = 2});
  const weft_operand in[] = {{.out = &y[0]}, {.out = &y[1]}, {.out = &y[3]}, {.number = 2}, {0}, {.out = &y[4]}};
  EXPECT_OK(weft_helper(b, "embedding_lookup_sparse", 6, in, &(weft_helper_opts){.method = "sqrtn"}, out));
  expect_same(a, b);
  a = graph_with_ids(x), b = graph_with_ids(y);
  weft_safe_embedding_lookup_sparse(a, 1, &x[4], x[0], x[1], x[2],
                                    &(weft_lookup_opts){.name = "mine", .has_default = true, .default_id = 4});
  const weft_operand safe[] = {
      {.out = &y[0]}, {.out = &y[1]}, {.out = &y[2]}, {.out = &WEFT_NONE}, {.number = 4}, {0}, {0}, {.out = &y[4]}};
  EXPECT_OK(weft_helper(b, "safe_embedding_lookup_sparse", 8, safe, &(weft_helper_opts){.name = "mine"}, out));
  expect_same(a, b);
}

TEST(a_wrong_sparse_lookup_is_refused) {
  weft_out in[5];
  weft_graph *g = graph_with_ids(in);
  EXPECT(weft_embedding_lookup_sparse(g, 1, &in[4], in[0], in[1], &(weft_lookup_opts){.combiner = "max"}).node < 0);
  EXPECT_ERR(weft_graph_error(g), WEFT_INVALID_ARGUMENT, "combiner must be one of");
  weft_graph_clear_error(g);
  const weft_lookup_opts wide = {.weights = &in[1]};
  EXPECT(weft_safe_embedding_lookup_sparse(g, 1, &in[4], in[0], in[1], in[2], &wide).node < 0);
  EXPECT_ERR(weft_graph_error(g), WEFT_INVALID_ARGUMENT, "the weights are int64 but the table is float32");
  weft_graph_destroy(g);
}

TEST(an_operand_that_is_left_out_gives_no_output) {
  weft_out x, out[4];
  weft_graph *g = graph_with(&x);
  const weft_operand in[] = {{.number = 1}, {.out = &WEFT_NONE}, {.out = &x}, {.out = &WEFT_NONE}};
  EXPECT_OK(weft_helper(g, "clip_by_global_norm", 4, in, NULL, out));
  EXPECT(out[0].node >= 0 && out[1].node < 0);
  weft_graph_destroy(g);
}

TEST(a_wrong_call_of_a_helper_is_refused) {
  weft_out x, out[3];
  weft_graph *g = graph_with(&x);
  const weft_operand in[] = {{.number = 1}, {.number = 1}, {.out = &(weft_out){999, 0}}};
  EXPECT_ERR(weft_helper(g, "clip_by_nrm", 2, in, NULL, out), WEFT_INVALID_ARGUMENT, "clip_by_norm");
  weft_graph_clear_error(g);
  EXPECT_ERR(weft_helper(g, "clip_by_norm", 1, in, NULL, out), WEFT_INVALID_ARGUMENT, "takes 2 to 3 operands, got 1");
  weft_graph_clear_error(g);
  EXPECT_ERR(weft_helper(g, "clip_by_norm", 2, in, NULL, out), WEFT_INVALID_ARGUMENT, "operand 0 must be an output");
  weft_graph_clear_error(g);
  EXPECT_ERR(weft_helper(g, "clip_by_value", 3, in, NULL, out), WEFT_INVALID_ARGUMENT, "999:0 is no output");
  weft_graph_destroy(g);
}
