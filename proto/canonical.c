/* canonical.c - walks a message along its descriptor and sorts its maps. */
#include "proto/canonical.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A map is a list of messages with the two fields `key` and `value`. */
static bool is_map(const ProtobufCFieldDescriptor *f) {
  const ProtobufCMessageDescriptor *d = f->descriptor;
  if (f->label != PROTOBUF_C_LABEL_REPEATED || f->type != PROTOBUF_C_TYPE_MESSAGE || d->n_fields != 2) return false;
  return strcmp(d->fields[0].name, "key") == 0 && strcmp(d->fields[1].name, "value") == 0;
}

static const void *field_at(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f) {
  return (const char *)m + f->offset;
}

/* Keys of maps are strings or 32-bit numbers in our messages. */
static int compare_entries(const void *x, const void *y) {
  const ProtobufCMessage *a = *(const ProtobufCMessage *const *)x, *b = *(const ProtobufCMessage *const *)y;
  const ProtobufCFieldDescriptor *key = &a->descriptor->fields[0];
  if (key->type == PROTOBUF_C_TYPE_STRING)
    return strcmp(*(const char *const *)field_at(a, key), *(const char *const *)field_at(b, key));
  const uint32_t i = *(const uint32_t *)field_at(a, key), j = *(const uint32_t *)field_at(b, key);
  return (i > j) - (i < j);
}

static bool is_present(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f) {
  return !(f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) ||
         *(const uint32_t *)(const void *)((const char *)m + f->quantifier_offset) == f->id;
}

static void canonical_list(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f) {
  const size_t n = *(const size_t *)(const void *)((const char *)m + f->quantifier_offset);
  ProtobufCMessage **list = *(ProtobufCMessage * *const *)field_at(m, f);
  if (n > 1 && is_map(f)) qsort((void *)list, n, sizeof *list, compare_entries);
  for (size_t i = 0; i < n; i++) weft__proto_canonical(list[i]);
}

void weft__proto_canonical(ProtobufCMessage *m) {
  m->n_unknown_fields = 0;
  m->unknown_fields = NULL;
  for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
    const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
    if (f->type != PROTOBUF_C_TYPE_MESSAGE) continue;
    if (f->label == PROTOBUF_C_LABEL_REPEATED) {
      canonical_list(m, f);
      continue;
    }
    ProtobufCMessage *one = is_present(m, f) ? *(ProtobufCMessage *const *)field_at(m, f) : NULL;
    if (one) weft__proto_canonical(one);
  }
}
