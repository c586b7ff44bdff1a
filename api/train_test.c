/* train_test.c - tests training through the public header only. */
#include "tests/check.h"
#include "tests/scratch.h"
#include "weft/supervise.h"

static float number(weft_session *sess, weft_out x) {
  weft_tensor *got = NULL;
  EXPECT_OK(weft_session_fetch(&got, sess, x));
  float v = *(const float *)weft_tensor_data(got);
  weft_tensor_destroy(got);
  return v;
}

TEST_WITHIN(30, momentum_finds_the_minimum_of_a_parabola) {
  weft_graph *g;
  weft_optimizer *o;
  weft_session *sess;
  EXPECT_OK(weft_graph_create(&g));
  weft_out w = weft_variable(g, "w", weft_scalar(g, WEFT_FLOAT, 5), true);
  weft_out loss = weft_square(g, weft_sub(g, weft_variable_value(g, w), weft_scalar(g, WEFT_FLOAT, 2)));
  weft_out step = weft_global_step_make(g);
  EXPECT_OK(weft_optimizer_create(&o, g, "Momentum", NULL));
  EXPECT_OK(weft_optimizer_set(o, "learning_rate", .05));
  EXPECT_OK(weft_optimizer_set(o, "momentum", .5));
  weft_out train = weft_optimizer_minimize(o, loss, step, 0, NULL, NULL, NULL);
  EXPECT_OK(weft_graph_error(g));
  EXPECT_EQ_STR(weft_node_name(weft_graph_node(g, train.node)), "Momentum");
  EXPECT_EQ_STR(weft_optimizer_slot_name(o, 0), "momentum");
  EXPECT(weft_optimizer_slot_name(o, 1) == NULL);
  EXPECT_EQ_STR(weft_node_name(weft_graph_node(g, weft_optimizer_slot(o, w, "momentum").node)), "w/Momentum");
  EXPECT(weft_optimizer_slot(o, w, "m").node < 0);
  EXPECT_OK(weft_session_create(&sess, g, NULL));
  weft_out init = weft_initializer(g);
  EXPECT_OK(weft_session_run_target(sess, init));
  for (int i = 0; i < 200; i++) EXPECT_OK(weft_session_run_target(sess, train));
  EXPECT_NEAR(number(sess, w), 2, 1e-4);
  weft_session_destroy(sess);
  weft_optimizer_destroy(o);
  weft_graph_destroy(g);
}

TEST(a_failed_minimize_says_so_and_the_graph_goes_on) {
  weft_graph *g;
  weft_optimizer *o;
  EXPECT_OK(weft_graph_create(&g));
  weft_out w = weft_variable(g, "w", weft_scalar(g, WEFT_FLOAT, 5), true);
  EXPECT_OK(weft_optimizer_create(&o, g, "GradientDescent", NULL));
  EXPECT(weft_optimizer_minimize(o, weft_square(g, w), WEFT_NONE, 0, NULL, NULL, NULL).node < 0);
  EXPECT_ERR(weft_graph_error(g), WEFT_INVALID_ARGUMENT, "GradientDescent needs 'learning_rate'");
  weft_graph_clear_error(g);
  EXPECT_OK(weft_optimizer_set(o, "learning_rate", .1));
  EXPECT(weft_optimizer_minimize(o, weft_square(g, w), WEFT_NONE, 0, NULL, NULL, NULL).node >= 0);
  EXPECT_OK(weft_graph_error(g));
  weft_optimizer_destroy(o);
  weft_graph_destroy(g);
}

TEST(a_program_may_manage_its_sessions_itself) {
  weft_graph *g;
  weft_session *sess, *other;
  weft_tensor *got;
  bool restored = true;
  EXPECT_OK(weft_graph_create(&g));
  weft_out w = weft_variable(g, "w", weft_scalar(g, WEFT_FLOAT, 7), true), init = weft_initializer(g);
  weft_out ready = weft_report_uninitialized(g, NULL, 1, &w);
  weft_saver *saver;
  EXPECT_OK(weft_saver_create(&saver, g, NULL));
  weft_manager_opts o = {.ready_op = &ready, .init_op = &init, .saver = saver, .checkpoint_dir = test_path("manager")};
  EXPECT_OK(weft_manager_recover(&sess, g, &o, &restored)); /* there is nothing to restore */
  EXPECT(!restored);
  weft_session_destroy(sess);
  EXPECT_OK(weft_manager_prepare(&sess, g, &o));
  EXPECT_OK(weft_session_fetch(&got, sess, w));
  EXPECT_NEAR(*(float *)weft_tensor_data(got), 7, 0);
  weft_tensor_destroy(got);
  EXPECT_OK(weft_saver_save(saver, sess, test_path("manager/m"), NULL, NULL));
  EXPECT_OK(weft_manager_recover(&other, g, &o, &restored));
  EXPECT(restored);
  weft_session_destroy(other);
  o.max_wait_secs = .1; /* a separate session that nobody initializes */
  EXPECT(weft_manager_wait(&other, g, &o) == WEFT_DEADLINE_EXCEEDED);
  weft_session_destroy(sess), weft_saver_destroy(saver), weft_graph_destroy(g);
}
