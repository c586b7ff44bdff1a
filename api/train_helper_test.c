/* train_helper_test.c - helpers by name build what the typed functions build, and refuse what they cannot. */
#include "tests/check.h"
#include "weft/train.h"
#include <string.h>

static weft_graph *graph_with(weft_out *x) {
  weft_graph *g;
  EXPECT_OK(weft_graph_create(&g));
  *x = weft_input(g, "x", WEFT_FLOAT, 2, (int64_t[]){2, 3});
  return g;
}

/* The two graphs export as the same bytes. */
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
