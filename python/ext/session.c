/* session.c - the type Session: one call runs a step.
 *
 * Feeds are borrowed from their buffers for the length of the run; the interpreter is let go
 * meanwhile, and Ctrl-C ends the run. */
#include "ext.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

PyTypeObject *ext_session_type;

/* session(graph, target, ConfigProto bytes) */
static PyObject *session_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  PyObject *graph;
  const char *target, *config;
  Py_ssize_t size;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "O!sy#", ext_graph_type, &graph, &target, &config, &size)) return NULL;
  weft_session_opts o = {.target = target, .config = config, .config_size = (size_t)size};
  allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  session_object *self = (session_object *)make(type, 0);
  if (!self) return NULL;
  self->graph = Py_NewRef(graph);
  self->process = getpid();
  weft_err err;
  ext_watch_signals();
  UNLOCKED(err = weft_session_create(&self->sess, ((graph_object *)graph)->g, &o));
  if (!err) return (PyObject *)self;
  ext_raise_wait(err);
  Py_DECREF(self);
  return NULL;
}

PyObject *ext_session_wrap(PyObject *graph, weft_session *sess, bool lent) {
  allocfunc make = (allocfunc)PyType_GetSlot(ext_session_type, Py_tp_alloc);
  session_object *self = (session_object *)make(ext_session_type, 0);
  if (!self) return NULL;
  self->graph = Py_NewRef(graph);
  self->sess = sess;
  self->lent = lent;
  self->process = getpid();
  return (PyObject *)self;
}

/* ---- the end of a session ---- */

static int calls_in_flight; /* of the library into Python; read and written with the GIL held */

typedef struct leaving {
  weft_session *sess;
  PyObject *graph;
} leaving;

static int graph_decref(void *graph) {
  Py_DECREF((PyObject *)graph);
  return 0;
}

static void *session_destroy_later(void *arg) {
  leaving *l = arg;
  weft_session_destroy(l->sess);
  Py_AddPendingCall(graph_decref, l->graph);
  free(l);
  return NULL;
}

/* A generator of the program may never come back, and a session waits for its own: then a thread waits for it, which
 * the end of the program does not wait for.  False: the caller destroys it. */
static bool leaves_by_itself(session_object *s) {
  pthread_t thread;
  leaving *l = calls_in_flight > 0 ? malloc(sizeof *l) : NULL;
  if (!l) return false;
  *l = (leaving){s->sess, s->graph};
  bool goes = pthread_create(&thread, NULL, session_destroy_later, l) == 0 && pthread_detach(thread) == 0;
  if (!goes) free(l);
  return goes;
}

static void session_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  session_object *s = (session_object *)self;
  if (s->process != getpid()) {
    /* The session of a parent process, whose threads are not in this one: it and its graph are left as they are. */
  } else if (!s->lent && !leaves_by_itself(s)) {
    UNLOCKED(weft_session_destroy(s->sess));
    Py_CLEAR(s->graph);
  } else if (s->lent) {
    Py_CLEAR(s->graph);
  }
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

/* ---- a run ----------------------------------------------------------------------------------------- */

/* Everything a run needs, from Python's lists. */
typedef struct request {
  Py_ssize_t n_feed, n_fetch, n_target;
  weft_feed *feeds;
  Py_buffer *views;
  weft_out *fetches, *targets;
  weft_tensor **fetched;
} request;

static void request_finish(request *r) {
  for (Py_ssize_t i = 0; i < r->n_feed; i++) {
    weft_tensor_destroy((weft_tensor *)(uintptr_t)r->feeds[i].value);
    if (r->views[i].obj) PyBuffer_Release(&r->views[i]);
  }
  PyMem_Free(r->feeds);
  PyMem_Free(r->views);
  PyMem_Free(r->fetches);
  PyMem_Free(r->targets);
  PyMem_Free(r->fetched);
}

/* feeds is [(output, (dtype, shape, data)), ...]; n_feed counts those that are ready. */
static int request_parse_feeds(request *r, PyObject *feeds) {
  Py_ssize_t n = PySequence_Size(feeds);
  if (n <= 0) return (int)n;
  r->feeds = PyMem_Calloc((size_t)n + 1, sizeof *r->feeds);
  r->views = PyMem_Calloc((size_t)n + 1, sizeof *r->views);
  if (!r->feeds || !r->views) return PyErr_NoMemory(), -1;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *row = PySequence_GetItem(feeds, i), *value;
    long long to;
    weft_tensor *t = NULL;
    int bad = !row || !PyArg_ParseTuple(row, "LO", &to, &value) || ext_borrow(&t, value, &r->views[i]) != 0;
    Py_XDECREF(row); /* the buffer keeps what it was taken from */
    if (bad) return -1;
    r->feeds[i] = (weft_feed){ext_out(to), t};
    r->n_feed++;
  }
  return 0;
}

/* An empty list, which most runs have, takes no memory. */
static Py_ssize_t request_outs(PyObject *list, weft_out **out) {
  return PySequence_Size(list) == 0 ? 0 : ext_outs(list, out);
}

static int request_parse(request *r, PyObject *feeds, PyObject *fetches, PyObject *targets) {
  if (request_parse_feeds(r, feeds) != 0) return -1;
  if ((r->n_fetch = request_outs(fetches, &r->fetches)) < 0) return r->n_fetch = 0, -1;
  if ((r->n_target = request_outs(targets, &r->targets)) < 0) return -1;
  if (r->n_fetch == 0) return 0;
  r->fetched = PyMem_Calloc((size_t)r->n_fetch + 1, sizeof *r->fetched);
  return r->fetched ? 0 : (PyErr_NoMemory(), -1);
}

static PyObject *request_results(request *r) {
  PyObject *list = PyList_New(r->n_fetch);
  for (Py_ssize_t i = 0; i < r->n_fetch; i++) {
    PyObject *value = list ? ext_to_numpy(r->fetched[i]) : NULL;
    if (!list) weft_tensor_destroy(r->fetched[i]);
    if (list && (!value || PyList_SetItem(list, i, value) != 0)) Py_CLEAR(list);
  }
  return list;
}

static weft_request as_request(const request *r) {
  return (weft_request){.n_feed = (int)r->n_feed,
                        .feeds = r->feeds,
                        .n_fetch = (int)r->n_fetch,
                        .fetches = r->fetches,
                        .fetched = r->fetched,
                        .n_target = (int)r->n_target,
                        .targets = r->targets};
}

enum { WITH_METADATA = 1, WITH_TRACE = 2, WITH_GRAPHS = 4 }; /* the bits that _asked of client.py gives */

static void set_options(weft_request *q, long long timeout, int asked, long long graph_key, void **metadata,
                        size_t *size) {
  q->timeout_ms = timeout;
  q->collective_graph_key = graph_key;
  q->trace = (asked & WITH_TRACE) != 0;
  q->partition_graphs = (asked & WITH_GRAPHS) != 0;
  if (asked & WITH_METADATA) q->metadata = metadata, q->metadata_size = size;
}

typedef struct run_options {
  long long timeout, graph_key;
  int asked; /* WITH_... */
} run_options;

/* The last three arguments of run, which a run without options leaves out. */
static int run_options_parse(run_options *o, PyObject *const *args, Py_ssize_t n) {
  *o = (run_options){0};
  if (n == 0) return 0;
  o->timeout = PyLong_AsLongLong(args[0]);
  o->asked = (int)PyLong_AsLong(args[1]);
  o->graph_key = PyLong_AsLongLong(args[2]);
  return PyErr_Occurred() ? -1 : 0;
}

/* run(feeds, fetches, targets[, timeout_ms, asked, collective_graph_key]) -> values, or (values, RunMetadata bytes) if
 * asked for.  The arguments come as an array (METH_FASTCALL), since making and parsing a tuple is much of a small
 * step. */
static PyObject *session_run(PyObject *self, PyObject *const *args, Py_ssize_t n_args) {
  PyObject *made = NULL;
  void *metadata = NULL;
  size_t metadata_size = 0;
  request r = {0};
  run_options o;
  weft_session *sess = ((session_object *)self)->sess;
  if (n_args != 3 && n_args != 6)
    return PyErr_Format(PyExc_TypeError, "run takes 3 or 6 arguments, but got %zd", n_args);
  if (run_options_parse(&o, args + 3, n_args - 3) != 0) return NULL;
  ext_watch_signals();
  if (request_parse(&r, args[0], args[1], args[2]) == 0) {
    weft_request q = as_request(&r);
    weft_err err;
    set_options(&q, o.timeout, o.asked, o.graph_key, &metadata, &metadata_size);
    do UNLOCKED(err = weft_session_run(sess, &q));
    while (ext_try_again(err));
    made = err ? ext_raise_wait(err) : request_results(&r);
    if (made && o.asked) made = Py_BuildValue("(Ny#)", made, metadata ? metadata : "", (Py_ssize_t)metadata_size);
    weft_free(metadata);
  }
  request_finish(&r);
  return made;
}

static PyObject *session_close(PyObject *self, PyObject *none) {
  (void)none;
  weft_err err;
  UNLOCKED(err = weft_session_close(((session_object *)self)->sess));
  return ext_none_or_raise(err);
}

/* ---- partial runs and callables -------------------------------------------------------------------- */

typedef struct prepared_object { /* a partial run or a callable; keeps its session */
  PyObject_HEAD PyObject *session;
  weft_partial_run *partial; /* either this */
  weft_callable *callable;   /* or this */
  Py_ssize_t n_fetch;
} prepared_object;

static PyTypeObject *prepared_type;

static void prepared_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  prepared_object *p = (prepared_object *)self;
  if (!p->session || ((session_object *)p->session)->process == getpid())
    UNLOCKED(weft_session_partial_destroy(p->partial); weft_session_callable_destroy(p->callable));
  Py_CLEAR(p->session);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

/* prepare(feeds, fetches, targets, is_partial): the outputs of all three */
static PyObject *session_prepare(PyObject *self, PyObject *args) {
  PyObject *feeds, *fetches, *targets;
  weft_out *feed = NULL;
  request r = {0};
  int is_partial;
  weft_err err = WEFT_OK;
  if (!PyArg_ParseTuple(args, "OOOp", &feeds, &fetches, &targets, &is_partial)) return NULL;
  prepared_object *p = (prepared_object *)((allocfunc)PyType_GetSlot(prepared_type, Py_tp_alloc))(prepared_type, 0);
  bool ok = p && (r.n_feed = ext_outs(feeds, &feed)) >= 0 && (r.n_fetch = ext_outs(fetches, &r.fetches)) >= 0 &&
            (r.n_target = ext_outs(targets, &r.targets)) >= 0;
  if (ok && !(r.feeds = PyMem_Calloc((size_t)r.n_feed + 1, sizeof *r.feeds))) ok = false, PyErr_NoMemory();
  if (ok) {
    weft_session *sess = ((session_object *)self)->sess;
    p->session = Py_NewRef(self);
    p->n_fetch = r.n_fetch;
    for (Py_ssize_t i = 0; i < r.n_feed; i++) r.feeds[i].to = feed[i];
    weft_request q = as_request(&r);
    ext_watch_signals();
    UNLOCKED(err = is_partial ? weft_session_partial_setup(&p->partial, sess, &q)
                              : weft_session_callable_create(&p->callable, sess, &q));
  }
  PyMem_Free(feed);
  PyMem_Free(r.feeds);
  PyMem_Free(r.fetches);
  PyMem_Free(r.targets);
  if (ok && !err) return (PyObject *)p;
  if (err) ext_raise_wait(err);
  Py_XDECREF((PyObject *)p);
  return NULL;
}

/* partial_run(feeds, fetches) -> values */
static PyObject *prepared_partial_run(PyObject *self, PyObject *args) {
  PyObject *feeds, *fetches, *made = NULL, *none = PyList_New(0);
  request r = {0};
  if (!none || !PyArg_ParseTuple(args, "OO", &feeds, &fetches)) return Py_XDECREF(none), NULL;
  ext_watch_signals();
  if (request_parse(&r, feeds, fetches, none) == 0) {
    weft_err err;
    weft_request q = as_request(&r);
    UNLOCKED(err = weft_session_partial_run(((prepared_object *)self)->partial, &q));
    made = err ? ext_raise_wait(err) : request_results(&r);
  }
  request_finish(&r);
  Py_DECREF(none);
  return made;
}

static PyObject *prepared_over(PyObject *self, PyObject *none) {
  (void)none;
  return PyBool_FromLong(weft_session_partial_over(((prepared_object *)self)->partial));
}

/* call(feeds, timeout_ms, asked, collective_graph_key) -> as run; feeds in the callable's order */
static PyObject *prepared_call(PyObject *self, PyObject *args) {
  prepared_object *p = (prepared_object *)self;
  PyObject *feeds, *made = NULL;
  long long timeout, graph_key;
  int asked;
  void *metadata = NULL;
  size_t metadata_size = 0;
  request r = {0};
  if (!PyArg_ParseTuple(args, "OLiL", &feeds, &timeout, &asked, &graph_key)) return NULL;
  ext_watch_signals();
  r.fetched = PyMem_Calloc((size_t)p->n_fetch + 1, sizeof *r.fetched);
  if (r.fetched && request_parse_feeds(&r, feeds) == 0) {
    weft_err err;
    r.n_fetch = p->n_fetch;
    weft_request q = as_request(&r);
    set_options(&q, timeout, asked, graph_key, &metadata, &metadata_size);
    do UNLOCKED(err = weft_session_callable_run(p->callable, &q));
    while (ext_try_again(err));
    made = err ? ext_raise_wait(err) : request_results(&r);
    if (made && asked) made = Py_BuildValue("(Ny#)", made, metadata ? metadata : "", (Py_ssize_t)metadata_size);
    weft_free(metadata);
  } else if (!PyErr_Occurred()) {
    PyErr_NoMemory();
  }
  request_finish(&r);
  return made;
}

static PyMethodDef prepared_methods[] = {
    {"partial_run", prepared_partial_run, METH_VARARGS, "partial_run(feeds, fetches)"},
    {"over", prepared_over, METH_NOARGS, "Has the partial run ended?"},
    {"call", prepared_call, METH_VARARGS, "call(feeds, timeout_ms, asked, collective_graph_key)"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot prepared_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t) "A partial run or a callable of a session."},
    {Py_tp_dealloc, (void *)prepared_dealloc},
    {Py_tp_methods, prepared_methods},
    {0, NULL},
};
static PyType_Spec prepared_spec = {"weft._weft.Prepared", sizeof(prepared_object), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, prepared_slots};

static PyMethodDef session_methods[] = {
    {"prepare", session_prepare, METH_VARARGS, "prepare(feeds, fetches, targets, is_partial)"},
    {"run", (PyCFunction)(void (*)(void))session_run, METH_FASTCALL,
     "run(feeds, fetches, targets[, timeout_ms, asked, collective_graph_key])"},
    {"close", session_close, METH_NOARGS, "Refuses new runs and ends those in flight."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot session_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t) "A session of the library."},
    {Py_tp_new, (void *)session_new},
    {Py_tp_dealloc, (void *)session_dealloc},
    {Py_tp_methods, session_methods},
    {0, NULL},
};
static PyType_Spec session_spec = {"weft._weft.Session", sizeof(session_object), 0, Py_TPFLAGS_DEFAULT, session_slots};

/* ---- functions that a graph calls ------------------------------------------------------------------ */

static PyObject *call_target; /* the package's function (token, inputs) -> [(dtype, shape, data), ...] */

static int call_results(PyObject *results, int n_out, weft_tensor **out) {
  if (PySequence_Size(results) != n_out) {
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_ValueError, "the function returned %zd values, expects to see %d", PySequence_Size(results),
                   n_out);
    return -1;
  }
  for (int i = 0; i < n_out; i++) {
    PyObject *one = PySequence_GetItem(results, i);
    int bad = !one || ext_from_python(&out[i], one) != 0;
    Py_XDECREF(one);
    if (bad) return -1;
  }
  return 0;
}

weft_err ext_python_error(void) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject *name = type ? PyObject_GetAttrString(type, "__name__") : NULL;
  const bool plain = name && PyUnicode_CompareWithASCIIString(name, "WrongResult") == 0; /* script_ops.py */
  PyObject *text = plain ? PyObject_Str(value) : name && value ? PyUnicode_FromFormat("%U: %S", name, value) : NULL;
  const char *message = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  PyObject *code = value ? PyObject_GetAttrString(value, "error_code") : NULL; /* tf.errors keep their codes */
  long number = code && PyLong_Check(code) ? PyLong_AsLong(code) : WEFT_UNKNOWN;
  PyErr_Clear();
  Py_XDECREF(code);
  weft_err err = weft_fail(number > 0 && number <= 16 ? (weft_err)number : WEFT_UNKNOWN,
                           message ? message : "the function failed");
  PyErr_Clear();
  Py_XDECREF(text);
  Py_XDECREF(name);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return err;
}

static weft_err python_call(void *arg, const char *token, int n_in, const weft_tensor *const *in, int n_out,
                            weft_tensor **out) {
  (void)arg;
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *inputs = PyList_New(n_in), *results = NULL;
  for (int i = 0; inputs && i < n_in; i++) {
    PyObject *value = ext_to_numpy_copy(in[i]);
    if (!value || PyList_SetItem(inputs, i, value) != 0) Py_CLEAR(inputs);
  }
  calls_in_flight++;
  if (inputs) results = PyObject_CallFunction(call_target, "sO", token, inputs);
  calls_in_flight--;
  int bad = !results || call_results(results, n_out, out) != 0;
  weft_err err = bad ? ext_python_error() : WEFT_OK;
  Py_XDECREF(results);
  Py_XDECREF(inputs);
  PyGILState_Release(state);
  return err;
}

PyObject *ext_set_call(PyObject *self, PyObject *fn) {
  (void)self;
  ext_set(&call_target, Py_NewRef(fn));
  weft_call_set(python_call, NULL);
  Py_RETURN_NONE;
}

int ext_session_ready(PyObject *module) {
  ext_session_type = (PyTypeObject *)PyType_FromSpec(&session_spec);
  prepared_type = (PyTypeObject *)PyType_FromSpec(&prepared_spec);
  if (!prepared_type) return -1;
  return ext_session_type ? PyModule_AddObjectRef(module, "Session", (PyObject *)ext_session_type) : -1;
}
