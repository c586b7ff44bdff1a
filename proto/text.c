/* text.c - walks a message along its descriptor; unknown fields are not shown. */
#include "proto/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

typedef struct printer {
  text *out;
  bool one_line;
  int depth;
} printer;

static void print_message(printer *p, const ProtobufCMessage *m);

static void print_bytes(text *out, const uint8_t *data, size_t size) {
  weft__text_puts(out, "\"");
  for (size_t i = 0; i < size; i++) {
    if (data[i] == '"' || data[i] == '\\')
      weft__text_printf(out, "\\%c", data[i]);
    else if (data[i] == '\n')
      weft__text_puts(out, "\\n");
    else if (isprint(data[i]))
      weft__text_printf(out, "%c", data[i]);
    else
      weft__text_printf(out, "\\%03o", data[i]);
  }
  weft__text_puts(out, "\"");
}

static void print_scalar(text *out, const ProtobufCFieldDescriptor *f, const void *at) {
  switch (f->type) {
  case PROTOBUF_C_TYPE_INT32:
  case PROTOBUF_C_TYPE_SINT32:
  case PROTOBUF_C_TYPE_SFIXED32:
  case PROTOBUF_C_TYPE_ENUM: weft__text_printf(out, "%" PRId32, *(const int32_t *)at); break;
  case PROTOBUF_C_TYPE_INT64:
  case PROTOBUF_C_TYPE_SINT64:
  case PROTOBUF_C_TYPE_SFIXED64: weft__text_printf(out, "%" PRId64, *(const int64_t *)at); break;
  case PROTOBUF_C_TYPE_UINT32:
  case PROTOBUF_C_TYPE_FIXED32: weft__text_printf(out, "%" PRIu32, *(const uint32_t *)at); break;
  case PROTOBUF_C_TYPE_UINT64:
  case PROTOBUF_C_TYPE_FIXED64: weft__text_printf(out, "%" PRIu64, *(const uint64_t *)at); break;
  case PROTOBUF_C_TYPE_FLOAT: weft__text_printf(out, "%.9g", (double)*(const float *)at); break;
  case PROTOBUF_C_TYPE_DOUBLE: weft__text_printf(out, "%.17g", *(const double *)at); break;
  case PROTOBUF_C_TYPE_BOOL: weft__text_puts(out, *(const protobuf_c_boolean *)at ? "true" : "false"); break;
  case PROTOBUF_C_TYPE_STRING: {
    const char *s = *(const char *const *)at;
    print_bytes(out, (const uint8_t *)s, s ? strlen(s) : 0);
    break;
  }
  case PROTOBUF_C_TYPE_BYTES: {
    const ProtobufCBinaryData *b = at;
    print_bytes(out, b->data, b->len);
    break;
  }
  case PROTOBUF_C_TYPE_MESSAGE: break;
  }
}

static void new_line(printer *p) {
  if (p->out->size) weft__text_puts(p->out, p->one_line ? " " : "\n");
  for (int i = 0; i < p->depth && !p->one_line; i++) weft__text_puts(p->out, "  ");
}

static void print_field(printer *p, const ProtobufCFieldDescriptor *f, const void *at) {
  new_line(p);
  weft__text_puts(p->out, f->name);
  if (f->type != PROTOBUF_C_TYPE_MESSAGE) {
    weft__text_puts(p->out, ": ");
    print_scalar(p->out, f, at);
    return;
  }
  weft__text_puts(p->out, " {");
  p->depth++;
  print_message(p, *(const ProtobufCMessage *const *)at);
  p->depth--;
  new_line(p);
  weft__text_puts(p->out, "}");
}

static size_t text_size_of(const ProtobufCFieldDescriptor *f) {
  switch (f->type) {
  case PROTOBUF_C_TYPE_INT64:
  case PROTOBUF_C_TYPE_SINT64:
  case PROTOBUF_C_TYPE_SFIXED64:
  case PROTOBUF_C_TYPE_UINT64:
  case PROTOBUF_C_TYPE_FIXED64:
  case PROTOBUF_C_TYPE_DOUBLE: return 8;
  case PROTOBUF_C_TYPE_BOOL: return sizeof(protobuf_c_boolean);
  case PROTOBUF_C_TYPE_STRING:
  case PROTOBUF_C_TYPE_MESSAGE: return sizeof(void *);
  case PROTOBUF_C_TYPE_BYTES: return sizeof(ProtobufCBinaryData);
  default: return 4;
  }
}

/* Returns true if a field that is not repeated is set.  A member of a oneof has its own mark; others are set if not
 * zero. */
static bool text_is_set(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, const void *at) {
  static const uint8_t zero[sizeof(ProtobufCBinaryData)];
  if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
    return *(const uint32_t *)((const char *)m + f->quantifier_offset) == f->id;
  if (f->type == PROTOBUF_C_TYPE_STRING) return *(const char *const *)at && **(const char *const *)at;
  if (f->type == PROTOBUF_C_TYPE_BYTES) return ((const ProtobufCBinaryData *)at)->len > 0;
  return memcmp(at, zero, text_size_of(f)) != 0;
}

static void print_message(printer *p, const ProtobufCMessage *m) {
  for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
    const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
    const char *at = (const char *)m + f->offset;
    if (f->label != PROTOBUF_C_LABEL_REPEATED) {
      if (text_is_set(m, f, at)) print_field(p, f, at);
      continue;
    }
    size_t n = *(const size_t *)(const void *)((const char *)m + f->quantifier_offset);
    const char *list = *(const char *const *)(const void *)at;
    for (size_t j = 0; j < n; j++) print_field(p, f, list + j * text_size_of(f));
  }
}

void weft__proto_text(text *out, const ProtobufCMessage *m, bool one_line) {
  text made = {0};
  print_message(&(printer){.out = &made, .one_line = one_line}, m);
  if (made.size) weft__text_add(out, made.data, made.size);
  if (made.size && !one_line) weft__text_puts(out, "\n");
  out->failed |= made.failed;
  weft__text_finish(&made);
}
