/* named_tensor.c - written: the inner message is made first, because its length stands before it.  Read: the usual form where
 * it lies, any other through protobuf-c. */
#include "cluster/named_tensor.h"

#include "base/alloc.h"
#include "net/message_reader.h"
#include "rpc.pb-c.h"
#include "tensor/tensor_proto.h"
#include <string.h>

weft_err weft__message_add_named(message *m, int field, const char *name, const weft_tensor *t) {
  message inner = {0};
  weft_err err = weft__message_add_string(&inner, 1, name, strlen(name));
  if (!err) err = weft__message_add_tensor(&inner, 2, t);
  if (!err) err = weft__message_add_message(m, field, &inner);
  weft__message_finish(&inner);
  return err;
}

/* ---- reading ---- */

void weft__named_finish(named_list *l) {
  for (int i = 0; i < l->n; i++) {
    weft__free(l->item[i].name);
    weft_tensor_destroy(l->item[i].tensor);
  }
  weft__free(l->item);
  *l = (named_list){0};
}

/* {name, tensor} and no more; false: not in this form. */
static bool read_usual(message_reader *p, named *out, weft_err *err) {
  const uint64_t name_tag = 1 << 3 | 2, tensor_tag = 2 << 3 | 2;
  uint64_t tag;
  size_t length;
  if (!weft__message_reader_field(p, &tag, &length) || tag != name_tag) return false;
  if (!(out->name = weft__alloc(length + 1))) return *err = WEFT_OOM, true;
  weft__message_reader_bytes(p, (uint8_t *)out->name, length);
  out->name[length] = 0;
  if (strlen(out->name) != length || !weft__message_reader_field(p, &tag, &length)) return false;
  return tag == tensor_tag && length == p->left && weft__message_reader_tensor(p, &out->tensor, err);
}

static weft_err read_any(message_reader *p, size_t length, named *out) {
  ProtobufCMessage *m = NULL;
  uint8_t *bytes = weft__alloc(length + 1);
  if (!bytes) return WEFT_OOM;
  weft__message_reader_bytes(p, bytes, length);
  weft_err err = weft__proto_unpack(&m, &tensorflow__named_tensor_proto__descriptor, bytes, length);
  weft__free(bytes);
  if (err) return err;
  const Tensorflow__NamedTensorProto *n = (const Tensorflow__NamedTensorProto *)m;
  if (!(out->name = weft__strdup(n->name))) err = WEFT_OOM;
  if (!err && n->tensor) err = weft__tensor_from_proto(&out->tensor, n->tensor);
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

static weft_err read_one(message_reader *p, size_t length, named *out) {
  message_reader usual = *p;
  weft_err err = WEFT_OK;
  (void)weft__message_reader_enter(&usual, length);
  if (read_usual(&usual, out, &err)) {
    weft__message_reader_skip(p, length);
    return err;
  }
  weft__free(out->name);
  *out = (named){0};
  return read_any(p, length, out);
}

static named *grow(named_list *l) {
  if (l->n == l->room) {
    int room = l->room ? 2 * l->room : 4;
    named *item = weft__realloc(l->item, sizeof *item * (size_t)room);
    if (!item) return NULL;
    l->item = item;
    l->room = room;
  }
  l->item[l->n] = (named){0};
  return &l->item[l->n++];
}

weft_err weft__named_read(named_list *out, message *m, int field) {
  message_reader p = {.m = m, .left = m->size};
  *out = (named_list){0};
  weft_err err = WEFT_OK;
  while (p.left > 0 && !err) {
    uint64_t tag;
    size_t length;
    named *n;
    if (!weft__message_reader_field(&p, &tag, &length))
      err = weft__fail(WEFT_INVALID_ARGUMENT, "a message of %zu bytes is malformed", m->size);
    else if (tag != ((uint64_t)field << 3 | 2))
      weft__message_reader_skip(&p, length);
    else
      err = (n = grow(out)) ? read_one(&p, length, n) : WEFT_OOM;
  }
  if (err) weft__named_finish(out);
  return err;
}
