/* variant_proto.h - variant tensors from messages: the constants of a graph. */
#ifndef WEFT_STATE_VARIANT_PROTO_H
#define WEFT_STATE_VARIANT_PROTO_H

#include "tensor/tensor_proto.h"

/* Creates a variant tensor from a message in which each element is a list of tensors or one tensor; the caller destroys
 * *out.  The message may come from anyone.  Returns UNIMPLEMENTED for another kind of variant, INVALID_ARGUMENT for a
 * malformed one. */
weft_err weft__variants_from_proto(weft_tensor **out, const Tensorflow__TensorProto *p);

#endif
