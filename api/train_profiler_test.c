/* train_profiler_test.c - tests the profiler hook through the public functions. */
#include "io/file.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "weft/weft.h"

TEST(a_timeline_is_written_for_the_first_step_and_every_other_after_it) {
  weft_graph *g;
  weft_session *sess;
  weft_hook *hook;
  path_list found;
  const char *dir = test_path("profile");
  EXPECT_OK(weft_graph_create(&g));
  weft_out step = weft_global_step_make(g);
  weft_out train = weft_op(g, "AssignAdd", NULL, 2, (weft_out[]){step, weft_scalar(g, WEFT_INT64, 1)}, NULL);
  EXPECT_ERR(weft_hook_profiler(&hook, dir, 1, 1), WEFT_INVALID_ARGUMENT, "exactly one of");
  EXPECT_OK(weft_hook_profiler(&hook, dir, 2, 0));
  EXPECT_OK(weft_monitored_create(&sess, g, &(weft_monitored_opts){.bare = true, .n_hook = 1, .hooks = &hook}));
  for (int i = 0; i < 5; i++) EXPECT_OK(weft_session_run_target(sess, train));
  EXPECT_OK(weft_monitored_close(sess, WEFT_OK));
  EXPECT_OK(weft__file_match(test_path("profile/timeline-*.json"), &found));
  EXPECT_EQ_INT(found.n, 2);
  EXPECT_CONTAINS(found.path[0], "timeline-1.json");
  EXPECT_CONTAINS(found.path[1], "timeline-4.json");
  text t = {0};
  EXPECT_OK(weft__file_read(found.path[0], &t));
  EXPECT_CONTAINS(weft__text_get(&t), "AssignAdd");
  weft__text_finish(&t);
  weft__path_list_finish(&found);
  weft_session_destroy(sess);
  weft_hook_destroy(hook);
  weft_graph_destroy(g);
}
