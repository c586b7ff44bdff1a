/* pipeline.c - coordinators, queue runners, losses and metrics, as functions of the module. */
#include "ext.h"
#include <string.h>

#define COORDINATOR "weft.coordinator"

static void coordinator_free(PyObject *c) {
  weft_coordinator *made = PyCapsule_GetPointer(c, COORDINATOR);
  if (ext_capsule_is_ours(c)) UNLOCKED(weft_coordinator_destroy(made));
}

int ext_to_coordinator(PyObject *o, void *out) {
  return (*(void **)out = PyCapsule_GetPointer(o, COORDINATOR)) != NULL;
}

/* ---- coordinators ---------------------------------------------------------------------------------- */

/* coordinator_create(codes that stop without being raised) */
static PyObject *coordinator_create(PyObject *self, PyObject *codes) {
  weft_err clean[17];
  weft_coordinator *c;
  Py_ssize_t n = PySequence_Size(codes);
  (void)self;
  if (n < 0 || n > 17) return PyErr_Format(PyExc_ValueError, "%zd codes", n);
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *code = PySequence_GetItem(codes, i);
    clean[i] = code ? (weft_err)PyLong_AsLong(code) : WEFT_OK;
    Py_XDECREF(code);
  }
  if (PyErr_Occurred()) return NULL;
  weft_err err = weft_coordinator_create(&c, (int)n, clean);
  return err ? ext_raise(err) : ext_capsule(c, COORDINATOR, coordinator_free);
}

/* coordinator_request_stop(coordinator, code, message) */
static PyObject *coordinator_request_stop(PyObject *self, PyObject *args) {
  weft_coordinator *c;
  int code;
  const char *message;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&is", ext_to_coordinator, &c, &code, &message)) return NULL;
  if (code) (void)weft_fail((weft_err)code, message);
  UNLOCKED(weft_coordinator_request_stop(c, (weft_err)code));
  Py_RETURN_NONE;
}

static PyObject *coordinator_should_stop(PyObject *self, PyObject *capsule) {
  weft_coordinator *c;
  (void)self;
  return ext_to_coordinator(capsule, &c) ? PyBool_FromLong(weft_coordinator_should_stop(c)) : NULL;
}

static PyObject *coordinator_clear_stop(PyObject *self, PyObject *capsule) {
  weft_coordinator *c;
  (void)self;
  if (!ext_to_coordinator(capsule, &c)) return NULL;
  weft_coordinator_clear_stop(c);
  Py_RETURN_NONE;
}

static PyObject *coordinator_wait(PyObject *self, PyObject *args) {
  weft_coordinator *c;
  double seconds;
  bool stopped;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&d", ext_to_coordinator, &c, &seconds)) return NULL;
  ext_watch_signals();
  UNLOCKED(stopped = weft_coordinator_wait(c, seconds));
  return PyErr_CheckSignals() ? NULL : PyBool_FromLong(stopped);
}

static PyObject *coordinator_join(PyObject *self, PyObject *args) {
  weft_coordinator *c;
  double grace;
  int ignore;
  weft_err err;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&dp", ext_to_coordinator, &c, &grace, &ignore)) return NULL;
  ext_watch_signals();
  UNLOCKED(err = weft_coordinator_join(c, grace, ignore));
  return err ? ext_raise_wait(err) : ext_none_or_raise(err);
}

/* queue_runner_start(session, coordinator, QueueRunnerDef bytes) -> threads started */
static PyObject *queue_runner_start(PyObject *self, PyObject *args) {
  PyObject *session;
  weft_coordinator *c;
  const char *data;
  Py_ssize_t size;
  int started = 0;
  weft_err err;
  (void)self;
  if (!PyArg_ParseTuple(args, "O!O&y#", ext_session_type, &session, ext_to_coordinator, &c, &data, &size)) return NULL;
  UNLOCKED(err = weft_queue_runner_start(((session_object *)session)->sess, c, data, (size_t)size, &started));
  return err ? ext_raise(err) : PyLong_FromLong(started);
}

/* ---- losses and metrics ---------------------------------------------------------------------------- */

static int to_graph(PyObject *o, void *out) {
  if (!PyObject_TypeCheck(o, ext_graph_type)) return PyErr_SetString(PyExc_TypeError, "a graph is needed"), 0;
  *(weft_graph **)out = ((graph_object *)o)->g;
  return 1;
}

/* loss(graph, kind, labels, predictions, weights, reduction, collection, name, smoothing, delta, epsilon, axis) */
static PyObject *graph_loss(PyObject *self, PyObject *args) {
  weft_graph *g;
  const char *kind;
  long long labels, predictions, weights;
  int reduction;
  weft_loss_opts o = {0};
  (void)self;
  if (!PyArg_ParseTuple(args, "O&sLLLizzdddi", to_graph, &g, &kind, &labels, &predictions, &weights, &reduction,
                        &o.collection, &o.name, &o.label_smoothing, &o.delta, &o.epsilon, &o.axis))
    return NULL;
  weft_out w = ext_out(weights), made;
  o.weights = weights < 0 ? NULL : &w;
  o.reduction = (weft_reduction)reduction;
  UNLOCKED(made = weft_loss(g, kind, ext_out(labels), ext_out(predictions), &o));
  return ext_made(g, made);
}

static PyObject *total_loss(PyObject *self, PyObject *args) {
  weft_graph *g;
  const char *name;
  int regularization;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&zp", to_graph, &g, &name, &regularization)) return NULL;
  return ext_made(g, weft_total_loss(g, name, regularization));
}

/* metric(graph, kind, labels, predictions, weights, thresholds, name) -> (value, update) */
static PyObject *graph_metric(PyObject *self, PyObject *args) {
  weft_graph *g;
  const char *kind;
  long long labels, predictions, weights;
  weft_metric_opts o = {0};
  weft_out value = WEFT_NONE, update = WEFT_NONE;
  weft_err err;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&sLLLiz", to_graph, &g, &kind, &labels, &predictions, &weights, &o.thresholds, &o.name))
    return NULL;
  weft_out w = ext_out(weights);
  o.weights = weights < 0 ? NULL : &w;
  UNLOCKED(err = weft_metric(g, kind, ext_out(labels), ext_out(predictions), &o, &value, &update));
  weft_graph_clear_error(g);
  return err ? ext_raise(err) : Py_BuildValue("(LL)", ext_packed(value), ext_packed(update));
}

PyMethodDef ext_pipeline_functions[] = {
    {"coordinator_create", coordinator_create, METH_O, "coordinator_create(clean codes)"},
    {"coordinator_request_stop", coordinator_request_stop, METH_VARARGS, "Asks all threads to stop."},
    {"coordinator_should_stop", coordinator_should_stop, METH_O, "Was the stop asked for?"},
    {"coordinator_clear_stop", coordinator_clear_stop, METH_O, "Forgets the stop."},
    {"coordinator_wait", coordinator_wait, METH_VARARGS, "coordinator_wait(coordinator, seconds)"},
    {"coordinator_join", coordinator_join, METH_VARARGS, "coordinator_join(coordinator, grace, ignore_live)"},
    {"queue_runner_start", queue_runner_start, METH_VARARGS, "Starts the threads of a QueueRunnerDef."},
    {"loss", graph_loss, METH_VARARGS, "A loss by its kind."},
    {"total_loss", total_loss, METH_VARARGS, "total_loss(graph, name, regularization)"},
    {"metric", graph_metric, METH_VARARGS, "metric(graph, kind, ...) -> (value, update)"},
    {NULL, NULL, 0, NULL},
};
