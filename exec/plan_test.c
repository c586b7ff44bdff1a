/* plan_test.c - control edges that values imply keep no items from being fused; others do. */
#include "exec/compile.h"
#include "exec/test_graph.h"
#include "graph/build.h"

static weft_out unary_after(bench *b, const char *op_name, weft_out x, weft_out after) {
  weft__b_push_control(b->g, 1, &after.node);
  const weft_out y = weft__b_unary(b->g, op_name, x);
  weft__b_pop(b->g);
  return y;
}

static int count_items(bench *b, weft_out fetch) {
  plan *p;
  EXPECT_OK(weft__b_ok(b->g));
  EXPECT_OK(weft__plan_create(&p, b->g, &(plan_request){.n_fetch = 1, .fetch = &fetch}));
  const int n = p->n_item;
  weft__plan_destroy(p);
  return n;
}

static weft_out make_input(bench *b) {
  return weft__b_node(b->g, "Placeholder", NULL, 0, NULL, 2,
                      (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &SHAPE1(-1))});
}

TEST(a_chain_whose_items_also_wait_for_each_other_is_one_item) {
  bench b = begin();
  const weft_out first = weft__b_unary(b.g, "Neg", make_input(&b)), second = unary_after(&b, "Exp", first, first);
  const weft_out last = unary_after(&b, "Tanh", weft__b_unary(b.g, "Square", second), first);
  const int fused = count_items(&b, last) - 1; /* without the placeholder */
  EXPECT_EQ_INT(fused, 1);
  end(&b);
}

TEST(an_item_that_waits_for_what_it_does_not_read_still_waits) {
  bench b = begin();
  const weft_out x = make_input(&b), other = weft__b_unary(b.g, "Neg", x);
  const weft_out last = unary_after(&b, "Tanh", weft__b_unary(b.g, "Exp", x), other);
  const weft_out both = weft__b_binary(b.g, "AddV2", last, weft__b_unary(b.g, "Square", other));
  plan *p;
  EXPECT_OK(weft__b_ok(b.g));
  EXPECT_OK(weft__plan_create(&p, b.g, &(plan_request){.n_fetch = 1, .fetch = &both}));
  int waits = 0;
  for (int i = 0; i < p->n_item; i++) waits += p->item[i].n_control;
  EXPECT_EQ_INT(waits, 1);
  weft__plan_destroy(p);
  end(&b);
}
