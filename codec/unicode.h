/* unicode.h - characters out of and into bytes, in the encodings that TensorFlow's string ops name.
 *
 * The functions have no state; any thread may call them. */
#ifndef WEFT_CODEC_UNICODE_H
#define WEFT_CODEC_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum unicode_encoding {
  UNICODE_NONE, /* not known */
  UNICODE_UTF8,
  UNICODE_UTF16, /* a byte order mark tells the order; big endian without one */
  UNICODE_UTF16_BE,
  UNICODE_UTF16_LE,
  UNICODE_UTF32,
  UNICODE_UTF32_BE,
  UNICODE_UTF32_LE,
  UNICODE_ASCII,
  UNICODE_LATIN1,
} unicode_encoding;

/* The encoding of a name; case, '-', '_' and ' ' do not count. */
unicode_encoding weft__unicode_encoding(const char *name, size_t size);

/* Reads one character at *at and moves *at behind it.  Returns false for bytes that are none: *at is then behind the
 * longest sequence that begins one, at least one byte.  *at is below size. */
bool weft__unicode_read(unicode_encoding e, const unsigned char *s, size_t size, size_t *at, int32_t *c);
/* Reads a byte order mark at the start, if the encoding has one: *at is moved behind it and *e becomes the encoding of
 * the rest. */
void weft__unicode_start(unicode_encoding *e, const unsigned char *s, size_t size, size_t *at);
/* Writes a character: at most 4 bytes to `out`; returns how many.  UTF-8 has no surrogates: they become U+FFFD. */
size_t weft__unicode_write(unicode_encoding e, int32_t c, unsigned char *out);
/* Returns true if c is a character: not a surrogate, not a noncharacter, not out of range. */
bool weft__unicode_is_character(int32_t c);
/* The script by its number in ICU; -1 if c is out of range. */
int weft__unicode_script(int32_t c);

#endif
