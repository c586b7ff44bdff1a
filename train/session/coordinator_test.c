/* coordinator_test.c - tests real threads that stop, fail or do not end in time. */
#include "train/session/coordinator.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "tests/check.h"
#include <dirent.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int calls;
static char logged[2048];

static void note(void *arg, int level, const char *file, int line, const char *message) {
  (void)arg, (void)level, (void)file, (void)line;
  strncat(logged, message, sizeof logged - strlen(logged) - 1);
}

static weft_coordinator *begin(void) {
  weft_coordinator *c;
  weft__log_set_callback(note, NULL);
  EXPECT_OK(weft__coordinator_create(&c, 0, NULL));
  return c;
}

static weft_err wait_for_stop(void *arg) {
  EXPECT(weft__coordinator_wait(arg, -1));
  atomic_fetch_add(&calls, 1);
  return WEFT_OK;
}

static weft_err count(void *arg) {
  (void)arg;
  atomic_fetch_add(&calls, 1);
  return WEFT_OK;
}

static weft_err break_down(void *arg) { return weft__fail(*(weft_err *)arg, "it broke"); }

static weft_err linger(void *arg) {
  while (!atomic_load((atomic_bool *)arg)) usleep(1000);
  atomic_fetch_add(&calls, 1);
  return WEFT_OK;
}

static int count_threads(void) {
  DIR *tasks = opendir("/proc/self/task");
  int n = 0;
  EXPECT(tasks != NULL);
  for (struct dirent *e; (e = readdir(tasks));) n += e->d_name[0] != '.';
  closedir(tasks);
  return n;
}

static void wait_for_threads(int n) {
  for (int i = 0; i < 6000 && count_threads() > n; i++) usleep(10000);
  EXPECT(count_threads() <= n);
}

static void wait_for_calls(int n) {
  for (int i = 0; i < 6000 && atomic_load(&calls) < n; i++) usleep(10000);
  EXPECT(atomic_load(&calls) >= n);
}

TEST(a_request_reaches_every_thread) {
  weft_coordinator *c = begin();
  for (int i = 0; i < 4; i++) EXPECT_OK(weft__coordinator_start(c, "w", -1, wait_for_stop, c));
  EXPECT(!weft__coordinator_should_stop(c));
  EXPECT(!weft__coordinator_wait(c, .02));
  weft__coordinator_request_stop(c, WEFT_OK);
  EXPECT_OK(weft__coordinator_join(c, -1, false));
  EXPECT_EQ_INT(calls, 4);
  EXPECT(weft__coordinator_should_stop(c));
  weft__coordinator_clear_stop(c);
  EXPECT(!weft__coordinator_should_stop(c));
  weft__coordinator_destroy(c);
}

TEST(join_ends_with_the_last_thread_without_any_request) {
  weft_coordinator *c = begin();
  EXPECT_OK(weft__coordinator_start(c, "w", -1, count, NULL));
  EXPECT_OK(weft__coordinator_start(c, "w", -1, count, NULL));
  EXPECT_OK(weft__coordinator_join(c, -1, false));
  EXPECT_EQ_INT(calls, 2);
  weft__coordinator_destroy(c);
}

TEST(the_first_failure_is_what_join_raises) {
  weft_coordinator *c = begin();
  weft_err code = WEFT_DATA_LOSS, other = WEFT_INTERNAL;
  EXPECT_OK(weft__coordinator_start(c, "bad", -1, break_down, &code));
  EXPECT(weft__coordinator_wait(c, 5));
  EXPECT_OK(weft__coordinator_start(c, "late", -1, break_down, &other));
  EXPECT_ERR(weft__coordinator_join(c, -1, false), WEFT_DATA_LOSS, "it broke");
  EXPECT_ERR(weft__coordinator_raise(c), WEFT_DATA_LOSS, "it broke");
  EXPECT_CONTAINS(logged, "Error reported to Coordinator: DATA_LOSS, it broke");
  weft__coordinator_destroy(c);
}

TEST(the_end_of_the_data_is_a_clean_stop) {
  weft_coordinator *c = begin();
  weft_err code = WEFT_OUT_OF_RANGE;
  EXPECT_OK(weft__coordinator_start(c, "end", -1, break_down, &code));
  EXPECT_OK(weft__coordinator_join(c, -1, false));
  EXPECT(weft__coordinator_should_stop(c));
  weft__coordinator_destroy(c);
}

TEST_WITHIN(90, a_thread_that_lingers_is_named_after_the_grace_period) {
  weft_coordinator *c = begin();
  atomic_bool enough = false;
  EXPECT_OK(weft__coordinator_start(c, "slow one", -1, linger, &enough));
  const int threads = count_threads() - 1; /* with the one that the thread sanitizer starts beside the first */
  weft__coordinator_request_stop(c, WEFT_OK);
  EXPECT_ERR(weft__coordinator_join(c, .1, false), WEFT_DEADLINE_EXCEEDED,
             "Coordinator stopped with threads still running: slow one");
  EXPECT_OK(weft__coordinator_start(c, "slow two", -1, linger, &enough));
  EXPECT_OK(weft__coordinator_join(c, .1, true));
  EXPECT_CONTAINS(logged, "still running: slow two");
  weft__coordinator_destroy(c);
  atomic_store(&enough, true);
  wait_for_calls(2);         /* both end after the coordinator was destroyed */
  wait_for_threads(threads); /* they have also returned from the function that called them */
}

TEST_WITHIN(90, a_looper_calls_at_its_period_until_the_stop) {
  weft_coordinator *c = begin();
  int64_t start = weft__clock_now_ns();
  EXPECT_OK(weft__coordinator_start(c, "loop", .05, count, NULL));
  wait_for_calls(4);
  weft__coordinator_request_stop(c, WEFT_OK);
  EXPECT_OK(weft__coordinator_join(c, -1, false));
  EXPECT(weft__clock_now_ns() - start >= (calls - 1) * 50000000ll); /* not sooner; the machine decides how much later */
  weft__coordinator_destroy(c);
}

TEST(an_interrupt_is_a_request) {
  weft_coordinator *c = begin();
  EXPECT_OK(weft__coordinator_start(c, "w", -1, wait_for_stop, c));
  weft__interrupt_defer();
  weft__interrupt_raise();
  EXPECT_EQ_INT(weft__interrupt_pending(), 0); /* the first interrupt does not end waits */
  EXPECT_OK(weft__coordinator_join(c, -1, false));
  weft__interrupt_raise();
  EXPECT_EQ_INT(weft__interrupt_pending(), 1);
  weft__interrupt_undefer();
  EXPECT_EQ_INT(weft__interrupt_pending(), 2);
  weft__coordinator_destroy(c);
}
