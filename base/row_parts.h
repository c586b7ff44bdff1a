/* row_parts.h - divides the rows of a table among threads, each of which goes through all ids and takes its own.
 *
 * Small ids are frequent, so that ranges of rows would have very unequal work.  Rows are dealt out in turn instead, as
 * many at a time as share a cache line: no two threads write to one line. */
#ifndef WEFT_BASE_ROW_PARTS_H
#define WEFT_BASE_ROW_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct row_parts {
  int64_t parts;
  int64_t mask; /* parts - 1 if `parts` is a power of two, which saves a division for each row; else -1 */
  int shift;    /* 1 << shift rows are dealt out at a time */
} row_parts;

static inline row_parts weft__row_parts(int64_t parts, size_t row_bytes) {
  enum { LINE_BYTES = 64 };
  row_parts p = {parts, (parts & (parts - 1)) == 0 ? parts - 1 : -1, 0};
  while (row_bytes > 0 && row_bytes << p.shift < LINE_BYTES) p.shift++;
  return p;
}

static inline bool weft__row_parts_owns(row_parts p, int64_t part, int64_t row) {
  const int64_t turn = row >> p.shift;
  return (p.mask >= 0 ? turn & p.mask : turn % p.parts) == part;
}

#endif
