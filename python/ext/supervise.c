/* supervise.c - tf.train.Supervisor's half in the library: sessions that are initialized, watched and replaced.
 *
 * What a supervisor uses while it lives (feeds of the init op, functions of the program) is kept beside it. */
#include "ext.h"
#include <string.h>

#define SUPERVISOR "weft.supervisor"

typedef struct supervision {
  weft_supervisor *sv;
  PyObject *graph, *keep; /* a tuple: saver, writer, functions */
  PyObject *served;       /* the session that the services were started with, or NULL: their threads may use it */
  weft_feed *feeds;
  int n_feed;
  PyObject *init_fn, *recovered_fn; /* borrowed from keep; NULL: none */
} supervision;

static void free_feeds(weft_feed *feeds, int n) {
  for (int i = 0; i < n; i++) weft_tensor_destroy((weft_tensor *)(uintptr_t)feeds[i].value);
  PyMem_Free(feeds);
}

static void supervision_finish(supervision *s) {
  UNLOCKED(weft_supervisor_destroy(s->sv));
  free_feeds(s->feeds, s->n_feed);
  Py_XDECREF(s->served);
  Py_XDECREF(s->keep);
  Py_XDECREF(s->graph);
  PyMem_Free(s);
}

static void supervision_free(PyObject *c) {
  if (ext_capsule_is_ours(c)) supervision_finish(PyCapsule_GetPointer(c, SUPERVISOR));
}
static int to_sv(PyObject *o, void *out) { return (*(void **)out = PyCapsule_GetPointer(o, SUPERVISOR)) != NULL; }

/* Calls a function of the program with a session it must not keep. */
static weft_err call_with(PyObject *fn, PyObject *graph, weft_session *sess) {
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *lent = ext_session_wrap(graph, sess, true);
  PyObject *made = lent ? PyObject_CallFunctionObjArgs(fn, lent, NULL) : NULL;
  weft_err err = made ? WEFT_OK : ext_python_error();
  Py_XDECREF(made);
  Py_XDECREF(lent);
  PyGILState_Release(state);
  return err;
}

static weft_err call_init(void *arg, weft_session *sess) {
  const supervision *s = arg;
  return call_with(s->init_fn, s->graph, sess);
}

static weft_err call_recovered(void *arg, weft_session *sess) {
  const supervision *s = arg;
  return call_with(s->recovered_fn, s->graph, sess);
}

/* feeds: [(output, (dtype, shape, data)), ...] */
static int take_feeds(PyObject *list, weft_feed **feeds, int *n_feed) {
  Py_ssize_t n = PySequence_Size(list);
  *feeds = n < 0 ? NULL : PyMem_Calloc((size_t)n + 1, sizeof **feeds);
  if (!*feeds) return -1;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *row = PySequence_GetItem(list, i), *value;
    long long to;
    weft_tensor *t;
    int ok = row && PyArg_ParseTuple(row, "LO", &to, &value) && ext_from_python(&t, value) == 0;
    Py_XDECREF(row);
    if (!ok) return -1;
    (*feeds)[(*n_feed)++] = (weft_feed){ext_out(to), t};
  }
  return 0;
}

/* Stores the pointer of a capsule, NULL for None and for False.  *use is WEFT_NO for False, which asks for none. */
static int to_part(PyObject *given, const char *name, void **out, weft_choice *use) {
  *out = NULL;
  *use = given == Py_False ? WEFT_NO : WEFT_DEFAULT;
  if (given == Py_None || given == Py_False) return 0;
  *out = PyCapsule_GetPointer(given, name);
  return *out ? 0 : -1;
}

static PyObject *function_or_null(PyObject *fn) { return fn == Py_None ? NULL : fn; }

/* supervisor_create(graph, is_chief, logdir, (init, local_init, ready, ready_for_local_init, summary, global_step),
 * init feeds, init_fn, recovered_fn, saver, writer, summaries_secs, model_secs, recovery_secs, grace_secs, basename,
 * local_init_timeout_ms) */
static PyObject *supervisor_create(PyObject *self, PyObject *args) {
  PyObject *graph, *ops[6], *feeds, *init_fn, *recovered_fn, *saver, *writer;
  weft_supervisor_opts o = {0};
  long long local_ms;
  int chief;
  weft_out place[6];
  (void)self;
  if (!PyArg_ParseTuple(args, "O!pz(OOOOOO)OOOOOddddzL", ext_graph_type, &graph, &chief, &o.logdir, &ops[0], &ops[1],
                        &ops[2], &ops[3], &ops[4], &ops[5], &feeds, &init_fn, &recovered_fn, &saver, &writer,
                        &o.save_summaries_secs, &o.save_model_secs, &o.recovery_wait_secs, &o.stop_grace_secs,
                        &o.checkpoint_basename, &local_ms))
    return NULL;
  const weft_out **fields[] = {&o.init_op,    &o.local_init_op, &o.ready_op, &o.ready_for_local_init_op,
                               &o.summary_op, &o.global_step};
  for (int i = 0; i < 6; i++)
    if (ext_choice(ops[i], &place[i], fields[i]) != 0) return NULL;
  supervision *s = PyMem_Calloc(1, sizeof *s);
  if (!s) return PyErr_NoMemory();
  s->graph = Py_NewRef(graph);
  s->keep = Py_BuildValue("(OOOO)", saver, writer, init_fn, recovered_fn);
  s->init_fn = function_or_null(init_fn), s->recovered_fn = function_or_null(recovered_fn);
  weft_err err = WEFT_OK;
  if (s->keep && take_feeds(feeds, &s->feeds, &s->n_feed) == 0 &&
      to_part(saver, "weft.saver", (void **)&o.saver, &o.use_saver) == 0 &&
      to_part(writer, "weft.writer", (void **)&o.summary_writer, &o.use_summary_writer) == 0) {
    o.local_init_timeout_ms = local_ms;
    o.is_chief = chief ? WEFT_YES : WEFT_NO, o.n_init_feed = s->n_feed, o.init_feed = s->feeds;
    o.init_fn = s->init_fn ? call_init : NULL, o.init_arg = s;
    o.recovered_fn = s->recovered_fn ? call_recovered : NULL, o.recovered_arg = s;
    UNLOCKED(err = weft_supervisor_create(&s->sv, ((graph_object *)graph)->g, &o));
    weft_graph_clear_error(((graph_object *)graph)->g);
    if (!err) return ext_capsule(s, SUPERVISOR, supervision_free);
    ext_raise(err);
  }
  supervision_finish(s);
  return NULL;
}

/* supervisor_session(supervisor, target, ConfigProto bytes, max_wait_secs, for_checkpoint, services) */
static PyObject *supervisor_session(PyObject *self, PyObject *args) {
  supervision *s;
  const char *target, *config;
  Py_ssize_t size;
  weft_supervisor_wait wait = {0};
  int for_checkpoint, services;
  weft_session *sess;
  weft_err err;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&sy#dpp", to_sv, &s, &target, &config, &size, &wait.max_wait_secs, &for_checkpoint,
                        &services))
    return NULL;
  wait.for_checkpoint = for_checkpoint, wait.services = services ? WEFT_YES : WEFT_NO;
  weft_session_opts o = {.config = config, .config_size = (size_t)size};
  ext_watch_signals();
  UNLOCKED(err = weft_supervisor_session(&sess, s->sv, target, &o, &wait));
  if (err) return ext_raise_wait(err);
  PyObject *made = ext_session_wrap(s->graph, sess, false);
  if (!made) weft_session_destroy(sess);
  return made;
}

static PyObject *supervisor_start_services(PyObject *self, PyObject *args) {
  supervision *s;
  PyObject *session;
  weft_err err;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&O!", to_sv, &s, ext_session_type, &session)) return NULL;
  PyObject *before = s->served;
  s->served = Py_NewRef(session);
  Py_XDECREF(before);
  UNLOCKED(err = weft_supervisor_start_services(s->sv, ((session_object *)session)->sess));
  return ext_none_or_raise(err);
}

static PyObject *supervisor_start_queue_runners(PyObject *self, PyObject *args) {
  supervision *s;
  PyObject *session;
  int started = 0;
  weft_err err;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&O!", to_sv, &s, ext_session_type, &session)) return NULL;
  UNLOCKED(err = weft_supervisor_start_queue_runners(s->sv, ((session_object *)session)->sess, NULL, &started));
  return err ? ext_raise(err) : PyLong_FromLong(started);
}

static PyObject *supervisor_stop(PyObject *self, PyObject *args) {
  supervision *s;
  int keep_writer, ignore_live;
  weft_err err;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&pp", to_sv, &s, &keep_writer, &ignore_live)) return NULL;
  ext_watch_signals();
  UNLOCKED(err = weft_supervisor_stop(s->sv, keep_writer, ignore_live));
  return err ? ext_raise_wait(err) : ext_none_or_raise(err);
}

/* supervisor_add_summary(supervisor, session, Summary bytes, step or None) */
static PyObject *supervisor_add_summary(PyObject *self, PyObject *args) {
  supervision *s;
  PyObject *session, *step;
  const char *data;
  Py_ssize_t size;
  weft_err err;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&O!y#O", to_sv, &s, ext_session_type, &session, &data, &size, &step)) return NULL;
  int64_t number = step == Py_None ? 0 : PyLong_AsLongLong(step);
  if (PyErr_Occurred()) return NULL;
  UNLOCKED(err = weft_supervisor_add_summary(s->sv, ((session_object *)session)->sess, data, (size_t)size,
                                             step == Py_None ? NULL : &number));
  return ext_none_or_raise(err);
}

static PyObject *supervisor_part(void *pointer, const char *name) {
  return pointer ? PyCapsule_New(pointer, name, NULL) : Py_NewRef(Py_None);
}

/* supervisor_parts(supervisor) -> (coordinator, saver, writer, global step, save path): they live as long as it */
static PyObject *supervisor_parts(PyObject *self, PyObject *capsule) {
  supervision *s;
  (void)self;
  if (!to_sv(capsule, &s)) return NULL;
  return Py_BuildValue("(NNNLz)", supervisor_part(weft_supervisor_coordinator(s->sv), "weft.coordinator"),
                       supervisor_part(weft_supervisor_saver(s->sv), "weft.saver"),
                       supervisor_part(weft_supervisor_summary_writer(s->sv), "weft.writer"),
                       ext_packed(weft_supervisor_global_step(s->sv)), weft_supervisor_save_path(s->sv));
}

/* ---- tf.train.SessionManager ----------------------------------------------------------------------- */

typedef struct management { /* one call of a session manager, and what it holds meanwhile */
  weft_manager_opts o;
  weft_session_opts config;
  supervision init; /* for call_init */
  weft_feed *local_feeds;
  int n_local_feed;
  weft_out place[4];
} management;

static void management_finish(management *m) {
  free_feeds(m->init.feeds, m->init.n_feed);
  free_feeds(m->local_feeds, m->n_local_feed);
}

/* (graph, target, ConfigProto bytes, (ready, ready_for_local_init, local_init, init), init feeds, local init feeds,
 * local_init_timeout_ms, recovery_secs, max_wait_secs, init_fn, saver, checkpoint_dir, checkpoint_path, wait) */
static int management_read(management *m, PyObject *args, PyObject **graph) {
  PyObject *ops[4], *feeds, *local_feeds, *init_fn, *saver;
  weft_manager_opts *o = &m->o;
  const char *config;
  Py_ssize_t size;
  long long local_ms;
  int wait;
  weft_choice use;
  if (!PyArg_ParseTuple(args, "O!sy#(OOOO)OOLddOOzzp", ext_graph_type, graph, &o->target, &config, &size, &ops[0],
                        &ops[1], &ops[2], &ops[3], &feeds, &local_feeds, &local_ms, &o->recovery_wait_secs,
                        &o->max_wait_secs, &init_fn, &saver, &o->checkpoint_dir, &o->checkpoint_path, &wait))
    return -1;
  const weft_out **fields[] = {&o->ready_op, &o->ready_for_local_init_op, &o->local_init_op, &o->init_op};
  for (int i = 0; i < 4; i++)
    if (ext_choice(ops[i], &m->place[i], fields[i]) != 0) return -1;
  if (take_feeds(feeds, &m->init.feeds, &m->init.n_feed) != 0 ||
      take_feeds(local_feeds, &m->local_feeds, &m->n_local_feed) != 0 ||
      to_part(saver, "weft.saver", (void **)&o->saver, &use) != 0)
    return -1;
  m->config = (weft_session_opts){.config = config, .config_size = (size_t)size};
  m->init.graph = *graph, m->init.init_fn = function_or_null(init_fn);
  o->config = &m->config, o->local_init_timeout_ms = local_ms, o->wait_for_checkpoint = wait;
  o->n_init_feed = m->init.n_feed, o->init_feed = m->init.feeds;
  o->n_local_init_feed = m->n_local_feed, o->local_init_feed = m->local_feeds;
  o->init_fn = m->init.init_fn ? call_init : NULL, o->init_arg = &m->init;
  return 0;
}

typedef weft_err manager_fn(weft_session **out, weft_graph *g, const weft_manager_opts *o, bool *restored);

static weft_err prepare_session(weft_session **out, weft_graph *g, const weft_manager_opts *o, bool *restored) {
  *restored = true;
  return weft_manager_prepare(out, g, o);
}

static weft_err wait_until_ready(weft_session **out, weft_graph *g, const weft_manager_opts *o, bool *restored) {
  *restored = true;
  return weft_manager_wait(out, g, o);
}

/* -> (session, whether the model is ready) */
static PyObject *manager_with(PyObject *args, manager_fn *fn) {
  management m = {0};
  PyObject *graph, *made = NULL;
  weft_session *sess = NULL;
  bool restored = false;
  if (management_read(&m, args, &graph) == 0) {
    weft_err err;
    ext_watch_signals();
    UNLOCKED(err = fn(&sess, ((graph_object *)graph)->g, &m.o, &restored));
    made = err ? ext_raise_wait(err) : ext_session_wrap(graph, sess, false);
    if (!err && !made) weft_session_destroy(sess);
  }
  management_finish(&m);
  return made ? Py_BuildValue("(NO)", made, restored ? Py_True : Py_False) : NULL;
}

static PyObject *manager_prepare(PyObject *self, PyObject *args) {
  (void)self;
  return manager_with(args, prepare_session);
}

static PyObject *manager_wait(PyObject *self, PyObject *args) {
  (void)self;
  return manager_with(args, wait_until_ready);
}

static PyObject *manager_recover(PyObject *self, PyObject *args) {
  (void)self;
  return manager_with(args, weft_manager_recover);
}

PyMethodDef ext_supervise_functions[] = {
    {"manager_prepare", manager_prepare, METH_VARARGS, "A session that was restored or initialized."},
    {"manager_wait", manager_wait, METH_VARARGS, "A session that another task initialized."},
    {"manager_recover", manager_recover, METH_VARARGS, "(session, whether it was restored)"},
    {"supervisor_create", supervisor_create, METH_VARARGS, "A supervisor for a graph."},
    {"supervisor_session", supervisor_session, METH_VARARGS, "A session that is ready."},
    {"supervisor_start_services", supervisor_start_services, METH_VARARGS, "Saving, summaries, counting."},
    {"supervisor_start_queue_runners", supervisor_start_queue_runners, METH_VARARGS, "Those of the graph."},
    {"supervisor_stop", supervisor_stop, METH_VARARGS, "Stops and joins all threads."},
    {"supervisor_add_summary", supervisor_add_summary, METH_VARARGS, "A Summary at a step."},
    {"supervisor_parts", supervisor_parts, METH_O, "(coordinator, saver, writer, global step, save path)"},
    {NULL, NULL, 0, NULL},
};
