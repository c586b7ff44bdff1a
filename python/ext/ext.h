/* ext.h - what the files of the extension module share.
 *
 * The module is the thinnest layer between Python and weft.h: an output of a graph is one Python int
 * (node * 65536 + slot, -1 for none), a tensor a numpy array, an error an exception made by the package.
 * Every call that may take a lock of the library, or wait, lets other Python threads run meanwhile: a
 * thread that holds the library's lock may be calling a Python device function and need the interpreter. */
#ifndef WEFT_PYTHON_EXT_H
#define WEFT_PYTHON_EXT_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <unistd.h>
#include <weft/weft.h>

typedef struct graph_object {
  PyObject ob_base;
  weft_graph *g;
  PyObject *keep; /* a list of what C holds pointers to: device functions, replica setters */
} graph_object;

typedef struct session_object {
  PyObject ob_base;
  weft_session *sess;
  PyObject *graph; /* outlives the session */
  bool lent;       /* somebody else destroys it */
  pid_t process;   /* where it was made */
} session_object;

extern PyTypeObject *ext_graph_type, *ext_session_type;

/* Runs a call of the library with the interpreter let go. */
#define UNLOCKED(call)                                                                                                 \
  do {                                                                                                                 \
    PyThreadState *save_ = PyEval_SaveThread();                                                                        \
    call;                                                                                                              \
    PyEval_RestoreThread(save_);                                                                                       \
  } while (0)

/* A capsule of something that has threads or writes files.  A process that was forked has a copy of it, but not its
 * threads: only the process that made it destroys it. */
static inline PyObject *ext_capsule(void *made, const char *name, PyCapsule_Destructor release) {
  PyObject *capsule = PyCapsule_New(made, name, release);
  if (capsule) PyCapsule_SetContext(capsule, (void *)(intptr_t)getpid());
  return capsule;
}
static inline bool ext_capsule_is_ours(PyObject *capsule) {
  return (intptr_t)PyCapsule_GetContext(capsule) == (intptr_t)getpid();
}

/* ---- errors (module.c) ---- */
/* Raises the exception for a code with this thread's message; returns NULL.  A Python exception that is
 * already set (by a callback) stays. */
PyObject *ext_raise(weft_err err);
PyObject *ext_none_or_raise(weft_err err);
/* Clears the graph's sticky error and raises it. */
PyObject *ext_raise_graph(weft_graph *g);
/* Makes waits of the library end on Ctrl-C, and some seconds after a SIGTERM that the program handles; called before
 * anything that may wait. */
void ext_watch_signals(void);
/* After a call that may have been canceled by an interrupt of which the program has heard already (it caught
 * KeyboardInterrupt and goes on): forgets it, and says that the call should be made again. */
bool ext_try_again(weft_err err);
/* Raises the error of a wait that was canceled: KeyboardInterrupt if Ctrl-C canceled it, else the library's error. */
PyObject *ext_raise_wait(weft_err err);

/* Replaces what a variable holds; the value is taken over. */
static inline void ext_set(PyObject **place, PyObject *value) {
  PyObject *old = *place;
  *place = value;
  Py_XDECREF(old);
}

/* ---- values (value.c) ---- */
int ext_value_ready(PyObject *module);
PyObject *ext_use_numpy(PyObject *self, PyObject *args);
PyObject *ext_check_strings(PyObject *self, PyObject *list); /* raises TypeError unless all are bytes or str */
/* Returns a numpy array (rank 0: a numpy scalar, or bytes).  Takes the tensor over, also if it fails (NULL). */
PyObject *ext_to_numpy(weft_tensor *t);
/* As above from a borrowed tensor. */
PyObject *ext_to_numpy_copy(const weft_tensor *t);
/* Creates a tensor from (dtype, shape, buffer or list of bytes), which is copied. */
int ext_from_python(weft_tensor **out, PyObject *triple);
/* As the function before, for a feed: numbers are borrowed from the buffer, which must be released after the run. */
int ext_borrow(weft_tensor **out, PyObject *triple, Py_buffer *view);

/* ---- outputs (graph.c) ---- */
static inline weft_out ext_out(long long packed) {
  return packed < 0 ? WEFT_NONE : (weft_out){(int32_t)(packed >> 16), (uint16_t)(packed & 0xffff)};
}
static inline long long ext_packed(weft_out o) { return o.node < 0 ? -1 : (long long)o.node << 16 | o.slot; }
/* A sequence of packed outputs as an array (PyMem_Free); -1 with an exception set if it is none.  None: count -1. */
Py_ssize_t ext_outs(PyObject *list, weft_out **out);
/* None: the default, and *out stays as it is; an int: *place becomes that output (-1: none at all), and *out points to
 * it.  -1 with an exception set if it is neither. */
int ext_choice(PyObject *given, weft_out *place, const weft_out **out);
/* Reads a sequence of ints, or None, into an array with room for 254.  Returns the rank, -1 for None, -2 with an
 * exception set. */
int ext_dims(PyObject *shape, int64_t *dims);
enum { EXT_MAX_RANK = 254 };
PyObject *ext_shape(int rank, const int64_t *dims); /* None for rank -1; unknown dimensions are None */
PyObject *ext_bytes(void *data, size_t size);       /* frees the data */

/* Returns the result of a call that adds nodes: the output, or NULL with the graph's error raised. */
PyObject *ext_made(weft_graph *g, weft_out o);
PyObject *ext_gradient_rows(const weft_gradient *d, Py_ssize_t n);

extern PyMethodDef ext_scope_methods[], ext_node_methods[], ext_train_functions[], ext_save_functions[],
    ext_summary_functions[], ext_pipeline_functions[], ext_cluster_functions[], ext_supervise_functions[],
    ext_monitor_functions[], ext_helper_functions[], ext_message_functions[];
/* Creates a Session object for a session of the library, which the object destroys unless the session is lent. */
PyObject *ext_session_wrap(PyObject *graph, weft_session *sess, bool lent);
/* Turns the exception that is set into an error of the library. */
weft_err ext_python_error(void);
int ext_to_coordinator(PyObject *o, void *out); /* for PyArg_ParseTuple's O& */
int ext_graph_ready(PyObject *module);
int ext_session_ready(PyObject *module);
PyObject *ext_set_call(PyObject *self, PyObject *fn);

#endif
