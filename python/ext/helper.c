/* helper.c - weft_helper as a function of the module. */
#include "ext.h"

typedef struct operands {
  Py_ssize_t n;
  weft_operand *in;
  weft_out *out;      /* of operands that are outputs */
  weft_tensor **held; /* of operands that are constants */
} operands;

static void operands_free(operands *o) {
  for (Py_ssize_t i = 0; o->held && i < o->n; i++) weft_tensor_destroy(o->held[i]);
  PyMem_Free(o->in);
  PyMem_Free(o->out);
  PyMem_Free(o->held);
}

static int operand_read(operands *o, Py_ssize_t i, PyObject *item) {
  o->held[i] = NULL;
  o->in[i] = (weft_operand){0};
  if (PyFloat_Check(item)) {
    o->in[i].number = PyFloat_AsDouble(item);
  } else if (PyLong_Check(item)) {
    o->out[i] = ext_out(PyLong_AsLongLong(item));
    o->in[i].out = &o->out[i];
  } else {
    if (ext_from_python(&o->held[i], item) != 0) return -1;
    o->in[i].constant = o->held[i];
  }
  return PyErr_Occurred() ? -1 : 0;
}

static int operands_read(operands *o, PyObject *list) {
  Py_ssize_t n = PySequence_Size(list);
  if (n < 0) return -1;
  o->in = PyMem_Malloc(sizeof *o->in * (size_t)(n + 1));
  o->out = PyMem_Malloc(sizeof *o->out * (size_t)(n + 1));
  o->held = PyMem_Malloc(sizeof *o->held * (size_t)(n + 1));
  if (!o->in || !o->out || !o->held) return PyErr_NoMemory(), -1;
  for (; o->n < n; o->n++) {
    PyObject *item = PySequence_GetItem(list, o->n);
    int bad = !item || operand_read(o, o->n, item) != 0;
    Py_XDECREF(item);
    if (bad) return -1;
  }
  return 0;
}

static PyObject *outs_list(const weft_out *out, Py_ssize_t n) {
  PyObject *list = PyList_New(n);
  for (Py_ssize_t i = 0; list && i < n; i++) {
    PyObject *item = PyLong_FromLongLong(ext_packed(out[i]));
    if (!item || PyList_SetItem(list, i, item) != 0) Py_CLEAR(list);
  }
  return list;
}

/* helper(graph, kind, name, operands, flag, method) -> outputs, as many as there are operands and at least one; -1
 * where the helper has none.  An operand is an output (int), a number (float) or a constant (dtype, shape, buffer). */
static PyObject *helper_call(PyObject *self, PyObject *args) {
  PyObject *graph, *list, *made = NULL;
  const char *kind, *name, *method = NULL;
  int flag;
  operands o = {0};
  (void)self;
  if (!PyArg_ParseTuple(args, "O!szOp|z", ext_graph_type, &graph, &kind, &name, &list, &flag, &method)) return NULL;
  weft_helper_opts opts = {.name = name, .flag = flag, .method = method};
  weft_graph *g = ((graph_object *)graph)->g;
  weft_out *out = NULL;
  if (operands_read(&o, list) == 0 && (out = PyMem_Malloc(sizeof *out * (size_t)(o.n + 1)))) {
    weft_err err;
    for (Py_ssize_t i = 0; i <= o.n; i++) out[i] = WEFT_NONE; /* most helpers set the first only */
    UNLOCKED(err = weft_helper(g, kind, (int)o.n, o.in, &opts, out));
    made = err ? ext_raise_graph(g) : outs_list(out, o.n ? o.n : 1);
  }
  PyMem_Free(out);
  operands_free(&o);
  return made;
}

PyMethodDef ext_helper_functions[] = {
    {"helper", helper_call, METH_VARARGS, "helper(graph, kind, name, operands, flag, method) -> outputs"},
    {NULL, NULL, 0, NULL},
};
