/* message.h - bytes that travel, in pieces: packed headers, and buffers that are only referred to.
 *
 * A tensor goes from its buffer to the wire without a copy: its message is a packed head and a piece that retains the
 * buffer until it is sent.  A message that was received is in pieces too, as the transport read them.
 *
 * A message belongs to one thread at a time.  It owns its pieces, unless it borrows them.  Functions that return a
 * weft_err fail only when out of memory, except where a comment says otherwise. */
#ifndef WEFT_NET_MESSAGE_H
#define WEFT_NET_MESSAGE_H

#include "proto/scan.h"
#include "tensor/tensor.h"

typedef struct piece {
  const uint8_t *data;
  size_t size;
  void (*release)(void *arg); /* NULL: nothing to do */
  void *arg;
} piece;

enum { MESSAGE_INLINE = 4 }; /* pieces that are kept in the struct itself */

typedef struct message {
  piece inline_piece[MESSAGE_INLINE];
  piece *piece; /* NULL: they are in inline_piece */
  int n_piece;
  int64_t room;
  size_t size;  /* in bytes, of all pieces */
  bool borrows; /* pieces without `release` are borrowed: call weft__message_own before the message is kept */
  bool shared;  /* another process can write to some of the pieces */
} message;

void weft__message_init(message *m);                       /* {0} is an empty message as well */
void weft__message_finish(message *m);                     /* releases the pieces */
void weft__message_move(message *to, message *from);       /* to was empty; from becomes empty */
const piece *weft__message_piece(const message *m, int i); /* borrowed; i < n_piece */

/* Each adds bytes at the end.  A piece is taken over, and released also if adding it fails. */
weft_err weft__message_add(message *m, piece p);
weft_err weft__message_add_copy(message *m, const void *data, size_t size);
weft_err weft__message_add_adopt(message *m, void *data, size_t size);                   /* freed by weft__free */
weft_err weft__message_add_buffer(message *m, buffer *b, const void *data, size_t size); /* retains b */
weft_err weft__message_pack(message *m, const ProtobufCMessage *p);
/* Adds a TensorProto as a field of type message; field 0 adds the TensorProto itself, without tag and length.
 * Numbers are referred to, but a transient buffer is copied unless m borrows.  Strings are written as TF does.
 * UNIMPLEMENTED: the tensor's type cannot be sent. */
weft_err weft__message_add_tensor(message *m, int field, const weft_tensor *t);
weft_err weft__message_add_varint(message *m, int field, uint64_t v); /* nothing when v is 0 */
weft_err weft__message_add_string(message *m, int field, const void *data, size_t size);
weft_err weft__message_add_length(message *m, int field, size_t size); /* a tag and length: `size` bytes must follow */

/* Adds a field of type message with the bytes of inner, which is emptied. */
weft_err weft__message_add_message(message *m, int field, message *inner);
/* Moves the first `size` bytes of m, which has as many, to the end of `to`; only a part of a piece is copied. */
weft_err weft__message_move_bytes(message *to, message *m, size_t size);

/* Copies the pieces that a message borrows, so that it owns all of them. */
weft_err weft__message_own(message *m);

/* Returns all bytes as one block: the only piece itself, or a copy that replaces the pieces.  Memory that another
 * process can write to is always copied.  The bytes stay the message's.  NULL: out of memory. */
const uint8_t *weft__message_flatten(message *m);
/* Checks and unpacks; the caller frees *out with protobuf_c_message_free_unpacked.  INVALID_ARGUMENT: malformed
 * bytes. */
weft_err weft__message_unpack(ProtobufCMessage **out, message *m, const ProtobufCMessageDescriptor *d);

/* received_tensor.c: RecvTensorResponse without protobuf-c.  The content is copied once, into the new tensor, or
 * taken over if it is an aligned piece of its own.  Any valid encoding is accepted.  INVALID_ARGUMENT: malformed
 * bytes. */
typedef struct received_tensor {
  weft_tensor *tensor; /* NULL when dead */
  bool dead, require_ack;
} received_tensor;
weft_err weft__received_tensor_read(received_tensor *out, message *m);
weft_err weft__received_tensor_write(message *out, const weft_tensor *t, bool dead);

/* received_buffer.c: RecvBufResponse likewise.  *out gets the content as `bytes` numbers of uint8, or NULL if it is
 * dead.  INVALID_ARGUMENT: malformed bytes.  INTERNAL: there is no content, or of another size. */
weft_err weft__received_buffer_read(weft_tensor **out, bool *dead, message *m, int64_t bytes);
weft_err weft__received_buffer_write(message *m, const weft_tensor *t, bool dead);

#endif
