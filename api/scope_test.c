/* scope_test.c - tests variable scopes and collections through the public header. */
#include "tests/check.h"

static float run_scalar(weft_graph *g, weft_out init, weft_out x) {
  weft_session *sess;
  weft_tensor *got = NULL;
  EXPECT_OK(weft_session_create(&sess, g, NULL));
  EXPECT_OK(weft_session_run_target(sess, init));
  EXPECT_OK(weft_session_fetch(&got, sess, x));
  float v = *(const float *)weft_tensor_data(got);
  weft_tensor_destroy(got);
  weft_session_destroy(sess);
  return v;
}

TEST_WITHIN(30, variables_are_shared_by_scope_and_initialized) {
  weft_graph *g;
  EXPECT_OK(weft_graph_create(&g));
  const weft_initial three = {.kind = WEFT_INIT_CONSTANT, .a = 3};
  weft_scope_push_variables(g, "layer", WEFT_REUSE_INHERIT, &three);
  weft_out w = weft_get_variable(g, "w", WEFT_FLOAT, WEFT_SCALAR, NULL, true);
  weft_scope_pop(g);
  EXPECT_OK(weft_graph_error(g));
  EXPECT_EQ_STR(weft_node_name(weft_graph_node(g, w.node)), "layer/w");
  weft_scope_push_variables(g, "layer", WEFT_REUSE_ALWAYS, NULL);
  weft_out again = weft_get_variable(g, "w", WEFT_FLOAT, WEFT_SCALAR, NULL, true);
  EXPECT_EQ_INT(again.node, w.node);
  weft_out none = weft_get_variable(g, "v", WEFT_FLOAT, WEFT_SCALAR, NULL, true);
  EXPECT(none.node < 0);
  EXPECT_ERR(weft_graph_error(g), WEFT_INVALID_ARGUMENT, "Variable layer/v does not exist");
  weft_graph_clear_error(g);
  weft_scope_pop(g);
  weft_out y = weft_mul(g, w, w);
  EXPECT_NEAR(run_scalar(g, weft_initializer(g), y), 9, 0);
  weft_graph_destroy(g);
}

TEST(collections_hold_names) {
  weft_graph *g;
  EXPECT_OK(weft_graph_create(&g));
  EXPECT_OK(weft_collection_add(g, "losses", "loss:0"));
  EXPECT_EQ_INT(weft_collection_size(g, "losses"), 1);
  EXPECT_EQ_STR(weft_collection_name(g, "losses", 0), "loss:0");
  EXPECT(weft_collection_name(g, "losses", 1) == NULL);
  EXPECT_EQ_INT(weft_collection_size(g, "nothing"), 0);
  weft_graph_destroy(g);
}

TEST(parked_scopes_go_on_where_they_were) {
  weft_graph *g;
  EXPECT_OK(weft_graph_create(&g));
  const weft_out first = weft_scalar(g, WEFT_FLOAT, 1);
  weft_scope_push_name(g, "outer");
  const int depth = weft_scope_depth(g);
  weft_scope_push_name(g, "one");
  weft_scope_push_control(g, 1, &first);
  weft_parked *p = weft_scope_park(g, depth);
  EXPECT(p != NULL);
  EXPECT_EQ_STR(weft_scope_prefix(g), "outer");
  weft_scope_push_name(g, "two");
  const weft_out beneath = weft_scalar(g, WEFT_FLOAT, 2);
  weft_scope_pop(g);
  weft_scope_unpark(g, p);
  EXPECT_EQ_STR(weft_scope_prefix(g), "outer/one");
  const weft_out inside = weft_mul(g, beneath, beneath);
  EXPECT_EQ_STR(weft_node_name(weft_graph_node(g, beneath.node)), "outer/two/Const");
  EXPECT_EQ_STR(weft_node_name(weft_graph_node(g, inside.node)), "outer/one/Mul");
  EXPECT_EQ_INT(weft_node_control_count(weft_graph_node(g, beneath.node)), 0);
  EXPECT_EQ_INT(weft_node_control_count(weft_graph_node(g, inside.node)), 1);
  while (weft_scope_depth(g)) weft_scope_pop(g);
  EXPECT(weft_scope_park(g, 7) == NULL);
  EXPECT_ERR(weft_graph_error(g), WEFT_INVALID_ARGUMENT, "above depth 7");
  weft_graph_clear_error(g);
  weft_graph_destroy(g);
}
