/* variant_proto.c - reads TensorFlow's coding of variants.
 *
 * The metadata of a list are numbers of variable length: how many elements have no value, the index of each of them,
 * the type, and the largest number of elements (all bits set: no limit); the shape of an element follows.  The values
 * of the other elements are the variant's tensors, in order. */
#include "state/variant_proto.h"

#include "base/cast.h"
#include "proto/scan.h"
#include "state/held_tensors.h"
#include "state/tensor_list.h"
#include <string.h>

typedef Tensorflow__VariantTensorDataProto variant_message;
typedef struct reader {
  const uint8_t *at, *end;
} reader;

static bool read_number(reader *r, uint64_t *out) {
  *out = 0;
  for (int shift = 0; r->at < r->end && shift < 64; shift += 7) {
    const uint8_t b = *r->at++;
    *out |= (uint64_t)(b & 0x7f) << shift;
    if (b < 0x80) return true;
  }
  return false;
}

static weft_err list_fail(const char *what) {
  return weft__fail(WEFT_INVALID_ARGUMENT, "the tensor list of a constant is malformed: %s", what);
}

static weft_err element_read(weft_tensor *slot, const Tensorflow__TensorProto *p, const tensor_list *l) {
  weft_tensor *t = NULL;
  WEFT_TRY(p->dtype == WEFT_VARIANT ? weft__variants_from_proto(&t, p) : weft__tensor_from_proto(&t, p));
  shape both;
  const bool fits = t->dtype == l->dtype && weft__shape_merge(&both, &t->shape, &l->element) == WEFT_OK;
  if (fits) weft__tensor_share(slot, t);
  weft_tensor_destroy(t);
  return fits ? WEFT_OK : list_fail("an element has another type or shape than the list says");
}

/* Fills the elements with a value, which are those whose index is not among the `missing` at `r`. */
static weft_err list_fill(tensor_list *l, reader r, uint64_t missing, const variant_message *p) {
  uint64_t next = UINT64_MAX;
  size_t taken = 0;
  if (missing && !read_number(&r, &next)) return list_fail("an index is cut short");
  for (uint64_t i = 0; i < (uint64_t)l->n; i++) {
    if (i != next) {
      if (taken == p->n_tensors) return list_fail("an index is not among its elements");
      WEFT_TRY(element_read(&l->t[i], p->tensors[taken++], l));
    } else if (--missing == 0) {
      next = UINT64_MAX;
    } else if (!read_number(&r, &next)) {
      return list_fail("an index is cut short");
    }
  }
  return taken == p->n_tensors ? WEFT_OK : list_fail("an index is not among its elements");
}

static weft_err list_read(resource **out, const variant_message *p) {
  reader r = {p->metadata.data, p->metadata.data + p->metadata.len};
  uint64_t missing, skipped, dtype, max;
  if (!read_number(&r, &missing) || missing > p->metadata.len)
    return list_fail("the number of elements without a value");
  const reader indices = r;
  for (uint64_t i = 0; i < missing; i++)
    if (!read_number(&r, &skipped)) return list_fail("an index is cut short");
  if (!read_number(&r, &dtype) || !read_number(&r, &max) || dtype > INT32_MAX || !weft__dtype_is_known((int32_t)dtype))
    return list_fail("its type or its largest size");
  ProtobufCMessage *m = NULL;
  shape element;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__tensor_shape_proto__descriptor, r.at, (size_t)(r.end - r.at)));
  weft_err err = weft__shape_from_proto(&element, (const Tensorflow__TensorShapeProto *)m);
  protobuf_c_message_free_unpacked(m, NULL);
  tensor_list *l = NULL;
  if (!err) err = weft__tensor_list_create(&l, (weft_dtype)dtype, &element, (int64_t)(missing + p->n_tensors));
  if (err) return err;
  l->max = (int64_t)max;
  err = list_fill(l, indices, missing, p);
  if (err)
    weft__object_release(&l->base.base);
  else
    *out = &l->base;
  return err;
}

static weft_err tensor_read(resource **out, const variant_message *p) {
  weft_tensor *t = NULL;
  held_tensors *v = NULL;
  if (p->n_tensors != 1)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a variant of a constant that holds a tensor has %zu", p->n_tensors);
  WEFT_TRY(weft__tensor_from_proto(&t, p->tensors[0]));
  const weft_err err = weft__held_tensors_create(&v, HELD_TENSOR, 1);
  if (!err) weft__tensor_share(&v->t[0], t), *out = &v->base;
  weft_tensor_destroy(t);
  return err;
}

static weft_err variant_read(resource **out, const variant_message *p) {
  const char *type = p->type_name ? p->type_name : "";
  if (strcmp(type, "tensorflow::TensorList") == 0) return list_read(out, p);
  if (strcmp(type, "tensorflow::Tensor") == 0) return tensor_read(out, p);
  return weft__fail(WEFT_UNIMPLEMENTED,
                    "a constant cannot hold a variant of type '%s': only lists of tensors, and tensors", type);
}

/* Reads the elements from tensor_content: the length of each, and then their messages. */
static weft_err content_read(weft_tensor *t, ProtobufCBinaryData content) {
  reader lengths = {content.data, content.data + content.len}, bytes = lengths;
  const int64_t n = weft__tensor_count(t);
  uint64_t size;
  for (int64_t i = 0; i < n; i++)
    if (!read_number(&bytes, &size)) return weft__fail(WEFT_INVALID_ARGUMENT, "a constant's variants have no lengths");
  for (int64_t i = 0; i < n; i++) {
    ProtobufCMessage *m = NULL;
    resource *v = NULL;
    if (!read_number(&lengths, &size) || size > (uint64_t)(bytes.end - bytes.at))
      return weft__fail(WEFT_INVALID_ARGUMENT, "a constant's variants are cut short");
    WEFT_TRY(weft__proto_unpack(&m, &tensorflow__variant_tensor_data_proto__descriptor, bytes.at, (size_t)size));
    bytes.at += size;
    const weft_err err = variant_read(&v, (const variant_message *)m);
    protobuf_c_message_free_unpacked(m, NULL);
    if (err) return err;
    TENSOR_DATA(t, object *)[i] = &v->base;
  }
  return WEFT_OK;
}

static weft_err values_read(weft_tensor *t, const Tensorflow__TensorProto *p) {
  const int64_t n = weft__tensor_count(t);
  for (int64_t i = 0; i < n && (size_t)i < p->n_variant_val; i++) {
    resource *v = NULL;
    WEFT_TRY(variant_read(&v, p->variant_val[i]));
    TENSOR_DATA(t, object *)[i] = &v->base;
  }
  return WEFT_OK;
}

weft_err weft__variants_from_proto(weft_tensor **out, const Tensorflow__TensorProto *p) {
  shape s = SHAPE_SCALAR;
  weft_tensor *t = NULL;
  if (p->tensor_shape) WEFT_TRY(weft__shape_from_proto(&s, p->tensor_shape));
  const int64_t n = weft__shape_known(&s) ? weft__shape_count(&s) : -1;
  if (n < 0 || ((size_t)n > p->n_variant_val && (size_t)n > p->tensor_content.len))
    return weft__fail(WEFT_INVALID_ARGUMENT, "a constant of shape %s has %zu variants", weft__shape_text(&s),
                      p->n_variant_val);
  WEFT_TRY(weft__tensor_create(&t, WEFT_VARIANT, &s));
  const weft_err err = p->tensor_content.len ? content_read(t, p->tensor_content) : values_read(t, p);
  if (err)
    weft_tensor_destroy(t);
  else
    *out = t;
  return err;
}
