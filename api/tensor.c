/* tensor.c - the public functions of tensors: creating them from the program's memory and reading them. */
#include "api/argument.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "proto/scan.h"
#include "state/resource.h"
#include "tensor/tensor_proto.h"
#include <string.h>

static weft_err known_shape(shape *s, weft_dtype dtype, int rank, const int64_t *dims) {
  if (weft__dtype_size(dtype) == 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%d is not a type a tensor can have", (int)dtype);
  WEFT_TRY(weft__shape_make(s, rank, dims));
  if (!weft__shape_known(s) || weft__shape_count(s) < 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a tensor cannot have the shape %s", weft__shape_text(s));
  return WEFT_OK;
}

weft_err weft_tensor_create(weft_tensor **out, weft_dtype dtype, int rank, const int64_t *dims, const void *data) {
  API_NEED(out);
  API_ARRAY(rank, dims);

  shape s;
  WEFT_TRY(known_shape(&s, dtype, rank, dims));
  if (data && !weft__dtype_is_plain(dtype))
    return weft__fail(WEFT_INVALID_ARGUMENT, "elements of type %s are set one by one", weft__dtype_name(dtype));
  WEFT_TRY(weft__tensor_create(out, dtype, &s));
  size_t bytes = weft__tensor_bytes(*out);
  if (data && bytes)
    memcpy((*out)->data, data, bytes);
  else if (bytes && weft__dtype_is_plain(dtype))
    memset((*out)->data, 0, bytes);
  return WEFT_OK;
}

weft_err weft_tensor_adopt(weft_tensor **out, weft_dtype dtype, int rank, const int64_t *dims, void *data, size_t size,
                           void (*release)(void *arg), void *arg) {
  API_NEED(out);
  API_ARRAY(rank, dims);
  API_ITEMS(size, data);

  shape s;
  WEFT_TRY(known_shape(&s, dtype, rank, dims));
  if (!weft__dtype_is_plain(dtype) || size != (size_t)weft__shape_count(&s) * weft__dtype_size(dtype))
    return weft__fail(WEFT_INVALID_ARGUMENT, "%zu bytes are not a %s tensor of shape %s", size, weft__dtype_name(dtype),
                      weft__shape_text(&s));
  buffer *b;
  WEFT_TRY(weft__buffer_adopt(&b, dtype, data, size, release, arg));
  weft_tensor *t = weft__alloc_zero(1, sizeof *t);
  if (!t) {
    b->release = NULL; /* the caller keeps the memory */
    weft__free(b);
    return WEFT_OOM;
  }
  atomic_init(&t->refs, 1);
  t->dtype = dtype;
  t->shape = s;
  t->buf = b;
  t->data = data;
  *out = t;
  return WEFT_OK;
}

weft_err weft_tensor_borrow(weft_tensor **out, weft_dtype dtype, int rank, const int64_t *dims, void *data,
                            size_t size) {
  API_NEED(out);
  API_ARRAY(rank, dims);
  API_ITEMS(size, data);

  WEFT_TRY(weft_tensor_adopt(out, dtype, rank, dims, data, size, NULL, NULL));
  (*out)->buf->transient = true; /* like memory of a step: whatever outlives the step copies it */
  return WEFT_OK;
}

bool weft_tensor_shared(const weft_tensor *t) {
  API_NEED_OR(t, false);
  return t->buf && !weft__tensor_writable(t);
}

weft_err weft_tensor_parse(weft_tensor **out, const void *proto, size_t size) {
  API_NEED(out);
  API_ITEMS(size, proto);

  ProtobufCMessage *m;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__tensor_proto__descriptor, proto, size));
  weft_err err = weft__tensor_from_proto(out, (const Tensorflow__TensorProto *)m);
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

/* Makes *p the message of a resource: the names by which its table has it. */
static weft_err handle_to_proto(Tensorflow__TensorProto *p, const weft_tensor *t, arena *a) {
  const handle *h = weft__handle_of(t);
  Tensorflow__ResourceHandleProto *r = weft__arena_alloc(a, sizeof *r);
  tensorflow__tensor_proto__init(p);
  p->dtype = WEFT_RESOURCE;
  p->resource_handle_val = weft__arena_alloc(a, sizeof *p->resource_handle_val);
  if (!r || !p->resource_handle_val) return WEFT_OOM;
  tensorflow__resource_handle_proto__init(r);
  if (h) r->container = h->container, r->name = h->name;
  if (h && h->target) r->maybe_type_name = (char *)(uintptr_t)h->target->type;
  p->resource_handle_val[0] = r, p->n_resource_handle_val = 1;
  return WEFT_OK;
}

weft_err weft_tensor_serialize(void **out, size_t *size, const weft_tensor *t) {
  API_NEED(out);
  API_NEED(size);
  API_NEED(t);

  arena a = {0};
  Tensorflow__TensorProto p = TENSORFLOW__TENSOR_PROTO__INIT;
  weft_err err = t->dtype == WEFT_RESOURCE ? handle_to_proto(&p, t, &a) : weft__tensor_to_proto(&p, t, &a);
  if (!err) {
    *size = tensorflow__tensor_proto__get_packed_size(&p);
    *out = weft__alloc(*size + 1);
    err = *out ? WEFT_OK : WEFT_OOM;
    if (!err) tensorflow__tensor_proto__pack(&p, *out);
  }
  weft__arena_finish(&a);
  return err;
}

weft_dtype weft_tensor_dtype(const weft_tensor *t) {
  API_NEED_OR(t, WEFT_INVALID);
  return t->dtype;
}
int weft_tensor_rank(const weft_tensor *t) {
  API_NEED_OR(t, 0);
  return t->shape.rank;
}
const int64_t *weft_tensor_dims(const weft_tensor *t) {
  API_NEED_OR(t, NULL);
  return t->shape.dim;
}
int64_t weft_tensor_count(const weft_tensor *t) {
  API_NEED_OR(t, 0);
  return weft__tensor_count(t);
}
size_t weft_tensor_bytes(const weft_tensor *t) {
  API_NEED_OR(t, 0);
  return weft__tensor_bytes(t);
}
void *weft_tensor_data(const weft_tensor *t) {
  API_NEED_OR(t, NULL);
  return weft__dtype_is_plain(t->dtype) ? t->data : NULL;
}

static weft_err string_element(const weft_tensor *t, int64_t i, str **out) {
  if (t->dtype != WEFT_STRING || i < 0 || i >= weft__tensor_count(t))
    return weft__fail(WEFT_INVALID_ARGUMENT, "a %s tensor of shape %s has no string %lld", weft__dtype_name(t->dtype),
                      weft__shape_text(&t->shape), (long long)i);
  *out = &TENSOR_DATA(t, str)[i];
  return WEFT_OK;
}

weft_err weft_tensor_string(const weft_tensor *t, int64_t i, const char **data, size_t *size) {
  API_NEED(t);
  API_NEED(data);
  API_NEED(size);

  str *s;
  WEFT_TRY(string_element(t, i, &s));
  *data = s->size ? s->data : "";
  *size = s->size;
  return WEFT_OK;
}

weft_err weft_tensor_set_string(weft_tensor *t, int64_t i, const char *data, size_t size) {
  API_NEED(t);

  str *s;
  WEFT_TRY(string_element(t, i, &s));
  return weft__str_set(s, data, size);
}

const char *weft_dtype_name(weft_dtype dtype) { return weft__dtype_name(dtype); }
size_t weft_dtype_size(weft_dtype dtype) { return weft__dtype_is_plain(dtype) ? weft__dtype_size(dtype) : 0; }
