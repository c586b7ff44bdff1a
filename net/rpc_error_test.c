/* rpc_error_test.c - tests that an error that arrives has the facts that its words say. */
#include "net/rpc_error.h"
#include "tests/check.h"

static bool has(const char *text, error_fact fact) {
  weft_err err = weft__rpc_error(weft__fail(WEFT_FAILED_PRECONDITION, "%s", text));
  EXPECT_ERR(err, WEFT_FAILED_PRECONDITION, text);
  return weft__error_has(fact);
}

TEST(an_error_that_arrives_has_the_facts_that_its_words_say) {
  const char *no_value =
      "From /job:ps/replica:0/task:0:\nAttempting to use uninitialized value v\n\t [[{{node v/read}}]]";
  EXPECT(has(no_value, ERROR_UNINITIALIZED) && has(no_value, ERROR_NAMES_NODE));
  EXPECT(!has(no_value, ERROR_DERIVED) && !has(no_value, ERROR_JOB_OVER) && !has(no_value, ERROR_TOKENS_CLOSED));
  EXPECT(has("From /job:worker/replica:0/task:1:\n[_Derived_]Cancelled", ERROR_DERIVED));
  EXPECT(has(WEFT_JOB_OVER "the chief left", ERROR_JOB_OVER));
  EXPECT(has("FIFOQueue '_1_sync_token_q' is closed and has insufficient elements", ERROR_TOKENS_CLOSED));
  EXPECT(!has("no such file", ERROR_UNINITIALIZED) && !has("no such file", ERROR_NAMES_NODE));
}
