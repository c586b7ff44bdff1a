/* cluster.c - servers, and what sessions know of their cluster, as functions of the module. */
#include "ext.h"
#include <string.h>

#define SERVER "weft.server"

static void server_free(PyObject *c) {
  weft_server *s = PyCapsule_GetPointer(c, SERVER);
  if (ext_capsule_is_ours(c)) UNLOCKED(weft_server_destroy(s));
}

static int to_server(PyObject *o, void *out) { return (*(void **)out = PyCapsule_GetPointer(o, SERVER)) != NULL; }

/* server_create(ClusterDef bytes or None, job, task, protocol, start, ConfigProto bytes); None: a cluster of one */
static PyObject *server_create(PyObject *self, PyObject *args) {
  const char *def, *config;
  Py_ssize_t def_size, config_size;
  weft_server_opts o = {0};
  int start;
  weft_cluster *cluster = NULL;
  weft_server *s = NULL;
  (void)self;
  if (!PyArg_ParseTuple(args, "z#sizpy#", &def, &def_size, &o.job, &o.task, &o.protocol, &start, &config, &config_size))
    return NULL;
  o.start = start ? WEFT_YES : WEFT_NO, o.config = config, o.config_size = (size_t)config_size;
  weft_err err = def ? weft_cluster_from_def(&cluster, def, (size_t)def_size) : WEFT_OK;
  PyThreadState *save = PyEval_SaveThread();
  if (!err) err = def ? weft_server_create(&s, cluster, &o) : weft_server_create_local(&s, &o);
  PyEval_RestoreThread(save);
  PyObject *made = err ? ext_raise(err) : ext_capsule(s, SERVER, server_free);
  weft_cluster_destroy(cluster);
  return made;
}

static PyObject *server_start(PyObject *self, PyObject *capsule) {
  weft_server *s;
  weft_err err;
  (void)self;
  if (!to_server(capsule, &s)) return NULL;
  UNLOCKED(err = weft_server_start(s));
  return ext_none_or_raise(err);
}

static PyObject *server_join(PyObject *self, PyObject *capsule) {
  weft_server *s;
  weft_err err;
  (void)self;
  if (!to_server(capsule, &s)) return NULL;
  ext_watch_signals();
  UNLOCKED(err = weft_server_join(s));
  return err ? ext_raise_wait(err) : ext_none_or_raise(err);
}

static PyObject *server_set_failed(PyObject *self, PyObject *capsule) {
  weft_server *s;
  (void)self;
  if (!to_server(capsule, &s)) return NULL;
  weft_server_set_failed(s);
  Py_RETURN_NONE;
}

/* server_task(server) -> (target, job, task, ClusterDef bytes) */
static PyObject *server_task(PyObject *self, PyObject *capsule) {
  weft_server *s;
  void *data;
  size_t size;
  (void)self;
  if (!to_server(capsule, &s)) return NULL;
  weft_err err = weft_cluster_to_def(&data, &size, weft_server_cluster(s));
  if (err) return ext_raise(err);
  PyObject *def = ext_bytes(data, size);
  return def ? Py_BuildValue("(ssiN)", weft_server_target(s), weft_server_job(s), weft_server_task(s), def) : NULL;
}

/* role(arguments) -> (ClusterDef bytes or None, job, task) */
static PyObject *cluster_role(PyObject *self, PyObject *list) {
  Py_ssize_t n = PySequence_Size(list);
  char **argv = n < 0 ? NULL : PyMem_Calloc((size_t)n + 1, sizeof *argv), *job = NULL;
  weft_cluster *c = NULL;
  int task = 0;
  void *data = NULL;
  size_t size = 0;
  (void)self;
  for (Py_ssize_t i = 0; argv && i < n; i++) {
    PyObject *item = PySequence_GetItem(list, i);
    if (item) argv[i] = (char *)(uintptr_t)PyUnicode_AsUTF8AndSize(item, NULL);
    Py_XDECREF(item);
  }
  if (!argv || PyErr_Occurred()) return PyMem_Free(argv), NULL;
  weft_err err = weft_role_find(&c, &job, &task, (int)n, argv);
  if (!err && c) err = weft_cluster_to_def(&data, &size, c);
  PyObject *made = err ? ext_raise(err) : NULL;
  if (!err) {
    PyObject *def = data ? ext_bytes(data, size) : Py_NewRef(Py_None);
    made = def ? Py_BuildValue("(Nsi)", def, job ? job : "", task) : NULL;
  }
  weft_free(job);
  weft_cluster_destroy(c);
  PyMem_Free(argv);
  return made;
}

/* devices(session) -> [(name, type, memory, incarnation)] */
static PyObject *session_devices(PyObject *self, PyObject *args) {
  PyObject *session;
  weft_devices *d;
  weft_err err;
  (void)self;
  if (!PyArg_ParseTuple(args, "O!", ext_session_type, &session)) return NULL;
  ext_watch_signals();
  UNLOCKED(err = weft_session_devices(&d, ((session_object *)session)->sess));
  if (err) return ext_raise_wait(err);
  PyObject *all = PyList_New(0);
  for (int i = 0; all && i < weft_devices_count(d); i++) {
    PyObject *row =
        Py_BuildValue("(ssLK)", weft_devices_name(d, i), weft_devices_type(d, i), (long long)weft_devices_memory(d, i),
                      (unsigned long long)weft_devices_incarnation(d, i));
    if (!row || PyList_Append(all, row) != 0) Py_CLEAR(all);
    Py_XDECREF(row);
  }
  weft_devices_destroy(d);
  return all;
}

static PyObject *session_reset(PyObject *self, PyObject *args) {
  const char *target, *container;
  weft_err err;
  (void)self;
  if (!PyArg_ParseTuple(args, "sz", &target, &container)) return NULL;
  UNLOCKED(err = weft_session_reset(target, container ? 1 : 0, &container));
  return ext_none_or_raise(err);
}

PyMethodDef ext_cluster_functions[] = {
    {"server_create", server_create, METH_VARARGS, "A task of a cluster."},
    {"server_start", server_start, METH_O, "Listens, unless it does."},
    {"server_join", server_join, METH_O, "Waits until the job is over."},
    {"server_set_failed", server_set_failed, METH_O, "The program ends with an error."},
    {"server_task", server_task, METH_O, "(target, job, task, ClusterDef bytes)"},
    {"role", cluster_role, METH_O, "role(arguments) -> (ClusterDef bytes or None, job, task)"},
    {"devices", session_devices, METH_VARARGS, "devices(session)"},
    {"session_reset", session_reset, METH_VARARGS, "session_reset(target, container)"},
    {NULL, NULL, 0, NULL},
};
