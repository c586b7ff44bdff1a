/* graph.c - the type Graph: nodes made, found and read. */
#include "ext.h"
#include <string.h>

PyTypeObject *ext_graph_type;

static PyObject *graph_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)args, (void)kwargs;
  allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  graph_object *self = (graph_object *)make(type, 0);
  if (!self) return NULL;
  self->keep = PyList_New(0);
  weft_err err = self->keep ? weft_graph_create(&self->g) : WEFT_RESOURCE_EXHAUSTED;
  if (!err) return (PyObject *)self;
  if (self->keep) ext_raise(err);
  Py_DECREF(self);
  return NULL;
}

static int graph_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((graph_object *)self)->keep);
  return 0;
}

static int graph_clear(PyObject *self) {
  Py_CLEAR(((graph_object *)self)->keep);
  return 0;
}

static void graph_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  weft_graph_destroy(((graph_object *)self)->g);
  graph_clear(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

int ext_choice(PyObject *given, weft_out *place, const weft_out **out) {
  if (given == Py_None) return 0;
  *place = ext_out(PyLong_AsLongLong(given));
  *out = place;
  return PyErr_Occurred() ? -1 : 0;
}

Py_ssize_t ext_outs(PyObject *list, weft_out **out) {
  *out = NULL;
  if (list == Py_None) return 0;
  Py_ssize_t n = PySequence_Size(list);
  if (n < 0) return -1;
  *out = PyMem_Malloc(sizeof **out * (size_t)(n + 1));
  if (!*out) return PyErr_NoMemory(), -1;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *item = PySequence_GetItem(list, i);
    long long packed = item ? PyLong_AsLongLong(item) : -1;
    Py_XDECREF(item);
    if (PyErr_Occurred()) {
      PyMem_Free(*out);
      *out = NULL;
      return -1;
    }
    (*out)[i] = ext_out(packed);
  }
  return n;
}

PyObject *ext_bytes(void *data, size_t size) {
  PyObject *bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
  weft_free(data);
  return bytes;
}

/* ---- making a node --------------------------------------------------------------------------------- */

static int put_ints(weft_builder *b, const char *name, char kind, PyObject *list) {
  Py_ssize_t n = PySequence_Size(list);
  if (n < 0) return -1;
  int64_t *v = PyMem_Malloc(sizeof *v * (size_t)(n + 1));
  weft_dtype *types = PyMem_Malloc(sizeof *types * (size_t)(n + 1));
  if (!v || !types) PyErr_NoMemory();
  for (Py_ssize_t i = 0; v && types && i < n && !PyErr_Occurred(); i++) {
    PyObject *item = PySequence_GetItem(list, i);
    v[i] = item ? PyLong_AsLongLong(item) : 0;
    types[i] = (weft_dtype)v[i];
    Py_XDECREF(item);
  }
  if (!PyErr_Occurred() && kind == 'I') weft_builder_ints(b, name, (int)n, v);
  if (!PyErr_Occurred() && kind == 'Y') weft_builder_types(b, name, (int)n, types);
  PyMem_Free(v);
  PyMem_Free(types);
  return PyErr_Occurred() ? -1 : 0;
}

static int put_bytes(weft_builder *b, const char *name, char kind, PyObject *value) {
  char *data;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(value, &data, &size) != 0) return -1;
  if (kind == 's')
    weft_builder_string(b, name, data, (size_t)size);
  else
    weft_builder_attr(b, name, data, (size_t)size);
  return 0;
}

static int graph_put_tensor(weft_builder *b, const char *name, PyObject *value) {
  weft_tensor *t;
  if (ext_from_python(&t, value) != 0) return -1;
  weft_builder_tensor(b, name, t);
  weft_tensor_destroy(t);
  return 0;
}

static int put_shape(weft_builder *b, const char *name, PyObject *value) {
  int64_t dims[EXT_MAX_RANK];
  int rank = ext_dims(value, dims);
  if (rank < -1) return -1;
  weft_builder_shape(b, name, rank, dims);
  return 0;
}

/* One attribute, (name, kind, value): i int, f float, b bool, t type, s bytes, p shape, T tensor, I ints, Y types,
 * A a serialized AttrValue. */
static int put_attr(weft_builder *b, PyObject *row) {
  const char *name;
  int kind;
  PyObject *value;
  if (!PyArg_ParseTuple(row, "sCO", &name, &kind, &value)) return -1;
  switch (kind) {
  case 'i': weft_builder_int(b, name, PyLong_AsLongLong(value)); break;
  case 'f': weft_builder_float(b, name, (float)PyFloat_AsDouble(value)); break;
  case 'b': weft_builder_bool(b, name, PyObject_IsTrue(value) == 1); break;
  case 't': weft_builder_type(b, name, (weft_dtype)PyLong_AsLong(value)); break;
  case 's':
  case 'A': return put_bytes(b, name, (char)kind, value);
  case 'p': return put_shape(b, name, value);
  case 'T': return graph_put_tensor(b, name, value);
  case 'I':
  case 'Y': return put_ints(b, name, (char)kind, value);
  default: PyErr_Format(PyExc_ValueError, "attribute %s is of no kind '%c'", name, kind);
  }
  return PyErr_Occurred() ? -1 : 0;
}

static int builder_fill(weft_builder *b, PyObject *inputs, PyObject *controls, PyObject *attrs) {
  weft_out *out;
  Py_ssize_t n = ext_outs(inputs, &out);
  for (Py_ssize_t i = 0; i < n; i++) weft_builder_input(b, out[i]);
  PyMem_Free(out);
  if (n < 0) return -1;
  n = ext_outs(controls, &out);
  for (Py_ssize_t i = 0; i < n; i++) weft_builder_control(b, out[i]);
  PyMem_Free(out);
  if (n < 0) return -1;
  n = PySequence_Size(attrs);
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *row = PySequence_GetItem(attrs, i);
    int bad = !row || put_attr(b, row) != 0;
    Py_XDECREF(row);
    if (bad) return -1;
  }
  return n < 0 ? -1 : 0;
}

static PyObject *graph_op(PyObject *self, PyObject *args) {
  weft_graph *g = ((graph_object *)self)->g;
  const char *type, *name, *device;
  PyObject *inputs, *controls, *attrs;
  if (!PyArg_ParseTuple(args, "szOOOz", &type, &name, &inputs, &controls, &attrs, &device)) return NULL;
  weft_builder *b = weft_node_begin(g, type, name);
  if (!b) return PyErr_NoMemory();
  int bad = builder_fill(b, inputs, controls, attrs);
  if (device) weft_builder_device(b, device);
  if (bad) weft_builder_input(b, WEFT_NONE); /* refuses the node; finish frees the builder */
  weft_out made;
  UNLOCKED(made = weft_builder_finish(b));
  return made.node < 0 ? ext_raise_graph(g) : PyLong_FromLong(made.node);
}

/* ---- looking --------------------------------------------------------------------------------------- */

static const weft_node *node_at(PyObject *self, PyObject *number) {
  const weft_graph *g = ((graph_object *)self)->g;
  long i = PyLong_AsLong(number);
  if (PyErr_Occurred()) return NULL;
  const weft_node *n = weft_graph_node(g, (int)i);
  if (!n) PyErr_Format(PyExc_IndexError, "there is no node %ld in a graph of %d", i, weft_graph_size(g));
  return n;
}

static PyObject *graph_size(PyObject *self, PyObject *none) {
  (void)none;
  return PyLong_FromLong(weft_graph_size(((graph_object *)self)->g));
}

static PyObject *graph_node(PyObject *self, PyObject *number) {
  const weft_node *n = node_at(self, number);
  return n ? Py_BuildValue("(ssi)", weft_node_name(n), weft_node_op(n), weft_node_output_count(n)) : NULL;
}

static PyObject *graph_device(PyObject *self, PyObject *number) {
  const weft_node *n = node_at(self, number);
  return n ? PyUnicode_FromString(weft_node_device(n)) : NULL;
}

static PyObject *outs_list(const weft_node *n, int count, weft_out (*get)(const weft_node *, int)) {
  PyObject *list = PyList_New(count);
  for (int i = 0; list && i < count; i++) {
    PyObject *o = PyLong_FromLongLong(ext_packed(get(n, i)));
    if (!o || PyList_SetItem(list, i, o) != 0) Py_CLEAR(list);
  }
  return list;
}

static PyObject *graph_inputs(PyObject *self, PyObject *number) {
  const weft_node *n = node_at(self, number);
  return n ? outs_list(n, weft_node_input_count(n), weft_node_input) : NULL;
}

static PyObject *graph_controls(PyObject *self, PyObject *number) {
  const weft_node *n = node_at(self, number);
  return n ? outs_list(n, weft_node_control_count(n), weft_node_control) : NULL;
}

static PyObject *graph_find(PyObject *self, PyObject *args) {
  const char *name;
  if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
  return PyLong_FromLongLong(ext_packed(weft_graph_find(((graph_object *)self)->g, name)));
}

static PyObject *graph_shape(PyObject *self, PyObject *packed) {
  int64_t dims[EXT_MAX_RANK];
  long long o = PyLong_AsLongLong(packed);
  if (PyErr_Occurred()) return NULL;
  return ext_shape(weft_out_shape(((graph_object *)self)->g, ext_out(o), dims), dims);
}

static PyObject *graph_dtype(PyObject *self, PyObject *packed) {
  const weft_graph *g = ((graph_object *)self)->g;
  long long o = PyLong_AsLongLong(packed);
  if (PyErr_Occurred()) return NULL;
  return PyLong_FromLong(weft_out_dtype(g, ext_out(o)) + (weft_out_is_ref(g, ext_out(o)) ? 100 : 0));
}

static PyObject *graph_constant(PyObject *self, PyObject *packed) {
  weft_tensor *t;
  long long o = PyLong_AsLongLong(packed);
  if (PyErr_Occurred()) return NULL;
  weft_err err = weft_out_constant(&t, ((graph_object *)self)->g, ext_out(o));
  if (err) return ext_raise(err);
  if (t) return ext_to_numpy(t);
  Py_RETURN_NONE;
}

static PyObject *graph_node_def(PyObject *self, PyObject *number) {
  const weft_node *n = node_at(self, number);
  void *data;
  size_t size;
  weft_err err = WEFT_OK;
  if (!n) return NULL;
  UNLOCKED(err = weft_node_export(&data, &size, n));
  return err ? ext_raise(err) : ext_bytes(data, size);
}

static PyObject *graph_attr(PyObject *self, PyObject *args) {
  PyObject *number;
  const char *name;
  void *data;
  size_t size;
  if (!PyArg_ParseTuple(args, "Os", &number, &name)) return NULL;
  const weft_node *n = node_at(self, number);
  if (!n) return NULL;
  weft_err err = weft_node_attr(&data, &size, n, name);
  return err ? ext_raise(err) : ext_bytes(data, size);
}

/* ---- changing -------------------------------------------------------------------------------------- */

static PyObject *graph_set_shape(PyObject *self, PyObject *args) {
  long long o;
  PyObject *shape;
  int64_t dims[EXT_MAX_RANK];
  if (!PyArg_ParseTuple(args, "LO", &o, &shape)) return NULL;
  int rank = ext_dims(shape, dims);
  if (rank < -1) return NULL;
  weft_err err;
  UNLOCKED(err = weft_out_set_shape(((graph_object *)self)->g, ext_out(o), rank, dims));
  return ext_none_or_raise(err);
}

static PyObject *graph_set_attr(PyObject *self, PyObject *args) {
  int node;
  const char *name, *data;
  Py_ssize_t size;
  weft_err err;
  if (!PyArg_ParseTuple(args, "isy#", &node, &name, &data, &size)) return NULL;
  UNLOCKED(err = weft_node_set_attr(((graph_object *)self)->g, node, name, data, (size_t)size));
  return ext_none_or_raise(err);
}

static PyObject *graph_set_device(PyObject *self, PyObject *args) {
  int node;
  const char *device;
  weft_err err;
  if (!PyArg_ParseTuple(args, "is", &node, &device)) return NULL;
  UNLOCKED(err = weft_node_set_device(((graph_object *)self)->g, node, device));
  return ext_none_or_raise(err);
}

static PyObject *graph_add_control(PyObject *self, PyObject *args) {
  int node;
  long long before;
  weft_err err;
  if (!PyArg_ParseTuple(args, "iL", &node, &before)) return NULL;
  UNLOCKED(err = weft_node_add_control(((graph_object *)self)->g, node, ext_out(before)));
  return ext_none_or_raise(err);
}

static PyObject *graph_loop_options(PyObject *self, PyObject *args) {
  long long out;
  int back_prop, swap_memory;
  if (!PyArg_ParseTuple(args, "Lpp", &out, &back_prop, &swap_memory)) return NULL;
  return ext_none_or_raise(weft_loop_options(((graph_object *)self)->g, ext_out(out), back_prop, swap_memory));
}

static PyObject *graph_set_input(PyObject *self, PyObject *args) {
  int node, i;
  long long from;
  weft_err err;
  if (!PyArg_ParseTuple(args, "iiL", &node, &i, &from)) return NULL;
  UNLOCKED(err = weft_node_set_input(((graph_object *)self)->g, node, i, ext_out(from)));
  return ext_none_or_raise(err);
}

/* ---- functions ------------------------------------------------------------------------------------- */

static PyObject *graph_function(PyObject *self, PyObject *args) {
  const char *name;
  PyObject *body, *inputs, *outputs;
  if (!PyArg_ParseTuple(args, "sO!OO", &name, ext_graph_type, &body, &inputs, &outputs)) return NULL;
  weft_out *in = NULL, *out = NULL;
  Py_ssize_t n_in = ext_outs(inputs, &in), n_out = n_in < 0 ? -1 : ext_outs(outputs, &out);
  weft_err err = WEFT_OK;
  if (n_out >= 0)
    UNLOCKED(err = weft_function_add(((graph_object *)self)->g, name, ((graph_object *)body)->g, (int)n_in, in,
                                     (int)n_out, out));
  PyMem_Free(in);
  PyMem_Free(out);
  return n_out < 0 ? NULL : ext_none_or_raise(err);
}

static PyObject *graph_function_of(PyObject *self, PyObject *args) {
  const char *name;
  long long out;
  weft_err err;
  if (!PyArg_ParseTuple(args, "sL", &name, &out)) return NULL;
  UNLOCKED(err = weft_function_of(((graph_object *)self)->g, name, ext_out(out)));
  return ext_none_or_raise(err);
}

/* ---- messages -------------------------------------------------------------------------------------- */

typedef weft_err importer(weft_graph *g, const void *data, size_t size, const char *prefix, int n,
                          const char *const *names, const weft_out *to);
typedef weft_err exporter(void **out, size_t *size, const weft_graph *g);

/* The texts of a tuple of names, which owns them; NULL with an exception set if one is no text. */
static const char **names_of(PyObject *tuple) {
  Py_ssize_t n = PyTuple_Size(tuple);
  const char **names = PyMem_Malloc(sizeof *names * (size_t)(n + 1));
  if (!names) return (const char **)PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < n; i++)
    if (!(names[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), NULL))) {
      PyMem_Free(names);
      return NULL;
    }
  return names;
}

/* The arguments are the message, the prefix, and the names and outputs of a map of inputs. */
static PyObject *import_with(PyObject *self, PyObject *args, importer *fn) {
  const char *data, *prefix, **names = NULL;
  PyObject *keys, *outs;
  Py_ssize_t size, n;
  weft_out *to = NULL;
  weft_err err;
  if (!PyArg_ParseTuple(args, "y#zO!O!", &data, &size, &prefix, &PyTuple_Type, &keys, &PyTuple_Type, &outs))
    return NULL;
  if (PyTuple_Size(keys) != PyTuple_Size(outs))
    return PyErr_Format(PyExc_ValueError, "%zd names of inputs for %zd outputs", PyTuple_Size(keys),
                        PyTuple_Size(outs));
  if ((n = ext_outs(outs, &to)) < 0 || !(names = names_of(keys))) {
    PyMem_Free(to);
    return NULL;
  }
  UNLOCKED(err = fn(((graph_object *)self)->g, data, (size_t)size, prefix, (int)n, names, to));
  PyMem_Free(names);
  PyMem_Free(to);
  return ext_none_or_raise(err);
}

static PyObject *export_with(PyObject *self, exporter *fn) {
  void *data;
  size_t size;
  weft_err err;
  UNLOCKED(err = fn(&data, &size, ((graph_object *)self)->g));
  return err ? ext_raise(err) : ext_bytes(data, size);
}

static PyObject *graph_import(PyObject *self, PyObject *args) {
  return import_with(self, args, weft_graph_import_mapped);
}
static PyObject *graph_import_meta(PyObject *self, PyObject *args) {
  return import_with(self, args, weft_graph_import_meta_mapped);
}
static PyObject *graph_export(PyObject *self, PyObject *none) {
  (void)none;
  return export_with(self, weft_graph_export);
}
static PyObject *graph_export_meta(PyObject *self, PyObject *none) {
  (void)none;
  return export_with(self, weft_graph_export_meta);
}

static PyObject *graph_set_seed(PyObject *self, PyObject *seed) {
  long long v = PyLong_AsLongLong(seed);
  if (PyErr_Occurred()) return NULL;
  weft_graph_set_seed(((graph_object *)self)->g, v);
  Py_RETURN_NONE;
}

PyMethodDef ext_node_methods[] = {
    {"op", graph_op, METH_VARARGS, "op(type, name, inputs, controls, attrs, device) -> node"},
    {"size", graph_size, METH_NOARGS, "The number of nodes."},
    {"node", graph_node, METH_O, "node(i) -> (name, op, number of outputs)"},
    {"device", graph_device, METH_O, "device(i)"},
    {"inputs", graph_inputs, METH_O, "inputs(i) -> outputs"},
    {"controls", graph_controls, METH_O, "controls(i) -> outputs"},
    {"find", graph_find, METH_VARARGS, "find('name:0') -> output, or -1"},
    {"shape", graph_shape, METH_O, "shape(output) -> tuple or None"},
    {"dtype", graph_dtype, METH_O, "dtype(output) -> number, plus 100 for references"},
    {"constant", graph_constant, METH_O, "constant(output) -> value if it is known, or None"},
    {"node_def", graph_node_def, METH_O, "node_def(i) -> NodeDef bytes"},
    {"attr", graph_attr, METH_VARARGS, "attr(i, name) -> AttrValue bytes"},
    {"set_shape", graph_set_shape, METH_VARARGS, "set_shape(output, shape)"},
    {"set_attr", graph_set_attr, METH_VARARGS, "set_attr(i, name, AttrValue bytes)"},
    {"set_device", graph_set_device, METH_VARARGS, "set_device(i, device)"},
    {"add_control", graph_add_control, METH_VARARGS, "add_control(i, before)"},
    {"loop_options", graph_loop_options, METH_VARARGS, "loop_options(output, back_prop, swap_memory)"},
    {"set_input", graph_set_input, METH_VARARGS, "set_input(i, place, output)"},
    {"function", graph_function, METH_VARARGS, "function(name, body, inputs, outputs): puts a graph into the library"},
    {"function_of", graph_function_of, METH_VARARGS, "function_of(name, out): a function that computes out"},
    {"import_graph", graph_import, METH_VARARGS, "import_graph(GraphDef bytes, prefix, names, outputs)"},
    {"export_graph", graph_export, METH_NOARGS, "GraphDef bytes"},
    {"import_meta", graph_import_meta, METH_VARARGS, "import_meta(MetaGraphDef bytes, prefix, names, outputs)"},
    {"export_meta", graph_export_meta, METH_NOARGS, "MetaGraphDef bytes"},
    {"set_seed", graph_set_seed, METH_O, "set_seed(n)"},
    {NULL, NULL, 0, NULL},
};

/* The type has the methods of this file and of scope.c. */
int ext_graph_ready(PyObject *module) {
  static PyMethodDef methods[96];
  int n = 0;
  for (const PyMethodDef *m = ext_node_methods; m->ml_name; m++) methods[n++] = *m;
  for (const PyMethodDef *m = ext_scope_methods; m->ml_name; m++) methods[n++] = *m;
  PyType_Slot slots[] = {
      {Py_tp_doc, (void *)(uintptr_t) "A graph of the library."},
      {Py_tp_new, (void *)graph_new},
      {Py_tp_dealloc, (void *)graph_dealloc},
      {Py_tp_traverse, (void *)graph_traverse},
      {Py_tp_clear, (void *)graph_clear},
      {Py_tp_methods, methods},
      {0, NULL},
  };
  PyType_Spec spec = {"weft._weft.Graph", sizeof(graph_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
  ext_graph_type = (PyTypeObject *)PyType_FromSpec(&spec);
  if (!ext_graph_type) return -1;
  return PyModule_AddObjectRef(module, "Graph", (PyObject *)ext_graph_type);
}
