/* text.h - a string that grows.  The first failed allocation sticks; check once at the end. */
#ifndef WEFT_BASE_TEXT_H
#define WEFT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct text {
  char *data; /* NUL-terminated once anything was added */
  size_t size, capacity;
  bool failed;
} text; /* {0} is empty */

void weft__text_add(text *t, const char *data, size_t size);
/* Where `size` bytes may be written; the caller then adds what it wrote to t->size.  NULL: no memory. */
char *weft__text_reserve(text *t, size_t size);
void weft__text_puts(text *t, const char *s);
void weft__text_printf(text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *weft__text_get(const text *t); /* never NULL */
/* What it holds, the caller's to free; NULL if an allocation had failed.  The text is empty after it. */
char *weft__text_take(text *t);
void weft__text_finish(text *t);

#endif
