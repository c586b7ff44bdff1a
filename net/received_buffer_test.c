/* received_buffer_test.c - tests what a collective op reads of a RecvBufResponse. */
#include "net/message.h"
#include "tests/check.h"
#include <string.h>

static const uint8_t numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

/* Reads `size` bytes that arrive in pieces of `step`, for a content of `want` bytes. */
static weft_err read_in_pieces(weft_tensor **out, bool *dead, const uint8_t *data, size_t size, size_t step,
                               int64_t want) {
  message m = {0};
  for (size_t at = 0; at < size; at += step)
    EXPECT_OK(weft__message_add_copy(&m, data + at, size - at < step ? size - at : step));
  weft_err err = weft__received_buffer_read(out, dead, &m, want);
  weft__message_finish(&m);
  return err;
}

static void expect_numbers(weft_tensor *t, int64_t n) {
  EXPECT(t && t->dtype == WEFT_UINT8);
  EXPECT_EQ_INT(weft__tensor_count(t), n);
  EXPECT_EQ_MEM(t->data, numbers, (size_t)n);
  weft_tensor_destroy(t);
}

/* What weft__received_buffer_write makes of the numbers. */
static const uint8_t *written(message *m, int64_t n, bool dead) {
  weft_tensor *t = NULL;
  EXPECT_OK(weft__tensor_create(&t, WEFT_UINT8, &SHAPE1(n)));
  memcpy(t->data, numbers, (size_t)n);
  EXPECT_OK(weft__received_buffer_write(m, t, dead));
  weft_tensor_destroy(t);
  const uint8_t *bytes = weft__message_flatten(m);
  EXPECT(bytes != NULL);
  return bytes;
}

TEST(what_is_written_is_read_however_it_is_cut) {
  message m = {0};
  const uint8_t *bytes = written(&m, 9, false);
  for (size_t step = 1; step <= m.size; step++) {
    weft_tensor *t = NULL;
    bool dead = true;
    EXPECT_OK(read_in_pieces(&t, &dead, bytes, m.size, step, 9));
    EXPECT(!dead);
    expect_numbers(t, 9);
  }
  weft__message_finish(&m);
}

TEST(an_empty_buffer_and_a_dead_one_are_read) {
  message m = {0};
  weft_tensor *t = NULL;
  bool dead = true;
  const uint8_t *bytes = written(&m, 0, false);
  EXPECT_OK(read_in_pieces(&t, &dead, bytes, m.size, m.size, 0));
  EXPECT(!dead);
  expect_numbers(t, 0);
  weft__message_finish(&m);
  m = (message){0};
  bytes = written(&m, 3, true);
  EXPECT_OK(read_in_pieces(&t, &dead, bytes, m.size, m.size, 3));
  EXPECT(dead && !t);
  weft__message_finish(&m);
}

TEST(content_in_several_fields_and_any_order_is_joined) {
  static const uint8_t bytes[] = {4 << 3 | 2, 9, 2 << 3 | 2, 7,      1 << 3 | 2, 1,      1, 1 << 3 | 2,
                                  2,          2, 3,          7 << 3, 1,          2 << 3, 3};
  weft_tensor *t = NULL;
  bool dead = true;
  EXPECT_OK(read_in_pieces(&t, &dead, bytes, sizeof bytes, 4, 3));
  EXPECT(!dead);
  expect_numbers(t, 3);
}

TEST(another_size_no_content_and_malformed_bytes_are_errors) {
  message m = {0};
  weft_tensor *t = NULL;
  bool dead;
  const uint8_t *bytes = written(&m, 5, false);
  EXPECT_ERR(read_in_pieces(&t, &dead, bytes, m.size, 3, 4), WEFT_INTERNAL, "sent 5 bytes for 4");
  EXPECT_ERR(read_in_pieces(&t, &dead, bytes, m.size, 3, 6), WEFT_INTERNAL, "sent 5 bytes for 6");
  EXPECT_ERR(read_in_pieces(&t, &dead, bytes, 0, 3, 5), WEFT_INTERNAL, "without a buffer");
  EXPECT_ERR(read_in_pieces(&t, &dead, bytes, m.size - 1, 3, 5), WEFT_INVALID_ARGUMENT, "malformed");
  EXPECT(t == NULL);
  weft__message_finish(&m);
}
