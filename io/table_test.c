/* table_test.c - tests tables of many blocks, and damaged ones. */
#include "io/table.h"

#include "base/alloc.h"
#include "io/crc32c.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include <stdio.h>
#include <stdlib.h>

static const char *scratch(void) { return test_path("table"); }

static bytes text_of(const char *s) { return (bytes){s, strlen(s)}; }

/* Writes n entries key00000 -> their number, as text. */
static void write_table(int n) {
  file_writer *f = NULL;
  table_writer *t = NULL;
  char key[16], val[16];
  EXPECT_OK(weft__writer_create(&f, scratch()));
  EXPECT_OK(weft__table_create(&t, f));
  for (int i = 0; i < n; i++) {
    snprintf(key, sizeof key, "key%05d", i);
    snprintf(val, sizeof val, "%d", i);
    EXPECT_OK(weft__table_add(t, text_of(key), text_of(val)));
  }
  EXPECT_OK(weft__table_finish(t));
  weft__table_destroy(t);
  EXPECT_OK(weft__writer_sync(f));
  EXPECT_OK(weft__writer_place(f));
  weft__writer_destroy(f);
}

static weft_err count_one(void *arg, bytes key, bytes val) {
  char want[16];
  snprintf(want, sizeof want, "key%05d", *(int *)arg);
  EXPECT_EQ_MEM(key.data, want, key.size);
  EXPECT_EQ_INT(atoi(val.data), *(int *)arg);
  ++*(int *)arg;
  return WEFT_OK;
}

TEST(a_table_of_many_blocks_is_walked_and_searched) {
  table_reader *t = NULL;
  bytes val;
  int n = 0;
  write_table(60000);
  EXPECT_OK(weft__table_open(&t, scratch()));
  EXPECT_OK(weft__table_each(t, count_one, &n));
  EXPECT_EQ_INT(n, 60000);
  EXPECT_OK(weft__table_find(t, text_of("key00000"), &val));
  EXPECT_OK(weft__table_find(t, text_of("key59999"), &val));
  EXPECT_EQ_MEM(val.data, "59999", 5);
  EXPECT_EQ_INT(weft__table_find(t, text_of("key59999x"), &val), WEFT_NOT_FOUND);
  EXPECT_EQ_INT(weft__table_find(t, text_of("a"), &val), WEFT_NOT_FOUND);
  EXPECT_EQ_INT(weft__table_find(t, text_of("key00000x"), &val), WEFT_NOT_FOUND);
  weft__table_close(t);
}

TEST(an_empty_table_is_a_table) {
  table_reader *t = NULL;
  bytes val;
  int n = 0;
  write_table(0);
  EXPECT_OK(weft__table_open(&t, scratch()));
  EXPECT_OK(weft__table_each(t, count_one, &n));
  EXPECT_EQ_INT(weft__table_find(t, text_of("a"), &val), WEFT_NOT_FOUND);
  weft__table_close(t);
}

static weft_err see_one(void *arg, bytes key, bytes val) {
  unsigned *sum = arg;
  for (size_t i = 0; i < key.size; i++) *sum += (unsigned char)key.data[i];
  for (size_t i = 0; i < val.size; i++) *sum += (unsigned char)val.data[i];
  return WEFT_OK;
}

/* Overwrites the file without a sync. */
static void overwrite(const text *file) {
  FILE *f = fopen(scratch(), "wb");
  EXPECT(f != NULL);
  EXPECT_EQ_INT(fwrite(file->data, 1, file->size, f), file->size);
  EXPECT_EQ_INT(fclose(f), 0);
}

static void put_checksum(char *block, size_t size) {
  uint32_t crc = weft__crc32c_mask(weft__crc32c(0, block, size + 1));
  memcpy(block + size + 1, &crc, 4);
}

/* The positions of the blocks of a table with one data block: data, empty metaindex, index, footer. */
typedef struct layout {
  size_t data, index, index_at;
} layout;

static layout find_blocks(const text *file) {
  const unsigned char *f = (const unsigned char *)file->data + file->size - 48, *end = f + 40;
  uint64_t meta_at, meta_size, at, size;
  f = weft__varint_get(f, end, &meta_at);
  f = weft__varint_get(f, end, &meta_size);
  f = weft__varint_get(f, end, &at);
  weft__varint_get(f, end, &size);
  return (layout){(size_t)meta_at - 5, (size_t)size, (size_t)at};
}

TEST_WITHIN(60, damage_behind_good_checksums_is_an_error_or_harmless) {
  text file = {0};
  unsigned sum = 0;
  write_table(40);
  EXPECT_OK(weft__file_read(scratch(), &file));
  layout l = find_blocks(&file);
  char *good = malloc(file.size);
  EXPECT(good != NULL);
  memcpy(good, file.data, file.size);
  srand(5);
  int refused = 0;
  for (int i = 0; i < 3000; i++) {
    table_reader *t = NULL;
    memcpy(file.data, good, file.size);
    bool in_index = i % 3 == 0;
    size_t base = in_index ? l.index_at : 0, size = in_index ? l.index : l.data;
    for (int k = 0; k <= i % 4; k++) file.data[base + (size_t)rand() % size] = (char)(rand() % 5 ? rand() : 255);
    put_checksum(file.data + base, size);
    overwrite(&file);
    weft_err err = weft__table_open(&t, scratch());
    if (err == WEFT_OK) err = weft__table_each(t, see_one, &sum);
    refused += err != WEFT_OK;
    if (err != WEFT_OK) EXPECT_EQ_INT(err, WEFT_DATA_LOSS);
    weft__table_close(t);
  }
  EXPECT(refused > 300 && sum > 0);
  free(good);
  weft__text_finish(&file);
}

TEST(a_compressed_block_is_refused_by_name) {
  table_reader *t = NULL;
  text file = {0};
  unsigned sum = 0;
  write_table(4);
  EXPECT_OK(weft__file_read(scratch(), &file));
  layout l = find_blocks(&file);
  file.data[l.data] = 1;
  put_checksum(file.data, l.data);
  overwrite(&file);
  EXPECT_OK(weft__table_open(&t, scratch()));
  EXPECT_ERR(weft__table_each(t, see_one, &sum), WEFT_UNIMPLEMENTED, "compressed (type 1)");
  weft__table_close(t);
  weft__text_finish(&file);
}

TEST(varints_go_both_ways_and_bad_ones_are_refused) {
  unsigned char b[10];
  uint64_t v;
  static const uint64_t values[] = {0, 1, 127, 128, 300, UINT32_MAX, UINT64_MAX};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    size_t n = weft__varint_put(b, values[i]);
    EXPECT(weft__varint_get(b, b + n, &v) == b + n);
    EXPECT(v == values[i]);
    EXPECT(weft__varint_get(b, b + n - 1, &v) == NULL);
  }
  memset(b, 255, sizeof b);
  EXPECT(weft__varint_get(b, b + 10, &v) == NULL);
}
