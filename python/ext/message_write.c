/* message_write.c - a message as bytes: fields in the order of their numbers, maps in the order of their keys. */
#include "message.h"
#include <string.h>

typedef struct bytes_out {
  unsigned char *data;
  size_t n, room;
} bytes_out;

static int out_room(bytes_out *o, size_t more) {
  if (o->room - o->n >= more) return 0;
  const size_t room = (o->n + more) * 2 + 64;
  unsigned char *data = PyMem_Realloc(o->data, room);
  if (!data) return PyErr_NoMemory(), -1;
  o->data = data;
  o->room = room;
  return 0;
}

static int out_bytes(bytes_out *o, const void *data, size_t n) {
  if (out_room(o, n) != 0) return -1;
  if (n) memcpy(o->data + o->n, data, n);
  o->n += n;
  return 0;
}

static size_t varint_write(unsigned char *to, uint64_t value) {
  size_t n = 0;
  for (; value > 127; value >>= 7) to[n++] = (unsigned char)(value | 128);
  to[n++] = (unsigned char)value;
  return n;
}

static int out_varint(bytes_out *o, uint64_t value) {
  if (out_room(o, 10) != 0) return -1;
  o->n += varint_write(o->data + o->n, value);
  return 0;
}

static int out_tag(bytes_out *o, uint32_t number, int wire) {
  return out_varint(o, (uint64_t)number << 3 | (unsigned)wire);
}

/* Puts the size of what was written since `from` before it. */
static int out_size(bytes_out *o, size_t from) {
  unsigned char head[10];
  const size_t n = varint_write(head, o->n - from);
  if (out_room(o, n) != 0) return -1;
  memmove(o->data + from + n, o->data + from, o->n - from);
  memcpy(o->data + from, head, n);
  o->n += n;
  return 0;
}

static int out_integer(bytes_out *o, PyObject *value) {
  int over;
  PyObject *index = PyNumber_Index(value);
  if (!index) return -1;
  const long long made = PyLong_AsLongLongAndOverflow(index, &over);
  const unsigned long long large = over > 0 ? PyLong_AsUnsignedLongLong(index) : (unsigned long long)made;
  Py_DECREF(index);
  if (over < 0) PyErr_Format(PyExc_ValueError, "Value out of range: %R", value);
  return PyErr_Occurred() ? -1 : out_varint(o, large);
}

static int out_fixed64(bytes_out *o, PyObject *value) {
  const uint64_t made = PyLong_AsUnsignedLongLong(value);
  return PyErr_Occurred() ? -1 : out_bytes(o, &made, sizeof made);
}

static int out_real(bytes_out *o, field_kind kind, PyObject *value) {
  const double d = PyFloat_AsDouble(value);
  const float f = (float)d;
  if (PyErr_Occurred()) return -1;
  return kind == FIELD_FLOAT ? out_bytes(o, &f, sizeof f) : out_bytes(o, &d, sizeof d);
}

static int out_text(bytes_out *o, PyObject *value) {
  Py_ssize_t n;
  const char *text = NULL;
  char *data = NULL;
  if (PyUnicode_Check(value))
    text = PyUnicode_AsUTF8AndSize(value, &n);
  else if (PyBytes_AsStringAndSize(value, &data, &n) == 0)
    text = data;
  return !text || out_varint(o, (uint64_t)n) != 0 ? -1 : out_bytes(o, text, (size_t)n);
}

static int out_message(bytes_out *o, const message_codec *c, PyObject *message);

/* Writes one value without its tag. */
static int out_value(bytes_out *o, message_field *f, PyObject *value) {
  switch (f->kind) {
  case FIELD_BOOL: return out_varint(o, (uint64_t)PyObject_IsTrue(value));
  case FIELD_FIXED64: return out_fixed64(o, value);
  case FIELD_FLOAT:
  case FIELD_DOUBLE: return out_real(o, f->kind, value);
  case FIELD_STRING:
  case FIELD_BYTES: return out_text(o, value);
  case FIELD_MESSAGE: {
    const size_t from = o->n;
    const message_codec *inner = ext_message_inner(f);
    return !inner || out_message(o, inner, value) != 0 ? -1 : out_size(o, from);
  }
  default: return out_integer(o, value);
  }
}

static int out_one(bytes_out *o, uint32_t number, message_field *f, PyObject *value) {
  return out_tag(o, number, ext_wire_of(f->kind)) != 0 ? -1 : out_value(o, f, value);
}

/* Numbers are packed. */
static int out_repeated(bytes_out *o, message_field *f, PyObject *list) {
  const Py_ssize_t n = PyList_Size(list);
  const bool packed = f->kind < FIELD_STRING;
  int bad = n < 0 ? -1 : 0;
  if (n > 0 && packed) bad = out_tag(o, f->number, WIRE_BYTES);
  const size_t from = o->n;
  for (Py_ssize_t i = 0; i < n && !bad; i++) {
    PyObject *value = PyList_GetItem(list, i);
    bad = !value ? -1 : packed ? out_value(o, f, value) : out_one(o, f->number, f, value);
  }
  return !bad && n > 0 && packed ? out_size(o, from) : bad;
}

/* Writes a key of 32 bits. */
static int out_key(bytes_out *o, PyObject *key) {
  int over;
  const long long made = PyLong_AsLongLongAndOverflow(key, &over);
  if (PyErr_Occurred()) return -1;
  if (!over && made >= INT32_MIN && made <= INT32_MAX) return out_varint(o, (uint64_t)made);
  PyErr_Format(PyExc_ValueError, "Value out of range: %R", key);
  return -1;
}

static int out_entry(bytes_out *o, message_field *f, PyObject *key, PyObject *value) {
  const bool text = PyUnicode_Check(key);
  if (!value || out_tag(o, f->number, WIRE_BYTES) != 0) return -1;
  const size_t from = o->n;
  if (out_tag(o, 1, text ? WIRE_BYTES : WIRE_VARINT) != 0) return -1;
  if ((text ? out_text(o, key) : out_key(o, key)) != 0) return -1;
  return out_one(o, 2, f, value) != 0 ? -1 : out_size(o, from);
}

static int out_map(bytes_out *o, message_field *f, PyObject *map) {
  PyObject *keys = PyDict_Keys(map);
  int bad = !keys || PyList_Sort(keys) != 0 ? -1 : 0;
  const Py_ssize_t n = bad ? 0 : PyList_Size(keys);
  for (Py_ssize_t i = 0; i < n && !bad; i++) {
    PyObject *key = PyList_GetItem(keys, i);
    bad = out_entry(o, f, key, PyDict_GetItemWithError(map, key));
  }
  Py_XDECREF(keys);
  return bad;
}

/* 1: something is in the message, or it was put there; 0: it was only looked up; -1: an exception is set. */
static int message_is_set(PyObject *message) {
  PyObject *values = ext_message_part(message, PART_VALUES), *rest = ext_message_part(message, PART_REST), *name,
           *value;
  PyObject *given = ext_message_part(message, PART_GIVEN);
  int set = !values || !rest || !given ? -1 : given == Py_True || PyList_Size(rest) > 0;
  for (Py_ssize_t at = 0; set == 0 && PyDict_Next(values, &at, &name, &value);) {
    if (PyList_Check(value) || PyDict_Check(value))
      set = PyObject_Size(value) > 0;
    else if (PyLong_Check(value) || PyFloat_Check(value) || PyUnicode_Check(value) || PyBytes_Check(value))
      set = 1;
    else
      set = message_is_set(value);
  }
  return set;
}

static int out_field(bytes_out *o, message_field *f, PyObject *value) {
  if (f->shape == FIELD_REPEATED) return out_repeated(o, f, value);
  if (f->shape != FIELD_ONE) return out_map(o, f, value);
  if (f->kind != FIELD_MESSAGE) return out_one(o, f->number, f, value);
  const int set = message_is_set(value);
  return set > 0 ? out_one(o, f->number, f, value) : set;
}

static int out_rest(bytes_out *o, PyObject *rest) {
  for (Py_ssize_t i = 0, n = PyList_Size(rest); i < n; i++) {
    unsigned number;
    int wire;
    PyObject *value;
    if (!PyArg_ParseTuple(PyList_GetItem(rest, i), "IiO", &number, &wire, &value)) return -1;
    if (out_tag(o, number, wire) != 0) return -1;
    if (wire == WIRE_VARINT || wire == WIRE_BYTES) {
      if ((wire == WIRE_VARINT ? out_integer(o, value) : out_text(o, value)) != 0) return -1;
      continue;
    }
    char *data;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(value, &data, &size) != 0 || out_bytes(o, data, (size_t)size) != 0) return -1;
  }
  return 0;
}

static int out_fields(bytes_out *o, const message_codec *c, PyObject *message) {
  PyObject *values = ext_message_part(message, PART_VALUES), *rest = ext_message_part(message, PART_REST);
  if (!values || !rest) return -1;
  if (c->grouped && PyDict_Size(values) > 1) {
    PyObject *done = PyObject_CallMethod(message, "_settle", NULL);
    if (!done) return -1;
    Py_DECREF(done);
  }
  for (int i = 0; i < c->n; i++) {
    message_field *f =
        (message_field *)(uintptr_t)&c->field[i]; /* the codec of its messages is found when it is needed */
    PyObject *value = PyDict_GetItemWithError(values, f->name);
    if (value ? out_field(o, f, value) != 0 : PyErr_Occurred() != NULL) return -1;
  }
  return out_rest(o, rest);
}

static int out_message(bytes_out *o, const message_codec *c, PyObject *message) {
  if (Py_EnterRecursiveCall(" while a message is written")) return -1;
  const int bad = out_fields(o, c, message);
  Py_LeaveRecursiveCall();
  return bad;
}

/* message_write(codec, message) -> bytes */
PyObject *ext_message_write(PyObject *self, PyObject *args) {
  PyObject *capsule, *message, *made = NULL;
  bytes_out o = {0};
  (void)self;
  if (!PyArg_ParseTuple(args, "OO", &capsule, &message)) return NULL;
  const message_codec *c = ext_message_codec(capsule);
  if (c && out_message(&o, c, message) == 0) made = PyBytes_FromStringAndSize((char *)o.data, (Py_ssize_t)o.n);
  PyMem_Free(o.data);
  return made;
}
