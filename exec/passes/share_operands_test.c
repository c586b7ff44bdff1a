/* share_operands_test.c - products that share their second operand are those of single requests. */
#include "exec/passes/share_operands.h"
#include "exec/test_graph.h"
#include "exec/test_numbers.h"
#include "graph/build.h"
#include <math.h>

enum { PRODUCTS = 7, ROWS = 32, TERMS = 96, COLUMNS = 130 };

static weft_out placeholder(weft_graph *g, const char *name, shape s) {
  return weft__b_node(g, "Placeholder", name, 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &s)});
}

static void run(const bench *b, const weft_out *in, weft_tensor *const *fed, int n, const weft_out *fetch,
                weft_tensor **out) {
  const plan_request r = {.n_feed = 2, .feed = in, .n_fetch = n, .fetch = fetch};
  EXPECT_OK(weft__session_run(b->s, &r, (const weft_tensor *const *)fed, out, NULL));
}

TEST(products_that_share_an_operand_are_those_of_single_requests) {
  bench b = begin();
  const weft_out in[] = {placeholder(b.g, "x", SHAPE2(ROWS, TERMS)), placeholder(b.g, "w", SHAPE2(COLUMNS, TERMS))};
  weft_tensor *fed[] = {numbers(SHAPE2(ROWS, TERMS), 1), numbers(SHAPE2(COLUMNS, TERMS), 2)}, *all[PRODUCTS];
  weft_out y[PRODUCTS];
  for (int i = 0; i < PRODUCTS; i++) {
    const weft_out x = weft__b_add(b.g, in[0], weft__b_scalar(b.g, WEFT_FLOAT, i));
    y[i] = weft__b_node(b.g, "MatMul", NULL, 2, (weft_out[]){x, in[1]}, 1, &A_BOOL("transpose_b", true));
  }
  EXPECT_OK(weft__b_ok(b.g));
  EXPECT_OK(weft__session_create(&b.s, b.g, NULL));
  for (int turn = 0; turn < 3; turn++) { /* the second has its memory in an arena */
    run(&b, in, fed, PRODUCTS, y, all);
    for (int i = 0; i < PRODUCTS; i++) {
      weft_tensor *alone;
      run(&b, in, fed, 1, &y[i], &alone);
      for (int64_t j = 0; j < (int64_t)ROWS * COLUMNS; j++) {
        const double wanted = (double)TENSOR_DATA(alone, float)[j];
        EXPECT_NEAR((double)TENSOR_DATA(all[i], float)[j], wanted, 1e-4 * fmax(1, fabs(wanted)));
      }
      weft_tensor_destroy(alone);
      weft_tensor_destroy(all[i]);
    }
  }
  for (int i = 0; i < 2; i++) weft_tensor_destroy(fed[i]);
  end(&b);
}
