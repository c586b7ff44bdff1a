/* text.h - a message as protobuf's text format: "allow_soft_placement: true gpu_options { allow_growth: true }". */
#ifndef WEFT_PROTO_TEXT_H
#define WEFT_PROTO_TEXT_H

#include "base/status.h"
#include "base/text.h"
#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

/* In field order, zero values left out as proto3 does.  one_line: as logs have it; else a line each, indented. */
void weft__proto_text(text *out, const ProtobufCMessage *m, bool one_line);

/* text_read.c: the bytes of the message that a text describes.  Where a number belongs a name may stand, which
 * number_of (or NULL) knows or not.  INVALID_ARGUMENT with the line. */
typedef bool proto_enum_fn(const char *name, int32_t *number);
weft_err weft__proto_from_text(text *out, const ProtobufCMessageDescriptor *d, const char *source, size_t size,
                               proto_enum_fn *number_of);

#endif
