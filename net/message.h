/* message.h - bytes that travel, in pieces: packed headers, and buffers that are only referred to.
 *
 * A tensor goes from the buffer that holds it to the wire without being copied: its message is a
 * packed head and a piece that retains the buffer until it is sent.  A message that arrives is in
 * pieces too, as the transport read them. */
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

enum { MESSAGE_FEW = 4 }; /* pieces that need no memory of their own */

typedef struct message {
  piece few[MESSAGE_FEW];
  piece *piece; /* NULL: they are in few */
  int n_piece, room;
  size_t size;  /* bytes in all */
  bool borrows; /* nobody owns the pieces without `release`: whoever keeps the message calls weft__message_own */
  bool shared;  /* another process can write to some of it */
} message;

void weft__message_init(message *m); /* {0} is an empty message as well */
void weft__message_finish(message *m);
void weft__message_move(message *to, message *from); /* to was empty; from becomes empty */
const piece *weft__message_piece(const message *m, int i);

/* Each adds bytes at the end; the piece is released also when adding it fails. */
weft_err weft__message_add(message *m, piece p);
weft_err weft__message_add_copy(message *m, const void *data, size_t size);
weft_err weft__message_add_adopt(message *m, void *data, size_t size);                   /* weft__free at the end */
weft_err weft__message_add_buffer(message *m, buffer *b, const void *data, size_t size); /* retains b */
weft_err weft__message_pack(message *m, const ProtobufCMessage *p);
/* A field of type message holding a TensorProto.  Numbers are referred to (a transient buffer is copied, unless m is
 * borrows memory); strings are written as TF does on the wire.  A field number of 0 writes the TensorProto itself, without tag and length. */
weft_err weft__message_add_tensor(message *m, int field, const weft_tensor *t);
weft_err weft__message_add_varint(message *m, int field, uint64_t v); /* nothing when v is 0 */
weft_err weft__message_add_string(message *m, int field, const void *data, size_t size);
weft_err weft__message_add_length(message *m, int field, size_t size); /* a tag and length: `size` bytes must follow */

/* A field of type message: what inner holds, which is emptied. */
weft_err weft__message_add_message(message *m, int field, message *inner);
/* The first `size` bytes of m, which has as many, go to the end of `to`: whole pieces by reference. */
weft_err weft__message_move_bytes(message *to, message *m, size_t size);

/* Makes a borrowing message one that lasts. */
weft_err weft__message_own(message *m);

/* All bytes in one place: the only piece itself, or joined (and kept joined).  NULL if out of memory. */
const uint8_t *weft__message_flatten(message *m);
/* Scanned, then unpacked; free with protobuf_c_message_free_unpacked. */
weft_err weft__message_unpack(ProtobufCMessage **out, message *m, const ProtobufCMessageDescriptor *d);

/* received_tensor.c: RecvTensorResponse without protobuf.  The head is read where it lies; the content is copied once, into
 * the new tensor, or taken over where it came as an aligned piece of its own.  Any valid encoding is accepted. */
typedef struct received_tensor {
  weft_tensor *tensor; /* NULL when dead */
  bool dead, require_ack;
} received_tensor;
weft_err weft__received_tensor_read(received_tensor *out, message *m);
weft_err weft__received_tensor_write(message *out, const weft_tensor *t, bool dead);

#endif
