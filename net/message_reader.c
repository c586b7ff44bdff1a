/* message_reader.c - reading across pieces.  The usual TensorProto is type, shape and content, in this order. */
#include "net/message_reader.h"

#include "base/alloc.h"
#include "base/block.h"
#include <string.h>

/* The bytes at the place that lie together, at most p->left of them. */
static size_t together(message_reader *p, const uint8_t **data) {
  while (p->left && p->offset == weft__message_piece(p->m, p->piece)->size) p->piece++, p->offset = 0;
  if (!p->left) return 0;
  const piece *at = weft__message_piece(p->m, p->piece);
  *data = at->data + p->offset;
  return at->size - p->offset < p->left ? at->size - p->offset : p->left;
}

static void advance(message_reader *p, size_t n) { p->offset += n, p->left -= n; }

bool weft__message_reader_varint(message_reader *p, uint64_t *v) {
  const uint8_t *data;
  *v = 0;
  for (int shift = 0; shift < 64 && together(p, &data) > 0; shift += 7) {
    advance(p, 1);
    *v |= (uint64_t)(*data & 0x7f) << shift;
    if (*data < 0x80) return true;
  }
  return false;
}

bool weft__message_reader_length(message_reader *p, size_t *length) {
  uint64_t v;
  if (!weft__message_reader_varint(p, &v) || v > p->left) return false;
  *length = (size_t)v;
  return true;
}

void weft__message_reader_bytes(message_reader *p, uint8_t *to, size_t size) {
  while (size > 0) {
    const uint8_t *data = NULL;
    size_t n = together(p, &data);
    if (n > size) n = size;
    memcpy(to, data, n);
    advance(p, n);
    to += n, size -= n;
  }
}

size_t weft__message_reader_enter(message_reader *p, size_t length) {
  size_t outside = p->left - length;
  p->left = length;
  return outside;
}

void weft__message_reader_skip(message_reader *p, size_t size) {
  const uint8_t *data;
  for (size_t n; size > 0; size -= n) {
    n = together(p, &data);
    if (n > size) n = size;
    advance(p, n);
  }
}

/* ---- tensors ---- */

static bool get_shape(message_reader *p, shape *s) {
  *s = (shape){.rank = 0};
  for (uint64_t tag, v; p->left > 0;) {
    size_t length;
    if (!weft__message_reader_varint(p, &tag) || tag != (2 << 3 | 2) || !weft__message_reader_length(p, &length) ||
        s->rank == WEFT_MAX_RANK)
      return false;
    size_t outside = weft__message_reader_enter(p, length);
    int64_t dim = 0;
    if (length > 0) {
      if (!weft__message_reader_varint(p, &tag) || tag != 1 << 3 || !weft__message_reader_varint(p, &v) ||
          p->left > 0 || v > INT64_MAX)
        return false;
      dim = (int64_t)v;
    }
    s->dim[s->rank++] = dim;
    p->left += outside;
  }
  return true;
}

static weft_err take_over(weft_tensor **out, weft_dtype dtype, const shape *s, piece *at, bool shared) {
  weft_tensor *t;
  buffer *b;
  WEFT_TRY(weft__tensor_create(&t, dtype, &(shape){.rank = 1, .dim = {0}}));
  weft_err err = weft__buffer_adopt(&b, dtype, (void *)(uintptr_t)at->data, at->size, at->release, at->arg);
  if (err != WEFT_OK) {
    weft_tensor_destroy(t);
    return err;
  }
  at->release = NULL;
  b->peer_writes = shared;
  weft__buffer_release(t->buf);
  t->buf = b;
  t->data = b->data;
  t->shape = *s;
  *out = t;
  return WEFT_OK;
}

static weft_err get_content(message_reader *p, weft_tensor **out, weft_dtype dtype, const shape *s, size_t size) {
  const uint8_t *data = NULL;
  piece *at = size > 0 && together(p, &data) ? (piece *)(uintptr_t)weft__message_piece(p->m, p->piece) : NULL;
  if (at && at->release && at->size == size && p->offset == 0 && (uintptr_t)data % WEFT_ALIGN == 0) {
    advance(p, size);
    return take_over(out, dtype, s, at, p->m->shared);
  }
  WEFT_TRY(weft__tensor_create(out, dtype, s));
  weft__message_reader_bytes(p, (*out)->data, size);
  return WEFT_OK;
}

/* The next field's tag and length; *tag is `none` at the end of the message. */
static bool get_field(message_reader *p, uint64_t *tag, uint64_t none, size_t *length) {
  *tag = none, *length = 0;
  return p->left == 0 || (weft__message_reader_varint(p, tag) && weft__message_reader_length(p, length));
}

bool weft__message_reader_tensor(message_reader *p, weft_tensor **out, weft_err *err) {
  const uint64_t shape_tag = 2 << 3 | 2, content_tag = 4 << 3 | 2;
  uint64_t tag, dtype;
  size_t length, bytes;
  shape s = SHAPE_SCALAR;
  if (!weft__message_reader_varint(p, &tag) || tag != 1 << 3 || !weft__message_reader_varint(p, &dtype) || dtype == 0 ||
      dtype >= WEFT_DTYPE_COUNT)
    return false;
  weft_dtype type = (weft_dtype)dtype;
  if (!weft__dtype_is_plain(type) || type == WEFT_BOOL || !get_field(p, &tag, content_tag, &length)) return false;
  if (tag == shape_tag) {
    size_t outside = weft__message_reader_enter(p, length);
    if (!get_shape(p, &s)) return false;
    p->left = outside;
    if (!get_field(p, &tag, content_tag, &length)) return false;
  }
  int64_t count = weft__shape_count(&s);
  if (count < 0 || __builtin_mul_overflow((size_t)count, weft__dtype_size(type), &bytes)) return false;
  if (tag != content_tag || length != bytes || length != p->left) return false;
  *err = get_content(p, out, type, &s, bytes);
  return true;
}

/* ---- fields ---- */

bool weft__message_reader_field(message_reader *p, uint64_t *tag, size_t *length) {
  message_reader ahead;
  uint64_t v;
  if (!weft__message_reader_varint(p, tag) || *tag >> 3 == 0 || *tag >> 32) return false;
  switch (*tag & 7) {
  case 0: ahead = *p; return weft__message_reader_varint(&ahead, &v) && (*length = p->left - ahead.left, true);
  case 1: *length = 8; break;
  case 2: return weft__message_reader_length(p, length);
  case 5: *length = 4; break;
  default: return false;
  }
  return *length <= p->left;
}

static weft_err copy_bytes(message *to, message_reader *p, size_t size) {
  uint8_t *bytes = weft__alloc(size + 1);
  if (!bytes) return WEFT_OOM;
  weft__message_reader_bytes(p, bytes, size);
  return weft__message_add_adopt(to, bytes, size);
}

weft_err weft__message_copy_without(message *rest, message *m, int field) {
  message_reader p = {.m = m, .left = m->size};
  while (p.left > 0) {
    message_reader from = p;
    uint64_t tag;
    size_t length;
    if (!weft__message_reader_field(&p, &tag, &length))
      return weft__fail(WEFT_INVALID_ARGUMENT, "a message of %zu bytes is malformed after byte %zu", m->size,
                        m->size - from.left);
    weft__message_reader_skip(&p, length);
    if (tag != ((uint64_t)field << 3 | 2)) WEFT_TRY(copy_bytes(rest, &from, from.left - p.left));
  }
  return WEFT_OK;
}
