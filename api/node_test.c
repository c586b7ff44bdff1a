/* node_test.c - tests the functions with which front ends of other languages read and change a graph. */
#include "tests/check.h"
#include <string.h>

static weft_graph *made(void) {
  weft_graph *g;
  EXPECT_OK(weft_graph_create(&g));
  return g;
}

TEST(a_shape_that_the_program_knows_is_merged_or_refused) {
  weft_graph *g = made();
  weft_out x = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(-1, 3));
  int64_t dims[16];
  EXPECT_OK(weft_out_set_shape(g, x, WEFT_DIMS(5, -1)));
  EXPECT_EQ_INT(weft_out_shape(g, x, dims), 2);
  EXPECT_EQ_INT(dims[0], 5);
  EXPECT_EQ_INT(dims[1], 3);
  EXPECT_EQ_INT(weft_out_set_shape(g, x, WEFT_DIMS(5, 4)), WEFT_INVALID_ARGUMENT);
  weft_graph_destroy(g);
}

static const char *by_name(void *arg, const weft_node *n, const char *current) {
  (void)current;
  if (strcmp(weft_node_name(n), "refused") == 0) return NULL;
  return strcmp(weft_node_op(n), "VariableV2") == 0 ? arg : "/job:worker";
}

TEST(a_device_function_of_the_program_places_nodes_or_refuses_them) {
  weft_graph *g = made();
  weft_scope_push_device_fn(g, by_name, (char[]){"/job:ps"});
  weft_out x = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(2));
  weft_out v = weft_variable(g, "v", weft_scalar(g, WEFT_FLOAT, 0), true);
  EXPECT_EQ_STR(weft_node_device(weft_graph_node(g, x.node)), "/job:worker");
  EXPECT_EQ_STR(weft_node_device(weft_graph_node(g, v.node)), "/job:ps");
  weft_out none = weft_input(g, "refused", WEFT_FLOAT, WEFT_DIMS(2));
  EXPECT_EQ_INT(none.node, -1);
  EXPECT_EQ_INT(weft_graph_error(g), WEFT_INVALID_ARGUMENT);
  weft_graph_clear_error(g);
  weft_scope_pop(g);
  weft_graph_destroy(g);
}

TEST(a_scope_says_whether_its_variables_are_resources) {
  weft_graph *g = made();
  const weft_variable_scope *a;
  const weft_initial zeros = {.kind = WEFT_INIT_ZEROS};
  EXPECT_OK(weft_variable_scope_enter(&a, g, &(weft_variable_scope_opts){.name = "a"}));
  weft_variable_scope_set_resource(g, true);
  EXPECT_OK(weft_variable_scope_enter(&a, g, &(weft_variable_scope_opts){.name = "b"}));
  weft_out inner = weft_get_variable(g, "v", WEFT_FLOAT, 0, NULL, &zeros, true);
  weft_out made_here = weft_variable(g, "w", weft_scalar(g, WEFT_FLOAT, 3), true);
  weft_scope_pop(g);
  weft_scope_pop(g);
  EXPECT_EQ_STR(weft_node_op(weft_graph_node(g, made_here.node)), "VarHandleOp");
  EXPECT_EQ_STR(weft_node_name(weft_graph_node(g, made_here.node)), "a/b/w");
  weft_out outer = weft_get_variable(g, "v", WEFT_FLOAT, 0, NULL, &zeros, true);
  EXPECT_EQ_STR(weft_node_op(weft_graph_node(g, inner.node)), "VarHandleOp");
  EXPECT_EQ_STR(weft_node_op(weft_graph_node(g, outer.node)), "VariableV2");
  weft_graph_destroy(g);
}

TEST(a_variable_scope_is_entered_again_under_its_name) {
  weft_graph *g = made();
  const weft_variable_scope *first, *again;
  EXPECT_OK(weft_variable_scope_enter(&first, g, &(weft_variable_scope_opts){.name = "a"}));
  EXPECT_EQ_STR(weft_variable_scope_name(weft_variable_scope_now(g)), "a");
  weft_scope_pop(g);
  EXPECT_OK(
      weft_variable_scope_enter(&again, g, &(weft_variable_scope_opts){.again = first, .reuse = WEFT_REUSE_ALWAYS}));
  EXPECT_EQ_STR(weft_variable_scope_name(again), "a");
  EXPECT_EQ_STR(weft_scope_prefix(g), "a_1");
  EXPECT_EQ_INT(weft_variable_scope_reuse(again), WEFT_REUSE_ALWAYS);
  weft_scope_pop(g);
  weft_graph_destroy(g);
}

TEST(gradients_of_a_gather_stay_slices) {
  weft_graph *g = made();
  weft_out v = weft_variable(g, "v", weft_zeros(g, WEFT_FLOAT, WEFT_DIMS(5, 2)), true);
  weft_out rows = weft_input(g, "rows", WEFT_INT32, WEFT_DIMS(3)), axis = weft_scalar(g, WEFT_INT32, 0);
  weft_out y = weft_op(g, "GatherV2", NULL, 3, (weft_out[]){v, rows, axis}, NULL);
  weft_gradient d;
  EXPECT_OK(weft_gradients_with(g, 1, &y, NULL, 1, &v, NULL, &d));
  EXPECT_EQ_INT(d.dense.node, -1);
  EXPECT(d.indices.node >= 0 && d.values.node >= 0);
  weft_graph_destroy(g);
}

TEST(a_borrowed_value_is_copied_by_a_variable) {
  weft_graph *g = made();
  float memory[2] = {1, 2};
  weft_out x = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(2));
  weft_out v = weft_variable(g, "v", x, true), init = weft_initializer(g);
  weft_tensor *lent, *found;
  weft_session *sess;
  EXPECT_OK(weft_tensor_borrow(&lent, WEFT_FLOAT, WEFT_DIMS(2), memory, sizeof memory));
  EXPECT_OK(weft_session_create(&sess, g, NULL));
  EXPECT_OK(weft_session_run(
      sess, &(weft_request){.n_feed = 1, .feeds = &(weft_feed){x, lent}, .n_target = 1, .targets = &init}));
  weft_tensor_destroy(lent);
  memory[0] = 9;
  EXPECT_OK(weft_session_fetch(&found, sess, v));
  EXPECT(((float *)weft_tensor_data(found))[0] == 1);
  EXPECT(weft_tensor_shared(found));
  weft_tensor_destroy(found);
  weft_session_destroy(sess);
  weft_graph_destroy(g);
}

TEST(lists_hold_names_or_bytes_and_can_be_cleared) {
  weft_graph *g = made();
  size_t size;
  bool is_name;
  EXPECT_OK(weft_collection_add_bytes(g, "things", "ab", 2));
  EXPECT_OK(weft_collection_add(g, "names", "x:0"));
  EXPECT(weft_collection_item(g, "things", 0, &size, &is_name) && size == 2 && !is_name);
  EXPECT_EQ_INT(weft_collection_count(g), 2);
  EXPECT_EQ_STR(weft_collection_at(g, 1), "names");
  EXPECT_EQ_INT(weft_collection_add(g, "things", "x"), WEFT_INVALID_ARGUMENT);
  weft_collection_clear(g, "things");
  EXPECT_EQ_INT(weft_collection_size(g, "things"), 0);
  weft_graph_destroy(g);
}

TEST(lists_hold_numbers) {
  weft_graph *g = made();
  int64_t v = 0;
  float f = 0;
  bool is_int;
  EXPECT_OK(weft_collection_add_int(g, "ints", 7));
  EXPECT_OK(weft_collection_add_float(g, "floats", 1.5f));
  EXPECT(weft_collection_number(g, "ints", 0, &v, &f, &is_int) && is_int && v == 7);
  EXPECT(weft_collection_number(g, "floats", 0, &v, &f, &is_int) && !is_int && f == 1.5f);
  EXPECT(!weft_collection_number(g, "floats", 1, &v, &f, &is_int));
  EXPECT(!weft_collection_number(g, "none", 0, &v, &f, &is_int));
  EXPECT_EQ_INT(weft_collection_add_int(g, "floats", 1), WEFT_INVALID_ARGUMENT);
  weft_graph_destroy(g);
}
