/* text.h - a string builder.
 *
 * The first failed allocation sets `failed`, and later calls do nothing, so that a caller checks once at the end.  The
 * owner frees it with weft__text_finish.  Not thread safe. */
#ifndef WEFT_BASE_TEXT_H
#define WEFT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct text {
  char *data; /* NUL-terminated once anything was added; NULL before */
  size_t size, capacity;
  bool failed;
} text; /* {0} is empty */

void weft__text_add(text *t, const char *data, size_t size); /* appends */
/* Returns where `size` bytes may be written behind the text; the caller then adds to t->size what it wrote.  Returns
 * NULL if memory is short. */
char *weft__text_reserve(text *t, size_t size);
void weft__text_puts(text *t, const char *s);
void weft__text_printf(text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends the bytes as a quoted string of JSON.  Bytes that are not UTF-8 become U+FFFD. */
void weft__text_json(text *t, const char *s, size_t size);
const char *weft__text_get(const text *t); /* borrowed until the next change; never NULL */
/* Returns the string, which the caller frees with weft__free, or NULL if an allocation had failed.  The text is empty
 * afterwards. */
char *weft__text_take(text *t);
void weft__text_finish(text *t);

#endif
