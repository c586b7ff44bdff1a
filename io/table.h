/* table.h - sorted key-value files in LevelDB's format: what both kinds of checkpoint are made of. */
#ifndef WEFT_IO_TABLE_H
#define WEFT_IO_TABLE_H

#include "io/file.h"

typedef struct bytes {
  const char *data;
  size_t size;
} bytes;
int weft__bytes_compare(bytes a, bytes b); /* memcmp, then the shorter first */

/* ---- writing: keys in strictly growing order ---- */
typedef struct table_writer table_writer;
weft_err weft__table_create(table_writer **out, file_writer *to); /* to is borrowed */
weft_err weft__table_add(table_writer *t, bytes key, bytes val);
weft_err weft__table_finish(table_writer *t); /* the last block, index and footer; then destroy */
void weft__table_destroy(table_writer *t);

/* ---- reading.  Checksums are verified; DATA_LOSS says what is wrong with which file. ---- */
typedef struct table_reader table_reader;
weft_err weft__table_open(table_reader **out, const char *path);
void weft__table_close(table_reader *t);
/* The value of key, valid until the next call on t.  NOT_FOUND without a message worth showing. */
weft_err weft__table_find(table_reader *t, bytes key, bytes *val);
/* Every pair in order, until fn fails.  The pair is borrowed for the call. */
typedef weft_err table_fn(void *arg, bytes key, bytes val);
weft_err weft__table_each(table_reader *t, table_fn *fn, void *arg);

/* Variable-length integers, here and in slice keys and string tensors. */
size_t weft__varint_put(unsigned char *to, uint64_t v); /* at most 10 bytes */
const unsigned char *weft__varint_get(const unsigned char *p, const unsigned char *end, uint64_t *v); /* NULL: bad */

#endif
