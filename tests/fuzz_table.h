/* fuzz_table.h - a table file (io/table.h) whose checksums are right and whose pairs are a fuzzer's bytes.
 *
 * Damage then gets past the checksums, to what reads the keys and values. */
#ifndef WEFT_TESTS_FUZZ_TABLE_H
#define WEFT_TESTS_FUZZ_TABLE_H

#include "base/text.h"
#include "io/crc32c.h"
#include "io/table.h"

static inline void fuzz_table_add32(text *t, uint32_t v) {
  unsigned char b[4] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16), (unsigned char)(v >> 24)};
  weft__text_add(t, (const char *)b, 4);
}

static inline void fuzz_table_add_varint(text *t, uint64_t v) {
  unsigned char b[10];
  weft__text_add(t, (const char *)b, weft__varint_put(b, v));
}

static inline void fuzz_table_add_entry(text *t, const void *key, size_t key_size, const void *val, size_t val_size) {
  fuzz_table_add_varint(t, 0), fuzz_table_add_varint(t, key_size), fuzz_table_add_varint(t, val_size);
  weft__text_add(t, key, key_size);
  weft__text_add(t, val, val_size);
}

/* Ends the block that began at `from`: one restart, no compression, the checksum. */
static inline size_t fuzz_table_end_block(text *t, size_t from) {
  fuzz_table_add32(t, 0), fuzz_table_add32(t, 1);
  size_t size = t->size - from;
  weft__text_add(t, "", 1);
  fuzz_table_add32(t, weft__crc32c_mask(weft__crc32c(0, t->data + from, size + 1)));
  return size;
}

/* The bytes are pairs: a byte for the size of the key, one for that of the value, both.  What is left over is dropped.
 */
static inline void fuzz_table(text *t, const uint8_t *p, const uint8_t *end) {
  static const unsigned char magic[8] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};
  text handle = {0};
  while (end - p >= 2) {
    size_t key = p[0], val = p[1];
    p += 2;
    if (key + val > (size_t)(end - p)) break;
    fuzz_table_add_entry(t, p, key, p + key, val);
    p += key + val;
  }
  size_t size = fuzz_table_end_block(t, 0), index = t->size;
  fuzz_table_add_varint(&handle, 0), fuzz_table_add_varint(&handle, size);
  fuzz_table_add_entry(t, "\xff\xff", 2, handle.data, handle.size);
  size = fuzz_table_end_block(t, index);
  size_t footer = t->size;
  fuzz_table_add_varint(t, 0), fuzz_table_add_varint(t, 0), fuzz_table_add_varint(t, index),
      fuzz_table_add_varint(t, size);
  while (t->size < footer + 40) weft__text_add(t, "", 1);
  weft__text_add(t, (const char *)magic, 8);
  weft__text_finish(&handle);
}

#endif
