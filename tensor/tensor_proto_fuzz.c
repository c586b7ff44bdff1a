/* tensor_proto_fuzz.c - bytes read as a TensorProto: a tensor or an error, and the way back loses nothing. */
#include "base/arena.h"
#include "proto/scan.h"
#include "tensor/tensor_proto.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read must be writable, and what was written readable. */
static void round_trip(const weft_tensor *t) {
  arena a = {0};
  Tensorflow__TensorProto proto = TENSORFLOW__TENSOR_PROTO__INIT;
  weft_tensor *again = NULL;
  if (weft__tensor_to_proto(&proto, t, &a) == WEFT_OK && weft__tensor_from_proto(&again, &proto) != WEFT_OK) abort();
  weft_tensor_destroy(again);
  weft__arena_finish(&a);
}

/* A few bytes may rightly ask for gigabytes of one repeated value; that is slow, not wrong. */
static bool is_small(const Tensorflow__TensorProto *proto) {
  shape s;
  return weft__shape_from_proto(&s, proto->tensor_shape) != WEFT_OK || weft__shape_count(&s) < 1 << 20;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ProtobufCMessage *proto = NULL;
  if (weft__proto_unpack(&proto, &tensorflow__tensor_proto__descriptor, data, size) != WEFT_OK) return 0;
  weft_tensor *t = NULL;
  const Tensorflow__TensorProto *tensor = (const Tensorflow__TensorProto *)proto;
  if (is_small(tensor) && weft__tensor_from_proto(&t, tensor) == WEFT_OK) round_trip(t);
  weft_tensor_destroy(t);
  protobuf_c_message_free_unpacked(proto, NULL);
  return 0;
}
