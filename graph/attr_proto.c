/* attr_proto.c - converts attributes to and from AttrValue.
 *
 * The member of a oneof is written even if it is zero, because peers rely on it (b = false must be present).  Values
 * that no op of ours reads (functions, placeholders, handles and variants in tensors, lists of mixed kinds) are kept
 * as bytes, so that they are exported unchanged. */
#include "graph/attr_proto.h"
#include "base/cast.h"
#include "tensor/tensor_proto.h"

/* A few bytes of a TensorProto may stand for any number of elements.  Up to this many bytes are accepted. */
#define EXPANSION_LIMIT ((int64_t)1 << 30)

static void *arena_take(void *a, size_t size) { return weft__arena_alloc(a, size ? size : 1); }
static void arena_keep(void *a, void *p) { (void)a, (void)p; }

ProtobufCAllocator weft__arena_allocator(arena *a) {
  return (ProtobufCAllocator){.alloc = arena_take, .free = arena_keep, .allocator_data = a};
}

static weft_err no_memory(const char *name) {
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "no memory for attribute '%s'", name);
}

/* ---- from AttrValue ---- */

static weft_err keep_opaque(attr *out, const Tensorflow__AttrValue *v, arena *a) {
  size_t size = tensorflow__attr_value__get_packed_size(v);
  uint8_t *bytes = weft__arena_alloc(a, size + 1);
  if (!bytes) return no_memory(out->name);
  tensorflow__attr_value__pack(v, bytes);
  out->kind = ATTR_OPAQUE;
  out->is_list = false;
  out->n = 0;
  out->s = (attr_str){(const char *)bytes, size};
  return WEFT_OK;
}

static bool can_hold(const Tensorflow__TensorProto *t) {
  weft_dtype type = (weft_dtype)t->dtype;
  return weft__dtype_is_known(t->dtype) && type != WEFT_RESOURCE && type != WEFT_VARIANT;
}

static weft_err read_tensor(weft_tensor **out, const Tensorflow__TensorProto *t, const char *name) {
  shape s = SHAPE_SCALAR;
  if (t->tensor_shape) WEFT_TRY(weft__shape_from_proto(&s, t->tensor_shape));
  int64_t count = weft__shape_count(&s), each = (int64_t)weft__dtype_size((weft_dtype)t->dtype);
  if (count > EXPANSION_LIMIT / each && (int64_t)t->tensor_content.len < EXPANSION_LIMIT)
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "attribute '%s': a tensor of %s elements of %s is too big for its bytes",
                      name, weft__shape_text(&s), weft__dtype_name((weft_dtype)t->dtype));
  return weft__tensor_from_proto(out, t);
}

static bool read_str(attr_str *out, const ProtobufCBinaryData *b, arena *a) {
  out->data = weft__arena_strndup(a, b->data ? (const char *)b->data : "", b->len);
  out->size = b->len;
  return out->data != NULL;
}

static weft_err read_tensors(attr *out, const Tensorflow__AttrValueListValue *l) {
  for (out->n = 0; (size_t)out->n < l->n_tensor; out->n++) {
    weft_err err = read_tensor(&out->tensors[out->n], l->tensor[out->n], out->name);
    if (err == WEFT_OK) continue;
    weft__attr_release(out);
    return err;
  }
  return WEFT_OK;
}

static weft_err read_list_items(attr *out, const Tensorflow__AttrValueListValue *l, arena *a) {
  size_t n = (size_t)out->n;
  switch (out->kind) {
  case ATTR_STRING:
    for (size_t i = 0; i < n; i++)
      if (!read_str(&out->ss[i], &l->s[i], a)) return no_memory(out->name);
    return WEFT_OK;
  case ATTR_INT: memcpy(out->is, l->i, n * sizeof *l->i); return WEFT_OK;
  case ATTR_FLOAT: memcpy(out->fs, l->f, n * sizeof *l->f); return WEFT_OK;
  case ATTR_BOOL:
    for (size_t i = 0; i < n; i++) out->bs[i] = l->b[i] != 0;
    return WEFT_OK;
  case ATTR_TYPE:
    for (size_t i = 0; i < n; i++) out->types[i] = (weft_dtype)l->type[i];
    return WEFT_OK;
  case ATTR_SHAPE:
    for (size_t i = 0; i < n; i++) WEFT_TRY(weft__shape_from_proto(&out->shapes[i], l->shape[i]));
    return WEFT_OK;
  case ATTR_TENSOR: return read_tensors(out, l);
  default: return WEFT_OK;
  }
}

static bool holdable_tensors(const Tensorflow__AttrValueListValue *l) {
  for (size_t i = 0; i < l->n_tensor; i++)
    if (!can_hold(l->tensor[i])) return false;
  return true;
}

static weft_err read_list(attr *out, const Tensorflow__AttrValue *v, arena *a) {
  const Tensorflow__AttrValueListValue *l = v->list;
  const struct {
    size_t n, each;
    attr_kind kind;
  } part[] = {
      {l->n_s, sizeof(attr_str), ATTR_STRING},
      {l->n_i, sizeof(int64_t), ATTR_INT},
      {l->n_f, sizeof(float), ATTR_FLOAT},
      {l->n_b, sizeof(bool), ATTR_BOOL},
      {l->n_type, sizeof(weft_dtype), ATTR_TYPE},
      {l->n_shape, sizeof(shape), ATTR_SHAPE},
      {l->n_tensor, sizeof(weft_tensor *), ATTR_TENSOR},
      {l->n_func, 0, ATTR_FUNC},
  };
  size_t each = 0;
  out->is_list = true;
  for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
    if (part[i].n == 0) continue;
    if (out->kind != ATTR_NONE || part[i].kind == ATTR_FUNC || part[i].n > INT32_MAX) return keep_opaque(out, v, a);
    out->kind = part[i].kind;
    out->n = weft__int_sat(part[i].n);
    each = part[i].each;
  }
  if (l->base.n_unknown_fields || !holdable_tensors(l)) return keep_opaque(out, v, a);
  if (!(out->is = weft__arena_alloc(a, (size_t)out->n * each + 1))) return no_memory(out->name);
  return read_list_items(out, l, a);
}

static weft_err read_shape(attr *out, const Tensorflow__AttrValue *v, arena *a) {
  if (!(out->shape = weft__arena_alloc(a, sizeof *out->shape))) return no_memory(out->name);
  out->kind = ATTR_SHAPE;
  return weft__shape_from_proto(out->shape, v->shape);
}

weft_err weft__attr_from_proto(attr *out, const char *name, const Tensorflow__AttrValue *v, arena *a) {
  memset(out, 0, sizeof *out);
  if (!(out->name = weft__arena_strdup(a, name))) return no_memory(name);
  if (!v) return WEFT_OK;
  switch (v->value_case) {
  case TENSORFLOW__ATTR_VALUE__VALUE_S:
    out->kind = ATTR_STRING;
    return read_str(&out->s, &v->s, a) ? WEFT_OK : no_memory(name);
  case TENSORFLOW__ATTR_VALUE__VALUE_I: out->kind = ATTR_INT, out->i = v->i; return WEFT_OK;
  case TENSORFLOW__ATTR_VALUE__VALUE_F: out->kind = ATTR_FLOAT, out->f = v->f; return WEFT_OK;
  case TENSORFLOW__ATTR_VALUE__VALUE_B: out->kind = ATTR_BOOL, out->b = v->b != 0; return WEFT_OK;
  case TENSORFLOW__ATTR_VALUE__VALUE_TYPE: out->kind = ATTR_TYPE, out->type = (weft_dtype)v->type; return WEFT_OK;
  case TENSORFLOW__ATTR_VALUE__VALUE_SHAPE: return read_shape(out, v, a);
  case TENSORFLOW__ATTR_VALUE__VALUE_TENSOR:
    if (!can_hold(v->tensor)) return keep_opaque(out, v, a);
    WEFT_TRY(read_tensor(&out->tensor, v->tensor, name));
    out->kind = ATTR_TENSOR;
    return WEFT_OK;
  case TENSORFLOW__ATTR_VALUE__VALUE_LIST: return read_list(out, v, a);
  default: return v->value_case == 0 && !v->base.n_unknown_fields ? WEFT_OK : keep_opaque(out, v, a);
  }
}

weft_err weft__attr_keep_proto(attr *out, const char *name, const Tensorflow__AttrValue *v, arena *a) {
  memset(out, 0, sizeof *out);
  if (!(out->name = weft__arena_strdup(a, name))) return no_memory(name);
  return v ? keep_opaque(out, v, a) : WEFT_OK;
}

/* ---- to AttrValue ---- */

static weft_err write_shape(Tensorflow__TensorShapeProto **out, const shape *s, arena *a) {
  if (!(*out = weft__arena_alloc(a, sizeof **out))) return no_memory("shape");
  tensorflow__tensor_shape_proto__init(*out);
  return weft__shape_to_proto(*out, s, a);
}

static weft_err write_tensor(Tensorflow__TensorProto **out, const weft_tensor *t, arena *a) {
  if (!(*out = weft__arena_alloc(a, sizeof **out))) return no_memory("tensor");
  tensorflow__tensor_proto__init(*out);
  return weft__tensor_to_proto(*out, t, a);
}

static ProtobufCBinaryData attr_proto_bytes_of(attr_str s) {
  return (ProtobufCBinaryData){.len = s.size, .data = (uint8_t *)(uintptr_t)s.data};
}

static weft_err write_items(Tensorflow__AttrValueListValue *l, const attr *in, void *items, arena *a) {
  size_t n = (size_t)in->n;
  switch (in->kind) {
  case ATTR_STRING:
    l->n_s = n, l->s = items;
    for (size_t i = 0; i < n; i++) l->s[i] = attr_proto_bytes_of(in->ss[i]);
    return WEFT_OK;
  case ATTR_INT: l->n_i = n, l->i = in->is; return WEFT_OK;
  case ATTR_FLOAT: l->n_f = n, l->f = in->fs; return WEFT_OK;
  case ATTR_BOOL:
    l->n_b = n, l->b = items;
    for (size_t i = 0; i < n; i++) l->b[i] = in->bs[i];
    return WEFT_OK;
  case ATTR_TYPE:
    l->n_type = n, l->type = items;
    for (size_t i = 0; i < n; i++) l->type[i] = (int32_t)in->types[i];
    return WEFT_OK;
  case ATTR_SHAPE:
    l->n_shape = n, l->shape = items;
    for (size_t i = 0; i < n; i++) WEFT_TRY(write_shape(&l->shape[i], &in->shapes[i], a));
    return WEFT_OK;
  case ATTR_TENSOR:
    l->n_tensor = n, l->tensor = items;
    for (size_t i = 0; i < n; i++) WEFT_TRY(write_tensor(&l->tensor[i], in->tensors[i], a));
    return WEFT_OK;
  default: return WEFT_OK;
  }
}

static weft_err write_list(Tensorflow__AttrValue *out, const attr *in, arena *a) {
  Tensorflow__AttrValueListValue *l = weft__arena_alloc(a, sizeof *l);
  /* Sized for the widest item of any kind, a ProtobufCBinaryData. */
  void *items = weft__arena_alloc(a, (size_t)in->n * sizeof(ProtobufCBinaryData) + 1);
  if (!l || !items) return no_memory(in->name ? in->name : "");
  tensorflow__attr_value_list_value__init(l);
  out->value_case = TENSORFLOW__ATTR_VALUE__VALUE_LIST;
  out->list = l;
  return write_items(l, in, items, a);
}

static weft_err write_opaque(Tensorflow__AttrValue *out, const attr *in, arena *a) {
  ProtobufCAllocator into = weft__arena_allocator(a);
  Tensorflow__AttrValue *v = tensorflow__attr_value__unpack(&into, in->s.size, (const uint8_t *)in->s.data);
  if (!v) return no_memory(in->name ? in->name : "");
  *out = *v;
  return WEFT_OK;
}

weft_err weft__attr_to_proto(Tensorflow__AttrValue *out, const attr *in, arena *a) {
  tensorflow__attr_value__init(out);
  if (in->is_list) return write_list(out, in, a);
  switch (in->kind) {
  case ATTR_NONE: return WEFT_OK;
  case ATTR_STRING:
    out->value_case = TENSORFLOW__ATTR_VALUE__VALUE_S, out->s = attr_proto_bytes_of(in->s);
    return WEFT_OK;
  case ATTR_INT: out->value_case = TENSORFLOW__ATTR_VALUE__VALUE_I, out->i = in->i; return WEFT_OK;
  case ATTR_FLOAT: out->value_case = TENSORFLOW__ATTR_VALUE__VALUE_F, out->f = in->f; return WEFT_OK;
  case ATTR_BOOL: out->value_case = TENSORFLOW__ATTR_VALUE__VALUE_B, out->b = in->b; return WEFT_OK;
  case ATTR_TYPE: out->value_case = TENSORFLOW__ATTR_VALUE__VALUE_TYPE, out->type = (int32_t)in->type; return WEFT_OK;
  case ATTR_SHAPE: out->value_case = TENSORFLOW__ATTR_VALUE__VALUE_SHAPE; return write_shape(&out->shape, in->shape, a);
  case ATTR_TENSOR:
    out->value_case = TENSORFLOW__ATTR_VALUE__VALUE_TENSOR;
    return write_tensor(&out->tensor, in->tensor, a);
  case ATTR_FUNC:
  case ATTR_OPAQUE: return write_opaque(out, in, a);
  }
  return WEFT_OK;
}
