/* status_test.c - messages, context, and errors held as values. */
#include "base/status.h"
#include "tests/check.h"
#include <pthread.h>

TEST(a_failure_keeps_its_message_for_the_thread) {
  EXPECT_ERR(weft__fail(WEFT_NOT_FOUND, "no %s of %d", "node", 7), WEFT_NOT_FOUND, "no node of 7");
  EXPECT_EQ_STR(weft__error_message(), "no node of 7");
}

TEST(context_goes_in_front_even_when_made_from_the_message_itself) {
  weft__fail(WEFT_INTERNAL, "inner");
  EXPECT_EQ_INT(weft__fail_in(WEFT_ABORTED, "step %d", 3), WEFT_ABORTED);
  EXPECT_EQ_STR(weft__error_message(), "step 3: inner");
  weft__fail(WEFT_INTERNAL, "<%s>", weft__error_message());
  EXPECT_EQ_STR(weft__error_message(), "<step 3: inner>");
}

TEST(a_message_longer_than_the_buffer_is_cut) {
  static char big[20000];
  memset(big, 'x', sizeof big - 1);
  weft__fail(WEFT_INTERNAL, "%s", big);
  size_t n = strlen(weft__error_message());
  EXPECT(n > 1000 && n < sizeof big);
  weft__fail_in(WEFT_INTERNAL, "%s", big);
  EXPECT_EQ_INT(strlen(weft__error_message()), n);
}

TEST(a_status_keeps_the_first_failure) {
  status s = {0};
  weft__status_update(&s, WEFT_OK);
  EXPECT_EQ_INT(weft__status_raise(&s), WEFT_OK);
  weft__status_update(&s, weft__fail(WEFT_ABORTED, "first"));
  weft__status_update(&s, weft__fail(WEFT_INTERNAL, "second"));
  EXPECT_ERR(weft__status_raise(&s), WEFT_ABORTED, "first");
  weft__status_finish(&s);
  EXPECT_EQ_INT(s.code, WEFT_OK);
}

TEST(facts_stay_with_a_reworded_error_and_end_with_the_next_error) {
  weft__error_add_facts(weft__fail(WEFT_FAILED_PRECONDITION, "no value"), ERROR_UNINITIALIZED);
  EXPECT(weft__error_has(ERROR_UNINITIALIZED) && !weft__error_has(ERROR_DERIVED));
  weft__fail_in(WEFT_FAILED_PRECONDITION, "step %d", 3);
  EXPECT_ERR(weft__fail_again(WEFT_ABORTED, "From /job:ps: %s", weft__error_message()), WEFT_ABORTED,
             "From /job:ps: step 3: no value");
  EXPECT_EQ_INT(weft__error_add_facts(WEFT_ABORTED, ERROR_DERIVED), WEFT_ABORTED);
  EXPECT(weft__error_has(ERROR_UNINITIALIZED) && weft__error_has(ERROR_DERIVED));
  status s = {0};
  weft__status_update(&s, WEFT_ABORTED);
  weft__fail(WEFT_INTERNAL, "another, in which a variable named uninitialized has a value");
  EXPECT(!weft__error_has(ERROR_UNINITIALIZED) && !weft__error_has(ERROR_DERIVED));
  EXPECT_EQ_INT(weft__status_raise(&s), WEFT_ABORTED);
  EXPECT(weft__error_has(ERROR_UNINITIALIZED) && weft__error_has(ERROR_DERIVED));
  weft__status_finish(&s);
  EXPECT_EQ_INT(s.facts, 0);
  EXPECT_ERR(weft__fail_node(WEFT_INTERNAL, "{{node %s}}", "a"), WEFT_INTERNAL, "{{node a}}");
  EXPECT(weft__error_has(ERROR_NAMES_NODE));
}

TEST(every_code_has_its_name) {
  EXPECT_EQ_STR(weft__error_name(WEFT_OK), "OK");
  EXPECT_EQ_STR(weft__error_name(WEFT_UNAUTHENTICATED), "UNAUTHENTICATED");
  EXPECT_EQ_STR(weft__error_name((weft_err)99), "UNKNOWN");
}

static void *other_thread(void *arg) {
  weft__fail(WEFT_INTERNAL, "other");
  return arg;
}

TEST(threads_do_not_share_messages) {
  pthread_t id;
  weft__fail(WEFT_INTERNAL, "mine");
  EXPECT_EQ_INT(pthread_create(&id, NULL, other_thread, NULL), 0);
  pthread_join(id, NULL);
  EXPECT_EQ_STR(weft__error_message(), "mine");
}
