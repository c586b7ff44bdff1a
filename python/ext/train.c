/* train.c - optimizers, schedules, moving averages and synchronous training, as functions of the module.
 *
 * An optimizer is a capsule; the package's object keeps it together with the graph it is of. */
#include "ext.h"
#include <string.h>

/* ---- capsules -------------------------------------------------------------------------------------- */

#define OPTIMIZER "weft.optimizer"
#define AVERAGE "weft.average"
#define SYNC "weft.sync"

static void optimizer_free(PyObject *c) { weft_optimizer_destroy(PyCapsule_GetPointer(c, OPTIMIZER)); }
static void average_free(PyObject *c) { weft_average_destroy(PyCapsule_GetPointer(c, AVERAGE)); }
static void sync_free(PyObject *c) { weft_sync_destroy(PyCapsule_GetPointer(c, SYNC)); }

static int to_graph(PyObject *o, void *out) {
  if (!PyObject_TypeCheck(o, ext_graph_type)) {
    PyErr_SetString(PyExc_TypeError, "a graph is needed");
    return 0;
  }
  *(weft_graph **)out = ((graph_object *)o)->g;
  return 1;
}

static int to_optimizer(PyObject *o, void *out) { return (*(void **)out = PyCapsule_GetPointer(o, OPTIMIZER)) != NULL; }
static int to_average(PyObject *o, void *out) { return (*(void **)out = PyCapsule_GetPointer(o, AVERAGE)) != NULL; }
static int to_sync(PyObject *o, void *out) { return (*(void **)out = PyCapsule_GetPointer(o, SYNC)) != NULL; }
static int to_out(PyObject *o, void *out) {
  long long packed = PyLong_AsLongLong(o);
  *(weft_out *)out = ext_out(packed);
  return !PyErr_Occurred();
}

/* ---- optimizers ------------------------------------------------------------------------------------ */

static PyObject *optimizer_create(PyObject *self, PyObject *args) {
  weft_graph *g;
  const char *kind, *name;
  weft_optimizer *o;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&sz", to_graph, &g, &kind, &name)) return NULL;
  weft_err err = weft_optimizer_create(&o, g, kind, name);
  return err ? ext_raise(err) : PyCapsule_New(o, OPTIMIZER, optimizer_free);
}

/* optimizer_set(optimizer, parameter, number) */
static PyObject *optimizer_set(PyObject *self, PyObject *args) {
  weft_optimizer *o;
  const char *param;
  double value;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&sd", to_optimizer, &o, &param, &value)) return NULL;
  return ext_none_or_raise(weft_optimizer_set(o, param, value));
}

static PyObject *optimizer_set_output(PyObject *self, PyObject *args) {
  weft_optimizer *o;
  const char *param;
  weft_out value;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&sO&", to_optimizer, &o, &param, to_out, &value)) return NULL;
  return ext_none_or_raise(weft_optimizer_set_output(o, param, value));
}

/* optimizer_compute(graph, optimizer, loss, variables, gate, colocate, tree, grad_loss) -> rows */
static PyObject *optimizer_compute(PyObject *self, PyObject *args) {
  weft_graph *g;
  weft_optimizer *o;
  weft_out loss, grad_loss, *vars;
  PyObject *list, *made = NULL;
  int gate, colocate, tree;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&O&O&OippO&", to_graph, &g, to_optimizer, &o, to_out, &loss, &list, &gate, &colocate,
                        &tree, to_out, &grad_loss))
    return NULL;
  Py_ssize_t n = ext_outs(list, &vars);
  weft_gradient *d = n < 0 ? NULL : PyMem_Malloc(sizeof *d * (size_t)(n + 1));
  if (d) {
    weft_minimize_opts opts = {.gate = (weft_gate)gate,
                               .colocate = colocate,
                               .tree = tree,
                               .grad_loss = grad_loss.node < 0 ? NULL : &grad_loss};
    weft_err err;
    UNLOCKED(err = weft_optimizer_compute(o, loss, (int)n, vars, &opts, d));
    made = err ? ext_raise(err) : ext_gradient_rows(d, n);
    weft_graph_clear_error(g);
  }
  PyMem_Free(d);
  PyMem_Free(vars);
  return made;
}

/* Rows (dense, indices, values, shape) as gradients. */
static weft_gradient *to_gradients(PyObject *rows, Py_ssize_t n) {
  weft_gradient *d = PyMem_Malloc(sizeof *d * (size_t)(n + 1));
  if (!d) return PyErr_NoMemory(), NULL;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *row = PySequence_GetItem(rows, i);
    int ok = row && PyArg_ParseTuple(row, "O&O&O&O&", to_out, &d[i].dense, to_out, &d[i].indices, to_out, &d[i].values,
                                     to_out, &d[i].dense_shape);
    Py_XDECREF(row);
    if (!ok) {
      PyMem_Free(d);
      return NULL;
    }
  }
  return d;
}

/* optimizer_apply(graph, optimizer, variables, rows, step, name) -> node */
static PyObject *optimizer_apply(PyObject *self, PyObject *args) {
  weft_graph *g;
  weft_optimizer *o;
  weft_out step, *vars, made = WEFT_NONE;
  PyObject *list, *rows;
  const char *name;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&O&OOO&z", to_graph, &g, to_optimizer, &o, &list, &rows, to_out, &step, &name))
    return NULL;
  Py_ssize_t n = ext_outs(list, &vars);
  weft_gradient *d = n < 0 ? NULL : to_gradients(rows, n);
  if (d) UNLOCKED(made = weft_optimizer_apply(o, (int)n, vars, d, step, name));
  PyMem_Free(d);
  PyMem_Free(vars);
  return d ? ext_made(g, made) : NULL;
}

static PyObject *optimizer_slot(PyObject *self, PyObject *args) {
  weft_optimizer *o;
  weft_out variable;
  const char *slot;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&O&s", to_optimizer, &o, to_out, &variable, &slot)) return NULL;
  return PyLong_FromLongLong(ext_packed(weft_optimizer_slot(o, variable, slot)));
}

static PyObject *optimizer_slot_names(PyObject *self, PyObject *capsule) {
  weft_optimizer *o;
  (void)self;
  if (!to_optimizer(capsule, &o)) return NULL;
  PyObject *names = PyList_New(0);
  for (int i = 0; names && weft_optimizer_slot_name(o, i); i++) {
    PyObject *name = PyUnicode_FromString(weft_optimizer_slot_name(o, i));
    if (!name || PyList_Append(names, name) != 0) Py_CLEAR(names);
    Py_XDECREF(name);
  }
  return names;
}

/* ---- variables and averages ------------------------------------------------------------------------ */

static PyObject *global_step_make(PyObject *self, PyObject *graph) {
  weft_graph *g;
  (void)self;
  return to_graph(graph, &g) ? ext_made(g, weft_global_step_make(g)) : NULL;
}

static PyObject *report_uninitialized(PyObject *self, PyObject *args) {
  weft_graph *g;
  const char *name;
  PyObject *list;
  weft_out *vars;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&zO", to_graph, &g, &name, &list)) return NULL;
  Py_ssize_t n = ext_outs(list, &vars);
  if (n < 0) return NULL;
  weft_out made;
  UNLOCKED(made = weft_report_uninitialized(g, name, (int)n, vars));
  PyMem_Free(vars);
  return ext_made(g, made);
}

static PyObject *average_create(PyObject *self, PyObject *args) {
  weft_graph *g;
  const char *name;
  double rate;
  weft_out updates;
  int debias;
  weft_average *a;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&zdO&p", to_graph, &g, &name, &rate, to_out, &updates, &debias)) return NULL;
  weft_err err = weft_average_create(&a, g, name, rate, updates, debias);
  return err ? ext_raise(err) : PyCapsule_New(a, AVERAGE, average_free);
}

static PyObject *average_apply(PyObject *self, PyObject *args) {
  weft_graph *g;
  weft_average *a;
  PyObject *list;
  weft_out *values, made;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&O&O", to_graph, &g, to_average, &a, &list)) return NULL;
  Py_ssize_t n = ext_outs(list, &values);
  if (n < 0) return NULL;
  UNLOCKED(made = weft_average_apply(a, (int)n, values));
  PyMem_Free(values);
  return ext_made(g, made);
}

static PyObject *average_of(PyObject *self, PyObject *args) {
  weft_average *a;
  weft_out value;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&O&", to_average, &a, to_out, &value)) return NULL;
  return PyLong_FromLongLong(ext_packed(weft_average_of(a, value)));
}

static PyObject *average_name(PyObject *self, PyObject *args) {
  weft_average *a;
  weft_out value;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&O&", to_average, &a, to_out, &value)) return NULL;
  const char *name = weft_average_name(a, value);
  return name ? PyUnicode_FromString(name) : ext_raise(WEFT_INVALID_ARGUMENT);
}

/* ---- synchronous training -------------------------------------------------------------------------- */

static PyObject *sync_create(PyObject *self, PyObject *args) {
  weft_optimizer *o;
  const char *name;
  int aggregate, replicas;
  weft_sync *s;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&zii", to_optimizer, &o, &name, &aggregate, &replicas)) return NULL;
  weft_err err = weft_sync_create(&s, o, name, aggregate, replicas);
  return err ? ext_raise(err) : PyCapsule_New(s, SYNC, sync_free);
}

static PyObject *sync_average(PyObject *self, PyObject *args) {
  weft_sync *s;
  weft_average *a;
  PyObject *list;
  weft_out *vars;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&O&O", to_sync, &s, to_average, &a, &list)) return NULL;
  Py_ssize_t n = ext_outs(list, &vars);
  if (n < 0) return NULL;
  weft_err err = weft_sync_average(s, a, (int)n, vars);
  PyMem_Free(vars);
  return ext_none_or_raise(err);
}

static PyObject *sync_apply(PyObject *self, PyObject *args) {
  weft_graph *g;
  weft_sync *s;
  weft_out step, *vars, made = WEFT_NONE;
  PyObject *list, *rows;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&O&OOO&", to_graph, &g, to_sync, &s, &list, &rows, to_out, &step)) return NULL;
  Py_ssize_t n = ext_outs(list, &vars);
  weft_gradient *d = n < 0 ? NULL : to_gradients(rows, n);
  if (d) UNLOCKED(made = weft_sync_apply(s, (int)n, vars, d, step));
  PyMem_Free(d);
  PyMem_Free(vars);
  return d ? ext_made(g, made) : NULL;
}

static PyObject *sync_init_tokens(PyObject *self, PyObject *args) {
  weft_graph *g;
  weft_sync *s;
  int tokens;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&O&i", to_graph, &g, to_sync, &s, &tokens)) return NULL;
  return ext_made(g, weft_sync_init_tokens(s, tokens));
}

/* sync_parts(sync) -> {name: output} */
static PyObject *sync_parts(PyObject *self, PyObject *capsule) {
  weft_sync *s;
  (void)self;
  if (!to_sync(capsule, &s)) return NULL;
  return Py_BuildValue("{sLsLsLsLsLsLsLsL}", "op", ext_packed(weft_sync_op(s)), "queue", ext_packed(weft_sync_queue(s)),
                       "close", ext_packed(weft_sync_close_op(s)), "cancel", ext_packed(weft_sync_cancel_op(s)),
                       "local_step", ext_packed(weft_sync_local_step(s)), "local_init",
                       ext_packed(weft_sync_local_init(s)), "chief_init", ext_packed(weft_sync_chief_init(s)),
                       "ready_for_local_init", ext_packed(weft_sync_ready_for_local_init(s)));
}

PyMethodDef ext_train_functions[] = {
    {"optimizer_create", optimizer_create, METH_VARARGS, "optimizer_create(graph, kind, name)"},
    {"optimizer_set", optimizer_set, METH_VARARGS, "optimizer_set(optimizer, parameter, number)"},
    {"optimizer_set_output", optimizer_set_output, METH_VARARGS, "optimizer_set_output(optimizer, parameter, output)"},
    {"optimizer_compute", optimizer_compute, METH_VARARGS, "Gradients of a loss."},
    {"optimizer_apply", optimizer_apply, METH_VARARGS, "The node that applies gradients."},
    {"optimizer_slot", optimizer_slot, METH_VARARGS, "optimizer_slot(optimizer, variable, slot)"},
    {"optimizer_slot_names", optimizer_slot_names, METH_O, "The names of its slots."},
    {"global_step_make", global_step_make, METH_O, "The global step there is, or a new one."},
    {"report_uninitialized", report_uninitialized, METH_VARARGS, "report_uninitialized(graph, name, variables)"},
    {"average_create", average_create, METH_VARARGS, "average_create(graph, name, decay, updates, zero_debias)"},
    {"average_apply", average_apply, METH_VARARGS, "average_apply(graph, average, values)"},
    {"average_of", average_of, METH_VARARGS, "average_of(average, value)"},
    {"average_name", average_name, METH_VARARGS, "average_name(average, value)"},
    {"sync_create", sync_create, METH_VARARGS, "sync_create(optimizer, name, aggregate, replicas)"},
    {"sync_average", sync_average, METH_VARARGS, "sync_average(sync, average, variables)"},
    {"sync_apply", sync_apply, METH_VARARGS, "sync_apply(graph, sync, variables, rows, step)"},
    {"sync_init_tokens", sync_init_tokens, METH_VARARGS, "sync_init_tokens(graph, sync, tokens)"},
    {"sync_parts", sync_parts, METH_O, "The nodes of synchronous training."},
    {NULL, NULL, 0, NULL},
};
