/* unicode.h - decodes and encodes characters in the encodings that TensorFlow's string ops support.
 *
 * The functions have no state; any thread may call them. */
#ifndef WEFT_CODEC_UNICODE_H
#define WEFT_CODEC_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum unicode_encoding {
  UNICODE_NONE, /* unknown */
  UNICODE_UTF8,
  UNICODE_UTF16, /* a byte order mark gives the order; without one it is big endian */
  UNICODE_UTF16_BE,
  UNICODE_UTF16_LE,
  UNICODE_UTF32,
  UNICODE_UTF32_BE,
  UNICODE_UTF32_LE,
  UNICODE_ASCII,
  UNICODE_LATIN1,
} unicode_encoding;

/* Returns the encoding of a name; ignores case, '-', '_' and ' '. */
unicode_encoding weft__unicode_encoding(const char *name, size_t size);

/* Reads one character at *at < size and advances *at.  Returns false if the bytes are not a character: *at is then
 * after the longest sequence that begins one, at least one byte. */
bool weft__unicode_read(unicode_encoding e, const unsigned char *s, size_t size, size_t *at, int32_t *c);
/* Reads a byte order mark at the start, if the encoding has one: advances *at, and sets *e to the encoding of the
 * rest. */
void weft__unicode_start(unicode_encoding *e, const unsigned char *s, size_t size, size_t *at);
/* Writes a character, at most 4 bytes, to `out` and returns their number.  UTF-8 has no surrogates: they become
 * U+FFFD. */
size_t weft__unicode_write(unicode_encoding e, int32_t c, unsigned char *out);
/* Returns true if c is a character: no surrogate, no noncharacter, not out of range. */
bool weft__unicode_is_character(int32_t c);
/* Returns the script by its number in ICU, or -1 if c is out of range. */
int weft__unicode_script(int32_t c);

#endif
