/* unicode.c - UTF-8, UTF-16, UTF-32, ASCII and Latin-1.
 *
 * In invalid UTF-8, the longest sequence that could begin a character counts as one error, as the Unicode standard
 * recommends. */
#include "codec/unicode.h"
#include "base/cast.h"
#include <string.h>

typedef struct named_encoding {
  const char *name; /* lower case, without '-', '_' and ' ' */
  unicode_encoding encoding;
} named_encoding;

static const named_encoding encodings[] = {
    {"utf8", UNICODE_UTF8},        {"utf16", UNICODE_UTF16},     {"utf16be", UNICODE_UTF16_BE},
    {"utf16le", UNICODE_UTF16_LE}, {"utf32", UNICODE_UTF32},     {"utf32be", UNICODE_UTF32_BE},
    {"utf32le", UNICODE_UTF32_LE}, {"usascii", UNICODE_ASCII},   {"ascii", UNICODE_ASCII},
    {"latin1", UNICODE_LATIN1},    {"iso88591", UNICODE_LATIN1},
};

unicode_encoding weft__unicode_encoding(const char *name, size_t size) {
  char plain[16];
  size_t n = 0;
  for (size_t i = 0; i < size; i++) {
    const char c = name[i];
    if (c == '-' || c == '_' || c == ' ') continue;
    if (n + 1 >= sizeof plain) return UNICODE_NONE;
    plain[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
  }
  plain[n] = 0;
  for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
    if (!strcmp(plain, encodings[i].name)) return encodings[i].encoding;
  return UNICODE_NONE;
}

bool weft__unicode_is_character(int32_t c) {
  if (c < 0 || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return false;
  return !(c >= 0xFDD0 && (c <= 0xFDEF || (c & 0xFFFE) == 0xFFFE));
}

/* Returns the valid range of the second byte of a sequence, which excludes overlong forms and surrogates. */
static void second_range(unsigned char first, unsigned char *low, unsigned char *high) {
  *low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  *high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
}

static bool read_utf8(const unsigned char *s, size_t size, size_t *at, int32_t *c) {
  const unsigned char first = s[(*at)++];
  if (first < 0x80) {
    *c = first;
    return true;
  }
  if (first < 0xC2 || first > 0xF4) return false;
  const int more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
  unsigned char low, high;
  second_range(first, &low, &high);
  *c = first & (0x3F >> more);
  for (int i = 0; i < more; i++) {
    if (*at >= size || s[*at] < low || s[*at] > high) return false;
    *c = *c << 6 | (s[(*at)++] & 0x3F);
    low = 0x80, high = 0xBF;
  }
  return true;
}

static int32_t utf16_unit(const unsigned char *s, bool little) { return little ? s[0] | s[1] << 8 : s[0] << 8 | s[1]; }

static bool read_utf16(bool little, const unsigned char *s, size_t size, size_t *at, int32_t *c) {
  if (size - *at < 2) {
    *at = size;
    return false;
  }
  *c = utf16_unit(s + *at, little);
  *at += 2;
  if (*c < 0xD800 || *c > 0xDFFF) return true;
  if (*c > 0xDBFF || size - *at < 2) return false;
  const int32_t second = utf16_unit(s + *at, little);
  if (second < 0xDC00 || second > 0xDFFF) return false;
  *at += 2;
  *c = 0x10000 + ((*c - 0xD800) << 10) + (second - 0xDC00);
  return true;
}

static bool read_utf32(bool little, const unsigned char *s, size_t size, size_t *at, int32_t *c) {
  if (size - *at < 4) {
    *at = size;
    return false;
  }
  const unsigned char *p = s + *at;
  const uint32_t v = little ? (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0]
                            : (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
  *at += 4;
  if (v > 0x10FFFF || (v >= 0xD800 && v <= 0xDFFF)) return false;
  *c = weft__int_sat(v);
  return true;
}

bool weft__unicode_read(unicode_encoding e, const unsigned char *s, size_t size, size_t *at, int32_t *c) {
  switch (e) {
  case UNICODE_UTF8: return read_utf8(s, size, at, c);
  case UNICODE_UTF16:
  case UNICODE_UTF16_BE: return read_utf16(false, s, size, at, c);
  case UNICODE_UTF16_LE: return read_utf16(true, s, size, at, c);
  case UNICODE_UTF32:
  case UNICODE_UTF32_BE: return read_utf32(false, s, size, at, c);
  case UNICODE_UTF32_LE: return read_utf32(true, s, size, at, c);
  default: break;
  }
  *c = s[(*at)++];
  return e == UNICODE_LATIN1 || *c < 0x80;
}

void weft__unicode_start(unicode_encoding *e, const unsigned char *s, size_t size, size_t *at) {
  if (*e == UNICODE_UTF16 && size >= 2 && (s[0] ^ s[1]) == (0xFE ^ 0xFF) && (s[0] == 0xFE || s[0] == 0xFF)) {
    *e = s[0] == 0xFE ? UNICODE_UTF16_BE : UNICODE_UTF16_LE;
    *at = 2;
  } else if (*e == UNICODE_UTF32 && size >= 4 && !memcmp(s, "\xFF\xFE\0\0", 4)) {
    *e = UNICODE_UTF32_LE;
    *at = 4;
  } else if (*e == UNICODE_UTF32 && size >= 4 && !memcmp(s, "\0\0\xFE\xFF", 4)) {
    *e = UNICODE_UTF32_BE;
    *at = 4;
  }
}

static size_t write_utf8(int32_t c, unsigned char *out) {
  if (c >= 0xD800 && c <= 0xDFFF) c = 0xFFFD;
  const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const unsigned char mark[] = {0, 0xC0, 0xE0, 0xF0};
  for (int i = more; i > 0; i--, c >>= 6) out[i] = (unsigned char)(0x80 | (c & 0x3F));
  out[0] = (unsigned char)(mark[more] | c);
  return (size_t)more + 1;
}

static void utf16_put_unit(int32_t unit, unsigned char *out) {
  out[0] = (unsigned char)(unit >> 8);
  out[1] = (unsigned char)unit;
}

size_t weft__unicode_write(unicode_encoding e, int32_t c, unsigned char *out) {
  if (e == UNICODE_UTF8) return write_utf8(c, out);
  if (e == UNICODE_UTF32_BE) {
    utf16_put_unit(c >> 16, out);
    utf16_put_unit(c & 0xFFFF, out + 2);
    return 4;
  }
  if (c < 0x10000) {
    utf16_put_unit(c, out);
    return 2;
  }
  utf16_put_unit(0xD800 + ((c - 0x10000) >> 10), out);
  utf16_put_unit(0xDC00 + ((c - 0x10000) & 0x3FF), out + 2);
  return 4;
}
