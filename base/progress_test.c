/* progress_test.c - a line when it is time, and not before. */
#include "base/progress.h"
#include "base/log.h"
#include "tests/check.h"

static char logged[1000];

static void note(void *arg, int level, const char *file, int line, const char *message) {
  (void)arg, (void)level, (void)file, (void)line;
  strncat(logged, message, sizeof logged - strlen(logged) - 1);
}

TEST(a_line_comes_when_it_is_due_and_then_not_for_a_while) {
  progress p = {0};
  weft__log_set_callback(note, NULL);
  weft__progress_log(&p, "a.idx", 1, 40, "MB read");
  EXPECT_EQ_STR(logged, ""); /* it has just begun */
  p.next = 1;
  weft__progress_log(&p, "a.idx", 12, 40, "MB read");
  EXPECT_EQ_STR(logged, "a.idx: 12 of 40 MB read");
  weft__progress_log(&p, "a.idx", 13, 40, "MB read");
  EXPECT_EQ_STR(logged, "a.idx: 12 of 40 MB read");
}

TEST(what_is_done_needs_no_line_and_a_total_may_be_unknown) {
  progress p = {.next = 1};
  weft__log_set_callback(note, NULL);
  weft__progress_log(&p, "a", 40, 40, "images read");
  EXPECT_EQ_STR(logged, "");
  weft__progress_log(&p, "a", 7, 0, "records read");
  EXPECT_EQ_STR(logged, "a: 7 records read");
}
