/* serialize_tensor.c - SerializeTensor and ParseTensor: tensors as serialized TensorProtos. */
#include "base/alloc.h"
#include "base/arena.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "proto/scan.h"
#include "tensor/tensor_proto.h"

static weft_err serialize_tensor_cpu(kernel *k) {
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  arena a = {0};
  Tensorflow__TensorProto proto = TENSORFLOW__TENSOR_PROTO__INIT;
  weft_err err = weft__tensor_to_proto(&proto, k->in[0], &a);
  if (err == WEFT_OK) {
    str *s = out->data;
    const size_t size = tensorflow__tensor_proto__get_packed_size(&proto);
    uint8_t *packed = weft__alloc(size + 1);
    if (packed)
      err = weft__str_set(s, packed, tensorflow__tensor_proto__pack(&proto, packed));
    else
      err = WEFT_OOM;
    weft__free(packed);
  }
  weft__arena_finish(&a);
  return err;
}

static weft_err check_parsed(const kernel *k, const weft_tensor *t) {
  const weft_dtype wanted = weft__node_type(k->node, "out_type");
  if (t->dtype == wanted) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Type mismatch between parsed tensor (%s) and dtype (%s)",
                           weft__dtype_short(t->dtype), weft__dtype_short(wanted));
}

static weft_err parse_cpu(kernel *k) {
  if (k->in[0]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected `serialized` to be a scalar, got shape: %s",
                             weft__shape_text(&k->in[0]->shape));
  const str *s = k->in[0]->data;
  ProtobufCMessage *proto = NULL;
  if (weft__proto_unpack(&proto, &tensorflow__tensor_proto__descriptor, s->size ? s->data : "", s->size) != WEFT_OK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Could not parse `serialized` as TensorProto: %s",
                             weft__error_message());
  weft_tensor *t = NULL;
  weft_err err = weft__tensor_from_proto(&t, (const Tensorflow__TensorProto *)proto);
  protobuf_c_message_free_unpacked(proto, NULL);
  if (err == WEFT_OK) err = check_parsed(k, t);
  if (err == WEFT_OK) err = weft__out_share(k, 0, t);
  weft_tensor_destroy(t);
  return err;
}

static const op_case serialize_cases[] = {
    {"f32[2,2] 1 2 3 4", NULL, NULL, 0},
    {"str[2] \"a\" \"bc\"", NULL, NULL, CASE_FIXED_TYPE},
    {"bool[2] true false", NULL, NULL, CASE_FIXED_TYPE},
    {"i64[0]", NULL, NULL, 0},
    {0},
};
static const op_case parse_cases[] = {
    {"str[] \"zz\"", "error INVALID_ARGUMENT", "out_type=float", CASE_FIXED_TYPE},
    {"str[1] \"\"", "error INVALID_ARGUMENT", "out_type=float", CASE_FIXED_TYPE},
    {0},
};

OPS(serialize_tensor) = {
    {"SerializeTensor(tensor:T) -> (serialized:string) | T:type", "A tensor as a serialized TensorProto.",
     .infer = weft__infer_scalar, .cpu = serialize_tensor_cpu, .no_grad = true, .cases = serialize_cases},
    {"ParseTensor(serialized:string) -> (output:out_type) | out_type:type", "The tensor in a serialized TensorProto.",
     .flags = OP_NO_FOLD, .infer = weft__infer_none, .cpu = parse_cpu, .no_grad = true, .cases = parse_cases,
     .narrow = NARROW_ALL},
    {0},
};
