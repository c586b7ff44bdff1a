/* text.h - a message as protobuf's text format: "allow_soft_placement: true gpu_options { allow_growth: true }". */
#ifndef WEFT_PROTO_TEXT_H
#define WEFT_PROTO_TEXT_H

#include "base/text.h"
#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

/* In field order, zero values left out as proto3 does.  one_line: as logs have it; else a line each, indented. */
void weft__proto_text(text *out, const ProtobufCMessage *m, bool one_line);

#endif
