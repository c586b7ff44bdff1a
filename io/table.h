/* table.h - sorted key-value files in LevelDB's format, which both versions of checkpoints use. */
#ifndef WEFT_IO_TABLE_H
#define WEFT_IO_TABLE_H

#include "io/file.h"

typedef struct bytes {
  const char *data;
  size_t size;
} bytes;
int weft__bytes_compare(bytes a, bytes b); /* memcmp, then the shorter first */

/* ---- writing: keys in strictly ascending order ---- */
typedef struct table_writer table_writer;
weft_err weft__table_create(table_writer **out, file_writer *to); /* `to` is borrowed */
weft_err weft__table_add(table_writer *t, bytes key, bytes val);
weft_err weft__table_finish(table_writer *t); /* writes the last block, index and footer; call destroy afterwards */
void weft__table_destroy(table_writer *t);

/* ---- reading.  Checksums are verified; DATA_LOSS says what is wrong with which file. ---- */
typedef struct table_reader table_reader;
weft_err weft__table_open(table_reader **out, const char *path);
void weft__table_close(table_reader *t);
/* Finds the value of key, which is valid until the next call on t.  Returns NOT_FOUND without a useful message. */
weft_err weft__table_find(table_reader *t, bytes key, bytes *val);
/* Calls fn for every pair in order, until it fails.  The pair is borrowed for the call. */
typedef weft_err table_fn(void *arg, bytes key, bytes val);
weft_err weft__table_each(table_reader *t, table_fn *fn, void *arg);

/* Variable-length integers, which slice keys and string tensors use too. */
size_t weft__varint_put(unsigned char *to, uint64_t v); /* at most 10 bytes */
/* NULL: malformed */
const unsigned char *weft__varint_get(const unsigned char *p, const unsigned char *end, uint64_t *v);

#endif
