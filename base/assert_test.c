/* assert_test.c - tests that invariants are checked in sanitizer builds and nowhere else. */
#include "base/assert.h"
#include "tests/check.h"
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs fn in a child whose stderr is read into text; returns how the child ended. */
static int status_of(void (*fn)(void), char *text, size_t size) {
  int end[2], status = 0;
  EXPECT(pipe(end) == 0);
  pid_t child = fork();
  EXPECT(child >= 0);
  if (child == 0) {
    dup2(end[1], STDERR_FILENO);
    fn();
    _exit(0);
  }
  close(end[1]);
  size_t n = 0;
  for (ssize_t got; n + 1 < size && (got = read(end[0], text + n, size - 1 - n)) > 0;) n += (size_t)got;
  text[n] = 0;
  close(end[0]);
  EXPECT(waitpid(child, &status, 0) == child);
  return status;
}

static int evaluated;
static bool count_evaluation(void) { return ++evaluated > 0; }

TEST(a_lock_is_held_between_lock_and_unlock) {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  EXPECT(!weft__lock_is_held(&lock));
  pthread_mutex_lock(&lock);
  EXPECT(weft__lock_is_held(&lock));
  pthread_mutex_unlock(&lock);
  EXPECT(!weft__lock_is_held(&lock));
}

static void holds(void) { WEFT_ASSERT(1 + 1 == 2); }
static void fails(void) { weft__assert_fail("size <= capacity", "base/thing.c", 12); }

TEST(a_failed_assertion_names_its_line_and_aborts) {
  char text[512];
  int status = status_of(fails, text, sizeof text);
  EXPECT(WIFSIGNALED(status));
  EXPECT_EQ_INT(WTERMSIG(status), SIGABRT);
  EXPECT_CONTAINS(text, "base/thing.c:12: assertion failed: size <= capacity\n");
}

TEST(an_invariant_that_holds_says_nothing) {
  char text[512];
  EXPECT_EQ_INT(status_of(holds, text, sizeof text), 0);
  EXPECT_EQ_STR(text, "");
}

#ifdef WEFT_SANITIZED
static void breaks(void) { WEFT_ASSERT(evaluated > 100); }

TEST(sanitizer_builds_check_invariants) {
  char text[512];
  EXPECT(count_evaluation());
  WEFT_ASSERT(count_evaluation());
  EXPECT_EQ_INT(evaluated, 2);
  int status = status_of(breaks, text, sizeof text);
  EXPECT(WIFSIGNALED(status));
  EXPECT_EQ_INT(WTERMSIG(status), SIGABRT);
  EXPECT_CONTAINS(text, "base/assert_test.c");
  EXPECT_CONTAINS(text, "assertion failed: evaluated > 100\n");
}
#else
TEST(other_builds_do_not_evaluate_the_expression) {
  EXPECT(count_evaluation());
  WEFT_ASSERT(count_evaluation());
  EXPECT_EQ_INT(evaluated, 1);
}
#endif
