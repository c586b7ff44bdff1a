/* timer_test.c - tests the order of timers and their removal while they run. */
#include "base/timer.h"

#include "base/clock.h"
#include "tests/check.h"
#include <stdatomic.h>
#include <unistd.h>

static atomic_int order;

static atomic_int ran;

static void note(void *arg) {
  *(int *)arg = atomic_fetch_add(&order, 1) + 1;
  atomic_fetch_add(&ran, 1); /* after the note, so that a thread that sees this count may read the note */
}

static void await(int calls) {
  for (int i = 0; i < 2000 && atomic_load(&ran) < calls; i++) usleep(1000);
}

TEST(timers_run_in_the_order_of_their_times) {
  timers *ts = NULL;
  timer t[3] = {{0}};
  int at[3] = {0};
  EXPECT_OK(weft__timers_create(&ts));
  int64_t now = weft__clock_now_ns();
  weft__timer_set(ts, &t[0], now + 60000000, note, &at[0]);
  weft__timer_set(ts, &t[1], now + 20000000, note, &at[1]);
  weft__timer_set(ts, &t[2], now - 5, note, &at[2]);
  await(3);
  EXPECT(weft__clock_now_ns() - now >= 60000000);
  EXPECT_EQ_INT(at[2], 1);
  EXPECT_EQ_INT(at[1], 2);
  EXPECT_EQ_INT(at[0], 3);
  EXPECT(!weft__timer_cancel(ts, &t[0]));
  weft__timers_destroy(ts);
}

TEST(a_timer_that_was_taken_off_does_not_run) {
  timers *ts = NULL;
  timer t[2] = {{0}};
  int at[2] = {0};
  EXPECT_OK(weft__timers_create(&ts));
  weft__timer_set(ts, &t[0], weft__clock_now_ns() + 10000000, note, &at[0]);
  weft__timer_set(ts, &t[1], weft__clock_now_ns() + 30000000, note, &at[1]);
  EXPECT(weft__timer_cancel(ts, &t[0]));
  await(1);
  EXPECT_EQ_INT(at[0], 0);
  EXPECT_EQ_INT(at[1], 1);
  weft__timer_set(ts, &t[0], weft__clock_now_ns() + INT64_C(3600000000000), note, &at[0]);
  weft__timers_destroy(ts); /* does not wait for it */
}

static atomic_bool slow_began, cancel_called, slow_ended;

static void slow(void *arg) {
  (void)arg;
  atomic_store(&slow_began, true);
  for (int i = 0; i < 20000 && !atomic_load(&cancel_called); i++) usleep(100);
  usleep(20000); /* a cancel that does not wait returns meanwhile, and the test fails */
  atomic_store(&slow_ended, true);
}

TEST(taking_a_timer_off_waits_for_its_function) {
  timers *ts = NULL;
  timer t = {0};
  EXPECT_OK(weft__timers_create(&ts));
  weft__timer_set(ts, &t, 0, slow, NULL);
  while (!atomic_load(&slow_began)) usleep(100);
  atomic_store(&cancel_called, true);
  EXPECT(!weft__timer_cancel(ts, &t));
  EXPECT(atomic_load(&slow_ended));
  weft__timers_destroy(ts);
}
