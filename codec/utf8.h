/* utf8.h - counts characters as TensorFlow's string ops do: every byte that is not a continuation byte begins one. */
#ifndef WEFT_CODEC_UTF8_H
#define WEFT_CODEC_UTF8_H

#include "tensor/tensor.h"

static inline bool weft__utf8_begins(char c) { return ((unsigned char)c & 0xC0) != 0x80; }

static inline int64_t weft__utf8_length(const str *s) {
  int64_t n = 0;
  for (size_t i = 0; i < s->size; i++) n += weft__utf8_begins(s->data[i]);
  return n;
}

#endif
