/* save.c - savers and the state of checkpoint folders, as functions of the module; idx files. */
#include "ext.h"
#include <string.h>

#define SAVER "weft.saver"

static void saver_free(PyObject *c) { weft_saver_destroy(PyCapsule_GetPointer(c, SAVER)); }
static weft_saver *saver_of(PyObject *c) { return PyCapsule_GetPointer(c, SAVER); }

static PyObject *text_or_none(char *text) {
  if (!text) Py_RETURN_NONE;
  PyObject *made = PyUnicode_FromString(text);
  weft_free(text);
  return made;
}

/* Returns a list of str as C strings, which the list owns; the caller frees the array with PyMem_Free.  None entries
 * are NULL. */
static const char **list_texts(PyObject *list, Py_ssize_t *n) {
  *n = PySequence_Size(list);
  const char **out = *n < 0 ? NULL : PyMem_Calloc((size_t)*n + 1, sizeof *out);
  for (Py_ssize_t i = 0; out && i < *n; i++) {
    PyObject *item = PySequence_GetItem(list, i);
    if (item && item != Py_None) out[i] = PyUnicode_AsUTF8AndSize(item, NULL);
    Py_XDECREF(item); /* the list holds it */
  }
  if (out && PyErr_Occurred()) {
    PyMem_Free(out);
    return NULL;
  }
  return out;
}

/* saver_create(graph, variables, names, name, max_to_keep, keep_every_hours, sharded, reshape, relative, pad_step,
 * version, filename) */
static PyObject *saver_create(PyObject *self, PyObject *args) {
  PyObject *graph, *list, *name_list;
  weft_saver_opts o = {0};
  int sharded, reshape, relative, pad;
  weft_out *vars;
  weft_saver *s = NULL;
  Py_ssize_t n_name;
  (void)self;
  if (!PyArg_ParseTuple(args, "O!OOzidppppiz", ext_graph_type, &graph, &list, &name_list, &o.name, &o.max_to_keep,
                        &o.keep_every_hours, &sharded, &reshape, &relative, &pad, &o.version, &o.filename))
    return NULL;
  Py_ssize_t n = ext_outs(list, &vars);
  const char **names = n < 0 ? NULL : list_texts(name_list, &n_name);
  weft_err err = WEFT_OK;
  if (names) {
    o.n_variable = (int)n, o.variables = vars, o.names = names;
    o.sharded = sharded, o.reshape = reshape, o.relative_paths = relative, o.pad_step = pad;
    UNLOCKED(err = weft_saver_create(&s, ((graph_object *)graph)->g, &o));
  }
  PyMem_Free(vars);
  PyMem_Free(names);
  if (!names) return NULL;
  return err ? ext_raise(err) : PyCapsule_New(s, SAVER, saver_free);
}

static PyObject *saver_adopt(PyObject *self, PyObject *args) {
  PyObject *graph;
  const char *data;
  Py_ssize_t size;
  weft_saver *s;
  (void)self;
  if (!PyArg_ParseTuple(args, "O!y#", ext_graph_type, &graph, &data, &size)) return NULL;
  weft_err err = weft_saver_adopt(&s, ((graph_object *)graph)->g, data, (size_t)size);
  return err ? ext_raise(err) : PyCapsule_New(s, SAVER, saver_free);
}

static PyObject *saver_def(PyObject *self, PyObject *capsule) {
  void *data;
  size_t size;
  weft_saver *s = saver_of(capsule);
  (void)self;
  if (!s) return NULL;
  weft_err err = weft_saver_def(&data, &size, s);
  return err ? ext_raise(err) : ext_bytes(data, size);
}

/* saver_save(saver, session, path, step or None, latest_filename, meta_suffix, write_meta, write_state, relative_paths,
 * pad_step) -> path */
static PyObject *saver_save(PyObject *self, PyObject *args) {
  PyObject *capsule, *session, *step;
  const char *path;
  weft_save_opts o = {0};
  int meta, state, relative, pad;
  char *saved = NULL;
  (void)self;
  if (!PyArg_ParseTuple(args, "OO!sOzzpppp", &capsule, ext_session_type, &session, &path, &step, &o.latest_filename,
                        &o.meta_suffix, &meta, &state, &relative, &pad))
    return NULL;
  weft_saver *s = saver_of(capsule);
  int64_t number = step == Py_None ? 0 : PyLong_AsLongLong(step);
  if (!s || PyErr_Occurred()) return NULL;
  if (step != Py_None) o.step = &number;
  o.write_meta_graph = meta ? WEFT_YES : WEFT_NO, o.write_state = state ? WEFT_YES : WEFT_NO;
  o.relative_paths = relative, o.pad_step = pad;
  weft_err err;
  ext_watch_signals();
  do UNLOCKED(err = weft_saver_save(s, ((session_object *)session)->sess, path, &o, &saved));
  while (ext_try_again(err));
  return err ? ext_raise_wait(err) : text_or_none(saved);
}

static PyObject *saver_restore(PyObject *self, PyObject *args) {
  PyObject *capsule, *session;
  const char *path;
  (void)self;
  if (!PyArg_ParseTuple(args, "OO!s", &capsule, ext_session_type, &session, &path)) return NULL;
  weft_saver *s = saver_of(capsule);
  if (!s) return NULL;
  weft_err err;
  ext_watch_signals();
  UNLOCKED(err = weft_saver_restore(s, ((session_object *)session)->sess, path));
  return err ? ext_raise_wait(err) : ext_none_or_raise(err);
}

static PyObject *state_paths(weft_checkpoint_state *s) {
  PyObject *all = PyList_New(0);
  for (int i = 0; all && i < weft_checkpoint_state_size(s); i++) {
    PyObject *path = PyUnicode_FromString(weft_checkpoint_state_path(s, i));
    if (!path || PyList_Append(all, path) != 0) Py_CLEAR(all);
    Py_XDECREF(path);
  }
  return all;
}

static PyObject *saver_kept(PyObject *self, PyObject *capsule) {
  weft_saver *s = saver_of(capsule);
  weft_checkpoint_state *kept;
  (void)self;
  if (!s) return NULL;
  weft_err err = weft_saver_kept(&kept, s);
  if (err) return ext_raise(err);
  PyObject *all = state_paths(kept);
  weft_checkpoint_state_destroy(kept);
  return all;
}

/* saver_set(saver, paths, times): those it will delete in time */
static PyObject *saver_set(PyObject *self, PyObject *args) {
  PyObject *capsule, *list, *time_list;
  Py_ssize_t n;
  (void)self;
  if (!PyArg_ParseTuple(args, "OOO", &capsule, &list, &time_list)) return NULL;
  weft_saver *s = saver_of(capsule);
  const char **paths = s ? list_texts(list, &n) : NULL;
  double *times = paths ? PyMem_Calloc((size_t)n + 1, sizeof *times) : NULL;
  for (Py_ssize_t i = 0; times && i < n; i++) {
    PyObject *item = PySequence_GetItem(time_list, i);
    times[i] = item ? PyFloat_AsDouble(item) : 0;
    Py_XDECREF(item);
  }
  weft_err err = times && !PyErr_Occurred() ? weft_saver_set_kept(s, (int)n, paths, times) : WEFT_OK;
  PyMem_Free(paths);
  PyMem_Free(times);
  return PyErr_Occurred() ? NULL : ext_none_or_raise(err);
}

static PyObject *saver_recover(PyObject *self, PyObject *args) {
  PyObject *capsule, *list;
  Py_ssize_t n;
  (void)self;
  if (!PyArg_ParseTuple(args, "OO", &capsule, &list)) return NULL;
  weft_saver *s = saver_of(capsule);
  const char **paths = s ? list_texts(list, &n) : NULL;
  if (!paths) return NULL;
  weft_err err = weft_saver_recover_kept(s, (int)n, paths);
  PyMem_Free(paths);
  return ext_none_or_raise(err);
}

/* ---- folders --------------------------------------------------------------------------------------- */

/* checkpoint_state(dir, latest_filename) -> (latest, all) or None */
static PyObject *checkpoint_state(PyObject *self, PyObject *args) {
  const char *dir, *latest_filename;
  weft_checkpoint_state *s;
  (void)self;
  if (!PyArg_ParseTuple(args, "sz", &dir, &latest_filename)) return NULL;
  weft_err err = weft_checkpoint_state_read(&s, dir, latest_filename);
  if (err) return ext_raise(err);
  if (!s) Py_RETURN_NONE;
  PyObject *all = state_paths(s);
  PyObject *made = all ? Py_BuildValue("(sN)", weft_checkpoint_state_latest(s), all) : NULL;
  weft_checkpoint_state_destroy(s);
  return made;
}

static PyObject *checkpoint_state_write(PyObject *self, PyObject *args) {
  const char *dir, *latest, *latest_filename;
  PyObject *list;
  int relative;
  Py_ssize_t n;
  (void)self;
  if (!PyArg_ParseTuple(args, "ssOzp", &dir, &latest, &list, &latest_filename, &relative)) return NULL;
  const char **paths = list_texts(list, &n);
  if (!paths) return NULL;
  weft_err err = weft_checkpoint_state_write(dir, latest, (int)n, paths, latest_filename, relative);
  PyMem_Free(paths);
  return ext_none_or_raise(err);
}

static PyObject *checkpoint_latest(PyObject *self, PyObject *args) {
  const char *dir, *latest_filename;
  char *found;
  (void)self;
  if (!PyArg_ParseTuple(args, "sz", &dir, &latest_filename)) return NULL;
  weft_err err = weft_checkpoint_latest(&found, dir, latest_filename);
  return err ? ext_raise(err) : text_or_none(found);
}

static PyObject *checkpoint_exists(PyObject *self, PyObject *args) {
  const char *prefix;
  (void)self;
  if (!PyArg_ParseTuple(args, "s", &prefix)) return NULL;
  return PyBool_FromLong(weft_checkpoint_exists(prefix));
}

static PyObject *path_local(PyObject *self, PyObject *args) {
  const char *path, *local;
  (void)self;
  if (!PyArg_ParseTuple(args, "s", &path)) return NULL;
  weft_err err = weft_path_local(path, &local);
  return err ? ext_raise(err) : PyUnicode_FromString(local);
}

/* checkpoint_list(prefix) -> [(name, type, dimensions)] in the order of the names */
static PyObject *checkpoint_list(PyObject *self, PyObject *args) {
  const char *prefix;
  weft_checkpoint *c;
  (void)self;
  if (!PyArg_ParseTuple(args, "s", &prefix)) return NULL;
  weft_err err = weft_checkpoint_open(&c, prefix);
  if (err) return ext_raise(err);
  PyObject *made = PyList_New(0);
  for (int i = 0; made && i < weft_checkpoint_size(c); i++) {
    int64_t dims[16];
    int rank = weft_checkpoint_shape(c, i, dims);
    PyObject *row =
        Py_BuildValue("(siN)", weft_checkpoint_name(c, i), (int)weft_checkpoint_dtype(c, i), ext_shape(rank, dims));
    if (!row || PyList_Append(made, row) < 0) ext_set(&made, NULL);
    Py_XDECREF(row);
  }
  weft_checkpoint_close(c);
  return made;
}

static PyObject *checkpoint_read(PyObject *self, PyObject *args) {
  const char *prefix, *name;
  weft_checkpoint *c;
  weft_tensor *t;
  (void)self;
  if (!PyArg_ParseTuple(args, "ss", &prefix, &name)) return NULL;
  weft_err err = weft_checkpoint_open(&c, prefix);
  if (err) return ext_raise(err);
  UNLOCKED(err = weft_checkpoint_read(&t, c, name));
  weft_checkpoint_close(c);
  return err ? ext_raise(err) : ext_to_numpy(t);
}

/* ---- models to serve ------------------------------------------------------------------------------- */

static void model_free(PyObject *capsule) {
  weft_saved_model_destroy(PyCapsule_GetPointer(capsule, "weft_saved_model"));
}

static PyObject *model_create(PyObject *self, PyObject *args) {
  const char *dir;
  weft_saved_model *m;
  (void)self;
  if (!PyArg_ParseTuple(args, "s", &dir)) return NULL;
  weft_err err = weft_saved_model_create(&m, dir);
  return err ? ext_raise(err) : PyCapsule_New(m, "weft_saved_model", model_free);
}

/* Reads a list of (key, SignatureDef bytes), which must outlive the result. */
static weft_signature *list_signatures(PyObject *list, Py_ssize_t *n) {
  *n = PyList_Size(list);
  weft_signature *made = *n < 0 ? NULL : PyMem_Calloc((size_t)*n + 1, sizeof *made);
  for (Py_ssize_t i = 0; made && i < *n; i++) {
    Py_ssize_t size;
    const char *def;
    if (!PyArg_ParseTuple(PyList_GetItem(list, i), "sy#", &made[i].key, &def, &size)) {
      PyMem_Free(made);
      return NULL;
    }
    made[i].def = def;
    made[i].def_size = (size_t)size;
  }
  return made;
}

/* model_add(model, graph, session or None, tags, signatures, init or -1, saver or None, clear_devices) */
static PyObject *model_add(PyObject *self, PyObject *args) {
  PyObject *capsule, *graph, *session, *tags, *list, *saver;
  long long init;
  int clear;
  Py_ssize_t n_tag, n;
  (void)self;
  if (!PyArg_ParseTuple(args, "OO!OOOLOp", &capsule, ext_graph_type, &graph, &session, &tags, &list, &init, &saver,
                        &clear))
    return NULL;
  weft_saved_model *m = PyCapsule_GetPointer(capsule, "weft_saved_model");
  const char **texts_ = m ? list_texts(tags, &n_tag) : NULL;
  weft_signature *all = texts_ ? list_signatures(list, &n) : NULL;
  weft_out first = ext_out(init);
  weft_err err = WEFT_OK;
  if (all) {
    weft_saved_model_opts o = {.n_tag = (int)n_tag,
                               .tags = texts_,
                               .n_signature = (int)n,
                               .signatures = all,
                               .init = init < 0 ? NULL : &first,
                               .saver = saver == Py_None ? NULL : saver_of(saver),
                               .clear_devices = clear};
    weft_session *sess = session == Py_None ? NULL : ((session_object *)session)->sess;
    UNLOCKED(err = weft_saved_model_add(m, ((graph_object *)graph)->g, sess, &o));
  }
  PyMem_Free(texts_);
  PyMem_Free(all);
  return all ? ext_none_or_raise(err) : NULL;
}

static PyObject *model_write(PyObject *self, PyObject *capsule) {
  weft_saved_model *m = PyCapsule_GetPointer(capsule, "weft_saved_model");
  (void)self;
  return m ? ext_none_or_raise(weft_saved_model_write(m)) : NULL;
}

/* model_load(dir, graph, session, tags, prefix) -> MetaGraphDef bytes */
static PyObject *model_load(PyObject *self, PyObject *args) {
  const char *dir, *prefix;
  PyObject *graph, *session, *tags;
  Py_ssize_t n;
  void *meta;
  size_t size;
  weft_err err;
  (void)self;
  if (!PyArg_ParseTuple(args, "sO!OOz", &dir, ext_graph_type, &graph, &session, &tags, &prefix)) return NULL;
  const char **all = list_texts(tags, &n);
  if (!all) return NULL;
  weft_session *sess = session == Py_None ? NULL : ((session_object *)session)->sess;
  UNLOCKED(err = weft_saved_model_load(dir, ((graph_object *)graph)->g, sess, (int)n, all, prefix, &meta, &size));
  PyMem_Free(all);
  return err ? ext_raise(err) : ext_bytes(meta, size);
}

static PyObject *idx_read(PyObject *self, PyObject *args) {
  const char *path;
  weft_tensor *t;
  weft_err err;
  (void)self;
  if (!PyArg_ParseTuple(args, "s", &path)) return NULL;
  UNLOCKED(err = weft_idx_read(&t, path));
  return err ? ext_raise(err) : ext_to_numpy(t);
}

PyMethodDef ext_save_functions[] = {
    {"saver_create", saver_create, METH_VARARGS, "A saver for variables of a graph."},
    {"saver_adopt", saver_adopt, METH_VARARGS, "saver_adopt(graph, SaverDef bytes)"},
    {"saver_def", saver_def, METH_O, "SaverDef bytes"},
    {"saver_save", saver_save, METH_VARARGS, "Writes a checkpoint."},
    {"saver_restore", saver_restore, METH_VARARGS, "saver_restore(saver, session, path)"},
    {"saver_kept", saver_kept, METH_O, "The checkpoints that the saver will delete in time."},
    {"saver_set", saver_set, METH_VARARGS, "saver_set(saver, paths, times)"},
    {"saver_recover", saver_recover, METH_VARARGS, "saver_recover(saver, paths)"},
    {"checkpoint_state", checkpoint_state, METH_VARARGS, "checkpoint_state(dir, latest_filename)"},
    {"checkpoint_state_write", checkpoint_state_write, METH_VARARGS, "Writes a folder's state file."},
    {"checkpoint_latest", checkpoint_latest, METH_VARARGS, "checkpoint_latest(dir, latest_filename)"},
    {"checkpoint_exists", checkpoint_exists, METH_VARARGS, "checkpoint_exists(prefix)"},
    {"path_local", path_local, METH_VARARGS, "path_local(path): without file://"},
    {"checkpoint_list", checkpoint_list, METH_VARARGS, "checkpoint_list(prefix) -> [(name, type, dimensions)]"},
    {"checkpoint_read", checkpoint_read, METH_VARARGS, "checkpoint_read(prefix, name) -> array"},
    {"model_create", model_create, METH_VARARGS, "A SavedModel in a new folder."},
    {"model_add", model_add, METH_VARARGS, "Adds a graph to a SavedModel."},
    {"model_write", model_write, METH_O, "Writes saved_model.pb."},
    {"model_load", model_load, METH_VARARGS, "model_load(dir, graph, session, tags, prefix) -> MetaGraphDef bytes"},
    {"idx_read", idx_read, METH_VARARGS, "idx_read(path) -> array"},
    {NULL, NULL, 0, NULL},
};
