/* message_reader.h - reads protobuf straight from the pieces of a message, so that a tensor is copied once or not at
 * all.
 *
 * A reader borrows its message and belongs to one thread. */
#ifndef WEFT_NET_MESSAGE_READER_H
#define WEFT_NET_MESSAGE_READER_H

#include "net/message.h"

typedef struct message_reader {
  message *m;
  int piece;
  size_t offset; /* of the next byte, in the piece */
  size_t left;   /* bytes to the end of the message or of the field that was entered */
} message_reader;

/* Each returns false if the next bytes are not what it reads; then the reader's position is undefined. */
bool weft__message_reader_varint(message_reader *r, uint64_t *v);
bool weft__message_reader_length(message_reader *r, size_t *length); /* at most r->left */
bool weft__message_reader_field(message_reader *r, uint64_t *tag,
                                size_t *length); /* its value follows: *length bytes, of any wire type */
/* Reads a tensor of numbers in the usual form; *err is OK or out of memory.  Returns false for any other form, which
 * may still be valid. */
bool weft__message_reader_tensor(message_reader *r, weft_tensor **out, weft_err *err);
/* Makes a tensor of the next `size` bytes, of which at least as many are left and which are as many as the shape needs.
 * An aligned piece of its own is taken over; other bytes are copied. */
weft_err weft__message_reader_content(message_reader *r, weft_tensor **out, weft_dtype dtype, const shape *s,
                                      size_t size);

void weft__message_reader_bytes(message_reader *r, uint8_t *to, size_t size); /* at least size bytes are left */
void weft__message_reader_skip(message_reader *r, size_t size);               /* at least size bytes are left */
/* Enters a field of `length` bytes: r->left counts to its end.  Returns the bytes behind it; once the field is read,
 * the caller sets r->left to that. */
size_t weft__message_reader_enter(message_reader *r, size_t length);

/* Copies m to rest, without the fields of this number that are of type message.  INVALID_ARGUMENT: m is malformed. */
weft_err weft__message_copy_without(message *rest, message *m, int field);

#endif
