/* tensor_proto.h - converts tensors from TensorProto, in all its encodings, and to it.
 *
 * The functions keep no state; any thread may call them. */
#ifndef WEFT_TENSOR_TENSOR_PROTO_H
#define WEFT_TENSOR_TENSOR_PROTO_H

#include "tensor/tensor.h"
#include "tf.pb-c.h"

/* Reads any encoding that TensorFlow accepts: tensor_content, typed values, the short form that repeats the last value,
 * and strings in tensor_content.  The caller destroys *out.  Returns INVALID_ARGUMENT with the values that are wrong,
 * or RESOURCE_EXHAUSTED.  The proto may come from a peer that is not trusted. */
weft_err weft__tensor_from_proto(weft_tensor **out, const Tensorflow__TensorProto *proto);
/* Fills a zero-initialized *proto.  Its memory is from `a`, except tensor_content, which for plain types points into
 * the data of t and is valid as long as t.  Strings go to string_val. */
struct arena;
weft_err weft__tensor_to_proto(Tensorflow__TensorProto *proto, const weft_tensor *t, struct arena *a);
/* The same for shapes. */
weft_err weft__shape_from_proto(shape *out, const Tensorflow__TensorShapeProto *proto);
weft_err weft__shape_to_proto(Tensorflow__TensorShapeProto *proto, const shape *s, struct arena *a);

#endif
