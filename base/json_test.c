/* json_test.c - tests the JSON reader: trees, escapes, refusals with their position. */
#include "base/json.h"

#include "base/alloc.h"
#include "tests/check.h"

static arena memory;

static const json *parse(const char *text) {
  json *j;
  EXPECT_OK(weft__json_parse(&j, &memory, text, strlen(text)));
  return j;
}

static void refused(const char *text, const char *why) {
  json *j;
  EXPECT_ERR(weft__json_parse(&j, &memory, text, strlen(text)), WEFT_INVALID_ARGUMENT, why);
}

TEST(a_document_becomes_a_tree) {
  const json *j = parse(" {\"a\": [1, -2.5e1, true, null], \"b\": {\"c\": \"d\"}, \"b\": \"last\"} ");
  const json *a = weft__json_get(j, "a")->first;
  EXPECT_EQ_INT(a->number, 1);
  EXPECT_EQ_INT(a->next->number, -25);
  EXPECT(a->next->next->truth && a->next->next->next->kind == JSON_NULL && !a->next->next->next->next);
  EXPECT_EQ_STR(weft__json_get(j, "b")->text, "last");
  EXPECT(!weft__json_get(j, "x") && !weft__json_get(a, "a") && !weft__json_get(NULL, "a"));
  weft__arena_finish(&memory);
}

TEST(escapes_become_letters) {
  EXPECT_EQ_STR(parse("\"a\\\"\\\\\\/\\n\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"")->text,
                "a\"\\/\nA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  weft__arena_finish(&memory);
}

TEST(invalid_json_is_refused_with_its_position) {
  refused("", "neither a value nor a number at byte 0");
  refused("{\"a\" 1}", "a colon is missing at byte 5");
  refused("[1 2]", "a comma is missing");
  refused("[1,]", "neither a value");
  refused("{1: 2}", "a name is missing");
  refused("\"abc", "ends inside a string");
  refused("\"abc\\", "ends inside a string");
  refused("\"\\ud83d\"", "surrogate");
  refused("\"\\u0000\"", "no letter");
  refused("\"\\x\"", "unknown escape");
  refused("1 2", "something after the end");
  refused("+1", "neither");
  weft__arena_finish(&memory);
}

TEST(nesting_is_bounded) {
  char deep[200];
  memset(deep, '[', sizeof deep);
  json *j;
  EXPECT_ERR(weft__json_parse(&j, &memory, deep, sizeof deep), WEFT_INVALID_ARGUMENT, "nested too deep");
  weft__arena_finish(&memory);
}

TEST(a_failed_allocation_is_an_error) {
  const char *text = "{\"a\": [\"b\", 2]}";
  for (long n = 1; n < 100; n++) {
    json *j;
    weft__alloc_fail_after(n);
    weft_err err = weft__json_parse(&j, &memory, text, strlen(text));
    weft__alloc_fail_after(0);
    weft__arena_finish(&memory);
    if (err == WEFT_OK) return;
    EXPECT_EQ_INT(err, WEFT_RESOURCE_EXHAUSTED);
  }
  FAIL("it never succeeded");
}
