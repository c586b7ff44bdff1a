/* ask_test.c - tests what a task tells those who ask for its status. */
#include "weft/weft.h"

#include "tests/check.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef WEFT_HAVE_GRPC

static weft_task_status ask(const weft_server *s) {
  weft_task_status status;
  EXPECT_OK(weft_task_status_ask(&status, weft_server_target(s) + strlen("grpc://"), 60000));
  return status;
}

static weft_server *local(void) {
  weft_server *s;
  EXPECT_OK(weft_server_create_local(&s, NULL));
  return s;
}

TEST(a_fresh_task_says_that_it_has_done_nothing) {
  weft_server *s = local();
  const weft_task_status status = ask(s);
  EXPECT_EQ_STR(status.task, "/job:local/replica:0/task:0");
  EXPECT_EQ_STR(status.version, weft_version());
  EXPECT_EQ_STR(status.state, "running");
  EXPECT_EQ_INT(status.runs, 0);
  EXPECT_EQ_INT(status.variables, 0);
  EXPECT_EQ_INT(status.global_step, -1);
  EXPECT(isnan(status.loss));
  EXPECT(status.checkpoint_age_s < 0);
  EXPECT(status.resident > 0);
  EXPECT(fabs(status.skew_s) < 30); /* it runs on our machine, so its clock is ours */
  EXPECT_EQ_STR(status.waits, "");
  weft_server_destroy(s);
}

TEST(a_task_tells_of_runs_variables_step_loss_and_errors) {
  weft_server *s = local();
  weft_graph *g;
  weft_session *sess;
  weft_tensor *fetched[2];
  EXPECT_OK(weft_graph_create(&g));
  weft_out step = weft_variable(g, "global_step", weft_scalar(g, WEFT_INT64, 41), true);
  weft_out init = weft_initializer(g), missing = weft_variable(g, "missing", weft_scalar(g, WEFT_FLOAT, 0), true);
  weft_out next = weft_assign(g, step, weft_scalar(g, WEFT_INT64, 42));
  weft_out loss = weft_square(g, weft_scalar(g, WEFT_FLOAT, 0.5));
  EXPECT_OK(weft_session_create(&sess, g, &(weft_session_opts){.target = weft_server_target(s)}));
  EXPECT_OK(weft_session_run_target(sess, init));
  EXPECT_OK(weft_session_run(
      sess, &(weft_request){.n_fetch = 1, .fetches = &loss, .fetched = fetched, .n_target = 1, .targets = &next}));
  weft_tensor_destroy(fetched[0]);
  EXPECT_ERR(weft_session_fetch(fetched, sess, missing), WEFT_FAILED_PRECONDITION, "missing");
  const weft_task_status status = ask(s);
  EXPECT_EQ_INT(status.runs, 3);
  EXPECT_EQ_INT(status.sessions, 1);
  EXPECT(status.parts >= 3);
  EXPECT_EQ_INT(status.variables, 2);
  EXPECT_EQ_INT(status.variable_bytes, 8);
  EXPECT_EQ_INT(status.global_step, 42);
  EXPECT(status.loss == 0.25);
  EXPECT_CONTAINS(status.error, "uninitialized value missing");
  weft_session_destroy(sess);
  weft_graph_destroy(g);
  weft_server_destroy(s);
}

static void *wait_for_worker(void *arg) {
  weft_session *sess = arg;
  weft_out none = {0, 0};
  EXPECT(weft_session_run_target(sess, none) == WEFT_CANCELLED);
  return NULL;
}

TEST_WITHIN(90, a_task_says_whom_it_waits_for_and_why) {
  weft_cluster *c;
  weft_server *s;
  weft_graph *g;
  weft_session *sess;
  pthread_t thread;
  EXPECT_OK(weft_cluster_parse(&c, "ps=localhost:0;worker=localhost:1"));
  EXPECT_OK(weft_server_create(&s, c, &(weft_server_opts){.job = "ps"}));
  EXPECT_OK(weft_graph_create(&g));
  weft_scope_push_device(g, "/job:worker/task:0");
  weft_scalar(g, WEFT_FLOAT, 1);
  EXPECT_OK(weft_session_create(&sess, g, &(weft_session_opts){.target = weft_server_target(s)}));
  EXPECT(pthread_create(&thread, NULL, wait_for_worker, sess) == 0);
  weft_task_status status = ask(s);
  while (!strstr(status.waits, "worker:0 (") || strstr(status.waits, "not answered yet")) status = ask(s);
  EXPECT_CONTAINS(status.waits, "onnect"); /* the transport's message of a refused connection */
  weft_interrupt();
  pthread_join(thread, NULL);
  weft_session_destroy(sess);
  weft_graph_destroy(g);
  weft_cluster_destroy(c);
  weft_server_destroy(s);
}

TEST(asking_an_address_without_a_server_fails) {
  weft_task_status status;
  EXPECT_ERR(weft_task_status_ask(&status, "localhost:1", 5000), WEFT_UNAVAILABLE, "onnect");
}

TEST(a_token_guards_the_status_too) {
  weft_server *s;
  weft_task_status status;
  EXPECT_OK(weft_server_create_local(&s, &(weft_server_opts){.token = "secret"}));
  const char *address = weft_server_target(s) + strlen("grpc://");
  EXPECT(weft_task_status_ask(&status, address, 60000) == WEFT_UNAUTHENTICATED);
  setenv("WEFT_TOKEN", "secret", 1);
  EXPECT_OK(weft_task_status_ask(&status, address, 60000));
  weft_server_destroy(s);
}

#endif
