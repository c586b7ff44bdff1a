/* message.h - the wire format of protocol buffers for the messages of the package.
 *
 * A codec is the table of a message class: its fields, sorted by number.  The values of a message are in its dict
 * `_values` by field name, fields that the table lacks in its list `_rest` as (number, wire type, value), and `_given`
 * is true if the message is there although nothing is in it.  Codecs live as long as the process.  The interpreter's
 * lock guards everything here. */
#ifndef WEFT_PYTHON_MESSAGE_H
#define WEFT_PYTHON_MESSAGE_H

#include "ext.h"

typedef enum field_kind {
  FIELD_INT, /* 64 bits of either sign */
  FIELD_INT32,
  FIELD_ENUM,
  FIELD_BOOL,
  FIELD_FIXED64,
  FIELD_FLOAT,
  FIELD_DOUBLE,
  FIELD_STRING,
  FIELD_BYTES,
  FIELD_MESSAGE
} field_kind;

typedef enum field_shape { FIELD_ONE, FIELD_REPEATED, FIELD_MAP, FIELD_MAP_BY_INT } field_shape;

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

typedef struct message_codec message_codec;

typedef struct message_field {
  uint32_t number;
  field_kind kind;
  field_shape shape;
  PyObject *name;
  PyObject *cls;        /* of a message, else None */
  message_codec *inner; /* of cls, once it was needed */
  PyObject *others;     /* a tuple of the fields that setting this one unsets */
} message_field;

struct message_codec {
  int n;
  bool grouped;                   /* it has fields of which only one may be set */
  PyObject *cls, *list, *mapping; /* the classes of the message, of repeated fields and of maps */
  message_field field[];
};

/* Returns the codec of a field's messages; NULL with an exception set. */
message_codec *ext_message_inner(message_field *f);
typedef enum message_part { PART_VALUES, PART_REST, PART_GIVEN, PARTS } message_part;
/* Borrowed: an attribute of a message; NULL with an exception set. */
PyObject *ext_message_part(PyObject *message, message_part part);
/* Returns the codec of a capsule that message_codec made; NULL with an exception set. */
message_codec *ext_message_codec(PyObject *capsule);
int ext_wire_of(field_kind kind);

PyObject *ext_message_write(PyObject *self, PyObject *args);

#endif
