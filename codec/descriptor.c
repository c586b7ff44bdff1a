/* descriptor.c - finds a message in a FileDescriptorSet, or among the messages that the build knows. */
#include "codec/descriptor.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include "tf.pb-c.h"
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

void weft__descriptor_finish(proto_message *m) {
  for (int64_t i = 0; i < m->n; i++) {
    weft__free(m->field[i].name);
    weft__free(m->field[i].fallback);
  }
  weft__free(m->field);
  *m = (proto_message){0};
}

static char *bytes_dup(bytes b) { return weft__strndup(b.at ? (const char *)b.at : "", (size_t)(b.end - b.at)); }

static weft_err descriptor_bad(void) {
  return weft__fail(WEFT_INVALID_ARGUMENT, "descriptor_source has no valid FileDescriptorSet");
}

/* Appends an empty field. */
static weft_err descriptor_grow(proto_message *m, proto_field **out) {
  WEFT_TRY(WEFT_ARRAY_RESERVE(m->field, m->capacity, m->n + 1));
  *out = &m->field[m->n++];
  **out = (proto_field){0};
  return WEFT_OK;
}

/* Returns the rest of `name` after `part` and a dot, "" if nothing is left, or NULL if it does not begin so. */
static const char *name_after(const char *name, bytes part) {
  const size_t n = (size_t)(part.end - part.at);
  if (strnlen(name, n) < n || memcmp(name, part.at, n) != 0) return NULL; /* part may contain zero bytes */
  return name[n] == '.' ? name + n + 1 : name[n] == 0 ? name + n : NULL;
}

/* ---- EnumDescriptorProto: the default of a field is the name of a value, or without one the first value ---- */

typedef struct enum_search {
  bytes wanted; /* the name of the value; empty: the first one */
  bool found;
  int32_t number;
} enum_search;

/* Reads field 1 of a message, its name. */
static bytes descriptor_name_of(bytes in) {
  uint32_t field = 0;
  int wire = 0;
  bytes part = {0};
  uint64_t number = 0;
  while (in.at < in.end && weft__wire_next(&in, &field, &wire, &part, &number))
    if (field == 1 && wire == WIRE_BYTES) return part;
  return (bytes){0};
}

static void search_values(enum_search *s, bytes in) {
  uint32_t field = 0;
  int wire = 0;
  bytes part = {0};
  uint64_t number = 0;
  while (!s->found && in.at < in.end && weft__wire_next(&in, &field, &wire, &part, &number)) {
    if (field != 2 || wire != WIRE_BYTES) continue;
    const bytes name = descriptor_name_of(part);
    const size_t n = (size_t)(name.end - name.at);
    if (s->wanted.at && ((size_t)(s->wanted.end - s->wanted.at) != n || memcmp(s->wanted.at, name.at, n) != 0))
      continue;
    s->found = true;
    while (part.at < part.end && weft__wire_next(&part, &field, &wire, &(bytes){0}, &number))
      if (field == 2) s->number = weft__bits_int32(number);
  }
}

/* Looks for the enum `name` in a file (enums: 5, messages: 4) or in a message (enums: 4, messages: 3). */
static void search_enum(enum_search *s, bytes in, const char *name, uint32_t enums, int depth) {
  uint32_t field = 0;
  int wire = 0;
  bytes part = {0};
  uint64_t number = 0;
  while (!s->found && in.at < in.end && weft__wire_next(&in, &field, &wire, &part, &number)) {
    if (wire != WIRE_BYTES || (field != enums && field != enums - 1)) continue;
    const bytes own = descriptor_name_of(part);
    const char *rest = own.at ? name_after(name, own) : NULL;
    if (!rest) continue;
    if (field == enums && *rest == 0)
      search_values(s, part);
    else if (field == enums - 1 && *rest != 0 && depth < MAX_DEPTH)
      search_enum(s, part, rest, 4, depth + 1);
  }
}

/* ---- FieldDescriptorProto ---- */

/* Returns the number of the default value of an enum field, as text that the caller frees, or NULL if memory is short.
 */
static char *enum_default(bytes set, bytes kind, bytes wanted) {
  enum_search s = {.wanted = wanted};
  char *name = bytes_dup(kind);
  uint32_t field = 0;
  int wire = 0;
  bytes file = {0}, part = {0};
  uint64_t number = 0;
  while (name && !s.found && set.at < set.end && weft__wire_next(&set, &field, &wire, &file, &number)) {
    bytes package = {0};
    for (bytes in = file; field == 1 && in.at < in.end && weft__wire_next(&in, &field, &wire, &part, &number);
         field = 1)
      if (field == 2) package = part;
    const char *full = name[0] == '.' ? name + 1 : name;
    const char *rest = package.at ? name_after(full, package) : full;
    if (rest) search_enum(&s, file, rest, 5, 0);
  }
  weft__free(name);
  return name ? weft__sprintf("%d", s.number) : NULL;
}

static weft_err descriptor_read_field(bytes in, bytes set, bool packs, proto_message *m) {
  proto_field *f = NULL;
  WEFT_TRY(descriptor_grow(m, &f));
  uint32_t field = 0;
  int wire = 0, said = -1;
  bytes value = {0}, name = {0}, fallback = {0}, kind = {0};
  uint64_t number = 0;
  while (in.at < in.end) {
    if (!weft__wire_next(&in, &field, &wire, &value, &number)) return descriptor_bad();
    if (field == 1) name = value;
    if (field == 3) f->number = (uint32_t)number;
    if (field == 4) f->repeated = number == 3;
    if (field == 5) f->type = (proto_type)number;
    if (field == 6) kind = value;
    if (field == 7) fallback = value;
    while (field == 8 && value.at < value.end) { /* FieldOptions */
      bytes unused;
      if (!weft__wire_next(&value, &field, &wire, &unused, &number)) return descriptor_bad();
      if (field == 2) said = number != 0;
      field = 8;
    }
  }
  f->packed = said < 0 ? packs : said != 0;
  f->name = bytes_dup(name);
  f->fallback = f->type == PROTO_ENUM ? enum_default(set, kind, fallback) : bytes_dup(fallback);
  return f->name && f->fallback ? WEFT_OK : WEFT_OOM;
}

/* ---- DescriptorProto ---- */

/* The state of a search: the name that is left to match, and where the fields go. */
typedef struct search {
  bytes set; /* all files, for the enums */
  const char *name;
  bool packs; /* proto3 packs numbers unless an option says otherwise */
  bool found;
  proto_message *out;
} search;

static weft_err search_message(search *s, bytes in, const char *name, int depth) {
  uint32_t field = 0;
  int wire = 0;
  bytes value = {0}, all = in, own = {0};
  uint64_t number = 0;
  while (in.at < in.end) {
    if (!weft__wire_next(&in, &field, &wire, &value, &number)) return descriptor_bad();
    if (field == 1 && wire == WIRE_BYTES) own = value;
  }
  const char *rest = own.at ? name_after(name, own) : NULL;
  if (!rest || s->found || depth > MAX_DEPTH) return WEFT_OK;
  s->found = *rest == 0;
  for (in = all; in.at < in.end;) {
    if (!weft__wire_next(&in, &field, &wire, &value, &number)) return descriptor_bad();
    if (wire != WIRE_BYTES) continue;
    if (field == 2 && *rest == 0) WEFT_TRY(descriptor_read_field(value, s->set, s->packs, s->out));
    if (field == 3 && *rest != 0) WEFT_TRY(search_message(s, value, rest, depth + 1));
  }
  return WEFT_OK;
}

static weft_err search_file(search *s, bytes in) {
  uint32_t field = 0;
  int wire = 0;
  bytes value = {0}, all = in, package = {0}, syntax = {0};
  uint64_t number = 0;
  while (in.at < in.end) {
    if (!weft__wire_next(&in, &field, &wire, &value, &number)) return descriptor_bad();
    if (field == 2 && wire == WIRE_BYTES) package = value;
    if (field == 12 && wire == WIRE_BYTES) syntax = value;
  }
  const char *name = package.at < package.end ? name_after(s->name, package) : s->name;
  s->packs = syntax.end - syntax.at == 6 && memcmp(syntax.at, "proto3", 6) == 0;
  for (in = all; name && in.at < in.end;) {
    if (!weft__wire_next(&in, &field, &wire, &value, &number)) return descriptor_bad();
    if (field == 4 && wire == WIRE_BYTES && !s->found) WEFT_TRY(search_message(s, value, name, 0));
  }
  return WEFT_OK;
}

weft_err weft__descriptor_find(bytes set, const char *message, proto_message *out) {
  search s = {.set = set, .name = message, .out = out};
  uint32_t field = 0;
  int wire = 0;
  bytes value = {0};
  uint64_t number = 0;
  while (set.at < set.end && !s.found) {
    if (!weft__wire_next(&set, &field, &wire, &value, &number)) return descriptor_bad();
    if (field == 1 && wire == WIRE_BYTES) WEFT_TRY(search_file(&s, value));
  }
  return s.found ? WEFT_OK : weft__fail(WEFT_NOT_FOUND, "no message type %s", message);
}

/* ---- the messages of the build ---- */

/* Compares a name with that of a descriptor, in which a nested message has no dot: TensorShapeProtoDim. */
static bool same_name(const char *name, const char *flat) {
  size_t i = sizeof "tensorflow." - 1;
  if (strncmp(name, flat, i) != 0) return false;
  for (const char *c = name + i; *c; c++)
    if (*c != '.' && *c != flat[i++]) return false;
  return flat[i] == 0;
}

static const ProtobufCMessageDescriptor *search_local(const ProtobufCMessageDescriptor *d, const char *name,
                                                      int depth) {
  if (same_name(name, d->name)) return d;
  for (unsigned i = 0; i < d->n_fields && depth < 12; i++) {
    const ProtobufCFieldDescriptor *f = &d->fields[i];
    if (f->type != PROTOBUF_C_TYPE_MESSAGE || f->descriptor == d) continue;
    const ProtobufCMessageDescriptor *found = search_local(f->descriptor, name, depth + 1);
    if (found) return found;
  }
  return NULL;
}

static proto_type local_type(ProtobufCType t) {
  static const proto_type of[] = {
      [PROTOBUF_C_TYPE_INT32] = PROTO_INT32,       [PROTOBUF_C_TYPE_SINT32] = PROTO_SINT32,
      [PROTOBUF_C_TYPE_SFIXED32] = PROTO_SFIXED32, [PROTOBUF_C_TYPE_INT64] = PROTO_INT64,
      [PROTOBUF_C_TYPE_SINT64] = PROTO_SINT64,     [PROTOBUF_C_TYPE_SFIXED64] = PROTO_SFIXED64,
      [PROTOBUF_C_TYPE_UINT32] = PROTO_UINT32,     [PROTOBUF_C_TYPE_FIXED32] = PROTO_FIXED32,
      [PROTOBUF_C_TYPE_UINT64] = PROTO_UINT64,     [PROTOBUF_C_TYPE_FIXED64] = PROTO_FIXED64,
      [PROTOBUF_C_TYPE_FLOAT] = PROTO_FLOAT,       [PROTOBUF_C_TYPE_DOUBLE] = PROTO_DOUBLE,
      [PROTOBUF_C_TYPE_BOOL] = PROTO_BOOL,         [PROTOBUF_C_TYPE_ENUM] = PROTO_ENUM,
      [PROTOBUF_C_TYPE_STRING] = PROTO_STRING,     [PROTOBUF_C_TYPE_BYTES] = PROTO_BYTES,
      [PROTOBUF_C_TYPE_MESSAGE] = PROTO_MESSAGE};
  return of[t];
}

weft_err weft__descriptor_find_local(const char *message, proto_message *out) {
  static const ProtobufCMessageDescriptor *const roots[] = {
      &tensorflow__example__descriptor,      &tensorflow__sequence_example__descriptor,
      &tensorflow__event__descriptor,        &tensorflow__meta_graph_def__descriptor,
      &tensorflow__run_metadata__descriptor, &tensorflow__config_proto__descriptor,
      &tensorflow__run_options__descriptor};
  const ProtobufCMessageDescriptor *d = NULL;
  for (size_t i = 0; i < sizeof roots / sizeof *roots && !d; i++) d = search_local(roots[i], message, 0);
  if (!d) return weft__fail(WEFT_NOT_FOUND, "no message type %s", message);
  for (unsigned i = 0; i < d->n_fields; i++) {
    const ProtobufCFieldDescriptor *from = &d->fields[i];
    proto_field *f = NULL;
    WEFT_TRY(descriptor_grow(out, &f));
    f->number = from->id;
    f->type = local_type(from->type);
    f->repeated = from->label == PROTOBUF_C_LABEL_REPEATED;
    f->packed = f->repeated && f->type != PROTO_STRING && f->type != PROTO_BYTES && f->type != PROTO_MESSAGE;
    f->name = weft__strndup(from->name, strlen(from->name));
    f->fallback = weft__strndup("", 0);
    if (!f->name || !f->fallback) return WEFT_OOM;
  }
  return WEFT_OK;
}
