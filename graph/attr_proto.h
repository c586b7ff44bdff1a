/* attr_proto.h - attributes to and from AttrValue. */
#ifndef WEFT_GRAPH_ATTR_PROTO_H
#define WEFT_GRAPH_ATTR_PROTO_H

#include "base/arena.h"
#include "graph/attr.h"
#include "tf.pb-c.h"

/* Reads an AttrValue; memory is the arena's, tensors are retained (weft__attr_release).  What Weft
 * does not look into becomes ATTR_OPAQUE; an AttrValue without a value becomes ATTR_NONE; an empty
 * list has kind ATTR_NONE, for its bytes do not say of what.  INVALID_ARGUMENT on a bad shape or
 * tensor, RESOURCE_EXHAUSTED on a tensor that a few bytes blow up past 1 GiB. */
weft_err weft__attr_from_proto(attr *out, const char *name, const Tensorflow__AttrValue *v, arena *a);
/* Keeps the bytes of v whatever it is: for the attributes of ops that nobody here will look at. */
weft_err weft__attr_keep_proto(attr *out, const char *name, const Tensorflow__AttrValue *v, arena *a);
/* Fills *out, whose memory is the arena's or in's: valid while both are. */
weft_err weft__attr_to_proto(Tensorflow__AttrValue *out, const attr *in, arena *a);
/* What unpacks protobuf messages straight into an arena. */
ProtobufCAllocator weft__arena_allocator(arena *a);

#endif
