/* variant_proto_fuzz.c - reads the bytes as a tensor of variants, and walks the lists in it. */
#include "proto/scan.h"
#include "state/tensor_list.h"
#include "state/variant_proto.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ProtobufCMessage *m = NULL;
  weft_tensor *t = NULL;
  tensor_list *l = NULL;
  if (weft__proto_unpack(&m, &tensorflow__tensor_proto__descriptor, data, size) != WEFT_OK) return 0;
  const weft_err err = weft__variants_from_proto(&t, (const Tensorflow__TensorProto *)m);
  protobuf_c_message_free_unpacked(m, NULL);
  if (err) return 0;
  if (weft__tensor_list_get(t, &l) == WEFT_OK)
    for (int64_t i = 0; i < l->n; i++)
      if (l->t[i].buf && l->t[i].dtype != l->dtype) abort();
  weft_tensor_destroy(t);
  return 0;
}
