/* fuse_conv_test.c - a bias and an activation on the parts of a convolution give what they give on the whole. */
#include "exec/compile.h"
#include "exec/session.h"
#include "exec/test_numbers.h"
#include "graph/build.h"
#include "ops/all.h"
#include "tests/check.h"

typedef struct bench {
  op_table *ops;
  weft_graph *g;
  weft_session *s;
  weft_out x, f, b, convolved, y;
} bench;

static weft_out placeholder(weft_graph *g, const char *name, shape s) {
  return weft__b_node(g, "Placeholder", name, 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &s)});
}

/* relu(conv(x, f) + b): the bias by BiasAdd or, "Add", by broadcasting. */
static bench begin(const char *add, const char *format, shape bias, int64_t out, int64_t stride) {
  bench b = {0};
  EXPECT_OK(weft__op_table_create(&b.ops, weft__ops_all()));
  EXPECT_OK(weft__graph_create(&b.g, b.ops));
  int64_t strides[] = {1, stride, stride, 1};
  const bool second = strcmp(format, "NCHW") == 0;
  if (second) strides[1] = 1, strides[2] = strides[3] = stride;
  b.x = placeholder(b.g, "x", second ? SHAPE4(-1, 16, 9, 9) : SHAPE4(-1, 9, 9, 16));
  b.f = placeholder(b.g, "f", SHAPE4(-1, -1, 16, out));
  b.b = placeholder(b.g, "b", bias);
  attr at[] = {A_INTS("strides", strides, 4), A_STR("padding", "SAME"), A_STR("data_format", format)};
  b.convolved = weft__b_node(b.g, "Conv2D", NULL, 2, (weft_out[]){b.x, b.f}, 3, at);
  const weft_out in[] = {b.convolved, weft__b_unary(b.g, "Neg", b.b)}; /* not a feed: its shape is known */
  const bool plain = strcmp(add, "Add") == 0;
  b.y = weft__b_unary(b.g, "Relu", weft__b_node(b.g, add, NULL, 2, in, plain ? 0 : 1, &A_STR("data_format", format)));
  EXPECT_OK(weft__b_ok(b.g));
  EXPECT_OK(weft__session_create(&b.s, b.g, NULL));
  return b;
}

static void end(bench *b) {
  weft__session_destroy(b->s);
  weft__graph_destroy(b->g);
  weft__op_table_destroy(b->ops);
}

/* Is there a convolution of its own in the plan of y? */
static bool stands_alone(const bench *b) {
  const weft_out feed[] = {b->x, b->f, b->b};
  plan *p;
  bool found = false;
  EXPECT_OK(weft__plan_create(&p, b->g, &(plan_request){.n_feed = 3, .n_fetch = 1, .feed = feed, .fetch = &b->y}));
  for (int i = 0; i < p->n_item; i++) found = found || strcmp(p->item[i].node->op_name, "Conv2D") == 0;
  weft__plan_destroy(p);
  return found;
}

static void expect_same(const bench *b, int64_t filter, int64_t out, shape bias) {
  const bool second = weft__node_str_is(b->g->node[b->convolved.node], "data_format", "NCHW");
  weft_tensor *fed[] = {numbers(second ? SHAPE4(6, 16, 9, 9) : SHAPE4(6, 9, 9, 16), 1),
                        numbers(SHAPE4(filter, filter, 16, out), 2), numbers(bias, 3)};
  const weft_out feed[] = {b->x, b->f, b->b}, fetch[] = {b->y, b->convolved};
  plan_request r = {.n_feed = 3, .n_fetch = 1, .feed = feed, .fetch = fetch};
  weft_tensor *joined, *apart[2];
  EXPECT_OK(weft__session_run(b->s, &r, (const weft_tensor *const *)fed, &joined, NULL));
  r.n_fetch = 2; /* the convolution is fetched too, so it stands alone */
  EXPECT_OK(weft__session_run(b->s, &r, (const weft_tensor *const *)fed, apart, NULL));
  EXPECT_EQ_MEM(joined->data, apart[0]->data, weft__tensor_bytes(joined));
  weft_tensor_destroy(joined), weft_tensor_destroy(apart[0]), weft_tensor_destroy(apart[1]);
  for (int i = 0; i < 3; i++) weft_tensor_destroy(fed[i]);
}

TEST(bias_and_activation_join_a_convolution) {
  static const char *const adds[] = {"Add", "BiasAdd"};
  static const int64_t outs[] = {3, 48, 67}; /* whole vectors, and not */
  for (int add = 0; add < 2; add++)
    for (int64_t filter = 1; filter <= 5; filter += 2) /* by plain tiles and with fewer products */
      for (int64_t stride = 1; stride <= 2; stride++)
        for (int i = 0; i < 3; i++) {
          const int64_t out = outs[i];
          bench b = begin(adds[add], "NHWC", SHAPE1(out), out, stride);
          EXPECT(!stands_alone(&b));
          expect_same(&b, filter, out, SHAPE1(out));
          end(&b);
        }
}

TEST(other_layouts_and_unknown_vectors_are_left_alone) {
  bench b = begin("BiasAdd", "NCHW", SHAPE1(16), 16, 1);
  EXPECT(stands_alone(&b));
  expect_same(&b, 3, 16, SHAPE1(16));
  end(&b);
  b = begin("Add", "NHWC", SHAPE1(-1), 16, 1);
  EXPECT(stands_alone(&b));
  expect_same(&b, 3, 16, SHAPE1(1));
  end(&b);
}
