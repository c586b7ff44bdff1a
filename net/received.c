/* received.c - RecvTensorResponse, written and read by hand.
 *
 * Almost every response is is_dead, then a tensor whose type and shape precede its content: that form
 * is read straight from the pieces.  Whatever else protobuf allows goes through protobuf-c. */
#include "base/block.h"
#include "net/message.h"
#include "rpc.pb-c.h"
#include "tensor/tensor_proto.h"
#include <string.h>

weft_err weft__message_from_received(message *out, const weft_tensor *t, bool dead) {
  static const uint8_t nothing[] = {1 << 3 | 2, 6, 1 << 3, WEFT_FLOAT, 2 << 3 | 2, 2, 2 << 3 | 2, 0}; /* float [0] */
  WEFT_TRY(weft__message_add_varint(out, 2, dead));
  if (t && !dead) return weft__message_add_tensor(out, 1, t);
  return weft__message_add_copy(out, nothing, sizeof nothing); /* TF wants a tensor of a dead value too */
}

/* ---- a place in the pieces ---- */

typedef struct place {
  message *m;
  int piece;
  size_t offset; /* in the piece */
  size_t left;   /* to the end of what is being read */
} place;

/* The bytes at the place that lie together, at most p->left of them. */
static size_t together(place *p, const uint8_t **data) {
  while (p->left && p->offset == weft__message_piece(p->m, p->piece)->size) p->piece++, p->offset = 0;
  if (!p->left) return 0;
  const piece *at = weft__message_piece(p->m, p->piece);
  *data = at->data + p->offset;
  return at->size - p->offset < p->left ? at->size - p->offset : p->left;
}

static void advance(place *p, size_t n) { p->offset += n, p->left -= n; }

static bool get_varint(place *p, uint64_t *v) {
  const uint8_t *data;
  *v = 0;
  for (int shift = 0; shift < 64 && together(p, &data) > 0; shift += 7) {
    advance(p, 1);
    *v |= (uint64_t)(*data & 0x7f) << shift;
    if (*data < 0x80) return true;
  }
  return false;
}

static bool get_length(place *p, size_t *length) {
  uint64_t v;
  if (!get_varint(p, &v) || v > p->left) return false;
  *length = (size_t)v;
  return true;
}

static void get_bytes(place *p, uint8_t *to, size_t size) {
  while (size > 0) {
    const uint8_t *data = NULL;
    size_t n = together(p, &data);
    if (n > size) n = size;
    memcpy(to, data, n);
    advance(p, n);
    to += n, size -= n;
  }
}

/* Enters a field of `length` bytes; leave with what this returned. */
static size_t enter(place *p, size_t length) {
  size_t outside = p->left - length;
  p->left = length;
  return outside;
}

/* ---- the usual form: false means "not this way", never "bad" ---- */

static bool get_shape(place *p, shape *s) {
  *s = (shape){.rank = 0};
  for (uint64_t tag, v; p->left > 0;) {
    size_t length;
    if (!get_varint(p, &tag) || tag != (2 << 3 | 2) || !get_length(p, &length) || s->rank == WEFT_MAX_RANK)
      return false;
    size_t outside = enter(p, length);
    int64_t dim = 0;
    if (length > 0) {
      if (!get_varint(p, &tag) || tag != 1 << 3 || !get_varint(p, &v) || p->left > 0 || v > INT64_MAX) return false;
      dim = (int64_t)v;
    }
    s->dim[s->rank++] = dim;
    p->left += outside;
  }
  return true;
}

static weft_err take_over(weft_tensor **out, weft_dtype dtype, const shape *s, piece *at) {
  weft_tensor *t;
  buffer *b;
  WEFT_TRY(weft__tensor_create(&t, dtype, &(shape){.rank = 1, .dim = {0}}));
  weft_err err = weft__buffer_adopt(&b, dtype, (void *)(uintptr_t)at->data, at->size, at->release, at->arg);
  if (err != WEFT_OK) {
    weft_tensor_destroy(t);
    return err;
  }
  at->release = NULL;
  weft__buffer_release(t->buf);
  t->buf = b;
  t->data = b->data;
  t->shape = *s;
  *out = t;
  return WEFT_OK;
}

static weft_err get_content(place *p, weft_tensor **out, weft_dtype dtype, const shape *s, size_t size) {
  const uint8_t *data = NULL;
  piece *at = size > 0 && together(p, &data) ? (piece *)(uintptr_t)weft__message_piece(p->m, p->piece) : NULL;
  if (at && at->release && at->size == size && p->offset == 0 && (uintptr_t)data % WEFT_ALIGN == 0) {
    advance(p, size);
    return take_over(out, dtype, s, at);
  }
  WEFT_TRY(weft__tensor_create(out, dtype, s));
  get_bytes(p, (*out)->data, size);
  return WEFT_OK;
}

/* The next field's tag and length; *tag is `none` at the end of the message. */
static bool get_field(place *p, uint64_t *tag, uint64_t none, size_t *length) {
  *tag = none, *length = 0;
  return p->left == 0 || (get_varint(p, tag) && get_length(p, length));
}

/* type, shape, content, in this order and no more. */
static bool get_tensor(place *p, weft_tensor **out, weft_err *err) {
  const uint64_t shape_tag = 2 << 3 | 2, content_tag = 4 << 3 | 2;
  uint64_t tag, dtype;
  size_t length, bytes;
  shape s = SHAPE_SCALAR;
  if (!get_varint(p, &tag) || tag != 1 << 3 || !get_varint(p, &dtype) || dtype == 0 || dtype >= WEFT_DTYPE_COUNT)
    return false;
  weft_dtype type = (weft_dtype)dtype;
  if (!weft__dtype_is_plain(type) || type == WEFT_BOOL || !get_field(p, &tag, content_tag, &length)) return false;
  if (tag == shape_tag) {
    size_t outside = enter(p, length);
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

static bool get_received(place *p, received *out, weft_err *err) {
  for (uint64_t tag, v; p->left > 0;) {
    size_t length;
    if (!get_varint(p, &tag)) return false;
    if (tag == (1 << 3 | 2)) {
      if (out->dead || !get_length(p, &length) || length != p->left) return false; /* last, and only once */
      return get_tensor(p, &out->tensor, err);
    }
    if (!get_varint(p, &v)) return false;
    switch (tag) {
    case 2 << 3: out->dead = v != 0; break;
    case 3 << 3: break; /* send_start_micros */
    case 5 << 3: out->require_ack = v != 0; break;
    default: return false;
    }
  }
  return false;
}

/* ---- any form ---- */

static weft_err unpack_received(received *out, message *m) {
  ProtobufCMessage *unpacked;
  *out = (received){0};
  WEFT_TRY(weft__message_unpack(&unpacked, m, &tensorflow__recv_tensor_response__descriptor));
  const Tensorflow__RecvTensorResponse *r = (const Tensorflow__RecvTensorResponse *)unpacked;
  out->dead = r->is_dead;
  out->require_ack = r->require_ack;
  weft_err err = WEFT_OK;
  if (!out->dead)
    err = r->tensor ? weft__tensor_from_proto(&out->tensor, r->tensor)
                    : weft__fail(WEFT_INVALID_ARGUMENT, "RecvTensorResponse has no tensor");
  protobuf_c_message_free_unpacked(unpacked, NULL);
  return err;
}

weft_err weft__message_to_received(received *out, message *m) {
  place p = {.m = m, .left = m->size};
  weft_err err = WEFT_OK;
  *out = (received){0};
  return get_received(&p, out, &err) ? err : unpack_received(out, m);
}
