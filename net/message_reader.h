/* message_reader.h - reads protobuf where it lies, in the pieces of a message, so that tensors are copied once. */
#ifndef WEFT_NET_MESSAGE_READER_H
#define WEFT_NET_MESSAGE_READER_H

#include "net/message.h"

typedef struct message_reader {
  message *m;
  int piece;
  size_t offset; /* in the piece */
  size_t left;   /* to the end of what is being read */
} message_reader;

/* Each is false when what is left is not that. */
bool weft__message_reader_varint(message_reader *p, uint64_t *v);
bool weft__message_reader_length(message_reader *p, size_t *length); /* no more than what is left */
bool weft__message_reader_field(message_reader *p, uint64_t *tag,
                                size_t *length); /* then follow so many bytes, of any wire type */
/* A plain tensor in the usual form; false: it may be one in another. */
bool weft__message_reader_tensor(message_reader *p, weft_tensor **out, weft_err *err);

void weft__message_reader_bytes(message_reader *p, uint8_t *to, size_t size); /* as many are left */
void weft__message_reader_skip(message_reader *p, size_t size);
/* Enters a field of `length` bytes; p->left is what this returned once it is through. */
size_t weft__message_reader_enter(message_reader *p, size_t length);

/* Everything of m, copied, but the fields of this number and of type message. */
weft_err weft__message_copy_without(message *rest, message *m, int field);

#endif
