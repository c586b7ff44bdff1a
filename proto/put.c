/* put.c - see put.h. */
#include "proto/put.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 }; /* the low three bits of a field's tag */

void weft__put_varint(text *t, uint64_t v) {
  for (; v >= 0x80; v >>= 7) weft__text_add(t, (char[]){(char)(unsigned char)(v | 0x80)}, 1);
  weft__text_add(t, (char[]){(char)(unsigned char)v}, 1);
}

void weft__put_int(text *t, int field, int64_t v) {
  weft__put_varint(t, (uint64_t)field << 3 | WIRE_VARINT);
  weft__put_varint(t, (uint64_t)v);
}

void weft__put_bytes(text *t, int field, const char *data, size_t size) {
  weft__put_varint(t, (uint64_t)field << 3 | WIRE_BYTES);
  weft__put_varint(t, size);
  weft__text_add(t, data, size);
}

void weft__put_message(text *t, int field, text *message) {
  weft__put_bytes(t, field, weft__text_get(message), message->size);
  t->failed = t->failed || message->failed;
  weft__text_finish(message);
  *message = (text){0};
}
