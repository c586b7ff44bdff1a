/* named_tensor.c - writes and reads NamedTensor messages without protobuf-c's copy of the tensor.
 *
 * Writing builds the inner message first, because its length precedes it.  Reading handles the usual form, {name,
 * tensor} in this order, directly from the message; protobuf-c reads all other forms. */
#include "cluster/named_tensor.h"

#include "base/alloc.h"
#include "base/array.h"
#include "net/message_reader.h"
#include "rpc.pb-c.h"
#include "tensor/tensor_proto.h"
#include <string.h>

weft_err weft__message_add_named_tensor(message *m, int field, const char *name, const weft_tensor *t) {
  message inner = {0};
  weft_err err = weft__message_add_string(&inner, 1, name, strlen(name));
  if (!err) err = weft__message_add_tensor(&inner, 2, t);
  if (!err) err = weft__message_add_message(m, field, &inner);
  weft__message_finish(&inner);
  return err;
}

/* ---- reading ---- */

void weft__named_tensors_finish(named_tensor_list *l) {
  for (int i = 0; i < l->n; i++) {
    weft__free(l->item[i].name);
    weft_tensor_destroy(l->item[i].tensor);
  }
  weft__free(l->item);
  *l = (named_tensor_list){0};
}

/* Reads a message that is {name, tensor} and nothing else.  Returns false if it has another form; p and *out may have
 * changed then. */
static bool named_tensor_read_usual(message_reader *p, named_tensor *out, weft_err *err) {
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

static weft_err named_tensor_read_any(message_reader *p, size_t length, named_tensor *out) {
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

static weft_err named_tensor_read(message_reader *p, size_t length, named_tensor *out) {
  message_reader usual = *p;
  weft_err err = WEFT_OK;
  (void)weft__message_reader_enter(&usual, length);
  if (named_tensor_read_usual(&usual, out, &err)) {
    weft__message_reader_skip(p, length);
    return err;
  }
  weft__free(out->name);
  *out = (named_tensor){0};
  return named_tensor_read_any(p, length, out);
}

static named_tensor *named_tensor_list_add(named_tensor_list *l) {
  if (WEFT_ARRAY_RESERVE(l->item, l->capacity, l->n + 1)) return NULL;
  l->item[l->n] = (named_tensor){0};
  return &l->item[l->n++];
}

weft_err weft__named_tensors_read(named_tensor_list *out, message *m, int field) {
  message_reader p = {.m = m, .left = m->size};
  *out = (named_tensor_list){0};
  weft_err err = WEFT_OK;
  while (p.left > 0 && !err) {
    uint64_t tag;
    size_t length;
    named_tensor *n;
    if (!weft__message_reader_field(&p, &tag, &length))
      err = weft__fail(WEFT_INVALID_ARGUMENT, "a message of %zu bytes is malformed", m->size);
    else if (tag != ((uint64_t)field << 3 | 2))
      weft__message_reader_skip(&p, length);
    else
      err = (n = named_tensor_list_add(out)) ? named_tensor_read(&p, length, n) : WEFT_OOM;
  }
  if (err) weft__named_tensors_finish(out);
  return err;
}
