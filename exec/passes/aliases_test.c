/* aliases_test.c - which nodes follow a variable: those between which and their readers an update can run. */
#include "exec/passes/aliases.h"
#include "base/alloc.h"
#include "exec/passes/order.h"
#include "exec/test_graph.h"
#include "graph/build.h"

static weft_out variable_of(weft_graph *g, weft_out *read) {
  const attr type[] = {A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &SHAPE_SCALAR)};
  const weft_out v = weft__b_node(g, "VariableV2", NULL, 0, NULL, 2, type);
  *read = weft__b_identity(g, v);
  return v;
}

static weft_out after(weft_graph *g, weft_out first, const char *type, int n_in, const weft_out *in) {
  weft__b_push_control(g, 1, &first.node);
  const weft_out made = weft__b_node(g, type, NULL, n_in, in, 0, NULL);
  weft__b_pop(g);
  return made;
}

/* Checks whether `node` is an alias in a plan that fetches `fetch` and is fed n_feed values. */
static void expect_fed(const bench *b, weft_out fetch, int n_feed, const weft_out *feed, weft_out node, bool expected) {
  const plan_request q = {.n_feed = n_feed, .feed = feed, .n_fetch = 1, .fetch = &fetch};
  feeds fed;
  EXPECT_OK(weft__feeds_init(&fed, n_feed, feed));
  int *order = NULL, n = 0;
  bool *alias = NULL;
  EXPECT_OK(weft__b_ok(b->g));
  EXPECT_OK(weft__order(b->g, &q, &order, &n));
  EXPECT_OK(weft__aliases_find(&(alias_request){b->g, &q, &fed, order, n, NULL}, &alias));
  EXPECT((alias && alias[node.node]) == expected);
  weft__feeds_finish(&fed);
  weft__free(alias);
  weft__free(order);
}

static void expect_alias(const bench *b, weft_out fetch, weft_out node, bool expected) {
  expect_fed(b, fetch, 0, NULL, node, expected);
}

/* Runs the steps one after the other and checks the number that the last of them fetches. */
static void expect_number(bench *b, weft_out first, weft_out fetch, double number) {
  weft_tensor *out = NULL;
  EXPECT_OK(weft__session_create(&b->s, b->g, &(session_opts){.intra_threads = 1, .inter_threads = 2}));
  EXPECT_OK(weft__session_run(b->s, &(plan_request){.n_target = 1, .target = &first.node}, NULL, NULL, NULL));
  EXPECT_OK(weft__session_run(b->s, &(plan_request){.n_fetch = 1, .fetch = &fetch}, NULL, &out, NULL));
  EXPECT(weft__tensor_double(out, 0) == number);
  weft_tensor_destroy(out);
}

TEST(an_identity_follows_when_the_update_comes_before_its_reader) {
  bench b = begin();
  weft_out read;
  const weft_out v = variable_of(b.g, &read), one = weft__b_scalar(b.g, WEFT_FLOAT, 1);
  const weft_out old = weft__b_identity(b.g, read);
  const weft_out update = after(b.g, old, "AssignAdd", 2, (weft_out[]){v, one});
  const weft_out sum = after(b.g, update, "Add", 2, (weft_out[]){old, one});
  expect_alias(&b, sum, old, true);
  expect_alias(&b, sum, read, false); /* a plain read does not run */
  expect_number(&b, weft__b_binary(b.g, "Assign", v, weft__b_scalar(b.g, WEFT_FLOAT, 5)), sum, 7);
  end(&b);
}

TEST(an_identity_of_an_updated_variable_takes_its_value) {
  bench b = begin();
  weft_out read;
  const weft_out v = variable_of(b.g, &read), one = weft__b_scalar(b.g, WEFT_FLOAT, 1);
  const weft_out update = weft__b_binary(b.g, "AssignAdd", v, one);
  const weft_out now = after(b.g, update, "Identity", 1, &read);
  expect_alias(&b, weft__b_add(b.g, now, one), now, false);
  expect_alias(&b, now, now, false);
  end(&b);
}

TEST(an_identity_whose_readers_the_update_waits_for_takes_its_value) {
  bench b = begin();
  weft_out read;
  const weft_out v = variable_of(b.g, &read), one = weft__b_scalar(b.g, WEFT_FLOAT, 1);
  const weft_out old = weft__b_identity(b.g, read), sum = weft__b_add(b.g, old, one);
  expect_alias(&b, weft__b_binary(b.g, "AssignAdd", v, sum), old, false);
  expect_alias(&b, weft__b_add(b.g, old, one), old, false); /* this plan has no update */
  end(&b);
}

TEST(a_switch_and_what_is_behind_it_follow_an_update_in_the_branch) {
  bench b = begin();
  weft_out read;
  const weft_out v = variable_of(b.g, &read), one = weft__b_scalar(b.g, WEFT_FLOAT, 1);
  const weft_out pred = weft__b_scalar(b.g, WEFT_BOOL, 1);
  const weft_out taken = weft__b_binary(b.g, "Switch", read, pred), live = weft__b_slot(taken, 1);
  const weft_out update = after(b.g, live, "AssignAdd", 2, (weft_out[]){v, one});
  const weft_out now = after(b.g, update, "Identity", 1, &live);
  expect_alias(&b, now, taken, true);
  expect_alias(&b, now, now, true);
  const weft_out either = weft__b_node(b.g, "Merge", NULL, 2, (weft_out[]){weft__b_slot(taken, 0), now}, 0, NULL);
  const weft_out twice = weft__b_add(b.g, either, either);
  expect_alias(&b, twice, either, true);
  expect_number(&b, weft__b_binary(b.g, "Assign", v, weft__b_scalar(b.g, WEFT_FLOAT, 5)), twice, 12);
  end(&b);
}

/* The predicate depends on the update, but a feed replaces it: then the Switch may run before the update. */
TEST(an_edge_that_a_feed_replaces_orders_nothing) {
  bench b = begin();
  weft_out read;
  const weft_out v = variable_of(b.g, &read), one = weft__b_scalar(b.g, WEFT_FLOAT, 1);
  const weft_out update = weft__b_binary(b.g, "AssignAdd", v, one);
  const weft_out pred = weft__b_binary(b.g, "Greater", update, one);
  const weft_out taken = weft__b_binary(b.g, "Switch", read, pred), live = weft__b_slot(taken, 1);
  const weft_out sum = after(b.g, update, "Add", 2, (weft_out[]){live, one});
  expect_alias(&b, sum, taken, false);
  expect_fed(&b, sum, 1, &pred, taken, true);
  end(&b);
}

TEST(what_a_loop_reads_follows_an_update_in_the_loop_and_no_other) {
  bench b = begin();
  weft_out read;
  const weft_out v = variable_of(b.g, &read), one = weft__b_scalar(b.g, WEFT_FLOAT, 1);
  const attr attrs[] = {A_STR("frame_name", "loop"), A_BOOL("is_constant", true)};
  const weft_out in_loop = weft__b_node(b.g, "Enter", NULL, 1, &read, 2, attrs);
  const weft_out inner = weft__b_node(b.g, "Enter", NULL, 1, &one, 2, attrs);
  const weft_out sum = weft__b_unary(b.g, "Exit", weft__b_add(b.g, in_loop, inner));
  expect_alias(&b, weft__b_binary(b.g, "AssignAdd", v, sum), in_loop, false);
  const weft_out reference = weft__b_node(b.g, "RefEnter", NULL, 1, &v, 2, attrs);
  const weft_out changed = weft__b_binary(b.g, "AssignAdd", reference, inner);
  expect_alias(&b, after(b.g, changed, "Add", 2, (weft_out[]){in_loop, inner}), in_loop, true);
  end(&b);
}
