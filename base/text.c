/* text.c - the string builder of base/text.h: a buffer that doubles. */
#include "base/text.h"
#include "base/alloc.h"
#include "base/assert.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Grows the buffer so that `more` bytes and a NUL fit; sets `failed` and returns false if memory is short. */
static bool text_grow(text *t, size_t more) {
  if (t->failed) return false;
  WEFT_ASSERT(t->capacity == 0 ? t->size == 0 : t->size < t->capacity); /* the NUL fits behind the text */
  if (more < t->capacity - t->size) return true;
  size_t capacity = t->capacity ? t->capacity : 64;
  while (capacity <= SIZE_MAX / 4 && capacity - t->size <= more) capacity *= 2;
  char *data = capacity - t->size > more ? weft__realloc(t->data, capacity) : NULL;
  if (!data) return t->failed = true, false;
  t->data = data;
  t->capacity = capacity;
  return true;
}

void weft__text_add(text *t, const char *data, size_t size) {
  if (!text_grow(t, size)) return;
  if (size) memcpy(t->data + t->size, data, size);
  t->size += size;
  WEFT_ASSERT(t->size < t->capacity);
  t->data[t->size] = 0;
}

char *weft__text_reserve(text *t, size_t size) { return text_grow(t, size) ? t->data + t->size : NULL; }

void weft__text_puts(text *t, const char *s) { weft__text_add(t, s, strlen(s)); }

void weft__text_printf(text *t, const char *fmt, ...) {
  va_list args, again;
  va_start(args, fmt);
  va_copy(again, args);
  const size_t room = t->failed ? 0 : t->capacity - t->size; /* most texts fit at once */
  const int n = vsnprintf(room ? t->data + t->size : NULL, room, fmt, args);
  va_end(args);
  if (n >= 0 && text_grow(t, (size_t)n)) {
    if ((size_t)n >= room) vsnprintf(t->data + t->size, (size_t)n + 1, fmt, again);
    t->size += (size_t)n;
  } else if (room) {
    t->data[t->size] = 0;
  }
  va_end(again);
}

const char *weft__text_get(const text *t) { return t->data ? t->data : ""; }

char *weft__text_take(text *t) {
  weft__text_puts(t, "");
  char *data = t->failed ? NULL : t->data;
  if (t->failed) weft__free(t->data);
  *t = (text){0};
  return data;
}

void weft__text_finish(text *t) {
  weft__free(t->data);
  *t = (text){0};
}

/* ---- JSON ---- */

/* Returns the length of the UTF-8 sequence at the head of s, which has `size` bytes, or 0 if it is malformed. */
static size_t text_utf8_length(const unsigned char *s, size_t size) {
  const size_t n = s[0] < 0x80                   ? 1
                   : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                   : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                   : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                 : 0;
  if (n > size) return 0;
  for (size_t i = 1; i < n; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))) return 0;
  if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))) return 0;
  return n;
}

void weft__text_json(text *out, const char *s, size_t size) {
  weft__text_puts(out, "\"");
  for (size_t i = 0; i < size;) {
    const unsigned char *p = (const unsigned char *)s + i;
    const size_t n = text_utf8_length(p, size - i);
    if (*p == '"' || *p == '\\')
      weft__text_printf(out, "\\%c", *p);
    else if (*p < 0x20)
      weft__text_printf(out, "\\u%04x", *p);
    else if (n)
      weft__text_add(out, (const char *)p, n);
    else
      weft__text_puts(out, "\\ufffd");
    i += n ? n : 1;
  }
  weft__text_puts(out, "\"");
}
