/* tensor_proto.c - TensorProto to tensor and back.
 *
 * TensorFlow has several encodings: raw bytes, one list per family of types, and strings as lengths and bytes inside
 * tensor_content.  A list may be too short (its last value fills the rest) or too long (the rest is ignored).  Sizes
 * are checked before memory is allocated, because a message of a few bytes may claim a shape of any size. */
#include "tensor/tensor_proto.h"
#include "base/arena.h"
#include "base/block.h"
#include "base/cast.h"
#include "tensor/small_types.h"
#include <string.h>

typedef Tensorflow__TensorProto proto_t;

/* ---- shapes ---- */

weft_err weft__shape_from_proto(shape *out, const Tensorflow__TensorShapeProto *proto) {
  *out = SHAPE_UNKNOWN;
  if (!proto) {
    *out = SHAPE_SCALAR;
    return WEFT_OK;
  }
  if (proto->unknown_rank) {
    if (proto->n_dim > 0)
      return weft__fail(WEFT_INVALID_ARGUMENT, "An unknown shape must not have any dimensions set, got %zu",
                        proto->n_dim);
    return WEFT_OK;
  }
  if (proto->n_dim > WEFT_MAX_RANK)
    return weft__fail(WEFT_UNIMPLEMENTED, "A shape of rank %zu: at most %d dimensions are supported", proto->n_dim,
                      WEFT_MAX_RANK);
  shape made = {.rank = weft__int_sat(proto->n_dim)};
  for (int i = 0; i < made.rank; i++) {
    made.dim[i] = proto->dim[i]->size;
    if (made.dim[i] < -1)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Shape dimension %d is %lld, must be >= -1", i, (long long)made.dim[i]);
  }
  if (weft__shape_count(&made) == -2)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Shape %s is too large: it %s", weft__shape_text(&made),
                      weft__shape_excess(&made));
  *out = made;
  return WEFT_OK;
}

weft_err weft__shape_to_proto(Tensorflow__TensorShapeProto *proto, const shape *s, arena *a) {
  tensorflow__tensor_shape_proto__init(proto);
  if (s->rank < 0) {
    proto->unknown_rank = true;
    return WEFT_OK;
  }
  size_t n = (size_t)s->rank;
  Tensorflow__TensorShapeProtoDim *dims = weft__arena_alloc(a, n * sizeof *dims);
  proto->dim = weft__arena_alloc(a, n * sizeof *proto->dim);
  if (!dims || !proto->dim) return WEFT_RESOURCE_EXHAUSTED;
  for (size_t i = 0; i < n; i++) {
    tensorflow__tensor_shape_proto_dim__init(&dims[i]);
    dims[i].size = s->dim[i];
    proto->dim[i] = &dims[i];
  }
  proto->n_dim = n;
  return WEFT_OK;
}

/* ---- reading ---- */

/* Reads a varint of at most 32 bits at *at; false if it runs past the end or is too long. */
static bool proto_read_length(const uint8_t **at, const uint8_t *end, uint32_t *out) {
  uint64_t value = 0;
  for (int shift = 0; shift < 35 && *at < end; shift += 7) {
    uint8_t byte = *(*at)++;
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *out = (uint32_t)value;
      return value <= UINT32_MAX;
    }
  }
  return false;
}

/* Reads n lengths and then the bytes of all strings; the total must match exactly. */
static weft_err proto_read_strings(weft_tensor *t, const uint8_t *content, size_t size) {
  const uint8_t *end = content + size, *at = content;
  int64_t n = weft__tensor_count(t);
  uint64_t total = 0;
  uint32_t length;
  for (int64_t i = 0; i < n; i++) {
    if (!proto_read_length(&at, end, &length))
      return weft__fail(WEFT_INVALID_ARGUMENT, "String lengths in tensor_content end after %lld of %lld", (long long)i,
                        (long long)n);
    total += length;
  }
  if (total != (uint64_t)(end - at))
    return weft__fail(WEFT_INVALID_ARGUMENT, "tensor_content holds %lld bytes of strings, the lengths add up to %llu",
                      (long long)(end - at), (unsigned long long)total);
  const uint8_t *lengths = content;
  for (int64_t i = 0; i < n; i++) {
    proto_read_length(&lengths, end, &length);
    WEFT_TRY(weft__str_set(&TENSOR_DATA(t, str)[i], at, length));
    at += length;
  }
  return WEFT_OK;
}

static weft_err proto_read_content(weft_tensor *t, const proto_t *proto) {
  if (t->dtype == WEFT_STRING) return proto_read_strings(t, proto->tensor_content.data, proto->tensor_content.len);
  if (!weft__dtype_is_plain(t->dtype)) /* its elements are pointers */
    return weft__fail(WEFT_INVALID_ARGUMENT, "tensor_content of a %s tensor of shape %s: this type has no raw bytes",
                      weft__dtype_name(t->dtype), weft__shape_text(&t->shape));
  size_t want = weft__tensor_bytes(t), have = proto->tensor_content.len;
  if (have != want)
    return weft__fail(WEFT_INVALID_ARGUMENT, "tensor_content of a %s tensor of shape %s has %zu bytes, want %zu",
                      weft__dtype_name(t->dtype), weft__shape_text(&t->shape), have, want);
  if (t->dtype == WEFT_BOOL)
    for (size_t i = 0; i < have; i++) TENSOR_DATA(t, bool)[i] = proto->tensor_content.data[i] != 0;
  else if (t->dtype == WEFT_INT4 || t->dtype == WEFT_UINT4)
    for (size_t i = 0; i < have; i++) TENSOR_DATA(t, uint8_t)[i] = weft__int4_from_int(proto->tensor_content.data[i]);
  else
    memcpy(t->data, proto->tensor_content.data, have);
  return WEFT_OK;
}

/* Repeats the last of `have` elements to the end; with none, all are zero. */
static weft_err proto_repeat_last(weft_tensor *t, int64_t have) {
  int64_t n = weft__tensor_count(t);
  size_t element = weft__dtype_size(t->dtype);
  char *data = t->data;
  if (have >= n) return WEFT_OK;
  if (have > 0)
    return weft__elements_fill(t->dtype, data + (size_t)have * element, data + (size_t)(have - 1) * element, n - have);
  if (weft__dtype_is_plain(t->dtype)) memset(data, 0, (size_t)n * element);
  return WEFT_OK;
}

/* Returns how many values of a list tensor t uses. */
static int64_t proto_value_count(const weft_tensor *t, size_t offered) {
  int64_t n = weft__tensor_count(t);
  return offered < (uint64_t)n ? (int64_t)offered : n;
}

/* TensorFlow stores small integers in int_val and the bits of 16-bit floats in half_val.  Narrowing is modulo 2^n. */
static weft_err proto_read_values(weft_tensor *t, const proto_t *p) {
  int64_t n = 0;
  switch (t->dtype) {
#define COPY(T, field)                                                                                                 \
  n = proto_value_count(t, p->n_##field);                                                                              \
  for (int64_t i = 0; i < n; i++) TENSOR_DATA(t, T)[i] = (T)p->field[i];                                               \
  break
  case WEFT_FLOAT: COPY(float, float_val);
  case WEFT_DOUBLE: COPY(double, double_val);
  case WEFT_INT32:
  case WEFT_QINT32: COPY(int32_t, int_val);
  case WEFT_INT16:
  case WEFT_QINT16: COPY(int16_t, int_val);
  case WEFT_UINT16:
  case WEFT_QUINT16: COPY(uint16_t, int_val);
  case WEFT_INT8:
  case WEFT_QINT8: COPY(int8_t, int_val);
  case WEFT_UINT8:
  case WEFT_QUINT8: COPY(uint8_t, int_val);
  case WEFT_INT64: COPY(int64_t, int64_val);
  case WEFT_UINT32: COPY(uint32_t, uint32_val);
  case WEFT_UINT64: COPY(uint64_t, uint64_val);
  case WEFT_HALF:
  case WEFT_BFLOAT16: COPY(uint16_t, half_val);
#undef COPY
  case WEFT_INT4:
  case WEFT_UINT4:
    n = proto_value_count(t, p->n_int_val);
    for (int64_t i = 0; i < n; i++) TENSOR_DATA(t, uint8_t)[i] = weft__int4_from_int(p->int_val[i]);
    break;
  case WEFT_FLOAT8_E5M2:
  case WEFT_FLOAT8_E4M3FN:
    n = proto_value_count(t, p->float8_val.len);
    if (n > 0) memcpy(t->data, p->float8_val.data, (size_t)n);
    break;
  case WEFT_BOOL:
    n = proto_value_count(t, p->n_bool_val);
    for (int64_t i = 0; i < n; i++) TENSOR_DATA(t, bool)[i] = p->bool_val[i] != 0;
    break;
  case WEFT_COMPLEX64:
    n = proto_value_count(t, p->n_scomplex_val / 2);
    if (n > 0) memcpy(t->data, p->scomplex_val, (size_t)n * sizeof(float complex));
    break;
  case WEFT_COMPLEX128:
    n = proto_value_count(t, p->n_dcomplex_val / 2);
    if (n > 0) memcpy(t->data, p->dcomplex_val, (size_t)n * sizeof(double complex));
    break;
  case WEFT_STRING:
    n = proto_value_count(t, p->n_string_val);
    for (int64_t i = 0; i < n; i++)
      WEFT_TRY(weft__str_set(&TENSOR_DATA(t, str)[i], p->string_val[i].data, p->string_val[i].len));
    break;
  default:
    return weft__fail(WEFT_UNIMPLEMENTED, "A TensorProto of type %s cannot be read as a value",
                      weft__dtype_name(t->dtype));
  }
  return proto_repeat_last(t, n);
}

/* Refuses sizes that the raw content contradicts or that the machine cannot hold, before memory is allocated. */
static weft_err proto_check_size(const proto_t *proto, weft_dtype dtype, const shape *s) {
  int64_t count = weft__shape_count(s);
  size_t bytes;
  if (!weft__shape_known(s))
    return weft__fail(WEFT_INVALID_ARGUMENT, "A TensorProto's shape must be fully known, got %s", weft__shape_text(s));
  bool huge = __builtin_mul_overflow((size_t)count, weft__dtype_size(dtype), &bytes);
  size_t have = proto->tensor_content.len;
  if (have > 0 && dtype == WEFT_STRING && (size_t)count > have) /* every string takes at least its length's byte */
    return weft__fail(WEFT_INVALID_ARGUMENT, "%zu bytes of tensor_content cannot hold the %lld strings of shape %s",
                      have, (long long)count, weft__shape_text(s));
  if (have > 0 && weft__dtype_is_plain(dtype) && (huge || bytes != have))
    return weft__fail(WEFT_INVALID_ARGUMENT, "tensor_content of a %s tensor of shape %s has %zu bytes, want %zu",
                      weft__dtype_name(dtype), weft__shape_text(s), have, bytes);
  if (huge || bytes > weft__block_limit() / 2)
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "A %s tensor of shape %s does not fit this machine's memory",
                      weft__dtype_name(dtype), weft__shape_text(s));
  return WEFT_OK;
}

weft_err weft__tensor_from_proto(weft_tensor **out, const Tensorflow__TensorProto *proto) {
  *out = NULL;
  weft_dtype dtype = (weft_dtype)proto->dtype;
  shape s;
  if (!weft__dtype_is_known(proto->dtype))
    return weft__fail(WEFT_INVALID_ARGUMENT, "A TensorProto has the unknown type %d", (int)proto->dtype);
  WEFT_TRY(weft__shape_from_proto(&s, proto->tensor_shape));
  WEFT_TRY(proto_check_size(proto, dtype, &s));
  weft_tensor *t;
  WEFT_TRY(weft__tensor_create(&t, dtype, &s));
  weft_err err = WEFT_OK;
  if (weft__tensor_count(t) > 0)
    err = proto->tensor_content.len > 0 ? proto_read_content(t, proto) : proto_read_values(t, proto);
  if (err == WEFT_OK)
    *out = t;
  else
    weft_tensor_destroy(t);
  return err;
}

/* ---- writing ---- */

static weft_err proto_write_strings(proto_t *proto, const weft_tensor *t, arena *a) {
  size_t n = (size_t)weft__tensor_count(t);
  proto->string_val = weft__arena_alloc(a, n * sizeof *proto->string_val);
  if (!proto->string_val) return WEFT_RESOURCE_EXHAUSTED;
  for (size_t i = 0; i < n; i++) {
    const str *s = &TENSOR_DATA(t, str)[i];
    uint8_t *copy = s->size ? weft__arena_copy(a, s->data, s->size) : NULL;
    if (s->size && !copy) return WEFT_RESOURCE_EXHAUSTED;
    proto->string_val[i] = (ProtobufCBinaryData){s->size, copy};
  }
  proto->n_string_val = n;
  return WEFT_OK;
}

weft_err weft__tensor_to_proto(Tensorflow__TensorProto *proto, const weft_tensor *t, arena *a) {
  tensorflow__tensor_proto__init(proto);
  proto->dtype = (int32_t)t->dtype;
  proto->tensor_shape = weft__arena_alloc(a, sizeof *proto->tensor_shape);
  if (!proto->tensor_shape) return WEFT_RESOURCE_EXHAUSTED;
  WEFT_TRY(weft__shape_to_proto(proto->tensor_shape, &t->shape, a));
  if (t->dtype == WEFT_STRING) return proto_write_strings(proto, t, a);
  if (!weft__dtype_is_plain(t->dtype))
    return weft__fail(WEFT_UNIMPLEMENTED, "A %s tensor cannot be written as a TensorProto", weft__dtype_name(t->dtype));
  proto->tensor_content = (ProtobufCBinaryData){weft__tensor_bytes(t), t->data};
  return WEFT_OK;
}
