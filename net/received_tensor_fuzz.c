/* received_tensor_fuzz.c - bytes read as a RecvTensorResponse, in pieces: what is accepted, protobuf-c accepts too. */
#include "net/message.h"
#include "rpc.pb-c.h"
#include "tensor/tensor_proto.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_small(const Tensorflow__TensorProto *proto) { /* one repeated value may rightly fill gigabytes */
  shape s;
  return !proto || weft__shape_from_proto(&s, proto->tensor_shape) != WEFT_OK || weft__shape_count(&s) < 1 << 20;
}

static void compare(const received_tensor *r, const Tensorflow__RecvTensorResponse *proto) {
  weft_tensor *t = NULL;
  if (proto->is_dead != r->dead) abort();
  if (r->dead) return;
  if (weft__tensor_from_proto(&t, proto->tensor) != WEFT_OK || !weft__shape_equal(&t->shape, &r->tensor->shape))
    abort();
  if (weft__dtype_is_plain(t->dtype) && memcmp(t->data, r->tensor->data, weft__tensor_bytes(t)) != 0) abort();
  weft_tensor_destroy(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ProtobufCMessage *proto = NULL;
  weft_err slow = weft__proto_unpack(&proto, &tensorflow__recv_tensor_response__descriptor, data, size);
  if (slow == WEFT_OK && !is_small(((Tensorflow__RecvTensorResponse *)proto)->tensor)) {
    protobuf_c_message_free_unpacked(proto, NULL);
    return 0;
  }
  message m = {0};
  received_tensor r = {0};
  size_t step = size ? 1 + data[size - 1] % 9 : 1;
  for (size_t at = 0; at < size; at += step)
    (void)weft__message_add(&m, (piece){data + at, size - at < step ? size - at : step, NULL, NULL});
  if (weft__received_tensor_read(&r, &m) == WEFT_OK) {
    if (slow != WEFT_OK) abort();
    compare(&r, (const Tensorflow__RecvTensorResponse *)proto);
  }
  weft_tensor_destroy(r.tensor);
  weft__message_finish(&m);
  if (proto) protobuf_c_message_free_unpacked(proto, NULL);
  return 0;
}
