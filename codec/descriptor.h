/* descriptor.h - the fields of a protobuf message, read from a serialized FileDescriptorSet.
 *
 * A description is constant after it was made; any thread may read it. */
#ifndef WEFT_CODEC_DESCRIPTOR_H
#define WEFT_CODEC_DESCRIPTOR_H

#include "codec/example.h"

/* The types of fields, with protobuf's numbers. */
typedef enum proto_type {
  PROTO_DOUBLE = 1,
  PROTO_FLOAT,
  PROTO_INT64,
  PROTO_UINT64,
  PROTO_INT32,
  PROTO_FIXED64,
  PROTO_FIXED32,
  PROTO_BOOL,
  PROTO_STRING,
  PROTO_GROUP,
  PROTO_MESSAGE,
  PROTO_BYTES,
  PROTO_UINT32,
  PROTO_ENUM,
  PROTO_SFIXED32,
  PROTO_SFIXED64,
  PROTO_SINT32,
  PROTO_SINT64
} proto_type;

typedef struct proto_field {
  char *name;
  uint32_t number;
  proto_type type;
  bool repeated, packed;
  char *fallback; /* the default value as the .proto file has it (an enum's: its number); "": none */
} proto_field;

typedef struct proto_message {
  int64_t n, capacity;
  proto_field *field;
} proto_message;

/* Stores the fields of the message with this full name, as "tensorflow.Example".  The caller frees them with
 * weft__descriptor_finish, also on failure.  Returns INVALID_ARGUMENT if the set is malformed, and NOT_FOUND if it does
 * not have the message. */
weft_err weft__descriptor_find(bytes set, const char *message, proto_message *out);
/* The same for the messages that the build knows. */
weft_err weft__descriptor_find_local(const char *message, proto_message *out);
void weft__descriptor_finish(proto_message *m);

#endif
