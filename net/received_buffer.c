/* received_buffer.c - RecvBufResponse, written and read by hand: the buffers of collective ops.
 *
 * The content is in a message inside an Any, in one piece or several.  It is read straight from the pieces of the
 * message, in whatever order the fields come.  No state, no locks. */
#include "net/message_reader.h"
#include <inttypes.h>
#include <string.h>

#define EXTRA_URL "type.googleapis.com/tensorflow.RecvBufRespExtra"
enum {
  NUM_BYTES = 2 << 3,    /* of RecvBufResponse */
  IS_DEAD = 3 << 3,      /* likewise */
  OPTIONS = 4 << 3 | 2,  /* likewise: an Any */
  ANY_URL = 1 << 3 | 2,  /* of Any */
  ANY_VALUE = 2 << 3 | 2 /* likewise: a RecvBufRespExtra */
};

weft_err weft__received_buffer_write(message *m, const weft_tensor *t, bool dead) {
  message any = {.borrows = true}, extra = {.borrows = true};
  if (dead) return weft__message_add_varint(m, IS_DEAD >> 3, 1);
  const size_t size = weft__tensor_bytes(t);
  weft_err err = weft__message_add_length(&extra, 1, size);
  if (!err) err = weft__message_add_buffer(&extra, t->buf, t->data, size);
  if (!err) err = weft__message_add_string(&any, ANY_URL >> 3, EXTRA_URL, strlen(EXTRA_URL));
  if (!err) err = weft__message_add_message(&any, ANY_VALUE >> 3, &extra);
  if (!err) err = weft__message_add_varint(m, NUM_BYTES >> 3, size);
  if (!err) err = weft__message_add_message(m, OPTIONS >> 3, &any);
  weft__message_finish(&extra);
  weft__message_finish(&any);
  return err;
}

typedef struct content { /* what was read of it so far */
  weft_tensor *whole;    /* NULL: nothing yet */
  int64_t want, at;      /* bytes */
  bool found;            /* there was a message for it, perhaps an empty one */
} content;

static weft_err content_fail(const content *c, int64_t size) {
  return weft__fail(WEFT_INTERNAL, "a member of a collective op sent %" PRId64 " bytes for %" PRId64, size, c->want);
}

/* Reads the next `size` bytes as a part of the content. */
static weft_err content_add(content *c, message_reader *r, int64_t size) {
  if (size > c->want - c->at) return content_fail(c, c->at + size);
  if (size == c->want && !c->whole) {
    c->at = size;
    return weft__message_reader_content(r, &c->whole, WEFT_UINT8, &SHAPE1(size), (size_t)size);
  }
  if (!c->whole) WEFT_TRY(weft__tensor_create(&c->whole, WEFT_UINT8, &SHAPE1(c->want)));
  weft__message_reader_bytes(r, (uint8_t *)c->whole->data + c->at, (size_t)size);
  c->at += size;
  return WEFT_OK;
}

/* What a message may hold, from the outside in.  Each level is in one field of the level before it. */
static const uint64_t field_of_level[] = {OPTIONS, ANY_VALUE, 1 << 3 | 2};
enum { LEVELS = 3 };

/* Reads the fields of a level up to the end that r->left counts to. */
static weft_err read_level(message_reader *r, int level, content *c, bool *dead) {
  while (r->left > 0) {
    uint64_t tag, v;
    size_t length;
    if (!weft__message_reader_field(r, &tag, &length))
      return weft__fail(WEFT_INVALID_ARGUMENT, "a RecvBufResponse of %zu bytes is malformed", r->m->size);
    if (level == 0 && tag == IS_DEAD) {
      if (!weft__message_reader_varint(r, &v)) return weft__fail(WEFT_INVALID_ARGUMENT, "is_dead is malformed");
      *dead = v != 0;
    } else if (tag != field_of_level[level]) {
      weft__message_reader_skip(r, length);
    } else if (level == LEVELS - 1) {
      WEFT_TRY(content_add(c, r, (int64_t)length));
    } else {
      const size_t outside = weft__message_reader_enter(r, length);
      c->found = true;
      WEFT_TRY(read_level(r, level + 1, c, dead));
      r->left = outside;
    }
  }
  return WEFT_OK;
}

weft_err weft__received_buffer_read(weft_tensor **out, bool *dead, message *m, int64_t bytes) {
  message_reader r = {.m = m, .left = m->size};
  content c = {.want = bytes};
  *out = NULL;
  *dead = false;
  weft_err err = read_level(&r, 0, &c, dead);
  if (!err && !*dead && !c.found)
    err = weft__fail(WEFT_INTERNAL, "a member of a collective op answered RecvBuf without a buffer");
  if (!err && !*dead && c.at != bytes) err = content_fail(&c, c.at);
  if (!err && !*dead && !c.whole) err = weft__tensor_create(&c.whole, WEFT_UINT8, &SHAPE1(0));
  if (err || *dead) {
    weft_tensor_destroy(c.whole);
    return err;
  }
  *out = c.whole;
  return WEFT_OK;
}
