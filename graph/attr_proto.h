/* attr_proto.h - converts attributes to and from AttrValue. */
#ifndef WEFT_GRAPH_ATTR_PROTO_H
#define WEFT_GRAPH_ATTR_PROTO_H

#include "base/arena.h"
#include "graph/attr.h"
#include "tf.pb-c.h"

/* Reads an AttrValue.  The arena owns the memory; tensors are retained (weft__attr_release).  Values that Weft does
 * not interpret become ATTR_OPAQUE, and an AttrValue without a value becomes ATTR_NONE.  An empty list has kind
 * ATTR_NONE, because its bytes do not tell its kind.  Returns INVALID_ARGUMENT for an invalid shape or tensor, and
 * RESOURCE_EXHAUSTED for a tensor that a few bytes expand beyond 1 GiB. */
weft_err weft__attr_from_proto(attr *out, const char *name, const Tensorflow__AttrValue *v, arena *a);
/* Keeps the bytes of v unchanged, for attributes of ops that this build does not know. */
weft_err weft__attr_keep_proto(attr *out, const char *name, const Tensorflow__AttrValue *v, arena *a);
/* Fills *out.  Its memory belongs to the arena or to `in`, so it is valid while both are. */
weft_err weft__attr_to_proto(Tensorflow__AttrValue *out, const attr *in, arena *a);
/* Returns an allocator that unpacks protobuf messages into an arena. */
ProtobufCAllocator weft__arena_allocator(arena *a);

#endif
