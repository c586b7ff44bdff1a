/* snappy.c - reads Snappy blocks, and writes them without compression.
 *
 * A block is its decoded length and then pieces: literal bytes, or a copy of bytes that were decoded before.  The low
 * two bits of a piece's first byte say which. */
#include "io/snappy.h"
#include "base/alloc.h"
#include "base/assert.h"
#include <string.h>

enum { LITERAL = 0, COPY_SHORT = 1, COPY_MEDIUM = 2, MOST_EXPANDED = 64 };

static weft_err snappy_damaged(void) { return weft__fail(WEFT_DATA_LOSS, "a Snappy block is damaged"); }

static bool snappy_length(const uint8_t **at, const uint8_t *end, uint64_t *out) {
  *out = 0;
  for (int shift = 0; shift < 35 && *at < end; shift += 7) {
    const uint8_t byte = *(*at)++;
    *out |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

/* Reads a little-endian number of n bytes. */
static bool snappy_number(const uint8_t **at, const uint8_t *end, int n, size_t *out) {
  WEFT_ASSERT(*at <= end && n >= 1 && n <= 4);
  *out = 0;
  if (end - *at < n) return false;
  for (int i = 0; i < n; i++) *out |= (size_t) * (*at)++ << (8 * i);
  return true;
}

/* Reads the length of a literal. */
static bool snappy_literal(const uint8_t **at, const uint8_t *end, uint8_t tag, size_t *out) {
  *out = tag >> 2;
  if (*out >= 60 && !snappy_number(at, end, (tag >> 2) - 59, out)) return false;
  *out += 1;
  return (size_t)(end - *at) >= *out;
}

/* Reads the length and the distance of a copy. */
static bool snappy_copy(const uint8_t **at, const uint8_t *end, uint8_t tag, size_t *n, size_t *back) {
  if ((tag & 3) == COPY_SHORT) {
    *n = (size_t)(tag >> 2 & 7) + 4;
    if (!snappy_number(at, end, 1, back)) return false;
    *back |= (size_t)(tag >> 5) << 8;
    return true;
  }
  *n = (size_t)(tag >> 2) + 1;
  return snappy_number(at, end, (tag & 3) == COPY_MEDIUM ? 2 : 4, back);
}

weft_err weft__snappy_decode(const uint8_t *data, size_t size, text *out) {
  const uint8_t *at = data, *end = data + size;
  uint64_t whole = 0;
  if (!snappy_length(&at, end, &whole) || whole > (uint64_t)size * MOST_EXPANDED) return snappy_damaged();
  char *to = weft__text_reserve(out, (size_t)whole + 1);
  if (!to) return WEFT_OOM;
  size_t have = 0;
  while (at < end) {
    const uint8_t tag = *at++;
    size_t n = 0, back = 0;
    const bool is_literal = (tag & 3) == LITERAL;
    if (is_literal ? !snappy_literal(&at, end, tag, &n) : !snappy_copy(&at, end, tag, &n, &back))
      return snappy_damaged();
    if (n > whole - have || (!is_literal && (back == 0 || back > have))) return snappy_damaged();
    if (is_literal) {
      memcpy(to + have, at, n);
      at += n;
    }
    for (size_t i = 0; !is_literal && i < n; i++) to[have + i] = to[have + i - back]; /* the two may overlap */
    have += n;
    WEFT_ASSERT(have <= whole && at <= end);
  }
  if (have != whole) return snappy_damaged();
  out->size += have;
  return WEFT_OK;
}

void weft__snappy_encode(const void *data, size_t size, text *out) {
  char head[5];
  size_t n = 0;
  for (uint64_t v = size;; v >>= 7) {
    head[n++] = (char)(v < 0x80 ? v : (v & 0x7f) | 0x80);
    if (v < 0x80) break;
  }
  weft__text_add(out, head, n);
  WEFT_ASSERT(n <= sizeof head);
  for (size_t at = 0; at < size;) {
    const size_t piece = size - at < 65536 ? size - at : 65536, last = piece - 1;
    const char tag[] = {(char)(61 << 2), (char)(last & 0xff), (char)(last >> 8)};
    weft__text_add(out, tag, sizeof tag);
    weft__text_add(out, (const char *)data + at, piece);
    at += piece;
  }
}
