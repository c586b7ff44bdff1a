/* scope.c - Graph's scopes, lists and gradients. */
#include "ext.h"
#include <string.h>

static weft_graph *graph_of(PyObject *self) { return ((graph_object *)self)->g; }

/* After a push that may have failed: the scope is popped again and the error raised. */
static PyObject *scope_pushed(PyObject *self) {
  if (!weft_graph_error(graph_of(self)) && !PyErr_Occurred()) Py_RETURN_NONE;
  PyObject *none = ext_raise_graph(graph_of(self));
  weft_scope_pop(graph_of(self));
  return none;
}

static PyObject *scope_name(PyObject *self, PyObject *args) {
  const char *name;
  if (!PyArg_ParseTuple(args, "z", &name)) return NULL;
  weft_scope_push_name(graph_of(self), name);
  return scope_pushed(self);
}

/* ---- devices --------------------------------------------------------------------------------------- */

static PyObject *last_device; /* what the last call returned: C reads it until the next one */

/* Called while a node is added, by the thread that adds it, which has let the interpreter go. */
static const char *call_device(void *arg, const weft_node *n, const char *current) {
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *made = PyObject_CallFunction(arg, "sss", weft_node_name(n), weft_node_op(n), current);
  const char *text = NULL;
  if (made && PyUnicode_Check(made)) {
    ext_set(&last_device, Py_NewRef(made));
    text = PyUnicode_AsUTF8AndSize(last_device, NULL);
  } else if (made) {
    PyErr_SetString(PyExc_TypeError, "a device function must return a string");
  }
  Py_XDECREF(made);
  PyGILState_Release(state);
  return text;
}

/* scope_device(None | text | function(name, op, device) -> device) */
static PyObject *scope_device(PyObject *self, PyObject *device) {
  if (device == Py_None) {
    weft_scope_push_device(graph_of(self), NULL);
  } else if (PyUnicode_Check(device)) {
    const char *text = PyUnicode_AsUTF8AndSize(device, NULL);
    if (!text) return NULL;
    weft_scope_push_device(graph_of(self), text);
  } else {
    if (PyList_Append(((graph_object *)self)->keep, device) != 0) return NULL;
    weft_scope_push_device_fn(graph_of(self), call_device, device);
  }
  return scope_pushed(self);
}

static void replica_free(PyObject *capsule) { weft_replica_destroy(PyCapsule_GetPointer(capsule, "weft.replica")); }

/* replica(ps_tasks, ps_device, worker_device, by_bytes) -> what scope_replica takes */
static PyObject *replica_create(PyObject *self, PyObject *args) {
  int tasks, by_bytes;
  const char *ps, *worker;
  weft_replica *made;
  (void)self;
  if (!PyArg_ParseTuple(args, "izzp", &tasks, &ps, &worker, &by_bytes)) return NULL;
  weft_err err = weft_replica_create(&made, tasks, ps, worker, by_bytes);
  return err ? ext_raise(err) : PyCapsule_New(made, "weft.replica", replica_free);
}

static PyObject *scope_replica(PyObject *self, PyObject *capsule) {
  weft_replica *r = PyCapsule_GetPointer(capsule, "weft.replica");
  if (!r || PyList_Append(((graph_object *)self)->keep, capsule) != 0) return NULL;
  weft_scope_push_replica(graph_of(self), r);
  return scope_pushed(self);
}

/* ---- the other scopes ------------------------------------------------------------------------------ */

static PyObject *scope_control(PyObject *self, PyObject *list) {
  weft_out *before;
  Py_ssize_t n = ext_outs(list, &before);
  if (n < 0) return NULL;
  weft_scope_push_control(graph_of(self), list == Py_None ? -1 : (int)n, before);
  PyMem_Free(before);
  return scope_pushed(self);
}

static PyObject *scope_colocate(PyObject *self, PyObject *args) {
  long long with;
  int only;
  if (!PyArg_ParseTuple(args, "Lp", &with, &only)) return NULL;
  if (only)
    weft_scope_push_colocate_only(graph_of(self), ext_out(with));
  else
    weft_scope_push_colocate(graph_of(self), ext_out(with));
  return scope_pushed(self);
}

static PyObject *scope_belong(PyObject *self, PyObject *args) {
  const char *node;
  if (!PyArg_ParseTuple(args, "s", &node)) return NULL;
  weft_scope_push_belong(graph_of(self), node);
  return scope_pushed(self);
}

static PyObject *scope_container(PyObject *self, PyObject *args) {
  const char *name;
  if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
  weft_scope_push_container(graph_of(self), name);
  return scope_pushed(self);
}

static PyObject *scope_pop(PyObject *self, PyObject *none) {
  (void)none;
  weft_scope_pop(graph_of(self));
  Py_RETURN_NONE;
}

static PyObject *scope_prefix(PyObject *self, PyObject *none) {
  (void)none;
  return PyUnicode_FromString(weft_scope_prefix(graph_of(self)));
}

static PyObject *scope_unique(PyObject *self, PyObject *args) {
  const char *name;
  int take;
  if (!PyArg_ParseTuple(args, "sp", &name, &take)) return NULL;
  const char *full = weft_scope_unique(graph_of(self), name, take);
  return full ? PyUnicode_FromString(full) : ext_raise_graph(graph_of(self));
}

/* ---- variable scopes ------------------------------------------------------------------------------- */

static PyObject *scope_row(const weft_variable_scope *s) {
  return Py_BuildValue("(Nssi)", PyLong_FromVoidPtr((void *)(uintptr_t)s), weft_variable_scope_name(s),
                       weft_variable_scope_name_scope(s), (int)weft_variable_scope_reuse(s));
}

/* variables(name, again, default_name, reuse, name_scope) -> (handle, name, name scope, reuse) */
static PyObject *scope_variables(PyObject *self, PyObject *args) {
  weft_variable_scope_opts o = {0};
  PyObject *again;
  int reuse, name_scope;
  const weft_variable_scope *entered;
  if (!PyArg_ParseTuple(args, "zOzip", &o.name, &again, &o.default_name, &reuse, &name_scope)) return NULL;
  o.again = again == Py_None ? NULL : PyLong_AsVoidPtr(again);
  o.reuse = (weft_reuse)reuse;
  o.name_scope = name_scope ? WEFT_YES : WEFT_NO;
  if (PyErr_Occurred()) return NULL;
  weft_err err = weft_variable_scope_enter(&entered, graph_of(self), &o);
  return err ? ext_raise(err) : scope_row(entered);
}

static PyObject *variables_now(PyObject *self, PyObject *none) {
  (void)none;
  const weft_variable_scope *now = weft_variable_scope_now(graph_of(self));
  return now ? scope_row(now) : PyErr_NoMemory();
}

static PyObject *variables_reuse(PyObject *self, PyObject *none) {
  (void)none;
  weft_variable_scope_set_reuse(graph_of(self));
  Py_RETURN_NONE;
}

static PyObject *variables_resource(PyObject *self, PyObject *on) {
  int truth = PyObject_IsTrue(on);
  if (truth < 0) return NULL;
  weft_variable_scope_set_resource(graph_of(self), truth);
  Py_RETURN_NONE;
}

/* ---- lists ----------------------------------------------------------------------------------------- */

static PyObject *list_add(PyObject *self, PyObject *args) {
  const char *list;
  PyObject *item;
  if (!PyArg_ParseTuple(args, "sO", &list, &item)) return NULL;
  if (PyBytes_Check(item)) {
    char *data;
    Py_ssize_t size;
    PyBytes_AsStringAndSize(item, &data, &size);
    return ext_none_or_raise(weft_collection_add_bytes(graph_of(self), list, data, (size_t)size));
  }
  if (PyLong_Check(item)) {
    int64_t v = PyLong_AsLongLong(item);
    return PyErr_Occurred() ? NULL : ext_none_or_raise(weft_collection_add_int(graph_of(self), list, v));
  }
  if (PyFloat_Check(item))
    return ext_none_or_raise(weft_collection_add_float(graph_of(self), list, (float)PyFloat_AsDouble(item)));
  const char *name = PyUnicode_AsUTF8AndSize(item, NULL);
  return name ? ext_none_or_raise(weft_collection_add(graph_of(self), list, name)) : NULL;
}

static PyObject *list_number(const weft_graph *g, const char *list, int i) {
  int64_t v;
  float f;
  bool is_int;
  if (!weft_collection_number(g, list, i, &v, &f, &is_int)) Py_RETURN_NONE;
  return is_int ? PyLong_FromLongLong(v) : PyFloat_FromDouble((double)f);
}

static PyObject *list_size(PyObject *self, PyObject *args) {
  const char *list;
  if (!PyArg_ParseTuple(args, "s", &list)) return NULL;
  return PyLong_FromLong(weft_collection_size(graph_of(self), list));
}

/* list_item(list, i) -> a name as str, a message as bytes, a number, None for anything else */
static PyObject *list_item(PyObject *self, PyObject *args) {
  const char *list;
  int i;
  size_t size;
  bool is_name;
  if (!PyArg_ParseTuple(args, "si", &list, &i)) return NULL;
  const void *data = weft_collection_item(graph_of(self), list, i, &size, &is_name);
  if (!data) return list_number(graph_of(self), list, i);
  return is_name ? PyUnicode_FromStringAndSize(data, (Py_ssize_t)size)
                 : PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
}

static PyObject *list_clear(PyObject *self, PyObject *args) {
  const char *list;
  if (!PyArg_ParseTuple(args, "s", &list)) return NULL;
  weft_collection_clear(graph_of(self), list);
  Py_RETURN_NONE;
}

static PyObject *collection_lists(PyObject *self, PyObject *none) {
  (void)none;
  PyObject *all = PyList_New(0);
  for (int i = 0; all && i < weft_collection_count(graph_of(self)); i++) {
    PyObject *name = PyUnicode_FromString(weft_collection_at(graph_of(self), i));
    if (!name || PyList_Append(all, name) != 0) Py_CLEAR(all);
    Py_XDECREF(name);
  }
  return all;
}

PyObject *ext_made(weft_graph *g, weft_out o) {
  weft_err err = weft_graph_error(g);
  return err ? ext_raise_graph(g) : PyLong_FromLongLong(ext_packed(o));
}

/* ---- gradients ------------------------------------------------------------------------------------- */

PyObject *ext_gradient_rows(const weft_gradient *d, Py_ssize_t n) {
  PyObject *list = PyList_New(n);
  for (Py_ssize_t i = 0; list && i < n; i++) {
    PyObject *row = Py_BuildValue("(LLLL)", ext_packed(d[i].dense), ext_packed(d[i].indices), ext_packed(d[i].values),
                                  ext_packed(d[i].dense_shape));
    if (!row || PyList_SetItem(list, i, row) != 0) Py_CLEAR(list);
  }
  return list;
}

/* gradients(ys, grad_ys or None, xs, stop, name, colocate, gate, tree) -> [(dense, indices, values, shape)] */
static PyObject *graph_gradients(PyObject *self, PyObject *args) {
  PyObject *lists_in[4], *made = NULL;
  weft_out *outs[4] = {0};
  Py_ssize_t n[4] = {0};
  const char *name;
  int colocate, gate, tree;
  if (!PyArg_ParseTuple(args, "OOOOzppp", &lists_in[0], &lists_in[1], &lists_in[2], &lists_in[3], &name, &colocate,
                        &gate, &tree))
    return NULL;
  for (int i = 0; i < 4; i++) n[i] = PyErr_Occurred() ? -1 : ext_outs(lists_in[i], &outs[i]);
  weft_gradient *d = PyErr_Occurred() ? NULL : PyMem_Malloc(sizeof *d * (size_t)(n[2] + 1));
  if (d) {
    weft_gradient_opts o = {
        .name = name, .colocate = colocate, .gate = gate, .tree = tree, .n_stop = (int)n[3], .stop = outs[3]};
    weft_err err;
    UNLOCKED(err = weft_gradients_with(graph_of(self), (int)n[0], outs[0], outs[1], (int)n[2], outs[2], &o, d));
    made = err ? ext_raise(err) : ext_gradient_rows(d, n[2]);
    weft_graph_clear_error(graph_of(self));
  }
  PyMem_Free(d);
  for (int i = 0; i < 4; i++) PyMem_Free(outs[i]);
  return made;
}

/* Reads a row (dense, indices, values, shape) of packed outputs. */
static int gradient_row(PyObject *row, weft_gradient *d) {
  long long part[4];
  if (!row || !PyArg_ParseTuple(row, "LLLL", &part[0], &part[1], &part[2], &part[3])) return -1;
  *d = (weft_gradient){ext_out(part[0]), ext_out(part[1]), ext_out(part[2]), ext_out(part[3])};
  return 0;
}

/* The exception stays set for ext_raise: it is what the program sees, whatever the library says of it. */
static weft_err exception_set(void) { return weft_fail(WEFT_UNKNOWN, "a function of the program raised an exception"); }

/* Called by the thread that asked for gradients, which has let the interpreter go. */
static weft_err call_gradient(void *arg, int node, const char *type, int n_out, const weft_gradient *dout, int n_in,
                              weft_gradient *din, bool *found) {
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *rows = ext_gradient_rows(dout, n_out);
  PyObject *made = rows ? PyObject_CallFunction(arg, "isO", node, type, rows) : NULL;
  bool bad = !made;
  *found = made && made != Py_None;
  for (int i = 0; *found && !bad && i < n_in; i++) {
    PyObject *row = PySequence_GetItem(made, i);
    bad = gradient_row(row, &din[i]) != 0;
    Py_XDECREF(row);
  }
  Py_XDECREF(rows);
  Py_XDECREF(made);
  weft_err err = bad ? exception_set() : WEFT_OK;
  PyGILState_Release(state);
  return err;
}

/* gradient_fn(function(node, type, rows) -> rows or None) */
static PyObject *gradient_fn(PyObject *self, PyObject *fn) {
  if (PyList_Append(((graph_object *)self)->keep, fn) != 0) return NULL;
  weft_graph_set_gradient_fn(graph_of(self), call_gradient, fn);
  Py_RETURN_NONE;
}

static PyObject *packed_list(int n, const weft_out *o) {
  PyObject *list = PyList_New(n);
  for (int i = 0; list && i < n; i++)
    if (PyList_SetItem(list, i, PyLong_FromLongLong(ext_packed(o[i]))) != 0) Py_CLEAR(list);
  return list;
}

/* Reads the (inputs, controls) that the function returned: the number of inputs stays, that of controls grows by one at
 * most. */
static int adapted_edges(PyObject *made, int n_in, weft_out *in, int *n_control, int *control) {
  PyObject *inputs, *controls;
  weft_out *outs[2] = {0};
  if (!PyArg_ParseTuple(made, "OO", &inputs, &controls)) return -1;
  Py_ssize_t n = ext_outs(inputs, &outs[0]), m = n < 0 ? -1 : ext_outs(controls, &outs[1]);
  const bool fits = n == n_in && m >= 0 && m <= *n_control + 1;
  for (Py_ssize_t i = 0; fits && i < n; i++) in[i] = outs[0][i];
  for (Py_ssize_t i = 0; fits && i < m; i++) control[i] = outs[1][i].node;
  if (fits) *n_control = (int)m;
  if (!fits && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "an adapter changed the number of edges");
  PyMem_Free(outs[0]);
  PyMem_Free(outs[1]);
  return fits ? 0 : -1;
}

static weft_err call_adapter(void *arg, const char *op, int n_in, weft_out *in, int *n_control, int *control) {
  PyGILState_STATE state = PyGILState_Ensure();
  weft_out *before = PyMem_Malloc(sizeof *before * (size_t)(*n_control + 1));
  for (int i = 0; before && i < *n_control; i++) before[i] = (weft_out){.node = control[i]};
  PyObject *inputs = before ? packed_list(n_in, in) : PyErr_NoMemory();
  PyObject *controls = inputs ? packed_list(*n_control, before) : NULL;
  PyObject *made = controls ? PyObject_CallFunction(arg, "sOO", op, inputs, controls) : NULL;
  weft_err err = !made || adapted_edges(made, n_in, in, n_control, control) != 0 ? exception_set() : WEFT_OK;
  Py_XDECREF(inputs);
  Py_XDECREF(controls);
  Py_XDECREF(made);
  PyMem_Free(before);
  PyGILState_Release(state);
  return err;
}

/* adapter(function(op, inputs, controls) -> (inputs, controls)), or None.  The caller keeps the function alive. */
static PyObject *graph_adapter(PyObject *self, PyObject *fn) {
  weft_graph_set_adapter(graph_of(self), fn == Py_None ? NULL : call_adapter, fn);
  Py_RETURN_NONE;
}

static PyObject *scope_gradient(PyObject *self, PyObject *args) {
  const char *op, *gradient;
  if (!PyArg_ParseTuple(args, "ss", &op, &gradient)) return NULL;
  weft_scope_push_gradient(graph_of(self), op, gradient);
  return scope_pushed(self);
}

/* park(depth) -> what unpark takes, once */
static PyObject *scope_park(PyObject *self, PyObject *args) {
  int depth;
  if (!PyArg_ParseTuple(args, "i", &depth)) return NULL;
  weft_parked *p = weft_scope_park(graph_of(self), depth);
  return p ? PyCapsule_New(p, "weft.parked", NULL) : ext_raise_graph(graph_of(self));
}

static PyObject *scope_unpark(PyObject *self, PyObject *capsule) {
  weft_parked *p = PyCapsule_GetPointer(capsule, "weft.parked");
  if (!p || PyCapsule_SetName(capsule, "weft.parked.used") != 0) return NULL;
  weft_scope_unpark(graph_of(self), p);
  if (weft_graph_error(graph_of(self))) return ext_raise_graph(graph_of(self));
  Py_RETURN_NONE;
}

static PyObject *scope_depth(PyObject *self, PyObject *none) {
  (void)none;
  return PyLong_FromLong(weft_scope_depth(graph_of(self)));
}

PyMethodDef ext_scope_methods[] = {
    {"depth", scope_depth, METH_NOARGS, "How many scopes are open."},
    {"park", scope_park, METH_VARARGS, "park(depth) -> the scopes above depth, for unpark"},
    {"unpark", scope_unpark, METH_O, "unpark(parked): opens the scopes again"},
    {"scope_name", scope_name, METH_VARARGS, "scope_name(name or None)"},
    {"scope_device", scope_device, METH_O, "scope_device(text, None or function(name, op, device))"},
    {"replica", replica_create, METH_VARARGS, "replica(ps_tasks, ps_device, worker_device, by_bytes)"},
    {"scope_replica", scope_replica, METH_O, "scope_replica(replica)"},
    {"scope_control", scope_control, METH_O, "scope_control(outputs or None)"},
    {"scope_colocate", scope_colocate, METH_VARARGS, "scope_colocate(output, ignore_existing)"},
    {"scope_belong", scope_belong, METH_VARARGS, "scope_belong(node name)"},
    {"scope_container", scope_container, METH_VARARGS, "scope_container(name)"},
    {"scope_gradient", scope_gradient, METH_VARARGS, "scope_gradient(op, gradient)"},
    {"gradient_fn", gradient_fn, METH_O, "gradient_fn(function(node, type, rows) -> rows or None)"},
    {"adapter", graph_adapter, METH_O, "adapter(function(op, inputs, controls) -> (inputs, controls) or None)"},
    {"pop", scope_pop, METH_NOARGS, "Leaves the innermost scope."},
    {"prefix", scope_prefix, METH_NOARGS, "The name scope we are in."},
    {"unique", scope_unique, METH_VARARGS, "unique(name, take) -> full name"},
    {"variables", scope_variables, METH_VARARGS, "Enters a variable scope."},
    {"variables_now", variables_now, METH_NOARGS, "The variable scope we are in."},
    {"variables_reuse", variables_reuse, METH_NOARGS, "reuse_variables()"},
    {"variables_resource", variables_resource, METH_O, "set_use_resource(on)"},
    {"list_add", list_add, METH_VARARGS, "list_add(list, name, bytes or number)"},
    {"list_size", list_size, METH_VARARGS, "list_size(list)"},
    {"list_item", list_item, METH_VARARGS, "list_item(list, i)"},
    {"list_clear", list_clear, METH_VARARGS, "list_clear(list)"},
    {"lists", collection_lists, METH_NOARGS, "The names of the lists."},
    {"gradients", graph_gradients, METH_VARARGS, "gradients(ys, grad_ys, xs, stop, name, colocate, gate, tree)"},
    {NULL, NULL, 0, NULL},
};
