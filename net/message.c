/* message.c - bytes in pieces.
 *
 * Small things (tags, lengths, packed heads) are copied into blocks with room at the end, so that a
 * message of many fields is a few pieces; a tensor's buffer becomes a piece of its own.  A message is
 * used by one thread at a time. */
#include "net/message.h"
#include "base/alloc.h"
#include "io/table.h"
#include "tensor/tensor_proto.h"
#include <string.h>

enum { BLOCK_MIN = 256, VARINT_MAX = 10, REFER_MIN = 512 /* smaller tensors are cheaper copied than referred to */ };
enum { WIRE_VARINT = 0, WIRE_LENGTH = 2 };

/* ---- pieces ---- */

void weft__message_init(message *m) { *m = (message){0}; }

static piece *pieces(message *m) { return m->piece ? m->piece : m->few; }

void weft__message_finish(message *m) {
  piece *p = pieces(m);
  for (int i = 0; i < m->n_piece; i++)
    if (p[i].release) p[i].release(p[i].arg);
  weft__free(m->piece);
  weft__message_init(m);
}

void weft__message_move(message *to, message *from) {
  *to = *from;
  weft__message_init(from);
}

const piece *weft__message_piece(const message *m, int i) { return &(m->piece ? m->piece : m->few)[i]; }

static weft_err grow(message *m) {
  int room = m->room ? 2 * m->room : 4 * MESSAGE_FEW;
  piece *p = weft__realloc(m->piece, (size_t)room * sizeof *p);
  if (!p) return WEFT_OOM;
  if (!m->piece) memcpy(p, m->few, sizeof m->few);
  m->piece = p;
  m->room = room;
  return WEFT_OK;
}

weft_err weft__message_add(message *m, piece p) {
  int room = m->piece ? m->room : MESSAGE_FEW;
  weft_err err = m->n_piece == room ? grow(m) : WEFT_OK;
  if (err == WEFT_OK && p.size > 0) {
    pieces(m)[m->n_piece++] = p;
    m->size += p.size;
  } else if (p.release) {
    p.release(p.arg);
  }
  return err;
}

/* ---- bytes that the message owns ---- */

typedef struct block {
  size_t room; /* of data */
  uint8_t data[];
} block;

static void free_block(void *b) { weft__free(b); } /* also tells a block with room from other pieces */

/* Where `size` more bytes may be written; they count as added. */
static uint8_t *claim(message *m, size_t size) {
  piece *last = m->n_piece ? &pieces(m)[m->n_piece - 1] : NULL;
  if (last && last->release == free_block) {
    block *b = last->arg;
    size_t used = (size_t)(last->data - b->data) + last->size;
    if (b->room - used >= size) {
      last->size += size;
      m->size += size;
      return b->data + used;
    }
  }
  size_t room = size < BLOCK_MIN ? BLOCK_MIN : size;
  block *b = weft__alloc(sizeof *b + room);
  if (!b) return NULL;
  b->room = room;
  if (weft__message_add(m, (piece){b->data, size, free_block, b}) != WEFT_OK) return NULL;
  return b->data;
}

weft_err weft__message_add_copy(message *m, const void *data, size_t size) {
  if (size == 0) return WEFT_OK;
  uint8_t *to = claim(m, size);
  if (!to) return WEFT_OOM;
  memcpy(to, data, size);
  return WEFT_OK;
}

weft_err weft__message_add_adopt(message *m, void *data, size_t size) {
  return weft__message_add(m, (piece){data, size, weft__free, data});
}

static void release_buffer(void *b) { weft__buffer_release(b); }

weft_err weft__message_add_buffer(message *m, buffer *b, const void *data, size_t size) {
  weft__buffer_retain(b);
  return weft__message_add(m, (piece){data, size, release_buffer, b});
}

weft_err weft__message_pack(message *m, const ProtobufCMessage *p) {
  size_t size = protobuf_c_message_get_packed_size(p);
  if (size == 0) return WEFT_OK;
  uint8_t *to = claim(m, size);
  if (!to) return WEFT_OOM;
  protobuf_c_message_pack(p, to);
  return WEFT_OK;
}

/* ---- fields ---- */

static size_t put_tag(uint8_t *to, int field, int wire) {
  return weft__varint_put(to, (uint64_t)field << 3 | (uint64_t)wire);
}

static size_t put_length(uint8_t *to, int field, size_t length) {
  size_t n = put_tag(to, field, WIRE_LENGTH);
  return n + weft__varint_put(to + n, length);
}

weft_err weft__message_add_varint(message *m, int field, uint64_t v) {
  uint8_t head[2 * VARINT_MAX];
  if (v == 0) return WEFT_OK;
  size_t n = put_tag(head, field, WIRE_VARINT);
  return weft__message_add_copy(m, head, n + weft__varint_put(head + n, v));
}

weft_err weft__message_add_length(message *m, int field, size_t size) {
  uint8_t head[2 * VARINT_MAX];
  return weft__message_add_copy(m, head, put_length(head, field, size));
}

weft_err weft__message_add_string(message *m, int field, const void *data, size_t size) {
  if (size == 0) return WEFT_OK;
  WEFT_TRY(weft__message_add_length(m, field, size));
  return weft__message_add_copy(m, data, size);
}

/* The first n pieces of `from` go to the end of `to`. */
static weft_err move_pieces(message *to, message *from, int n) {
  weft_err err = WEFT_OK;
  for (int i = 0; i < n; i++) {
    piece p = pieces(from)[i];
    from->size -= p.size;
    if (!err)
      err = weft__message_add(to, p);
    else if (p.release)
      p.release(p.arg);
  }
  to->shared |= from->shared;
  from->n_piece -= n;
  memmove(pieces(from), pieces(from) + n, sizeof(piece) * (size_t)from->n_piece);
  return err;
}

weft_err weft__message_add_message(message *m, int field, message *inner) {
  weft_err err = weft__message_add_length(m, field, inner->size);
  if (!err) err = move_pieces(m, inner, inner->n_piece);
  weft__message_finish(inner);
  return err;
}

weft_err weft__message_move_bytes(message *to, message *m, size_t size) {
  int whole = 0;
  while (whole < m->n_piece && pieces(m)[whole].size <= size) size -= pieces(m)[whole++].size;
  WEFT_TRY(move_pieces(to, m, whole));
  if (size == 0) return WEFT_OK;
  piece *rest = pieces(m);
  WEFT_TRY(weft__message_add_copy(to, rest->data, size));
  rest->data += size;
  rest->size -= size;
  m->size -= size;
  return WEFT_OK;
}

/* ---- tensors ---- */

enum { SHAPE_MAX = 2 * VARINT_MAX + WEFT_MAX_RANK * (4 + VARINT_MAX), HEAD_MAX = SHAPE_MAX + 4 * VARINT_MAX };

static size_t put_shape(uint8_t *to, const shape *s) { /* TensorProto.tensor_shape, also for a scalar */
  uint8_t dims[SHAPE_MAX], dim[2 * VARINT_MAX];
  size_t n = 0;
  for (int i = 0; i < s->rank; i++) {
    size_t length = s->dim[i] ? put_tag(dim, 1, WIRE_VARINT) : 0;
    if (s->dim[i]) length += weft__varint_put(dim + length, (uint64_t)s->dim[i]);
    n += put_length(dims + n, 2, length);
    memcpy(dims + n, dim, length);
    n += length;
  }
  size_t head = put_length(to, 2, n);
  memcpy(to + head, dims, n);
  return head + n;
}

static size_t varint_size(uint64_t v) {
  uint8_t scratch[VARINT_MAX];
  return weft__varint_put(scratch, v);
}

static size_t strings_size(const str *s, int64_t n) { /* n lengths, then all bytes */
  size_t size = 0;
  for (int64_t i = 0; i < n; i++) size += varint_size(s[i].size) + s[i].size;
  return size;
}

static weft_err add_strings(message *m, const str *s, int64_t n, size_t size) {
  uint8_t *to = size ? claim(m, size) : NULL;
  if (size && !to) return WEFT_OOM;
  for (int64_t i = 0; i < n; i++) to += weft__varint_put(to, s[i].size);
  for (int64_t i = 0; i < n; i++) {
    if (s[i].size) memcpy(to, s[i].data, s[i].size);
    to += s[i].size;
  }
  return WEFT_OK;
}

static weft_err add_content(message *m, const weft_tensor *t, size_t size) {
  if (t->dtype == WEFT_STRING) return add_strings(m, t->data, weft__tensor_count(t), size);
  if (size < REFER_MIN || (t->buf->transient && !m->borrows)) return weft__message_add_copy(m, t->data, size);
  if (t->buf->transient) return weft__message_add(m, (piece){t->data, size, NULL, NULL});
  return weft__message_add_buffer(m, t->buf, t->data, size);
}

static weft_err check_sendable(const weft_tensor *t) {
  if (weft__dtype_is_plain(t->dtype) || t->dtype == WEFT_STRING) return WEFT_OK;
  return weft__fail(WEFT_UNIMPLEMENTED, "A %s tensor cannot be sent to another task", weft__dtype_name(t->dtype));
}

weft_err weft__message_add_tensor(message *m, int field, const weft_tensor *t) {
  uint8_t head[HEAD_MAX], outer[2 * VARINT_MAX];
  WEFT_TRY(check_sendable(t));
  size_t size = t->dtype == WEFT_STRING ? strings_size(t->data, weft__tensor_count(t)) : weft__tensor_bytes(t);
  size_t n = put_tag(head, 1, WIRE_VARINT);
  n += weft__varint_put(head + n, (uint64_t)t->dtype);
  n += put_shape(head + n, &t->shape);
  if (size > 0) n += put_length(head + n, 4, size);
  if (field > 0) WEFT_TRY(weft__message_add_copy(m, outer, put_length(outer, field, n + size)));
  WEFT_TRY(weft__message_add_copy(m, head, n));
  return add_content(m, t, size);
}

weft_err weft__message_own(message *m) {
  for (int i = 0; m->borrows && i < m->n_piece; i++) {
    piece *p = &pieces(m)[i];
    if (p->release || p->size == 0) continue;
    block *b = weft__alloc(sizeof *b + p->size);
    if (!b) return WEFT_OOM;
    b->room = p->size;
    memcpy(b->data, p->data, p->size);
    *p = (piece){b->data, p->size, free_block, b};
  }
  m->borrows = false;
  return WEFT_OK;
}

/* ---- reading ---- */

const uint8_t *weft__message_flatten(message *m) {
  if (m->n_piece == 1 && !m->shared) return pieces(m)->data;
  if (m->n_piece == 0) return (const uint8_t *)"";
  block *b = weft__alloc(sizeof *b + m->size);
  if (!b) return NULL;
  b->room = m->size;
  uint8_t *to = b->data;
  for (int i = 0; i < m->n_piece; i++) {
    memcpy(to, pieces(m)[i].data, pieces(m)[i].size);
    to += pieces(m)[i].size;
  }
  size_t size = m->size;
  weft__message_finish(m);
  (void)weft__message_add(m, (piece){b->data, size, free_block, b}); /* an empty message has room */
  return b->data;
}

weft_err weft__message_unpack(ProtobufCMessage **out, message *m, const ProtobufCMessageDescriptor *d) {
  const uint8_t *data = weft__message_flatten(m);
  *out = NULL;
  return data ? weft__proto_unpack(out, d, data, m->size) : WEFT_OOM;
}
