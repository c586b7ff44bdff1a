/* record_test.c - tests records and idx files, plain, compressed and damaged. */
#include "io/idx.h"
#include "io/record.h"

#include "base/alloc.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include <stdio.h>
#include <stdlib.h>

static const char *scratch(void) { return test_path("records"); }

static void write_three(compression c) {
  record_writer *w = NULL;
  EXPECT_OK(weft__record_writer_create(&w, scratch(), c));
  EXPECT_OK(weft__record_write(w, "foo", 3));
  EXPECT_OK(weft__record_flush(w));
  EXPECT_OK(weft__record_write(w, "", 0));
  EXPECT_OK(weft__record_write(w, "barbaz", 6));
  EXPECT_OK(weft__record_writer_destroy(w));
}

static void read_three(compression c) {
  record_reader *r = NULL;
  text t = {0};
  uint64_t at;
  bool end;
  static const char *const want[] = {"foo", "", "barbaz"};
  static const uint64_t where[] = {0, 19, 35};
  EXPECT_OK(weft__records_open(&r, scratch(), c));
  for (int i = 0; i < 3; i++) {
    EXPECT_OK(weft__record_next(r, &t, &at, &end));
    EXPECT(!end);
    EXPECT_EQ_INT(at, where[i]);
    EXPECT_EQ_INT(t.size, strlen(want[i]));
    EXPECT_EQ_MEM(weft__text_get(&t), want[i], t.size);
  }
  EXPECT_OK(weft__record_next(r, &t, &at, &end));
  EXPECT(end);
  weft__records_close(r);
  weft__text_finish(&t);
}

TEST(records_come_back_plain_and_compressed) {
  static const compression all[] = {
    COMPRESSION_NONE,
#if WEFT_HAVE_ZLIB
    COMPRESSION_ZLIB,
    COMPRESSION_GZIP,
#endif
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    write_three(all[i]);
    read_three(all[i]);
  }
  read_three(COMPRESSION_GUESS);
}

TEST(a_record_is_framed_as_tensorflow_frames_it) {
  text t = {0};
  weft__record_frame(&t, "foo", 3);
  EXPECT_EQ_INT(t.size, 19);
  EXPECT_EQ_MEM(t.data,
                "\x03\0\0\0\0\0\0\0\xb0\x99\x49\x0e"
                "foo"
                "\x61\x8a\xbe\xfe",
                19);
  weft__text_finish(&t);
}

/* Opens the scratch file and reads until it ends or fails. */
static weft_err read_all(void) {
  record_reader *r = NULL;
  text t = {0};
  uint64_t at;
  bool end = false;
  weft_err err = weft__records_open(&r, scratch(), COMPRESSION_NONE);
  while (err == WEFT_OK && !end) err = weft__record_next(r, &t, &at, &end);
  weft__records_close(r);
  weft__text_finish(&t);
  return err;
}

TEST(damage_is_noticed_wherever_it_is) {
  text all = {0};
  write_three(COMPRESSION_NONE);
  EXPECT_OK(weft__file_read(scratch(), &all));
  for (size_t i = 0; i < all.size; i++) {
    all.data[i] = (char)(all.data[i] ^ 4);
    EXPECT_OK(weft__file_write(scratch(), all.data, all.size));
    EXPECT_EQ_INT(read_all(), WEFT_DATA_LOSS);
    all.data[i] = (char)(all.data[i] ^ 4);
  }
  EXPECT_OK(weft__file_write(scratch(), all.data, all.size - 2));
  EXPECT_ERR(read_all(), WEFT_DATA_LOSS, "truncated record at 35");
  EXPECT_CONTAINS(weft__error_message(), scratch());
  all.data[0] = 4;
  EXPECT_OK(weft__file_write(scratch(), all.data, all.size));
  EXPECT_ERR(read_all(), WEFT_DATA_LOSS, "corrupted record at 0 (Is this even a TFRecord file?)");
  EXPECT_CONTAINS(weft__error_message(), scratch());
  weft__text_finish(&all);
}

#if WEFT_HAVE_ZLIB
TEST(compressed_data_that_ends_early_is_an_error) {
  text all = {0};
  input *in = NULL;
  char room[100];
  size_t got;
  write_three(COMPRESSION_GZIP);
  EXPECT_OK(weft__file_read(scratch(), &all));
  EXPECT_OK(weft__file_write(scratch(), all.data, all.size - 12));
  EXPECT_OK(weft__input_open(&in, scratch(), COMPRESSION_GZIP));
  EXPECT_ERR(weft__input_read(in, room, sizeof room, &got), WEFT_DATA_LOSS, "ends early");
  EXPECT_CONTAINS(weft__error_message(), scratch());
  weft__input_close(in);
  weft__text_finish(&all);
}

TEST(garbage_in_compressed_data_is_reported_with_its_offset) {
  text all = {0};
  input *in = NULL;
  char room[100];
  size_t got;
  write_three(COMPRESSION_GZIP);
  EXPECT_OK(weft__file_read(scratch(), &all));
  memset(all.data + 20, 0xee, 8);
  EXPECT_OK(weft__file_write(scratch(), all.data, all.size));
  EXPECT_OK(weft__input_open(&in, scratch(), COMPRESSION_GUESS));
  EXPECT_ERR(weft__input_read(in, room, sizeof room, &got), WEFT_DATA_LOSS, "inflate() failed with error -3");
  EXPECT_CONTAINS(weft__error_message(), scratch());
  EXPECT_CONTAINS(weft__error_message(), " (at byte ");
  EXPECT(weft__input_byte(in) < 0);
  EXPECT_ERR(weft__input_status(in), WEFT_DATA_LOSS, "inflate() failed with error -3");
  weft__input_close(in);
  weft__text_finish(&all);
}
#endif

TEST(an_idx_file_becomes_a_tensor) {
  weft_tensor *t = NULL;
  static const unsigned char shorts[] = {0, 0, 0x0b, 2, 0, 0, 0, 2, 0, 0, 0, 1, 1, 2, 0xff, 0xfe};
  EXPECT_OK(weft__file_write(scratch(), shorts, sizeof shorts));
  EXPECT_OK(weft__idx_read(&t, scratch()));
  EXPECT_EQ_STR(weft__shape_text(&t->shape), "[2,1]");
  EXPECT_EQ_INT(TENSOR_DATA(t, int16_t)[0], 258);
  EXPECT_EQ_INT(TENSOR_DATA(t, int16_t)[1], -2);
  weft_tensor_destroy(t);
  EXPECT_OK(weft__file_write(scratch(), shorts, sizeof shorts - 1));
  EXPECT_ERR(weft__idx_read(&t, scratch()), WEFT_DATA_LOSS, "it ends early: 3 bytes at most instead of 4 (at byte 12)");
  EXPECT_CONTAINS(weft__error_message(), scratch());
  EXPECT_OK(weft__file_write(scratch(), "\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16));
  EXPECT_ERR(weft__idx_read(&t, scratch()), WEFT_DATA_LOSS, "too large");
  EXPECT_ERR(weft__idx_read(&t, "/nonexistent/idx"), WEFT_NOT_FOUND, "/nonexistent/idx");
}
