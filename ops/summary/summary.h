/* summary.h - writes Summary messages: fields in protobuf's wire format, the op's output, and the ops' writer. */
#ifndef WEFT_OPS_SUMMARY_SUMMARY_H
#define WEFT_OPS_SUMMARY_SUMMARY_H

#include "base/alloc.h"
#include "base/text.h"
#include "graph/kernel.h"
#include "state/summary_writer.h"
#include <string.h>

/* Sets *out to the writer of input 0, borrowed from its handle. */
static inline weft_err weft__summary_find_writer(const kernel *k, summary_writer **out) {
  return weft__kernel_in(k, weft__handle_get(k->in[0], SUMMARY_WRITER_TYPE, (resource **)out));
}

/* Copies input i, a scalar string; the caller frees *out.  Returns INVALID_ARGUMENT with the argument's name. */
static inline weft_err weft__summary_own_text(const kernel *k, int i, const char *arg, char **out) {
  if (k->in[i]->shape.rank != 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be a scalar", arg);
  const str *s = k->in[i]->data;
  *out = weft__strndup(s->size ? s->data : "", s->size);
  return *out ? WEFT_OK : WEFT_OOM;
}

static inline void weft__put_varint(text *t, uint64_t v) {
  char byte[10];
  size_t n = 0;
  for (; v >= 0x80; v >>= 7) byte[n++] = (char)(v | 0x80);
  byte[n++] = (char)v;
  weft__text_add(t, byte, n);
}
static inline void weft__put_number(text *t, int field, uint64_t v) {
  weft__put_varint(t, (uint64_t)field << 3);
  weft__put_varint(t, v);
}
static inline void weft__put_bytes(text *t, int field, const void *data, size_t size) {
  weft__put_varint(t, (uint64_t)field << 3 | 2);
  weft__put_varint(t, size);
  if (size) weft__text_add(t, data, size);
}
static inline void weft__put_float(text *t, int field, float v) {
  weft__put_varint(t, (uint64_t)field << 3 | 5);
  weft__text_add(t, (const char *)&v, sizeof v);
}
static inline void weft__put_double(text *t, int field, double v) {
  weft__put_varint(t, (uint64_t)field << 3 | 1);
  weft__text_add(t, (const char *)&v, sizeof v);
}
/* Appends message `inner` as a field of t, and empties it for the next one. */
static inline void weft__put_message(text *t, int field, text *inner) {
  weft__put_bytes(t, field, weft__text_get(inner), inner->size);
  t->failed = t->failed || inner->failed;
  inner->size = 0;
}

/* Sets the scalar output 0 to the serialized Summary. */
static inline weft_err weft__summary_out(kernel *k, const text *summary) {
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out || summary->failed) return WEFT_OOM;
  return weft__str_set(out->data, weft__text_get(summary), summary->size);
}

/* Stores the tag, a scalar string, of input i.  Returns INVALID_ARGUMENT "tags must be scalar". */
static inline weft_err weft__summary_tag(const kernel *k, int i, const str **tag) {
  if (k->in[i]->shape.rank != 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "tags must be scalar");
  *tag = k->in[i]->data;
  return WEFT_OK;
}

/* Appends "TAG/KIND/3", or "TAG/KIND" if at most one may be written, as field 1 of a Summary.Value. */
static inline void weft__put_numbered_tag(text *t, const str *tag, const char *kind, int64_t most, int64_t i) {
  text full = {0};
  if (tag->size) weft__text_add(&full, tag->data, tag->size);
  if (most > 1)
    weft__text_printf(&full, "/%s/%lld", kind, (long long)i);
  else
    weft__text_printf(&full, "/%s", kind);
  weft__put_message(t, 1, &full);
  weft__text_finish(&full);
}

/* Append a Summary with x to *summary, which the caller finishes, also on failure.  Errors name the node, or `name`. */
weft_err weft__summary_put_histogram(const kernel *k, text *summary, const str *tag, const weft_tensor *x,
                                     const char *name);
weft_err weft__summary_put_images(const kernel *k, text *summary, const str *tag, const weft_tensor *x,
                                  const weft_tensor *bad_color); /* at most max_images, an attribute */
weft_err weft__summary_put_sounds(const kernel *k, text *summary, const str *tag, const weft_tensor *x,
                                  float rate); /* at most max_outputs, an attribute */
/* metadata: a serialized SummaryMetadata; NULL: none. */
weft_err weft__summary_put_tensor(text *summary, const str *tag, const weft_tensor *x, const str *metadata);

#endif
