/* value.c - tensors to and from numpy, through the buffer protocol and without numpy's C API.
 *
 * A fetched tensor that nobody else holds becomes a numpy array over its own memory.  One that a variable or a constant
 * shares is copied first, since a program may write to what it fetched.  A Value is the Python object that owns the
 * tensor's memory; the array holds a reference to it. */
#include "ext.h"
#include <stdint.h>

typedef struct value_object {
  PyObject ob_base;
  weft_tensor *t;
} value_object;

static PyTypeObject *value_type;
static PyObject *ndarray, *dtypes, *object_dtype, *empty_tuple; /* dtypes: from numbers of types to numpy's types */

static void value_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  weft_tensor_destroy(((value_object *)self)->t);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

static int value_buffer(PyObject *self, Py_buffer *view, int flags) {
  weft_tensor *t = ((value_object *)self)->t;
  return PyBuffer_FillInfo(view, self, weft_tensor_data(t), (Py_ssize_t)weft_tensor_bytes(t), 0, flags);
}

static PyType_Slot value_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t) "The memory of a fetched tensor."},
    {Py_tp_dealloc, (void *)value_dealloc},
    {Py_bf_getbuffer, (void *)value_buffer},
    {0, NULL},
};
static PyType_Spec value_spec = {"weft._weft.Value", sizeof(value_object), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, value_slots};

int ext_value_ready(PyObject *module) {
  value_type = (PyTypeObject *)PyType_FromSpec(&value_spec);
  empty_tuple = PyTuple_New(0);
  if (!value_type || !empty_tuple) return -1;
  return PyModule_AddObjectRef(module, "Value", (PyObject *)value_type);
}

PyObject *ext_use_numpy(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *array, *table, *object;
  if (!PyArg_ParseTuple(args, "OOO", &array, &table, &object)) return NULL;
  ext_set(&ndarray, Py_NewRef(array));
  ext_set(&dtypes, Py_NewRef(table));
  ext_set(&object_dtype, Py_NewRef(object));
  Py_RETURN_NONE;
}

/* ---- to numpy -------------------------------------------------------------------------------------- */

PyObject *ext_shape(int rank, const int64_t *dims) {
  if (rank < 0) Py_RETURN_NONE;
  PyObject *shape = PyTuple_New(rank);
  for (int i = 0; shape && i < rank; i++) {
    PyObject *d = dims[i] < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(dims[i]);
    if (!d || PyTuple_SetItem(shape, i, d) != 0) Py_CLEAR(shape);
  }
  return shape;
}

static PyObject *string_at(const weft_tensor *t, int64_t i) {
  const char *data;
  size_t size;
  weft_err err = weft_tensor_string(t, i, &data, &size);
  return err ? ext_raise(err) : PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
}

/* Stores the strings in a new array of objects.  The memory of such an array holds references to Python objects. */
static int strings_store(const weft_tensor *t, PyObject *array) {
  Py_buffer view;
  const int64_t n = weft_tensor_count(t);
  if (n == 0) return 0;
  if (PyObject_GetBuffer(array, &view, PyBUF_WRITABLE) != 0) return -1;
  PyObject **to = view.buf, *s = NULL;
  for (int64_t i = 0; i < n && (s = string_at(t, i)); i++) ext_set(&to[i], s);
  PyBuffer_Release(&view);
  return s ? 0 : -1;
}

static PyObject *strings_to_numpy(const weft_tensor *t) {
  if (weft_tensor_rank(t) == 0) return string_at(t, 0);
  PyObject *shape = ext_shape(weft_tensor_rank(t), weft_tensor_dims(t));
  PyObject *array = shape ? PyObject_CallFunctionObjArgs(ndarray, shape, object_dtype, NULL) : NULL;
  if (array && strings_store(t, array) != 0) Py_CLEAR(array);
  Py_XDECREF(shape);
  return array;
}

/* Makes a Value that owns the tensor.  If that fails, destroys the tensor and returns NULL. */
static PyObject *tensor_wrap(weft_tensor *t) {
  allocfunc make = (allocfunc)PyType_GetSlot(value_type, Py_tp_alloc);
  value_object *v = (value_object *)make(value_type, 0);
  if (v)
    v->t = t;
  else
    weft_tensor_destroy(t);
  return (PyObject *)v;
}

/* Widens a tensor of bfloat16 to float32 if numpy has no bfloat16: `dtypes` then names float32 for it. */
static int fit_bfloat16(weft_tensor **t, PyObject *dtype) {
  PyObject *size = weft_tensor_dtype(*t) == WEFT_BFLOAT16 ? PyObject_GetAttrString(dtype, "itemsize") : NULL;
  const bool widens = size && PyLong_AsLong(size) == 4;
  Py_XDECREF(size);
  if (!widens) return PyErr_Occurred() ? -1 : 0;
  weft_tensor *wide;
  weft_err err = weft_tensor_create(&wide, WEFT_FLOAT, weft_tensor_rank(*t), weft_tensor_dims(*t), NULL);
  if (err) return ext_raise(err), -1;
  const uint16_t *from = weft_tensor_data(*t);
  uint32_t *to = weft_tensor_data(wide);
  for (int64_t i = 0; i < weft_tensor_count(wide); i++) to[i] = (uint32_t)from[i] << 16;
  weft_tensor_destroy(*t);
  *t = wide;
  return 0;
}

/* Takes the tensor over, also if it fails. */
static PyObject *numbers_to_numpy(weft_tensor *t) {
  PyObject *number = PyLong_FromLong(weft_tensor_dtype(t));
  PyObject *dtype = number ? PyObject_GetItem(dtypes, number) : NULL; /* new reference */
  if (dtype && fit_bfloat16(&t, dtype) != 0) Py_CLEAR(dtype);
  PyObject *shape = dtype ? ext_shape(weft_tensor_rank(t), weft_tensor_dims(t)) : NULL;
  int rank = weft_tensor_rank(t);
  Py_XDECREF(number);
  PyObject *memory = NULL, *array = NULL;
  if (shape)
    memory = tensor_wrap(t);
  else
    weft_tensor_destroy(t);
  if (memory) array = PyObject_CallFunctionObjArgs(ndarray, shape, dtype, memory, NULL);
  Py_XDECREF(memory);
  Py_XDECREF(shape);
  Py_XDECREF(dtype);
  if (!array || rank > 0) return array;
  PyObject *scalar = PyObject_GetItem(array, empty_tuple);
  Py_DECREF(array);
  return scalar;
}

/* Replaces the tensor by a copy that nothing else shares. */
static int tensor_unshare(weft_tensor **t) {
  weft_tensor *copy;
  weft_err err = weft_tensor_create(&copy, weft_tensor_dtype(*t), weft_tensor_rank(*t), weft_tensor_dims(*t),
                                    weft_tensor_data(*t));
  weft_tensor_destroy(*t);
  *t = copy;
  if (err) ext_raise(err);
  return err ? -1 : 0;
}

/* Returns the bytes that describe a resource, as an array of the type that TensorFlow gives to them. */
static PyObject *resource_to_numpy(const weft_tensor *t) {
  void *data;
  size_t size;
  weft_err err = weft_tensor_serialize(&data, &size, t);
  if (err) return ext_raise(err);
  PyObject *bytes = PyByteArray_FromStringAndSize(data, (Py_ssize_t)size), *array = NULL;
  PyObject *number = PyLong_FromLong(WEFT_RESOURCE), *shape = ext_shape(1, (int64_t[]){(int64_t)size});
  PyObject *dtype = number ? PyObject_GetItem(dtypes, number) : NULL;
  weft_free(data);
  if (bytes && shape && dtype) array = PyObject_CallFunctionObjArgs(ndarray, shape, dtype, bytes, NULL);
  Py_XDECREF(bytes), Py_XDECREF(number), Py_XDECREF(shape), Py_XDECREF(dtype);
  return array;
}

PyObject *ext_to_numpy(weft_tensor *t) {
  if (weft_tensor_dtype(t) == WEFT_STRING) {
    PyObject *made = strings_to_numpy(t);
    weft_tensor_destroy(t);
    return made;
  }
  if (weft_tensor_dtype(t) == WEFT_RESOURCE) {
    PyObject *made = resource_to_numpy(t);
    weft_tensor_destroy(t);
    return made;
  }
  if (!weft_dtype_size(weft_tensor_dtype(t))) {
    PyErr_Format(PyExc_TypeError, "a tensor of type %s has no value in Python", weft_dtype_name(weft_tensor_dtype(t)));
    weft_tensor_destroy(t);
    return NULL;
  }
  if (weft_tensor_bytes(t) && weft_tensor_shared(t) && tensor_unshare(&t) != 0) return NULL;
  return numbers_to_numpy(t);
}

PyObject *ext_to_numpy_copy(const weft_tensor *t) {
  if (weft_tensor_dtype(t) == WEFT_STRING) return strings_to_numpy(t);
  weft_tensor *copy;
  weft_err err =
      weft_tensor_create(&copy, weft_tensor_dtype(t), weft_tensor_rank(t), weft_tensor_dims(t), weft_tensor_data(t));
  return err ? ext_raise(err) : ext_to_numpy(copy);
}

/* ---- from Python ----------------------------------------------------------------------------------- */

int ext_dims(PyObject *shape, int64_t *dims) {
  if (shape == Py_None) return -1;
  Py_ssize_t n = PySequence_Size(shape);
  if (n < 0) return -2;
  if (n > EXT_MAX_RANK) {
    PyErr_Format(PyExc_ValueError, "a shape of %zd dimensions", n);
    return -2;
  }
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *d = PySequence_GetItem(shape, i);
    if (!d) return -2;
    dims[i] = d == Py_None ? -1 : PyLong_AsLongLong(d);
    Py_DECREF(d);
    if (PyErr_Occurred()) return -2;
  }
  return (int)n;
}

static int refuse_string(PyObject *item) {
  PyErr_Format(PyExc_TypeError, "Expected binary or unicode string, got %R", item);
  return -1;
}

PyObject *ext_check_strings(PyObject *self, PyObject *list) {
  (void)self;
  if (!PyList_Check(list)) return PyErr_Format(PyExc_TypeError, "a list is needed, got %R", list);
  for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
    PyObject *item = PyList_GetItem(list, i);
    if (!PyBytes_Check(item) && !PyUnicode_Check(item) && refuse_string(item) != 0) return NULL;
  }
  Py_RETURN_NONE;
}

/* Stores bytes, or text as UTF-8, without an object for each. */
static int set_string(weft_tensor *t, int64_t i, PyObject *item) {
  const char *text = NULL;
  char *data = NULL;
  Py_ssize_t size = 0;
  if (PyUnicode_Check(item)) {
    if (!(text = PyUnicode_AsUTF8AndSize(item, &size))) return -1;
  } else if (!PyBytes_Check(item)) {
    return refuse_string(item);
  } else if (PyBytes_AsStringAndSize(item, &data, &size) != 0) {
    return -1;
  }
  const weft_err err = weft_tensor_set_string(t, i, text ? text : data, (size_t)size);
  if (!err) return 0;
  ext_raise(err);
  return -1;
}

static int set_strings(weft_tensor *t, PyObject *list) {
  const int64_t n = weft_tensor_count(t);
  for (int64_t i = 0; i < n; i++) {
    PyObject *item = PySequence_GetItem(list, (Py_ssize_t)i);
    const int bad = item ? set_string(t, i, item) : -1;
    Py_XDECREF(item);
    if (bad) return -1;
  }
  return 0;
}

static int strings_from_python(weft_tensor **out, int rank, const int64_t *dims, PyObject *list) {
  weft_err err = weft_tensor_create(out, WEFT_STRING, rank, dims, NULL);
  if (err) {
    ext_raise(err);
    return -1;
  }
  if (set_strings(*out, list) == 0) return 0;
  weft_tensor_destroy(*out);
  *out = NULL;
  return -1;
}

int ext_borrow(weft_tensor **out, PyObject *triple, Py_buffer *view) {
  int dtype;
  PyObject *shape, *data;
  int64_t dims[EXT_MAX_RANK];
  *out = NULL;
  view->obj = NULL;
  if (!PyArg_ParseTuple(triple, "iOO", &dtype, &shape, &data)) return -1;
  int rank = ext_dims(shape, dims);
  if (rank < 0) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a value needs a shape");
    return -1;
  }
  if (dtype == WEFT_STRING) return strings_from_python(out, rank, dims, data);
  if (PyObject_GetBuffer(data, view, PyBUF_C_CONTIGUOUS) != 0) return -1;
  weft_err err = weft_tensor_borrow(out, (weft_dtype)dtype, rank, dims, view->buf, (size_t)view->len);
  if (!err) return 0;
  PyBuffer_Release(view);
  ext_raise(err);
  return -1;
}

int ext_from_python(weft_tensor **out, PyObject *triple) {
  Py_buffer view;
  weft_tensor *lent;
  if (ext_borrow(&lent, triple, &view) != 0) return -1;
  if (!view.obj) { /* strings are copied already */
    *out = lent;
    return 0;
  }
  weft_err err = weft_tensor_create(out, weft_tensor_dtype(lent), weft_tensor_rank(lent), weft_tensor_dims(lent),
                                    weft_tensor_data(lent));
  weft_tensor_destroy(lent);
  PyBuffer_Release(&view);
  if (err) ext_raise(err);
  return err ? -1 : 0;
}
