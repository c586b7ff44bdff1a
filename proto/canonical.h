/* canonical.h - one order for the parts of a message that have none.
 *
 * Protobuf writes the entries of a map in any order, so equal messages may have different bytes.  Two messages that
 * were put into this order and packed have the same bytes if and only if they are equal. */
#ifndef WEFT_PROTO_CANONICAL_H
#define WEFT_PROTO_CANONICAL_H

#include <protobuf-c/protobuf-c.h>

/* Sorts the entries of all maps in the message by key, and drops unknown fields without freeing them: the message must
 * lie in an arena. */
void weft__proto_canonical(ProtobufCMessage *m);

#endif
