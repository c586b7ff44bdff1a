/* monitor.c - monitored sessions, and hooks written in Python.
 *
 * A hook of the program is an adapter object (python/weft/_core/train/hooks.py) whose methods are called with plain
 * values: begin(), created(session, coordinator), before(session) -> (outputs, feeds, trace, graphs, stop),
 * after(session, values, metadata) -> stop, end(session). */
#include "ext.h"
#include <string.h>

#define MONITORED "weft.monitored"

typedef struct python_hook {
  weft_hook *hook;
  PyObject *adapter, *graph; /* borrowed from the monitored session's lists */
  int n_asked, n_fed;
  weft_tensor *fed[64]; /* until after_run */
} python_hook;

typedef struct monitored {
  PyObject *keep, *graph; /* keep: what the library points at */
  python_hook *hooks;
  weft_hook **list;
  int n_hook, n_chief;
  PyObject *init_fn;
} monitored;

/* ---- from the library into Python ------------------------------------------------------------------ */

static void drop_feeds(python_hook *h) {
  for (int i = 0; i < h->n_fed; i++) weft_tensor_destroy(h->fed[i]);
  h->n_fed = 0;
}

/* Calls a method with a tuple of arguments, which is taken over. */
static PyObject *call_method(PyObject *adapter, const char *name, PyObject *args) {
  PyObject *method = args ? PyObject_GetAttrString(adapter, name) : NULL;
  PyObject *made = method ? PyObject_Call(method, args, NULL) : NULL;
  Py_XDECREF(method);
  Py_XDECREF(args);
  return made;
}

static weft_err finish_call(PyObject *made, PyGILState_STATE state) {
  const bool interrupted = !made && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
  weft_err err = made ? WEFT_OK : ext_python_error();
  Py_XDECREF(made);
  /* Ctrl-C that Python noticed on its way into the hook: the caller of the library raises it, not an error of the hook.
   */
  if (interrupted) PyErr_SetInterrupt();
  PyGILState_Release(state);
  return err;
}

static weft_err on_begin(void *arg, weft_hook *hook) {
  python_hook *h = arg;
  (void)hook;
  PyGILState_STATE state = PyGILState_Ensure();
  return finish_call(call_method(h->adapter, "begin", PyTuple_New(0)), state);
}

static weft_err on_created(void *arg, weft_session *sess, weft_coordinator *c) {
  python_hook *h = arg;
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *coordinator = c ? PyCapsule_New(c, "weft.coordinator", NULL) : Py_NewRef(Py_None);
  PyObject *args = Py_BuildValue("(NN)", ext_session_wrap(h->graph, sess, true), coordinator);
  return finish_call(call_method(h->adapter, "created", args), state);
}

/* [(output, (dtype, shape, data)), ...] as feeds of this run. */
static int add_feeds(python_hook *h, weft_run_context *c, PyObject *feeds) {
  Py_ssize_t n = PySequence_Size(feeds);
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *row = PySequence_GetItem(feeds, i), *value;
    long long to;
    weft_tensor *t;
    int ok = row && h->n_fed < 64 && PyArg_ParseTuple(row, "LO", &to, &value) && ext_from_python(&t, value) == 0;
    Py_XDECREF(row);
    if (!ok) return -1;
    h->fed[h->n_fed++] = t;
    weft_err err = weft_run_context_feed(c, ext_out(to), t);
    if (err) return ext_raise(err), -1;
  }
  return n < 0 ? -1 : 0;
}

static int take_before(python_hook *h, weft_run_context *c, PyObject *made) {
  PyObject *fetches, *targets, *feeds;
  int trace, graphs, stop;
  weft_out *outs, *nodes = NULL;
  if (!PyArg_ParseTuple(made, "OOOppp", &fetches, &targets, &feeds, &trace, &graphs, &stop)) return -1;
  Py_ssize_t n = ext_outs(fetches, &outs), n_target = n < 0 ? -1 : ext_outs(targets, &nodes);
  weft_err err = n_target < 0 ? WEFT_OK : weft_run_context_fetch(c, (int)n, outs);
  if (!err && n_target > 0) err = weft_run_context_target(c, (int)n_target, nodes);
  if (n >= 0) PyMem_Free(outs);
  if (n_target >= 0) PyMem_Free(nodes);
  if (n_target < 0) return -1;
  if (err) return ext_raise(err), -1;
  h->n_asked = (int)n;
  if (trace) weft_run_context_trace(c);
  if (graphs) weft_run_context_partition_graphs(c);
  if (stop) weft_run_context_request_stop(c);
  return add_feeds(h, c, feeds);
}

static weft_err on_before(void *arg, weft_run_context *c) {
  python_hook *h = arg;
  PyGILState_STATE state = PyGILState_Ensure();
  drop_feeds(h);
  h->n_asked = 0;
  PyObject *args = Py_BuildValue("(N)", ext_session_wrap(h->graph, weft_run_context_session(c), true));
  PyObject *made = call_method(h->adapter, "before", args);
  if (made && take_before(h, c, made) != 0) Py_CLEAR(made);
  return finish_call(made, state);
}

static PyObject *values_of(const python_hook *h, weft_run_context *c) {
  PyObject *list = PyList_New(h->n_asked);
  for (int i = 0; list && i < h->n_asked; i++) {
    const weft_tensor *t = weft_run_context_value(c, i);
    PyObject *value = t ? ext_to_numpy_copy(t) : Py_NewRef(Py_None);
    if (!value || PyList_SetItem(list, i, value) != 0) Py_CLEAR(list);
  }
  return list;
}

static weft_err on_after(void *arg, weft_run_context *c) {
  python_hook *h = arg;
  PyGILState_STATE state = PyGILState_Ensure();
  size_t size = 0;
  const void *metadata = weft_run_context_metadata(c, &size);
  PyObject *values = values_of(h, c);
  PyObject *args = values ? Py_BuildValue("(NNz#)", ext_session_wrap(h->graph, weft_run_context_session(c), true),
                                          values, NULL, (Py_ssize_t)0)
                          : NULL;
  if (args && metadata) {
    PyObject *bytes = PyBytes_FromStringAndSize(metadata, (Py_ssize_t)size);
    if (!bytes || PyTuple_SetItem(args, 2, bytes) != 0) Py_CLEAR(args);
  }
  PyObject *made = call_method(h->adapter, "after", args);
  if (made && PyObject_IsTrue(made) == 1) weft_run_context_request_stop(c);
  drop_feeds(h);
  return finish_call(made, state);
}

static weft_err on_end(void *arg, weft_session *sess) {
  python_hook *h = arg;
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *args = Py_BuildValue("(N)", ext_session_wrap(h->graph, sess, true));
  return finish_call(call_method(h->adapter, "end", args), state);
}

static weft_err on_init(void *arg, weft_session *sess) {
  const monitored *m = arg;
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *args = Py_BuildValue("(N)", ext_session_wrap(m->graph, sess, true));
  PyObject *made = args ? PyObject_Call(m->init_fn, args, NULL) : NULL;
  Py_XDECREF(args);
  return finish_call(made, state);
}

/* ---- the session ----------------------------------------------------------------------------------- */

static void monitored_finish(monitored *m) {
  for (int i = 0; i < m->n_hook + m->n_chief && m->hooks; i++) {
    weft_hook_destroy(m->hooks[i].hook);
    drop_feeds(&m->hooks[i]);
  }
  PyMem_Free(m->hooks);
  PyMem_Free(m->list);
  Py_XDECREF(m->keep);
  Py_XDECREF(m->graph);
  PyMem_Free(m);
}

static void monitored_free(PyObject *c) { monitored_finish(PyCapsule_GetPointer(c, MONITORED)); }

/* Makes a hook that calls Python, or the library's hook for synchronous training, whose adapter has (optimizer,
 * is_chief, tokens). */
static int make_hook(python_hook *h) {
  const weft_hook_fns fns = {on_begin, on_created, on_before, on_after, on_end};
  PyObject *sync = PyObject_GetAttrString(h->adapter, "sync"), *optimizer;
  int chief, tokens;
  weft_err err = WEFT_OK;
  if (!sync) return -1;
  if (sync == Py_None)
    err = weft_hook_create(&h->hook, &fns, h);
  else if (PyArg_ParseTuple(sync, "Opi", &optimizer, &chief, &tokens)) {
    weft_sync *s = PyCapsule_GetPointer(optimizer, "weft.sync");
    if (s) err = weft_hook_sync(&h->hook, s, chief, tokens);
  }
  Py_DECREF(sync);
  if (err) ext_raise(err);
  return PyErr_Occurred() ? -1 : 0;
}

static int make_hooks(monitored *m, PyObject *hooks, PyObject *chief_hooks) {
  m->n_hook = (int)PySequence_Size(hooks), m->n_chief = (int)PySequence_Size(chief_hooks);
  if (m->n_hook < 0 || m->n_chief < 0) return m->n_hook = m->n_chief = 0, -1;
  size_t n = (size_t)(m->n_hook + m->n_chief);
  m->hooks = PyMem_Calloc(n + 1, sizeof *m->hooks);
  m->list = PyMem_Calloc(n + 1, sizeof *m->list);
  if (!m->hooks || !m->list) return PyErr_NoMemory(), -1;
  for (int i = 0; i < m->n_hook + m->n_chief; i++) {
    PyObject *adapter = i < m->n_hook ? PySequence_GetItem(hooks, i) : PySequence_GetItem(chief_hooks, i - m->n_hook);
    if (!adapter) return -1;
    Py_DECREF(adapter); /* the list holds it */
    m->hooks[i].adapter = adapter, m->hooks[i].graph = m->graph;
    if (make_hook(&m->hooks[i]) != 0) return -1;
    m->list[i] = m->hooks[i].hook;
  }
  return 0;
}

static PyObject *open_monitored(monitored *m, weft_monitored_opts *o, PyObject *hooks, PyObject *chief_hooks) {
  weft_session *sess;
  weft_err err;
  if (make_hooks(m, hooks, chief_hooks) != 0) return NULL;
  o->n_hook = m->n_hook, o->n_chief_hook = m->n_chief;
  o->hooks = m->list, o->chief_hooks = m->list + m->n_hook;
  weft_graph *g = ((graph_object *)m->graph)->g;
  ext_watch_signals();
  UNLOCKED(err = weft_monitored_create(&sess, g, o));
  weft_graph_clear_error(g);
  return err ? ext_raise_wait(err) : ext_session_wrap(m->graph, sess, false);
}

/* monitored_create(graph, target, ConfigProto bytes, is_chief, bare, checkpoint_dir, checkpoint_path, hooks,
 * chief_hooks, (init, local_init, ready, ready_for_local_init, summary), init_fn, saver, checkpoint_secs,
 * checkpoint_steps, summaries_steps, summaries_secs, log_steps, summary_dir, max_wait, grace) -> (session, keeper) */
static PyObject *monitored_create(PyObject *self, PyObject *args) {
  PyObject *graph, *hooks, *chief_hooks, *ops[5], *init_fn, *saver, *session = NULL, *keeper;
  weft_monitored_opts o = {0};
  const char *config;
  Py_ssize_t size;
  int chief, bare;
  long long save_steps, summary_steps, log_steps;
  weft_out place[5];
  (void)self;
  if (!PyArg_ParseTuple(args, "O!sy#ppzzOO(OOOOO)OOdLLdLzdd", ext_graph_type, &graph, &o.target, &config, &size, &chief,
                        &bare, &o.checkpoint_dir, &o.checkpoint_path, &hooks, &chief_hooks, &ops[0], &ops[1], &ops[2],
                        &ops[3], &ops[4], &init_fn, &saver, &o.save_checkpoint_secs, &save_steps, &summary_steps,
                        &o.save_summaries_secs, &log_steps, &o.summary_dir, &o.max_wait_secs, &o.stop_grace_secs))
    return NULL;
  const weft_out **fields[] = {&o.init_op, &o.local_init_op, &o.ready_op, &o.ready_for_local_init_op, &o.summary_op};
  for (int i = 0; i < 5; i++)
    if (ext_choice(ops[i], &place[i], fields[i]) != 0) return NULL;
  monitored *m = PyMem_Calloc(1, sizeof *m);
  if (!m) return PyErr_NoMemory();
  m->graph = Py_NewRef(graph), m->keep = Py_NewRef(args), m->init_fn = init_fn;
  weft_session_opts sess = {.config = config, .config_size = (size_t)size};
  o.config = &sess, o.is_chief = chief ? WEFT_YES : WEFT_NO, o.bare = bare;
  o.save_checkpoint_steps = save_steps, o.save_summaries_steps = summary_steps, o.log_step_count_steps = log_steps;
  o.init_fn = init_fn == Py_None ? NULL : on_init, o.init_arg = m;
  o.saver = saver == Py_None ? NULL : PyCapsule_GetPointer(saver, "weft.saver");
  if (!PyErr_Occurred()) session = open_monitored(m, &o, hooks, chief_hooks);
  keeper = session ? PyCapsule_New(m, MONITORED, monitored_free) : NULL;
  if (keeper) return Py_BuildValue("(NN)", session, keeper);
  Py_XDECREF(session);
  monitored_finish(m);
  return NULL;
}

static PyObject *monitored_should_stop(PyObject *self, PyObject *session) {
  (void)self;
  return PyBool_FromLong(weft_monitored_should_stop(((session_object *)session)->sess));
}

static PyObject *monitored_request_stop(PyObject *self, PyObject *session) {
  (void)self;
  weft_monitored_request_stop(((session_object *)session)->sess);
  Py_RETURN_NONE;
}

static PyObject *monitored_close(PyObject *self, PyObject *args) {
  PyObject *session;
  int why;
  weft_err err;
  (void)self;
  if (!PyArg_ParseTuple(args, "O!i", ext_session_type, &session, &why)) return NULL;
  UNLOCKED(err = weft_monitored_close(((session_object *)session)->sess, (weft_err)why));
  return err ? ext_raise_wait(err) : ext_none_or_raise(err);
}

static PyObject *monitored_raw(PyObject *self, PyObject *args) {
  PyObject *session;
  (void)self;
  if (!PyArg_ParseTuple(args, "O!", ext_session_type, &session)) return NULL;
  weft_session *raw = weft_monitored_raw(((session_object *)session)->sess);
  if (!raw) Py_RETURN_NONE;
  return ext_session_wrap(((session_object *)session)->graph, raw, true);
}

PyMethodDef ext_monitor_functions[] = {
    {"monitored_create", monitored_create, METH_VARARGS, "A session with hooks around its runs."},
    {"monitored_should_stop", monitored_should_stop, METH_O, "Has a hook asked for the end?"},
    {"monitored_request_stop", monitored_request_stop, METH_O, "Asks for the end."},
    {"monitored_close", monitored_close, METH_VARARGS, "monitored_close(session, code the loop ended with)"},
    {"monitored_raw", monitored_raw, METH_VARARGS, "The session below the hooks."},
    {NULL, NULL, 0, NULL},
};
