/* progress_test.c - what runs of sessions leave in the metrics of the process.  Each test is a process of its own. */
#include "cluster/status/progress.h"

#include "tests/check.h"

static metrics_snapshot p;

static void run_uninitialized(metrics_uninitialized *session, const char *name) {
  const weft_err err = weft__fail(WEFT_FAILED_PRECONDITION, "%s is uninitialized", name);
  weft__progress_note_run(session, NULL, NULL, weft__error_add_facts(err, ERROR_UNINITIALIZED));
}

static void run_successfully(metrics_uninitialized *session) {
  weft__progress_note_run(session, &(progress){0}, NULL, WEFT_OK);
}

TEST(a_session_that_waits_stays_listed_while_another_one_runs) {
  metrics_uninitialized waits = {0}, runs = {0};
  run_uninitialized(&runs, "v");
  run_uninitialized(&waits, "w");
  run_successfully(&runs);
  weft__metrics_read(&p);
  EXPECT(p.n_error > 0);
  EXPECT_EQ_STR(p.error[p.n_error - 1].text, "w is uninitialized");
  EXPECT_EQ_STR(p.error[p.n_error - 1].component, "initialization");
}

TEST(the_first_success_of_the_last_session_that_waits_ends_the_list) {
  metrics_uninitialized a = {0}, b = {0};
  run_uninitialized(&a, "v");
  run_uninitialized(&b, "v");
  run_successfully(&a);
  run_successfully(&b);
  weft__metrics_read(&p);
  EXPECT_EQ_INT(p.n_error, 0);
  EXPECT_EQ_INT(p.count[METRICS_SESSION_RUNS], 4);
}

TEST(other_errors_of_runs_stay_after_a_success) {
  metrics_uninitialized session = {0};
  weft__progress_note_run(&session, NULL, NULL, weft__fail(WEFT_INTERNAL, "broken"));
  run_successfully(&session);
  weft__metrics_read(&p);
  EXPECT_EQ_INT(p.n_error, 1);
  EXPECT_EQ_STR(p.error[0].component, "session");
}
