/* message_reader.h - reads protobuf where it lies, in the pieces of a message, so that tensors are copied once. */
#ifndef WEFT_NET_MESSAGE_READER_H
#define WEFT_NET_MESSAGE_READER_H

#include "net/message.h"

typedef struct place {
  message *m;
  int piece;
  size_t offset; /* in the piece */
  size_t left;   /* to the end of what is being read */
} place;

/* Each is false when what is left is not that. */
bool weft__message_reader_varint(place *p, uint64_t *v);
bool weft__message_reader_length(place *p, size_t *length); /* no more than what is left */
bool weft__message_reader_field(place *p, uint64_t *tag,
                                size_t *length); /* then follow so many bytes, of any wire type */
/* A plain tensor in the usual form; false: it may be one in another. */
bool weft__message_reader_tensor(place *p, weft_tensor **out, weft_err *err);

void weft__message_reader_bytes(place *p, uint8_t *to, size_t size); /* as many are left */
void weft__message_reader_skip(place *p, size_t size);
/* Enters a field of `length` bytes; p->left is what this returned once it is through. */
size_t weft__message_reader_enter(place *p, size_t length);

/* Everything of m, copied, but the fields of this number and of type message. */
weft_err weft__message_copy_without(message *rest, message *m, int field);

#endif
