/* example_test.c - tests the features that the parser of Examples finds and the messages that it rejects. */
#include "codec/example.h"
#include "base/alloc.h"
#include "tests/check.h"

#define BYTES(s) ((bytes){(const uint8_t *)(s), (const uint8_t *)(s) + sizeof(s) - 1})

static int64_t count(weft_dtype type, bytes list) { return weft__feature_count(&(feature){type, list}); }

TEST(integers_are_read_packed_and_one_by_one) {
  const bytes packed = BYTES("\x0a\x03\x01\xac\x02"), single = BYTES("\x08\x01\x08\xac\x02");
  int64_t out[2] = {0};
  EXPECT_EQ_INT(count(WEFT_INT64, packed), 2);
  EXPECT_OK(weft__feature_values(&(feature){WEFT_INT64, packed}, out));
  EXPECT(out[0] == 1 && out[1] == 300);
  EXPECT_EQ_INT(count(WEFT_INT64, single), 2);
  EXPECT_OK(weft__feature_values(&(feature){WEFT_INT64, single}, out));
  EXPECT(out[0] == 1 && out[1] == 300);
}

TEST(a_negative_integer_takes_ten_bytes) {
  const bytes list = BYTES("\x0a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  int64_t out = 0;
  EXPECT_EQ_INT(count(WEFT_INT64, list), 1);
  EXPECT_OK(weft__feature_values(&(feature){WEFT_INT64, list}, &out));
  EXPECT_EQ_INT(out, -1);
}

TEST(lists_that_are_not_whole_are_refused) {
  EXPECT_EQ_INT(count(WEFT_INT64, BYTES("\x0a\x02\x01\xac")), -1);
  EXPECT_EQ_INT(count(WEFT_INT64, BYTES("\x0a\x09\x01")), -1);
  EXPECT_EQ_INT(count(WEFT_INT64, BYTES("\x0a\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")), -1);
  EXPECT_EQ_INT(count(WEFT_FLOAT, BYTES("\x0d\x00\x00")), -1);
  EXPECT_EQ_INT(count(WEFT_STRING, BYTES("\x0a\x05"
                                         "abc")),
                -1);
  EXPECT_EQ_INT(count(WEFT_STRING, BYTES("\x08\x05")), -1);
  EXPECT_EQ_INT(count(WEFT_STRING, BYTES("")), 0);
}

typedef struct found {
  int n;
  bytes key, message;
} found;

static void note(void *arg, bytes key, bytes message) {
  found *f = arg;
  *f = (found){f->n + 1, key, message};
}

TEST(a_scan_names_every_feature_and_the_last_of_a_key_comes_last) {
  found f = {0};
  /* {a: [1]}, a field of another number, {a: [2], b: nothing} */
  const bytes example = BYTES("\x0a\x0b\x0a\x09\x0a\x01"
                              "a\x12\x04\x1a\x02\x08\x01"
                              "\x78\x05"
                              "\x0a\x12\x0a\x09\x0a\x01"
                              "a\x12\x04\x1a\x02\x08\x02\x0a\x05\x0a\x01"
                              "b\x12\x00");
  EXPECT(weft__example_scan(example, 1, note, &f));
  EXPECT_EQ_INT(f.n, 3);
  EXPECT(*f.key.at == 'b');
  feature none;
  EXPECT(weft__feature_read(f.message, &none));
  EXPECT_EQ_INT(none.type, WEFT_INVALID);
}

TEST(an_entry_without_a_value_is_refused) {
  found f = {0};
  EXPECT(!weft__example_scan(BYTES("\x0a\x05\x0a\x03\x0a\x01"
                                   "a"),
                             1, note, &f));
  EXPECT(!weft__example_scan(BYTES("hello world"), 1, note, &f));
  EXPECT(weft__example_scan(BYTES(""), 1, note, &f));
  EXPECT_EQ_INT(f.n, 0);
}

TEST(keys_are_found_by_their_bytes) {
  key_table t = {0};
  EXPECT_OK(weft__keys_create(&t, 3));
  weft__keys_put(&t, BYTES("a"), 0);
  weft__keys_put(&t, BYTES("a\0b"), 1);
  weft__keys_put(&t, BYTES(""), 2);
  weft__keys_put(&t, BYTES("a"), 5);
  EXPECT_EQ_INT(weft__keys_find(&t, BYTES("a")), 5);
  EXPECT_EQ_INT(weft__keys_find(&t, BYTES("a\0b")), 1);
  EXPECT_EQ_INT(weft__keys_find(&t, BYTES("")), 2);
  EXPECT_EQ_INT(weft__keys_find(&t, BYTES("b")), -1);
  weft__keys_finish(&t);
}

TEST(a_failed_allocation_of_a_string_is_an_error) {
  const bytes list = BYTES("\x0a\x01"
                           "x\x0a\x02yy");
  str out[2] = {{0}, {0}};
  weft__alloc_fail_after(2);
  EXPECT_EQ_INT(weft__feature_values(&(feature){WEFT_STRING, list}, out), WEFT_RESOURCE_EXHAUSTED);
  weft__alloc_fail_after(0);
  weft__free(out[0].data);
  weft__free(out[1].data);
}
