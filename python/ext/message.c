/* message.c - codecs of message classes, and messages from bytes. */
#include "message.h"
#include <string.h>

enum { MAX_DEPTH = 100 }; /* of messages in messages, as in protobuf: bytes from outside must not end the stack */

/* ---- codecs ---- */

static const char capsule_name[] = "weft.message_codec";

message_codec *ext_message_codec(PyObject *capsule) { return PyCapsule_GetPointer(capsule, capsule_name); }

message_codec *ext_message_inner(message_field *f) {
  if (f->inner) return f->inner;
  PyObject *capsule = PyObject_CallMethod(f->cls, "_codec", NULL); /* the class keeps it */
  if (capsule) f->inner = ext_message_codec(capsule);
  Py_XDECREF(capsule);
  return f->inner;
}

static PyObject *part_name(message_part part) {
  static PyObject *names[PARTS];
  static const char *const texts[PARTS] = {"_values", "_rest", "_given"};
  if (!names[part]) names[part] = PyUnicode_InternFromString(texts[part]);
  return names[part];
}

PyObject *ext_message_part(PyObject *message, message_part part) {
  PyObject *name = part_name(part), *found = name ? PyObject_GenericGetAttr(message, name) : NULL;
  Py_XDECREF(found); /* the message keeps it */
  return found;
}

static int set_part(PyObject *message, message_part part, PyObject *value) {
  PyObject *name = part_name(part);
  return name && value ? PyObject_GenericSetAttr(message, name, value)
                       : -1; /* the class refuses names that are no fields */
}

int ext_wire_of(field_kind kind) {
  return kind == FIELD_FLOAT                             ? WIRE_32
         : kind == FIELD_DOUBLE || kind == FIELD_FIXED64 ? WIRE_64
         : kind == FIELD_STRING || kind >= FIELD_BYTES   ? WIRE_BYTES
                                                         : WIRE_VARINT;
}

/* Reads (number, kind, shape, name, class or None, (other fields of its group, ...)). */
static int field_read(message_field *f, PyObject *row) {
  int kind, shape;
  if (!PyArg_ParseTuple(row, "IiiUOO!", &f->number, &kind, &shape, &f->name, &f->cls, &PyTuple_Type, &f->others))
    return -1;
  if (kind < FIELD_INT || kind > FIELD_MESSAGE || shape < FIELD_ONE || shape > FIELD_MAP_BY_INT)
    return PyErr_SetString(PyExc_ValueError, "a field of an unknown kind"), -1;
  f->kind = (field_kind)kind;
  f->shape = (field_shape)shape;
  Py_INCREF(f->name), Py_INCREF(f->cls), Py_INCREF(f->others);
  return 0;
}

/* message_codec(class, class of lists, class of maps, rows sorted by number) -> a codec, which is never freed */
static PyObject *codec_create(PyObject *self, PyObject *args) {
  PyObject *cls, *list, *mapping, *rows;
  (void)self;
  if (!PyArg_ParseTuple(args, "OOOO!", &cls, &list, &mapping, &PyList_Type, &rows)) return NULL;
  const Py_ssize_t n = PyList_Size(rows);
  message_codec *c = PyMem_Calloc(1, sizeof *c + sizeof c->field[0] * (size_t)n);
  if (!c) return PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < n; i++) {
    if (field_read(&c->field[i], PyList_GetItem(rows, i)) != 0) return PyMem_Free(c), NULL;
    if (PyTuple_Size(c->field[i].others) > 0) c->grouped = true;
  }
  c->n = (int)n;
  c->cls = Py_NewRef(cls), c->list = Py_NewRef(list), c->mapping = Py_NewRef(mapping);
  return PyCapsule_New(c, capsule_name, NULL);
}

static message_field *codec_find(message_codec *c, uint64_t number) {
  int low = 0, high = c->n;
  while (low < high) {
    const int mid = (low + high) / 2;
    if (c->field[mid].number < number)
      low = mid + 1;
    else
      high = mid;
  }
  return low < c->n && c->field[low].number == number ? &c->field[low] : NULL;
}

/* ---- reading ---- */

typedef struct bytes_in {
  const unsigned char *at, *end;
  int depth;
} bytes_in;

typedef struct wire_field { /* one field as it is on the wire */
  uint64_t number, varint;
  int wire;
  bytes_in body; /* unless it is a varint */
} wire_field;

static int in_fail(const char *what) {
  PyErr_SetString(PyExc_ValueError, what);
  return -1;
}

static int in_varint(bytes_in *in, uint64_t *value) {
  *value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (in->at == in->end) return in_fail("it ends in the middle of a number");
    const unsigned char byte = *in->at++;
    *value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return 0;
  }
  return in_fail("a number has more than ten bytes");
}

static int in_field(bytes_in *in, wire_field *w) {
  uint64_t tag, size;
  if (in_varint(in, &tag) != 0) return -1;
  w->number = tag >> 3;
  w->wire = (int)(tag & 7);
  if (w->number == 0 || w->number > 0x1fffffff) return in_fail("a field has the number 0, or one that is too large");
  if (w->wire == WIRE_VARINT) return in_varint(in, &w->varint);
  size = w->wire == WIRE_64 ? 8 : 4;
  if (w->wire == WIRE_BYTES && in_varint(in, &size) != 0) return -1;
  if (w->wire != WIRE_64 && w->wire != WIRE_32 && w->wire != WIRE_BYTES) {
    PyErr_Format(PyExc_ValueError, "field %llu has wire type %d", (unsigned long long)w->number, w->wire);
    return -1;
  }
  if (size > (uint64_t)(in->end - in->at)) {
    PyErr_Format(PyExc_ValueError, "a message ends in the middle of field %llu", (unsigned long long)w->number);
    return -1;
  }
  w->body = (bytes_in){in->at, in->at + size, in->depth + 1};
  in->at += size;
  return 0;
}

static PyObject *body_bytes(const bytes_in *b) {
  return PyBytes_FromStringAndSize((const char *)b->at, b->end - b->at);
}

static int message_read(message_codec *c, PyObject *message, bytes_in *in);

/* Creates an empty message.  It does not call the class, whose __init__ takes fields by their names. */
static PyObject *message_new(PyObject *cls) {
  allocfunc make = (allocfunc)PyType_GetSlot((PyTypeObject *)cls, Py_tp_alloc);
  PyObject *made = make((PyTypeObject *)cls, 0), *values = PyDict_New(), *rest = PyList_New(0);
  if (!made || set_part(made, PART_VALUES, values) != 0 || set_part(made, PART_REST, rest) != 0 ||
      set_part(made, PART_GIVEN, Py_False) != 0)
    Py_CLEAR(made);
  Py_XDECREF(values);
  Py_XDECREF(rest);
  return made;
}

static PyObject *read_message(message_field *f, bytes_in body) {
  message_codec *inner = ext_message_inner(f);
  PyObject *made = inner ? message_new(f->cls) : NULL;
  if (made && message_read(inner, made, &body) != 0) Py_CLEAR(made);
  return made;
}

/* Reads a varint.  A field of 32 bits takes the low ones of a longer number, as in protobuf. */
static PyObject *message_read_varint(field_kind kind, uint64_t value) {
  if (kind == FIELD_BOOL) return PyBool_FromLong(value != 0);
  return kind == FIELD_INT ? PyLong_FromLongLong((long long)value) : PyLong_FromLong((int32_t)(uint32_t)value);
}

/* Reads a number of a fixed size. */
static PyObject *read_fixed(field_kind kind, const unsigned char *at) {
  float f;
  double d;
  uint64_t u;
  switch (kind) {
  case FIELD_FLOAT: return memcpy(&f, at, sizeof f), PyFloat_FromDouble((double)f);
  case FIELD_DOUBLE: return memcpy(&d, at, sizeof d), PyFloat_FromDouble(d);
  default: return memcpy(&u, at, sizeof u), PyLong_FromUnsignedLongLong(u);
  }
}

/* Reads the value of a field whose wire type is that of its kind. */
static PyObject *read_value(message_field *f, const wire_field *w) {
  switch (f->kind) {
  case FIELD_FIXED64:
  case FIELD_FLOAT:
  case FIELD_DOUBLE: return read_fixed(f->kind, w->body.at);
  case FIELD_STRING: return PyUnicode_DecodeUTF8((const char *)w->body.at, w->body.end - w->body.at, "replace");
  case FIELD_BYTES: return body_bytes(&w->body);
  case FIELD_MESSAGE: return read_message(f, w->body);
  default: return message_read_varint(f->kind, w->varint);
  }
}

/* Appends a new reference, which may be NULL with an exception set. */
static int list_take(PyObject *list, PyObject *value) {
  const int bad = !value || PyList_Append(list, value) != 0 ? -1 : 0;
  Py_XDECREF(value);
  return bad;
}

static int read_packed(message_field *f, bytes_in body, PyObject *list) {
  const int wire = ext_wire_of(f->kind);
  const ptrdiff_t size = wire == WIRE_64 ? 8 : 4;
  while (body.at < body.end) {
    uint64_t value;
    if (wire == WIRE_VARINT) {
      if (in_varint(&body, &value) != 0 || list_take(list, message_read_varint(f->kind, value)) != 0) return -1;
    } else {
      if (body.end - body.at < size) return in_fail("it ends in the middle of a list of numbers");
      if (list_take(list, read_fixed(f->kind, body.at)) != 0) return -1;
      body.at += size;
    }
  }
  return 0;
}

/* Creates an empty list or dict of a field.  It does not call the class: its __init__ only stores the kind, which is
 * the class of messages or the package's name of another kind. */
static PyObject *holder_new(PyObject *cls, const message_field *f) {
  static const char *const kinds[] = {"int", "int32", "enum", "bool", "fixed64", "float", "double", "string", "bytes"};
  static PyObject *attribute;
  newfunc make = (newfunc)PyType_GetSlot((PyTypeObject *)cls, Py_tp_new);
  if (!attribute && !(attribute = PyUnicode_InternFromString("_kind"))) return NULL;
  PyObject *none = PyTuple_New(0), *made = none ? make((PyTypeObject *)cls, none, NULL) : NULL;
  PyObject *kind = f->kind == FIELD_MESSAGE ? Py_NewRef(f->cls) : PyUnicode_InternFromString(kinds[f->kind]);
  if (made && (!kind || PyObject_GenericSetAttr(made, attribute, kind) != 0)) Py_CLEAR(made);
  Py_XDECREF(none);
  Py_XDECREF(kind);
  return made;
}

/* Borrowed: the list or dict of a repeated field, made if there is none. */
static PyObject *field_holder(const message_codec *c, const message_field *f, PyObject *values) {
  PyObject *found = PyDict_GetItemWithError(values, f->name);
  if (found || PyErr_Occurred()) return found;
  found = holder_new(f->shape == FIELD_REPEATED ? c->list : c->mapping, f);
  if (found && PyDict_SetItem(values, f->name, found) != 0) Py_CLEAR(found);
  Py_XDECREF(found);
  return found;
}

static int read_repeated(const message_codec *c, message_field *f, const wire_field *w, PyObject *values) {
  PyObject *list = field_holder(c, f, values);
  if (!list) return -1;
  if (w->wire != ext_wire_of(f->kind)) return read_packed(f, w->body, list);
  return list_take(list, read_value(f, w));
}

/* Returns the default of a kind, for an entry of a map that has no value. */
static PyObject *entry_default(message_field *f) {
  static const unsigned char zero[8];
  const wire_field none = {.wire = ext_wire_of(f->kind), .body = {zero, zero, 0}};
  return read_value(f, &none);
}

/* Keeps a field that the table lacks, or that has another wire type there. */
static int keep_unknown(const wire_field *w, PyObject *rest) {
  PyObject *value = w->wire == WIRE_VARINT ? PyLong_FromUnsignedLongLong(w->varint) : body_bytes(&w->body);
  return value ? list_take(rest, Py_BuildValue("(IiN)", (unsigned)w->number, w->wire, value)) : -1;
}

/* Reads a key or a value into its place.  Returns 1 if it is neither. */
static int read_half(message_field *f, const wire_field *w, PyObject **key, PyObject **value) {
  PyObject **place = w->number == 1 ? key : value;
  PyObject *made;
  if (w->number == 1 && w->wire == WIRE_BYTES && f->shape == FIELD_MAP)
    made = PyUnicode_DecodeUTF8((const char *)w->body.at, w->body.end - w->body.at, NULL);
  else if (w->number == 1 && w->wire == WIRE_VARINT && f->shape == FIELD_MAP_BY_INT)
    made = message_read_varint(FIELD_INT32, w->varint);
  else if (w->number == 2 && w->wire == ext_wire_of(f->kind))
    made = read_value(f, w);
  else
    return 1;
  if (!made) return -1;
  ext_set(place, made);
  return 0;
}

/* Reads an entry of a map.  One that has other fields is kept as it is, as in protobuf. */
static int read_entry(const message_codec *c, message_field *f, const wire_field *whole, PyObject *values,
                      PyObject *rest) {
  PyObject *map = field_holder(c, f, values), *value = NULL;
  PyObject *key = f->shape == FIELD_MAP ? PyUnicode_FromString("") : PyLong_FromLong(0);
  bytes_in body = whole->body;
  int bad = map && key ? 0 : -1;
  while (!bad && body.at < body.end) {
    wire_field w;
    bad = in_field(&body, &w);
    if (!bad) bad = read_half(f, &w, &key, &value);
  }
  if (!bad && !value) value = entry_default(f);
  if (!bad)
    bad = value ? PyDict_SetItem(map, key, value) : -1; /* the dict's own: MapField checks what programs put in */
  Py_XDECREF(key);
  Py_XDECREF(value);
  return bad > 0 ? keep_unknown(whole, rest) : bad;
}

static int forget_group(const message_field *f, PyObject *values) {
  for (Py_ssize_t i = 0, n = PyTuple_Size(f->others); i < n; i++) {
    PyObject *other = PyTuple_GetItem(f->others, i);
    const int there = PyDict_Contains(values, other);
    if (there < 0 || (there && PyDict_DelItem(values, other) != 0)) return -1;
  }
  return 0;
}

/* Reads one field.  A message that comes twice is merged. */
static int read_one(message_field *f, const wire_field *w, PyObject *values) {
  if (forget_group(f, values) != 0) return -1;
  PyObject *value = NULL, *there = f->kind == FIELD_MESSAGE ? PyDict_GetItemWithError(values, f->name) : NULL;
  bytes_in body = w->body;
  if (there) {
    if (!ext_message_inner(f) || message_read(f->inner, there, &body) != 0) return -1;
    value = Py_NewRef(there);
  } else {
    value = PyErr_Occurred() ? NULL : read_value(f, w);
  }
  int bad = value ? 0 : -1;
  if (!bad && f->kind == FIELD_MESSAGE) bad = set_part(value, PART_GIVEN, Py_True);
  if (!bad) bad = PyDict_SetItem(values, f->name, value);
  Py_XDECREF(value);
  return bad;
}

static bool field_takes(const message_field *f, int wire) {
  if (f->shape == FIELD_MAP || f->shape == FIELD_MAP_BY_INT) return wire == WIRE_BYTES;
  return wire == ext_wire_of(f->kind) || (f->shape == FIELD_REPEATED && f->kind < FIELD_STRING && wire == WIRE_BYTES);
}

static int message_read(message_codec *c, PyObject *message, bytes_in *in) {
  PyObject *values = ext_message_part(message, PART_VALUES), *rest = ext_message_part(message, PART_REST);
  if (!values || !rest) return -1;
  if (in->depth > MAX_DEPTH) return in_fail("messages are nested more than 100 deep");
  while (in->at < in->end) {
    wire_field w;
    if (in_field(in, &w) != 0) return -1;
    message_field *f = codec_find(c, w.number);
    const int bad = !f || !field_takes(f, w.wire) ? keep_unknown(&w, rest)
                    : f->shape == FIELD_REPEATED  ? read_repeated(c, f, &w, values)
                    : f->shape == FIELD_ONE       ? read_one(f, &w, values)
                                                  : read_entry(c, f, &w, values, rest);
    if (bad) return -1;
  }
  return 0;
}

/* message_read(codec, message, bytes): merges them into the message; ValueError if they are none */
static PyObject *message_merge(PyObject *self, PyObject *args) {
  PyObject *capsule, *message;
  Py_buffer view;
  (void)self;
  if (!PyArg_ParseTuple(args, "OOy*", &capsule, &message, &view)) return NULL;
  message_codec *c = ext_message_codec(capsule);
  bytes_in in = {view.buf, (const unsigned char *)view.buf + view.len, 0};
  const int bad = c ? message_read(c, message, &in) : -1;
  PyBuffer_Release(&view);
  if (bad) return NULL;
  Py_RETURN_NONE;
}

/* message_copy(codec, message) -> another message with what is in it */
static PyObject *message_copy(PyObject *self, PyObject *args) {
  PyObject *data = ext_message_write(self, args), *made = NULL;
  message_codec *c = data ? ext_message_codec(PyTuple_GetItem(args, 0)) : NULL;
  char *bytes;
  Py_ssize_t size;
  if (c && PyBytes_AsStringAndSize(data, &bytes, &size) == 0 && (made = message_new(c->cls))) {
    bytes_in in = {(unsigned char *)bytes, (unsigned char *)bytes + size, 0};
    if (message_read(c, made, &in) != 0 || set_part(made, PART_GIVEN, Py_True) != 0) Py_CLEAR(made);
  }
  Py_XDECREF(data);
  return made;
}

/* ---- values that a program stores ---- */

/* Returns a new reference to the value as a field holds it, if it is of Python's own class for that; else NULL without
 * an exception, and the package's function decides. */
static PyObject *plain_value(field_kind kind, PyObject *value) {
  int over;
  if (kind == FIELD_BYTES) return PyBytes_CheckExact(value) ? Py_NewRef(value) : NULL;
  if (kind == FIELD_STRING) return PyUnicode_CheckExact(value) ? Py_NewRef(value) : NULL;
  if (kind == FIELD_DOUBLE) return PyFloat_CheckExact(value) ? Py_NewRef(value) : NULL;
  if (kind == FIELD_FLOAT)
    return PyFloat_CheckExact(value) ? PyFloat_FromDouble((double)(float)PyFloat_AsDouble(value)) : NULL;
  if (!PyLong_CheckExact(value) || kind == FIELD_BOOL || kind == FIELD_FIXED64) return NULL;
  const long long made = PyLong_AsLongLongAndOverflow(value, &over);
  const bool fits = !over && (kind == FIELD_INT || (made >= INT32_MIN && made <= INT32_MAX));
  return fits ? Py_NewRef(value) : NULL;
}

/* message_values(kind, list or tuple, function) -> the values as a list; function(value) checks the unusual ones */
static PyObject *message_values(PyObject *self, PyObject *args) {
  int kind;
  PyObject *given, *check;
  (void)self;
  if (!PyArg_ParseTuple(args, "iOO", &kind, &given, &check)) return NULL;
  PyObject *made = PyList_New(0), *each = PyObject_GetIter(given), *value = NULL;
  int bad = made && each ? 0 : -1;
  while (!bad && (value = PyIter_Next(each))) {
    PyObject *plain = plain_value((field_kind)kind, value);
    bad = list_take(made, plain ? plain : PyObject_CallFunctionObjArgs(check, value, NULL));
    Py_DECREF(value);
  }
  Py_XDECREF(each);
  if (bad || PyErr_Occurred()) Py_CLEAR(made);
  return made;
}

PyMethodDef ext_message_functions[] = {
    {"message_codec", codec_create, METH_VARARGS, "The table of a message class."},
    {"message_read", message_merge, METH_VARARGS, "Merges bytes into a message."},
    {"message_write", ext_message_write, METH_VARARGS, "The bytes of a message."},
    {"message_copy", message_copy, METH_VARARGS, "A copy of a message."},
    {"message_values", message_values, METH_VARARGS, "Values as a repeated field holds them."},
    {0},
};
