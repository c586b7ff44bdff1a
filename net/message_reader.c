/* message_reader.c - reads protobuf across pieces.  The usual TensorProto is type, shape and content, in this order.
 *
 * A reader belongs to one thread; there are no locks. */
#include "net/message_reader.h"

#include "base/alloc.h"
#include "base/block.h"
#include <string.h>

/* Returns how many of the next bytes are contiguous, at most r->left, and where they are. */
static size_t reader_contiguous(message_reader *r, const uint8_t **data) {
  while (r->left && r->offset == weft__message_piece(r->m, r->piece)->size) r->piece++, r->offset = 0;
  if (!r->left) return 0;
  const piece *at = weft__message_piece(r->m, r->piece);
  *data = at->data + r->offset;
  return at->size - r->offset < r->left ? at->size - r->offset : r->left;
}

static void message_reader_advance(message_reader *r, size_t n) { r->offset += n, r->left -= n; }

bool weft__message_reader_varint(message_reader *r, uint64_t *v) {
  const uint8_t *data;
  *v = 0;
  for (int shift = 0; shift < 64 && reader_contiguous(r, &data) > 0; shift += 7) {
    message_reader_advance(r, 1);
    *v |= (uint64_t)(*data & 0x7f) << shift;
    if (*data < 0x80) return true;
  }
  return false;
}

bool weft__message_reader_length(message_reader *r, size_t *length) {
  uint64_t v;
  if (!weft__message_reader_varint(r, &v) || v > r->left) return false;
  *length = (size_t)v;
  return true;
}

void weft__message_reader_bytes(message_reader *r, uint8_t *to, size_t size) {
  while (size > 0) {
    const uint8_t *data = NULL;
    size_t n = reader_contiguous(r, &data);
    if (n > size) n = size;
    memcpy(to, data, n);
    message_reader_advance(r, n);
    to += n, size -= n;
  }
}

size_t weft__message_reader_enter(message_reader *r, size_t length) {
  size_t outside = r->left - length;
  r->left = length;
  return outside;
}

void weft__message_reader_skip(message_reader *r, size_t size) {
  const uint8_t *data;
  for (size_t n; size > 0; size -= n) {
    n = reader_contiguous(r, &data);
    if (n > size) n = size;
    message_reader_advance(r, n);
  }
}

/* ---- tensors ---- */

static bool reader_get_shape(message_reader *r, shape *s) {
  *s = (shape){.rank = 0};
  for (uint64_t tag, v; r->left > 0;) {
    size_t length;
    if (!weft__message_reader_varint(r, &tag) || tag != (2 << 3 | 2) || !weft__message_reader_length(r, &length) ||
        s->rank == WEFT_MAX_RANK)
      return false;
    size_t outside = weft__message_reader_enter(r, length);
    int64_t dim = 0;
    if (length > 0) {
      if (!weft__message_reader_varint(r, &tag) || tag != 1 << 3 || !weft__message_reader_varint(r, &v) ||
          r->left > 0 || v > INT64_MAX)
        return false;
      dim = (int64_t)v;
    }
    s->dim[s->rank++] = dim;
    r->left += outside;
  }
  return true;
}

/* Makes a tensor of a piece without copying it. */
static weft_err tensor_adopt_piece(weft_tensor **out, weft_dtype dtype, const shape *s, piece *at, bool shared) {
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

weft_err weft__message_reader_content(message_reader *r, weft_tensor **out, weft_dtype dtype, const shape *s,
                                      size_t size) {
  const uint8_t *data = NULL;
  piece *at = size > 0 && reader_contiguous(r, &data) ? (piece *)(uintptr_t)weft__message_piece(r->m, r->piece) : NULL;
  if (at && at->release && at->size == size && r->offset == 0 && (uintptr_t)data % WEFT_ALIGN == 0) {
    message_reader_advance(r, size);
    return tensor_adopt_piece(out, dtype, s, at, r->m->shared);
  }
  WEFT_TRY(weft__tensor_create(out, dtype, s));
  weft__message_reader_bytes(r, (*out)->data, size);
  return WEFT_OK;
}

/* Reads the next field's tag and length; at the end of the message *tag is `none`. */
static bool reader_get_field(message_reader *r, uint64_t *tag, uint64_t none, size_t *length) {
  *tag = none, *length = 0;
  return r->left == 0 || (weft__message_reader_varint(r, tag) && weft__message_reader_length(r, length));
}

bool weft__message_reader_tensor(message_reader *r, weft_tensor **out, weft_err *err) {
  const uint64_t shape_tag = 2 << 3 | 2, content_tag = 4 << 3 | 2;
  uint64_t tag, dtype;
  size_t length, bytes;
  shape s = SHAPE_SCALAR;
  if (!weft__message_reader_varint(r, &tag) || tag != 1 << 3 || !weft__message_reader_varint(r, &dtype) ||
      !weft__dtype_is_known((int64_t)dtype))
    return false;
  weft_dtype type = (weft_dtype)dtype;
  if (!weft__dtype_is_plain(type) || type == WEFT_BOOL || !reader_get_field(r, &tag, content_tag, &length))
    return false;
  if (tag == shape_tag) {
    size_t outside = weft__message_reader_enter(r, length);
    if (!reader_get_shape(r, &s)) return false;
    r->left = outside;
    if (!reader_get_field(r, &tag, content_tag, &length)) return false;
  }
  int64_t count = weft__shape_count(&s);
  if (count < 0 || __builtin_mul_overflow((size_t)count, weft__dtype_size(type), &bytes)) return false;
  if (tag != content_tag || length != bytes || length != r->left) return false;
  *err = weft__message_reader_content(r, out, type, &s, bytes);
  return true;
}

/* ---- fields ---- */

bool weft__message_reader_field(message_reader *r, uint64_t *tag, size_t *length) {
  message_reader ahead;
  uint64_t v;
  if (!weft__message_reader_varint(r, tag) || *tag >> 3 == 0 || *tag >> 32) return false;
  switch (*tag & 7) {
  case 0: ahead = *r; return weft__message_reader_varint(&ahead, &v) && (*length = r->left - ahead.left, true);
  case 1: *length = 8; break;
  case 2: return weft__message_reader_length(r, length);
  case 5: *length = 4; break;
  default: return false;
  }
  return *length <= r->left;
}

static weft_err message_copy_bytes(message *to, message_reader *r, size_t size) {
  uint8_t *bytes = weft__alloc(size + 1);
  if (!bytes) return WEFT_OOM;
  weft__message_reader_bytes(r, bytes, size);
  return weft__message_add_adopt(to, bytes, size);
}

weft_err weft__message_copy_without(message *rest, message *m, int field) {
  message_reader r = {.m = m, .left = m->size};
  while (r.left > 0) {
    message_reader from = r;
    uint64_t tag;
    size_t length;
    if (!weft__message_reader_field(&r, &tag, &length))
      return weft__fail(WEFT_INVALID_ARGUMENT, "a message of %zu bytes is malformed after byte %zu", m->size,
                        m->size - from.left);
    weft__message_reader_skip(&r, length);
    if (tag != ((uint64_t)field << 3 | 2)) WEFT_TRY(message_copy_bytes(rest, &from, from.left - r.left));
  }
  return WEFT_OK;
}
