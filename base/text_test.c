/* text_test.c - tests the JSON strings of the string builder. */
#include "base/text.h"

#include "tests/check.h"

TEST(strings_of_json_are_escaped_and_valid_utf8) {
  text t = {0};
  weft__text_json(&t, "a\"\\\n\xc3\xa9\xff\0\xe2\x82", 10);
  EXPECT_EQ_STR(weft__text_get(&t), "\"a\\\"\\\\\\u000a\xc3\xa9\\ufffd\\u0000\\ufffd\\ufffd\"");
  weft__text_finish(&t);
}
