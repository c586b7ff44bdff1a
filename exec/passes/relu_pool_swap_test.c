/* relu_pool_swap_test.c - slopes on the pooled side give the same numbers, and only where they may. */
#include "exec/compile.h"
#include "exec/passes/relu_pool_swap.h"
#include "exec/session.h"
#include "graph/build.h"
#include "ops/all.h"
#include "tests/check.h"

typedef struct bench {
  op_table *ops;
  weft_graph *g;
  weft_session *s;
  weft_out x, dy, pooled, spread, slope;
} bench;

static weft_out placeholder(weft_graph *g, const char *name) {
  shape s = SHAPE4(-1, -1, -1, -1);
  return weft__b_node(g, "Placeholder", name, 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &s)});
}

/* Windows of `size` with stride 2; the gradient's are of `back`. */
static bench begin(int64_t size, int64_t back) {
  bench b = {0};
  EXPECT_OK(weft__op_table_create(&b.ops, weft__ops_all()));
  EXPECT_OK(weft__graph_create(&b.g, b.ops));
  int64_t ksize[] = {1, size, size, 1}, kback[] = {1, back, back, 1}, strides[] = {1, 2, 2, 1};
  attr at[] = {A_INTS("ksize", ksize, 4), A_INTS("strides", strides, 4), A_STR("padding", "SAME")};
  b.x = placeholder(b.g, "x"), b.dy = placeholder(b.g, "dy");
  b.pooled = weft__b_node(b.g, "MaxPool", NULL, 1, &b.x, 3, at);
  at[0] = A_INTS("ksize", kback, 4);
  b.spread = weft__b_node(b.g, "MaxPoolGrad", NULL, 3, (weft_out[]){b.x, b.pooled, b.dy}, 3, at);
  b.slope = weft__b_binary(b.g, "ReluGrad", b.spread, b.x);
  EXPECT_OK(weft__b_ok(b.g));
  EXPECT_OK(weft__session_create(&b.s, b.g, NULL));
  return b;
}

static void end(bench *b) {
  weft__session_destroy(b->s);
  weft__graph_destroy(b->g);
  weft__op_table_destroy(b->ops);
}

/* Small whole numbers: equal maxima and zeros occur. */
static weft_tensor *image(int64_t side, uint32_t seed) {
  weft_tensor *t;
  EXPECT_OK(weft__tensor_create(&t, WEFT_FLOAT, &SHAPE4(2, side, side, 3)));
  for (int64_t i = 0; i < weft__tensor_count(t); i++) {
    seed = seed * 1664525u + 1013904223u;
    TENSOR_DATA(t, float)[i] = (float)(seed >> 28) - 7;
  }
  return t;
}

static bool slope_comes_first(const bench *b, int n_fetch) {
  const weft_out feed[] = {b->x, b->dy}, fetch[] = {b->slope, b->spread};
  const plan_request r = {.n_feed = 2, .n_fetch = n_fetch, .feed = feed, .fetch = fetch};
  plan *p;
  int slope = -1, spread = -1;
  EXPECT_OK(weft__plan_create(&p, b->g, &r));
  for (int i = 0; i < p->n_item; i++) {
    if (strcmp(p->item[i].node->op_name, "ReluGrad") == 0) slope = i;
    if (strcmp(p->item[i].node->op_name, "MaxPoolGrad") == 0) spread = i;
  }
  EXPECT(slope >= 0 && spread >= 0);
  weft__plan_destroy(p);
  return slope < spread;
}

TEST(a_slope_on_the_pooled_side_gives_the_same_numbers) {
  for (int64_t size = 1; size <= 3; size++) { /* windows apart, touching, overlapping */
    bench b = begin(size, size);
    EXPECT(slope_comes_first(&b, 1));
    EXPECT(!slope_comes_first(&b, 2)); /* the spread gradient itself is fetched */
    const weft_out feed[] = {b.x, b.dy}, fetch[] = {b.slope, b.spread};
    weft_tensor *x = image(7, 1), *dy = image(4, 2), *hoisted, *plain[2];
    const weft_tensor *fed[] = {x, dy};
    plan_request r = {.n_feed = 2, .n_fetch = 1, .feed = feed, .fetch = fetch};
    EXPECT_OK(weft__session_run(b.s, &r, fed, &hoisted, NULL));
    r.n_fetch = 2;
    EXPECT_OK(weft__session_run(b.s, &r, fed, plain, NULL));
    EXPECT_EQ_STR(weft__shape_text(&hoisted->shape), "[2,7,7,3]");
    for (int64_t i = 0; i < weft__tensor_count(x); i++)
      EXPECT(TENSOR_DATA(hoisted, float)[i] == TENSOR_DATA(plain[0], float)[i]);
    weft_tensor_destroy(x), weft_tensor_destroy(dy);
    weft_tensor_destroy(hoisted), weft_tensor_destroy(plain[0]), weft_tensor_destroy(plain[1]);
    end(&b);
  }
}

TEST(gradients_with_other_windows_are_not_swapped) {
  bench b = begin(2, 3);
  EXPECT(!slope_comes_first(&b, 1));
  end(&b);
}
