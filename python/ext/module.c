/* module.c - the module weft._weft: its functions, errors, the log, signals. */
#include "ext.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- errors ---------------------------------------------------------------------------------------- */

static PyObject *make_error; /* the package's function (code, message, facts) -> exception */

PyObject *ext_raise(weft_err err) {
  if (PyErr_Occurred()) return NULL;
  const char *message = weft_error_message();
  const unsigned facts = weft_error_facts();
  if (!make_error) return PyErr_Format(PyExc_RuntimeError, "%s: %s", weft_error_name(err), message);
  PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
  PyObject *made = text ? PyObject_CallFunction(make_error, "iOI", (int)err, text, facts) : NULL;
  Py_XDECREF(text);
  if (made) PyErr_SetObject((PyObject *)Py_TYPE(made), made);
  Py_XDECREF(made);
  return NULL;
}

PyObject *ext_none_or_raise(weft_err err) {
  if (err) return ext_raise(err);
  Py_RETURN_NONE;
}

PyObject *ext_raise_graph(weft_graph *g) {
  weft_err err = weft_graph_error(g);
  PyObject *none = ext_raise(err ? err : WEFT_INTERNAL);
  weft_graph_clear_error(g);
  return none;
}

static PyObject *set_error(PyObject *self, PyObject *fn) {
  (void)self;
  ext_set(&make_error, Py_NewRef(fn));
  Py_RETURN_NONE;
}

/* ---- signals --------------------------------------------------------------------------------------- */

/* Python runs a signal's handler when the main thread is back in the interpreter.  A call of the library may wait for
 * ever, so signals end it: SIGINT at once; SIGTERM, whose handlers often only ask for the end of the step, if the call
 * has not returned after WEFT_TERMINATE_SECS (10), and what computes after twice that.  A SIGTERM that the program does
 * not handle ends the process by itself. */
static time_t terminate_secs = 10;

typedef struct watched {   /* a signal */
  struct sigaction before; /* what handled it before us: Python's own handler */
  void (*handler)(int number, siginfo_t *info, void *context);
} watched;

static volatile sig_atomic_t interrupted; /* since the library was last told to forget it */
static volatile sig_atomic_t terminating; /* SIGTERM came in the call of the main thread that runs now */
static volatile sig_atomic_t terminated;  /* and the call was interrupted for that */
static pthread_t main_thread;             /* the one in which Python runs handlers */
static timer_t patience;                  /* calls end_patience */

static void signal_forward(const watched *w, int number, siginfo_t *info, void *context) {
  const struct sigaction *before = &w->before;
  if (before->sa_flags & SA_SIGINFO)
    before->sa_sigaction(number, info, context);
  else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
    before->sa_handler(number);
}

static void on_interrupt(int number, siginfo_t *info, void *context);
static void on_terminate(int number, siginfo_t *info, void *context);
static watched watched_interrupt = {.handler = on_interrupt}, watched_terminate = {.handler = on_terminate};

static void on_interrupt(int number, siginfo_t *info, void *context) {
  interrupted = 1;
  weft_interrupt();
  signal_forward(&watched_interrupt, number, info, context);
}

static void on_terminate(int number, siginfo_t *info, void *context) {
  /* Again and again: the first interrupt ends what waits, except in a supervised program, the second what computes. */
  const struct itimerspec after = {.it_value.tv_sec = terminate_secs, .it_interval.tv_sec = terminate_secs};
  terminating = 1;
  timer_settime(patience, 0, &after, NULL);
  signal_forward(&watched_terminate, number, info, context);
}

/* On a thread of the timer. */
static void end_patience(union sigval none) {
  (void)none;
  if (!terminating) {
    timer_settime(patience, 0, &(struct itimerspec){.it_value.tv_sec = 0}, NULL);
    return;
  }
  terminated = interrupted = 1;
  weft_interrupt();
}

/* Puts our handler in front of the program's, if it has one. */
static void signal_watch(int number, watched *w) {
  struct sigaction now;
  if (sigaction(number, NULL, &now) != 0) return;
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == w->handler) return;
  if (!(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_IGN || now.sa_handler == SIG_DFL)) return;
  w->before = now;
  struct sigaction ours = {.sa_sigaction = w->handler, .sa_flags = SA_SIGINFO};
  sigemptyset(&ours.sa_mask);
  sigaction(number, &ours, NULL);
}

static bool has_patience(void) {
  static pid_t of; /* a child of fork has no timers; with the GIL held */
  struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = end_patience};
  const char *given = getenv("WEFT_TERMINATE_SECS");
  if (given && atoi(given) > 0) terminate_secs = atoi(given);
  if (of != getpid() && timer_create(CLOCK_MONOTONIC, &e, &patience) == 0) of = getpid();
  return of == getpid();
}

static void forget_interrupt(void);

/* Forgets an interrupt that came before this call and that Python has dealt with: the program caught it and goes on.
 * One that Python has not dealt with yet ends the call; Python is told of it again, since asking has taken note of it.
 */
static void drop_stale_interrupt(void) {
  if (!interrupted) return;
  if (PyErr_CheckSignals() == 0) {
    forget_interrupt();
    return;
  }
  PyErr_Clear();
  PyErr_SetInterrupt();
}

void ext_watch_signals(void) {
  signal_watch(SIGINT, &watched_interrupt);
  struct sigaction now;
  if (sigaction(SIGTERM, NULL, &now) == 0 && ((now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL) &&
      has_patience())
    signal_watch(SIGTERM, &watched_terminate);
  if (!pthread_equal(pthread_self(), main_thread)) return;
  if (terminated)
    forget_interrupt(); /* it was for a call that has ended */
  else
    drop_stale_interrupt();
  terminating = 0;
}

static void forget_interrupt(void) {
  interrupted = terminated = 0;
  weft_interrupt_clear();
}

bool ext_try_again(weft_err err) {
  if (err != WEFT_CANCELLED || !interrupted || !pthread_equal(pthread_self(), main_thread)) return false;
  const bool ends = terminated; /* also if its handler only takes a note: the call would wait for ever */
  bool stale = PyErr_CheckSignals() == 0;
  forget_interrupt();
  return stale && !ends;
}

PyObject *ext_raise_wait(weft_err err) {
  if (PyErr_Occurred() || PyErr_CheckSignals() != 0) {
    forget_interrupt();
    return NULL;
  }
  return ext_raise(err);
}

static PyObject *module_interrupt(PyObject *self, PyObject *none) {
  (void)self, (void)none;
  weft_interrupt();
  Py_RETURN_NONE;
}

static PyObject *interrupt_clear(PyObject *self, PyObject *none) {
  (void)self, (void)none;
  weft_interrupt_clear();
  Py_RETURN_NONE;
}

/* ---- the log --------------------------------------------------------------------------------------- */

static int quietest;  /* levels below are not shown */
static int told = 30; /* tf.logging's level, in Python's numbers, for what TensorFlow's Python says */
static atomic_int log_pipe =
    -1; /* where a thread of Python reads lines for the program's own handlers; -1: none does */

/* Writes "LEVEL message" and a zero byte to the pipe.  Returns false if it is full: a line never waits for Python. */
static bool log_to_pipe(int fd, int level, const char *message) {
  char text[2048]; /* below PIPE_BUF: lines of several threads do not mix */
  int n = snprintf(text, sizeof text, "%d %s", 10 * (level + 1), message);
  if (n < 0) return false;
  if (n >= (int)sizeof text) n = (int)sizeof text - 1;
  return write(fd, text, (size_t)n + 1) == (ssize_t)n + 1;
}

/* Supervision and hooks speak in Python there: INFO:tensorflow:message.  The rest has TensorFlow's form in C++. */
static void log_line(void *arg, int level, const char *file, int line, const char *message) {
  static const char *const names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
  (void)arg;
  while (strncmp(file, "../", 3) == 0) file += 3;
  if (strncmp(file, "train/", 6) == 0) {
    if (level < 0 || level > 3 || 10 * (level + 1) < told) return;
    int fd = atomic_load(&log_pipe);
    if (fd < 0 || !log_to_pipe(fd, level, message)) fprintf(stderr, "%s:tensorflow:%s\n", names[level], message);
    return;
  }
  if (level <= quietest) return;
  struct timespec now;
  struct tm day;
  char text[32];
  clock_gettime(CLOCK_REALTIME, &now);
  localtime_r(&now.tv_sec, &day);
  strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &day);
  fprintf(stderr, "%s.%06ld: %c %s:%d] %s\n", text, now.tv_nsec / 1000, "DIWE"[level < 0 || level > 3 ? 3 : level],
          file, line, message);
}

static PyObject *log_verbosity(PyObject *self, PyObject *level) {
  (void)self;
  told = (int)PyLong_AsLong(level);
  if (PyErr_Occurred()) return NULL;
  Py_RETURN_NONE;
}

static PyObject *log_to_fd(PyObject *self, PyObject *fd) {
  (void)self;
  int to = (int)PyLong_AsLong(fd);
  if (PyErr_Occurred()) return NULL;
  atomic_store(&log_pipe, to);
  Py_RETURN_NONE;
}

/* log_to_stderr(minimum): TF_CPP_MIN_LOG_LEVEL's numbers; debug lines are never shown. */
static PyObject *log_to_stderr(PyObject *self, PyObject *level) {
  (void)self;
  quietest = (int)PyLong_AsLong(level);
  if (PyErr_Occurred()) return NULL;
  weft_log_set(log_line, NULL);
  Py_RETURN_NONE;
}

/* ---- ops ------------------------------------------------------------------------------------------- */

/* ops(): {name: (definition, doc)} of every op there is. */
static PyObject *module_ops(PyObject *self, PyObject *none) {
  (void)self, (void)none;
  PyObject *all = PyDict_New();
  for (int i = 0; all && i < weft_op_count(); i++) {
    PyObject *row = Py_BuildValue("(ss)", weft_op_definition(i), weft_op_doc(i));
    if (!row || PyDict_SetItemString(all, weft_op_name(i), row) != 0) Py_CLEAR(all);
    Py_XDECREF(row);
  }
  return all;
}

static PyObject *op_gradients(PyObject *self, PyObject *none) {
  (void)self, (void)none;
  PyObject *all = PyDict_New();
  for (int i = 0; all && i < weft_op_count(); i++) {
    PyObject *has = PyUnicode_FromString(weft_op_gradient(i));
    if (!has || PyDict_SetItemString(all, weft_op_name(i), has) != 0) Py_CLEAR(all);
    Py_XDECREF(has);
  }
  return all;
}

static PyObject *dtype_name(PyObject *self, PyObject *number) {
  (void)self;
  long n = PyLong_AsLong(number);
  if (PyErr_Occurred()) return NULL;
  return PyUnicode_FromString(weft_dtype_name((weft_dtype)n));
}

static PyObject *module_version(PyObject *self, PyObject *none) {
  (void)self, (void)none;
  return PyUnicode_FromString(weft_version());
}

/* trace_json(run_metadata bytes): what Chrome's trace viewer loads. */
static PyObject *trace_json(PyObject *self, PyObject *args) {
  (void)self;
  const char *data;
  Py_ssize_t size;
  char *text;
  if (!PyArg_ParseTuple(args, "y#", &data, &size)) return NULL;
  weft_err err = weft_trace_json(&text, data, (size_t)size);
  if (err) return ext_raise(err);
  PyObject *made = PyUnicode_FromString(text);
  weft_free(text);
  return made;
}

static PyMethodDef functions[] = {
    {"set_error", set_error, METH_O, "set_error(fn): fn(code, message) makes the exception for an error"},
    {"use_numpy", ext_use_numpy, METH_VARARGS, "use_numpy(ndarray, {dtype number: numpy dtype})"},
    {"check_strings", ext_check_strings, METH_O, "check_strings(list): raises TypeError unless all are bytes or str"},
    {"set_call", ext_set_call, METH_O, "set_call(fn): fn(token, inputs) is what PyFunc calls"},
    {"interrupt", module_interrupt, METH_NOARGS, "Ends every wait inside the library."},
    {"interrupt_clear", interrupt_clear, METH_NOARGS, "Lets waits begin again."},
    {"log_to_stderr", log_to_stderr, METH_O, "Shows what the library says, from a level on."},
    {"log_to_fd", log_to_fd, METH_O, "Where the library's supervision writes its lines; -1: to stderr."},
    {"log_verbosity", log_verbosity, METH_O, "tf.logging's level, for the library's supervision."},
    {"op_gradients", op_gradients, METH_NOARGS, "{name: \"yes\", \"none\" or \"missing\"} of every op."},
    {"ops", module_ops, METH_NOARGS, "{name: (definition, doc)} of every op."},
    {"dtype_name", dtype_name, METH_O, "'float32' for 1."},
    {"version", module_version, METH_NOARGS, "The library's version."},
    {"trace_json", trace_json, METH_VARARGS, "RunMetadata bytes as a Chrome trace."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "weft._weft",
    .m_doc = "The library of Weft, for the package weft.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__weft(void);
PyMODINIT_FUNC PyInit__weft(void) {
  PyObject *module = PyModule_Create(&definition);
  if (!module) return NULL;
  main_thread = pthread_self();
  PyMethodDef *more[] = {ext_train_functions,    ext_save_functions,    ext_summary_functions,
                         ext_pipeline_functions, ext_cluster_functions, ext_supervise_functions,
                         ext_monitor_functions,  ext_helper_functions,  ext_message_functions};
  for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
    if (PyModule_AddFunctions(module, more[i]) != 0) {
      Py_DECREF(module);
      return NULL;
    }
  if (ext_value_ready(module) != 0 || ext_graph_ready(module) != 0 || ext_session_ready(module) != 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
