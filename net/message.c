/* message.c - bytes in pieces.
 *
 * Small things (tags, lengths, packed heads) are copied into blocks with room at the end, so that a message of many
 * fields is a few pieces.  A tensor's buffer becomes a piece of its own, without a copy.  A message is used by one
 * thread at a time, so there are no locks. */
#include "net/message.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "io/table.h"
#include "tensor/tensor_proto.h"
#include <string.h>

enum {
  BLOCK_MIN = 256,
  VARINT_MAX = 10,
  REFERENCE_MIN = 512 /* a smaller tensor is copied, which is cheaper than a piece of its own */
};
enum { WIRE_VARINT = 0, WIRE_LENGTH = 2 };

/* ---- pieces ---- */

void weft__message_init(message *m) { *m = (message){0}; }

static piece *message_pieces(message *m) { return m->piece ? m->piece : m->inline_piece; }

void weft__message_finish(message *m) {
  piece *p = message_pieces(m);
  for (int i = 0; i < m->n_piece; i++)
    if (p[i].release) p[i].release(p[i].arg);
  weft__free(m->piece);
  weft__message_init(m);
}

void weft__message_move(message *to, message *from) {
  WEFT_ASSERT(to != from);
  *to = *from;
  weft__message_init(from);
}

const piece *weft__message_piece(const message *m, int i) {
  WEFT_ASSERT(i >= 0 && i < m->n_piece);
  return &(m->piece ? m->piece : m->inline_piece)[i];
}

static weft_err message_grow(message *m) {
  const bool first = !m->piece;
  WEFT_TRY(WEFT_ARRAY_RESERVE(m->piece, m->room, first ? 4 * MESSAGE_INLINE : m->n_piece + 1));
  if (first) memcpy(m->piece, m->inline_piece, sizeof m->inline_piece);
  return WEFT_OK;
}

weft_err weft__message_add(message *m, piece p) {
  int64_t room = m->piece ? m->room : MESSAGE_INLINE;
  weft_err err = m->n_piece == room ? message_grow(m) : WEFT_OK;
  if (err == WEFT_OK && p.size > 0) {
    message_pieces(m)[m->n_piece++] = p;
    m->size += p.size;
  } else if (p.release) {
    p.release(p.arg);
  }
  return err;
}

/* ---- bytes that the message owns ---- */

typedef struct message_block {
  size_t room; /* bytes of data */
  uint8_t data[];
} message_block;

static void message_block_free(void *b) { weft__free(b); } /* also identifies blocks among the pieces */

/* Adds `size` bytes and returns where to write them; NULL: out of memory. */
static uint8_t *message_reserve(message *m, size_t size) {
  piece *last = m->n_piece ? &message_pieces(m)[m->n_piece - 1] : NULL;
  if (last && last->release == message_block_free) {
    message_block *b = last->arg;
    size_t used = (size_t)(last->data - b->data) + last->size;
    WEFT_ASSERT(used <= b->room && last->size <= m->size);
    if (b->room - used >= size) {
      last->size += size;
      m->size += size;
      return b->data + used;
    }
  }
  size_t room = size < BLOCK_MIN ? BLOCK_MIN : size;
  message_block *b = weft__alloc(sizeof *b + room);
  if (!b) return NULL;
  b->room = room;
  if (weft__message_add(m, (piece){b->data, size, message_block_free, b}) != WEFT_OK) return NULL;
  return b->data;
}

weft_err weft__message_add_copy(message *m, const void *data, size_t size) {
  if (size == 0) return WEFT_OK;
  uint8_t *to = message_reserve(m, size);
  if (!to) return WEFT_OOM;
  memcpy(to, data, size);
  return WEFT_OK;
}

weft_err weft__message_add_adopt(message *m, void *data, size_t size) {
  return weft__message_add(m, (piece){data, size, weft__free, data});
}

static void message_buffer_release(void *b) { weft__buffer_release(b); }

weft_err weft__message_add_buffer(message *m, buffer *b, const void *data, size_t size) {
  weft__buffer_retain(b);
  return weft__message_add(m, (piece){data, size, message_buffer_release, b});
}

weft_err weft__message_pack(message *m, const ProtobufCMessage *p) {
  size_t size = protobuf_c_message_get_packed_size(p);
  if (size == 0) return WEFT_OK;
  uint8_t *to = message_reserve(m, size);
  if (!to) return WEFT_OOM;
  protobuf_c_message_pack(p, to);
  return WEFT_OK;
}

/* ---- fields ---- */

static size_t tag_put(uint8_t *to, int field, int wire) {
  return weft__varint_put(to, (uint64_t)field << 3 | (uint64_t)wire);
}

static size_t tag_and_length_put(uint8_t *to, int field, size_t length) {
  size_t n = tag_put(to, field, WIRE_LENGTH);
  return n + weft__varint_put(to + n, length);
}

weft_err weft__message_add_varint(message *m, int field, uint64_t v) {
  uint8_t head[2 * VARINT_MAX];
  if (v == 0) return WEFT_OK;
  size_t n = tag_put(head, field, WIRE_VARINT);
  return weft__message_add_copy(m, head, n + weft__varint_put(head + n, v));
}

weft_err weft__message_add_length(message *m, int field, size_t size) {
  uint8_t head[2 * VARINT_MAX];
  return weft__message_add_copy(m, head, tag_and_length_put(head, field, size));
}

weft_err weft__message_add_string(message *m, int field, const void *data, size_t size) {
  if (size == 0) return WEFT_OK;
  WEFT_TRY(weft__message_add_length(m, field, size));
  return weft__message_add_copy(m, data, size);
}

/* Moves the first n pieces of `from` to the end of `to`. */
static weft_err message_move_pieces(message *to, message *from, int n) {
  weft_err err = WEFT_OK;
  for (int i = 0; i < n; i++) {
    piece p = message_pieces(from)[i];
    from->size -= p.size;
    if (!err)
      err = weft__message_add(to, p);
    else if (p.release)
      p.release(p.arg);
  }
  to->shared |= from->shared;
  from->n_piece -= n;
  memmove(message_pieces(from), message_pieces(from) + n, sizeof(piece) * (size_t)from->n_piece);
  return err;
}

weft_err weft__message_add_message(message *m, int field, message *inner) {
  weft_err err = weft__message_add_length(m, field, inner->size);
  if (!err) err = message_move_pieces(m, inner, inner->n_piece);
  weft__message_finish(inner);
  return err;
}

weft_err weft__message_move_bytes(message *to, message *m, size_t size) {
  int whole = 0;
  while (whole < m->n_piece && message_pieces(m)[whole].size <= size) size -= message_pieces(m)[whole++].size;
  WEFT_TRY(message_move_pieces(to, m, whole));
  if (size == 0) return WEFT_OK;
  piece *rest = message_pieces(m);
  WEFT_TRY(weft__message_add_copy(to, rest->data, size));
  rest->data += size;
  rest->size -= size;
  m->size -= size;
  return WEFT_OK;
}

/* ---- tensors ---- */

enum { SHAPE_MAX = 2 * VARINT_MAX + WEFT_MAX_RANK * (4 + VARINT_MAX), HEAD_MAX = SHAPE_MAX + 4 * VARINT_MAX };

static size_t shape_put(uint8_t *to, const shape *s) { /* TensorProto.tensor_shape, which is written for a scalar too */
  uint8_t dims[SHAPE_MAX], dim[2 * VARINT_MAX];
  size_t n = 0;
  for (int i = 0; i < s->rank; i++) {
    size_t length = s->dim[i] ? tag_put(dim, 1, WIRE_VARINT) : 0;
    if (s->dim[i]) length += weft__varint_put(dim + length, (uint64_t)s->dim[i]);
    n += tag_and_length_put(dims + n, 2, length);
    memcpy(dims + n, dim, length);
    n += length;
  }
  size_t head = tag_and_length_put(to, 2, n);
  memcpy(to + head, dims, n);
  return head + n;
}

static size_t varint_size(uint64_t v) {
  uint8_t scratch[VARINT_MAX];
  return weft__varint_put(scratch, v);
}

static size_t strings_size(const str *s, int64_t n) { /* as TF sends strings: n lengths, then all bytes */
  size_t size = 0;
  for (int64_t i = 0; i < n; i++) size += varint_size(s[i].size) + s[i].size;
  return size;
}

static weft_err message_add_strings(message *m, const str *s, int64_t n, size_t size) {
  uint8_t *to = size ? message_reserve(m, size) : NULL;
  if (size && !to) return WEFT_OOM;
  for (int64_t i = 0; i < n; i++) to += weft__varint_put(to, s[i].size);
  for (int64_t i = 0; i < n; i++) {
    if (s[i].size) memcpy(to, s[i].data, s[i].size);
    to += s[i].size;
  }
  return WEFT_OK;
}

static weft_err message_add_content(message *m, const weft_tensor *t, size_t size) {
  if (t->dtype == WEFT_STRING) return message_add_strings(m, t->data, weft__tensor_count(t), size);
  if (size < REFERENCE_MIN || (t->buf->transient && !m->borrows)) return weft__message_add_copy(m, t->data, size);
  if (t->buf->transient) return weft__message_add(m, (piece){t->data, size, NULL, NULL});
  return weft__message_add_buffer(m, t->buf, t->data, size);
}

static weft_err tensor_check_sendable(const weft_tensor *t) {
  if (weft__dtype_is_plain(t->dtype) || t->dtype == WEFT_STRING) return WEFT_OK;
  return weft__fail(WEFT_UNIMPLEMENTED, "A %s tensor cannot be sent to another task", weft__dtype_name(t->dtype));
}

weft_err weft__message_add_tensor(message *m, int field, const weft_tensor *t) {
  uint8_t head[HEAD_MAX], outer[2 * VARINT_MAX];
  WEFT_TRY(tensor_check_sendable(t));
  size_t size = t->dtype == WEFT_STRING ? strings_size(t->data, weft__tensor_count(t)) : weft__tensor_bytes(t);
  size_t n = tag_put(head, 1, WIRE_VARINT);
  n += weft__varint_put(head + n, (uint64_t)t->dtype);
  n += shape_put(head + n, &t->shape);
  if (size > 0) n += tag_and_length_put(head + n, 4, size);
  if (field > 0) WEFT_TRY(weft__message_add_copy(m, outer, tag_and_length_put(outer, field, n + size)));
  WEFT_TRY(weft__message_add_copy(m, head, n));
  return message_add_content(m, t, size);
}

weft_err weft__message_own(message *m) {
  for (int i = 0; m->borrows && i < m->n_piece; i++) {
    piece *p = &message_pieces(m)[i];
    if (p->release || p->size == 0) continue;
    message_block *b = weft__alloc(sizeof *b + p->size);
    if (!b) return WEFT_OOM;
    b->room = p->size;
    memcpy(b->data, p->data, p->size);
    *p = (piece){b->data, p->size, message_block_free, b};
  }
  m->borrows = false;
  return WEFT_OK;
}

/* ---- reading ---- */

const uint8_t *weft__message_flatten(message *m) {
  if (m->n_piece == 1 && !m->shared) return message_pieces(m)->data;
  if (m->n_piece == 0) return (const uint8_t *)"";
  message_block *b = weft__alloc(sizeof *b + m->size);
  if (!b) return NULL;
  b->room = m->size;
  uint8_t *to = b->data;
  for (int i = 0; i < m->n_piece; i++) {
    memcpy(to, message_pieces(m)[i].data, message_pieces(m)[i].size);
    to += message_pieces(m)[i].size;
  }
  size_t size = m->size;
  weft__message_finish(m);
  (void)weft__message_add(m,
                          (piece){b->data, size, message_block_free, b}); /* cannot fail: an empty message has room */
  return b->data;
}

weft_err weft__message_unpack(ProtobufCMessage **out, message *m, const ProtobufCMessageDescriptor *d) {
  const uint8_t *data = weft__message_flatten(m);
  *out = NULL;
  return data ? weft__proto_unpack(out, d, data, m->size) : WEFT_OOM;
}
