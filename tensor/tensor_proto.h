/* tensor_proto.h - TensorProto in all its encodings, both ways. */
#ifndef WEFT_TENSOR_TENSOR_PROTO_H
#define WEFT_TENSOR_TENSOR_PROTO_H

#include "tensor/tensor.h"
#include "tf.pb-c.h"

/* Reads any encoding TF accepts: tensor_content, typed values, the short form that repeats the
 * last value, strings in tensor_content.  INVALID_ARGUMENT says what is wrong with which values. */
weft_err weft__tensor_from_proto(weft_tensor **out, const Tensorflow__TensorProto *proto);
/* Fills a zero-initialised *proto whose memory is all from `a`, except tensor_content, which for
 * plain types points into t's data and is valid while t is.  Strings go to string_val. */
struct arena;
weft_err weft__tensor_to_proto(Tensorflow__TensorProto *proto, const weft_tensor *t, struct arena *a);
weft_err weft__shape_from_proto(shape *out, const Tensorflow__TensorShapeProto *proto);
weft_err weft__shape_to_proto(Tensorflow__TensorShapeProto *proto, const shape *s, struct arena *a);

#endif
