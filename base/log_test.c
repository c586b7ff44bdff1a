/* log_test.c - silence by default; a callback hears level, place and text.  And the clocks. */
#include "base/log.h"
#include "base/clock.h"
#include "tests/check.h"

static int heard_level;
static char heard[64];

static void listen(void *arg, int level, const char *file, int line, const char *message) {
  EXPECT(arg == heard && line > 0);
  EXPECT_CONTAINS(file, "log_test.c");
  heard_level = level;
  strncpy(heard, message, sizeof heard - 1);
}

TEST(a_log_callback_gets_lines_until_it_is_removed) {
  weft__log(LOG_ERROR, "into the void");
  weft__log_set_callback(listen, heard);
  weft__log(LOG_WARNING, "step %d", 4);
  weft__log_set_callback(NULL, NULL);
  weft__log(LOG_ERROR, "after");
  EXPECT_EQ_INT(heard_level, LOG_WARNING);
  EXPECT_EQ_STR(heard, "step 4");
}

TEST(a_deadline_lies_in_the_future_of_the_monotonic_clock) {
  int64_t now = weft__clock_now_ns();
  struct timespec soon = weft__clock_deadline(1500000000), never = weft__clock_deadline(-1);
  int64_t at = soon.tv_sec * NS_PER_S + soon.tv_nsec;
  EXPECT(at >= now + 1500000000 && at < now + 3000000000);
  EXPECT(never.tv_sec > soon.tv_sec + 300 * 24 * 3600);
  EXPECT(weft__clock_wall_us() > 1600000000 * US_PER_S);
}
