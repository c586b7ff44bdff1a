/* metrics_test.c - each test is a process of its own, so the metrics start at zero. */
#include "base/metrics.h"

#include "base/clock.h"
#include "tests/check.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static metrics_snapshot p;

TEST(a_fresh_process_has_done_nothing) {
  weft__metrics_read(&p);
  EXPECT_EQ_INT(p.count[METRICS_SESSION_RUNS], 0);
  EXPECT_EQ_INT(p.step, -1);
  EXPECT_EQ_INT(p.n_error + p.n_sample, 0);
  EXPECT(isnan(p.loss));
  EXPECT(p.rate[METRICS_SESSION_RUNS] == 0);
}

TEST(what_is_counted_is_read_and_has_a_rate) {
  for (int i = 0; i < 10; i++) weft__metrics_add(METRICS_SESSION_RUNS, 1);
  weft__metrics_add(METRICS_BYTES_IN, 1000);
  nanosleep(&(struct timespec){0, 100000000}, NULL); /* a rate needs more than 50 ms */
  weft__metrics_read(&p);
  EXPECT_EQ_INT(p.count[METRICS_SESSION_RUNS], 10);
  EXPECT_EQ_INT(p.count[METRICS_BYTES_IN], 1000);
  EXPECT_EQ_INT(p.n_sample, 1);
  EXPECT(p.rate[METRICS_SESSION_RUNS] > 0);
}

TEST(a_run_that_fetched_nothing_keeps_step_and_loss) {
  weft__metrics_set_progress(7, 0.5);
  weft__metrics_set_progress(-1, NAN);
  weft__metrics_read(&p);
  EXPECT_EQ_INT(p.step, 7);
  EXPECT(p.loss == 0.5);
}

TEST(of_many_errors_the_last_are_kept_and_each_once) {
  char text[32];
  for (int i = 0; i < 20; i++) {
    snprintf(text, sizeof text, "error %d", i);
    weft__metrics_add_error("net/fast", text);
  }
  weft__metrics_add_error("cluster", "error 15");
  weft__metrics_read(&p);
  EXPECT_EQ_INT(p.n_error, METRICS_ERRORS);
  EXPECT_EQ_STR(p.error[0].text, "error 12");
  EXPECT_EQ_STR(p.error[METRICS_ERRORS - 1].text, "error 15");
  EXPECT_EQ_STR(p.error[METRICS_ERRORS - 1].component, "cluster");
  EXPECT_EQ_STR(p.error[METRICS_ERRORS - 2].text, "error 19");
  EXPECT_EQ_STR(p.error[METRICS_ERRORS - 2].component, "net/fast");
}

TEST(errors_of_initialization_are_forgotten_when_no_session_waits) {
  metrics_uninitialized a = {0}, b = {0};
  weft__metrics_add_uninitialized(&a, "1");
  weft__metrics_add_error("session", "2");
  weft__metrics_add_uninitialized(&a, "1"); /* the next run of the same session */
  weft__metrics_add_uninitialized(&b, "3");
  weft__metrics_initialized(&a);
  weft__metrics_initialized(&a);
  weft__metrics_read(&p);
  EXPECT_EQ_INT(p.n_error, 3);
  EXPECT_EQ_STR(p.error[2].component, "initialization");
  weft__metrics_initialized(&b);
  weft__metrics_read(&p);
  EXPECT_EQ_INT(p.n_error, 1);
  EXPECT_EQ_STR(p.error[0].text, "2");
}

static void count_waits(void *arg, const metrics_wait *w) {
  (void)w;
  ++*(int *)arg;
}

TEST(waits_are_listed_while_they_last) {
  metrics_wait a = {0}, b = {0};
  int n = 0;
  weft__metrics_wait_begin(&a, "ps:0");
  weft__metrics_wait_begin(&b, "worker:1");
  weft__metrics_wait_begin(&a, "ps:0 again");
  weft__metrics_each_wait(count_waits, &n);
  EXPECT_EQ_INT(n, 2);
  EXPECT_EQ_STR(a.what, "ps:0 again");
  weft__metrics_wait_end(&a);
  weft__metrics_wait_end(&a);
  weft__metrics_wait_end(&b);
  n = 0;
  weft__metrics_each_wait(count_waits, &n);
  EXPECT_EQ_INT(n, 0);
}

TEST(a_checkpoint_is_remembered_with_its_time) {
  weft__metrics_set_checkpoint("/tmp/model.ckpt-7");
  weft__metrics_read(&p);
  EXPECT_EQ_STR(p.saved, "/tmp/model.ckpt-7");
  EXPECT(weft__clock_wall_us() - p.saved_us < 60000000);
}
