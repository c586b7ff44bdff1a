/* scan.h - bounds a protobuf message before protobuf-c unpacks it.
 *
 * protobuf-c has no depth limit: a message nested 30,000 deep overflows the stack.  The scanner
 * walks the bytes once along the message's descriptor and refuses nesting over 100, lengths that
 * run past their parent, bad tags, and field counts that could not fit the bytes. */
#ifndef WEFT_PROTO_SCAN_H
#define WEFT_PROTO_SCAN_H

#include "base/status.h"
#include <protobuf-c/protobuf-c.h>

/* Returns INVALID_ARGUMENT, with the message's name and the byte offset, if unpacking the bytes could fail or read too
 * much. */
weft_err weft__proto_scan(const ProtobufCMessageDescriptor *d, const void *data, size_t size);
/* Scan, then unpack.  INVALID_ARGUMENT with the message's name and the byte offset on bad input.
 * Free with protobuf_c_message_free_unpacked. */
weft_err weft__proto_unpack(ProtobufCMessage **out, const ProtobufCMessageDescriptor *d, const void *data, size_t size);
/* Packs a message into memory that the caller frees with weft__free. */
weft_err weft__proto_pack(const ProtobufCMessage *m, void **out, size_t *size);

#endif
