/* summary.c - summaries, event files and records, as functions of the module. */
#include "ext.h"
#include <string.h>

#define WRITER "weft.writer"

static void writer_free(PyObject *c) {
  weft_event_writer *w = PyCapsule_GetPointer(c, WRITER);
  if (ext_capsule_is_ours(c)) UNLOCKED(weft_event_writer_destroy(w));
}

static int to_writer(PyObject *o, void *out) { return (*(void **)out = PyCapsule_GetPointer(o, WRITER)) != NULL; }

/* summary(graph, kind, name, output, family, number or output, metadata): not put in any list, the package does that.
 * kind: scalar, histogram, image (number: max_outputs), audio (output: sample rate), text, tensor. */
static PyObject *graph_summary(PyObject *self, PyObject *args) {
  PyObject *graph;
  const char *kind, *name, *family, *metadata;
  long long x, extra;
  int max_outputs;
  Py_ssize_t size;
  (void)self;
  if (!PyArg_ParseTuple(args, "O!ssLziLy#", ext_graph_type, &graph, &kind, &name, &x, &family, &max_outputs, &extra,
                        &metadata, &size))
    return NULL;
  weft_graph *g = ((graph_object *)graph)->g;
  weft_summary_opts o = {.family = family, .n_collection = -1};
  weft_out made, in = ext_out(x);
  if (strcmp(kind, "scalar") == 0)
    made = weft_summary_scalar(g, name, in, &o);
  else if (strcmp(kind, "histogram") == 0)
    made = weft_summary_histogram(g, name, in, &o);
  else if (strcmp(kind, "image") == 0)
    made = weft_summary_image(g, name, in, max_outputs, &o);
  else if (strcmp(kind, "audio") == 0)
    made = weft_summary_audio(g, name, in, ext_out(extra), max_outputs, &o);
  else if (strcmp(kind, "text") == 0)
    made = weft_summary_text(g, name, in, &o);
  else
    made = weft_summary_tensor(g, name, in, metadata, (size_t)size, &o);
  return ext_made(g, made);
}

static PyObject *summary_merge(PyObject *self, PyObject *args) {
  PyObject *graph, *list;
  const char *name;
  weft_out *in;
  (void)self;
  if (!PyArg_ParseTuple(args, "O!zO", ext_graph_type, &graph, &name, &list)) return NULL;
  Py_ssize_t n = ext_outs(list, &in);
  if (n < 0) return NULL;
  weft_graph *g = ((graph_object *)graph)->g;
  weft_summary_opts o = {.n_collection = -1};
  weft_out made = weft_summary_merge(g, name, (int)n, in, &o);
  PyMem_Free(in);
  return ext_made(g, made);
}

/* ---- event files ----------------------------------------------------------------------------------- */

/* writer_create(dir, max_queue, flush_secs, suffix) */
static PyObject *writer_create(PyObject *self, PyObject *args) {
  const char *dir;
  weft_event_writer_opts o = {0};
  weft_event_writer *w;
  weft_err err;
  (void)self;
  if (!PyArg_ParseTuple(args, "sidz", &dir, &o.max_queue, &o.flush_secs, &o.suffix)) return NULL;
  UNLOCKED(err = weft_event_writer_create(&w, dir, &o));
  return err ? ext_raise(err) : ext_capsule(w, WRITER, writer_free);
}

/* writer_add(writer, what, bytes, step, tag): what is summary, event, meta_graph or run_metadata. */
static PyObject *writer_add(PyObject *self, PyObject *args) {
  weft_event_writer *w;
  const char *what, *data, *tag;
  Py_ssize_t size;
  long long step;
  weft_err err;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&sy#Lz", to_writer, &w, &what, &data, &size, &step, &tag)) return NULL;
  PyThreadState *save = PyEval_SaveThread();
  if (strcmp(what, "summary") == 0)
    err = weft_event_writer_add_summary(w, data, (size_t)size, step);
  else if (strcmp(what, "event") == 0)
    err = weft_event_writer_add_event(w, data, (size_t)size);
  else if (strcmp(what, "meta_graph") == 0)
    err = weft_event_writer_add_meta_graph(w, data, (size_t)size, step);
  else
    err = weft_event_writer_add_run_metadata(w, data, (size_t)size, tag, step);
  PyEval_RestoreThread(save);
  return ext_none_or_raise(err);
}

static PyObject *writer_add_graph(PyObject *self, PyObject *args) {
  weft_event_writer *w;
  PyObject *graph;
  long long step;
  weft_err err;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&O!L", to_writer, &w, ext_graph_type, &graph, &step)) return NULL;
  UNLOCKED(err = weft_event_writer_add_graph(w, ((graph_object *)graph)->g, step));
  return ext_none_or_raise(err);
}

static PyObject *writer_add_session_log(PyObject *self, PyObject *args) {
  weft_event_writer *w;
  int state;
  const char *path, *message;
  long long step;
  (void)self;
  if (!PyArg_ParseTuple(args, "O&izzL", to_writer, &w, &state, &path, &message, &step)) return NULL;
  return ext_none_or_raise(weft_event_writer_add_session_log(w, state, path, message, step));
}

static PyObject *writer_call(PyObject *capsule, weft_err (*fn)(weft_event_writer *)) {
  weft_event_writer *w;
  weft_err err;
  if (!to_writer(capsule, &w)) return NULL;
  UNLOCKED(err = fn(w));
  return ext_none_or_raise(err);
}

static PyObject *writer_flush(PyObject *self, PyObject *w) {
  return (void)self, writer_call(w, weft_event_writer_flush);
}
static PyObject *writer_close(PyObject *self, PyObject *w) {
  return (void)self, writer_call(w, weft_event_writer_close);
}
static PyObject *writer_reopen(PyObject *self, PyObject *w) {
  return (void)self, writer_call(w, weft_event_writer_reopen);
}

/* ---- records --------------------------------------------------------------------------------------- */

/* record_frame(record) -> the 12 bytes before and the 4 bytes after it, in one */
static PyObject *record_frame(PyObject *self, PyObject *record) {
  weft_record_frame f;
  Py_buffer view;
  (void)self;
  if (PyObject_GetBuffer(record, &view, PyBUF_SIMPLE) != 0) return NULL;
  weft_err err = weft_record_frame_make(&f, view.buf, (size_t)view.len);
  PyBuffer_Release(&view);
  return err ? ext_raise(err) : Py_BuildValue("y#", (const char *)&f, (Py_ssize_t)sizeof f);
}

PyMethodDef ext_summary_functions[] = {
    {"record_frame", record_frame, METH_O, "What a file has around a record."},
    {"summary", graph_summary, METH_VARARGS, "A node that makes a Summary."},
    {"summary_merge", summary_merge, METH_VARARGS, "summary_merge(graph, name, outputs)"},
    {"writer_create", writer_create, METH_VARARGS, "writer_create(dir, max_queue, flush_secs, suffix)"},
    {"writer_add", writer_add, METH_VARARGS, "writer_add(writer, what, bytes, step, tag)"},
    {"writer_add_graph", writer_add_graph, METH_VARARGS, "writer_add_graph(writer, graph, step)"},
    {"writer_add_session_log", writer_add_session_log, METH_VARARGS, "START, STOP or CHECKPOINT"},
    {"writer_flush", writer_flush, METH_O, "Writes what waits."},
    {"writer_close", writer_close, METH_O, "Closes the file."},
    {"writer_reopen", writer_reopen, METH_O, "Goes on in a new file."},
    {NULL, NULL, 0, NULL},
};
