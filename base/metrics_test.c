/* metrics_test.c - each test is a process of its own, so the pulse is fresh. */
#include "base/metrics.h"

#include "base/clock.h"
#include "tests/check.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static pulse p;

TEST(a_fresh_process_has_done_nothing) {
  weft__pulse_read(&p);
  EXPECT_EQ_INT(p.count[PULSE_RUNS], 0);
  EXPECT_EQ_INT(p.step, -1);
  EXPECT_EQ_INT(p.n_error + p.n_sample, 0);
  EXPECT(isnan(p.loss));
  EXPECT(p.rate[PULSE_RUNS] == 0);
}

TEST(what_is_counted_is_read_and_has_a_rate) {
  for (int i = 0; i < 10; i++) weft__pulse_add(PULSE_RUNS, 1);
  weft__pulse_add(PULSE_IN, 1000);
  nanosleep(&(struct timespec){0, 100000000}, NULL);
  weft__pulse_read(&p);
  EXPECT_EQ_INT(p.count[PULSE_RUNS], 10);
  EXPECT_EQ_INT(p.count[PULSE_IN], 1000);
  EXPECT_EQ_INT(p.n_sample, 1);
  EXPECT(p.rate[PULSE_RUNS] > 0);
}

TEST(a_run_that_fetched_nothing_keeps_step_and_loss) {
  weft__pulse_progress(7, 0.5);
  weft__pulse_progress(-1, NAN);
  weft__pulse_read(&p);
  EXPECT_EQ_INT(p.step, 7);
  EXPECT(p.loss == 0.5);
}

TEST(of_many_errors_the_last_are_kept_and_each_once) {
  char text[32];
  for (int i = 0; i < 20; i++) {
    snprintf(text, sizeof text, "error %d", i);
    weft__pulse_error(text);
  }
  weft__pulse_error("error 15");
  weft__pulse_read(&p);
  EXPECT_EQ_INT(p.n_error, PULSE_ERRORS);
  EXPECT_EQ_STR(p.error[0].text, "error 12");
  EXPECT_EQ_STR(p.error[PULSE_ERRORS - 1].text, "error 15");
  EXPECT_EQ_STR(p.error[PULSE_ERRORS - 2].text, "error 19");
}

static void count_waits(void *arg, const pulse_wait *w) {
  (void)w;
  ++*(int *)arg;
}

TEST(waits_are_listed_while_they_last) {
  pulse_wait a = {0}, b = {0};
  int n = 0;
  weft__pulse_wait(&a, "ps:0");
  weft__pulse_wait(&b, "worker:1");
  weft__pulse_wait(&a, "ps:0 again");
  weft__pulse_waits(count_waits, &n);
  EXPECT_EQ_INT(n, 2);
  EXPECT_EQ_STR(a.what, "ps:0 again");
  weft__pulse_wait_over(&a);
  weft__pulse_wait_over(&a);
  weft__pulse_wait_over(&b);
  n = 0;
  weft__pulse_waits(count_waits, &n);
  EXPECT_EQ_INT(n, 0);
}

TEST(a_checkpoint_is_remembered_with_its_time) {
  weft__pulse_saved("/tmp/model.ckpt-7");
  weft__pulse_read(&p);
  EXPECT_EQ_STR(p.saved, "/tmp/model.ckpt-7");
  EXPECT(weft__wall_us() - p.saved_us < 60000000);
}
