/* core.h - errors, tensors, graphs and sessions.  Programs include weft.h, which states the rules. */
#ifndef WEFT_CORE_H
#define WEFT_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_API __attribute__((visibility("default")))
/* As WEFT_API, for functions whose error the program must check.  The compiler warns of a call that ignores the
 * result. */
#define WEFT_CHECKED WEFT_API __attribute__((warn_unused_result))
/* Marks a pointer that may be NULL.  Every other pointer is required.  If it is NULL, a function that returns
 * weft_err returns INVALID_ARGUMENT and names the parameter.  A function that returns a weft_out sets the graph's
 * error and returns WEFT_NONE.  Any other function returns 0 or NULL. */
#define WEFT_OPTIONAL

/* ---- errors ------------------------------------------------------------------------------ */

/* The enum, the names and the texts come from one list.  The numbers are gRPC's. */
/* clang-format off */
#define WEFT_ERRORS(X) \
  X(OK, 0) \
  X(CANCELLED, 1) \
  X(UNKNOWN, 2) \
  X(INVALID_ARGUMENT, 3) \
  X(DEADLINE_EXCEEDED, 4) \
  X(NOT_FOUND, 5) \
  X(ALREADY_EXISTS, 6) \
  X(PERMISSION_DENIED, 7) \
  X(RESOURCE_EXHAUSTED, 8) \
  X(FAILED_PRECONDITION, 9) \
  X(ABORTED, 10) \
  X(OUT_OF_RANGE, 11) \
  X(UNIMPLEMENTED, 12) \
  X(INTERNAL, 13) \
  X(UNAVAILABLE, 14) \
  X(DATA_LOSS, 15) \
  X(UNAUTHENTICATED, 16)
/* clang-format on */

typedef enum weft_err {
#define WEFT_ERR_ROW(name, number) WEFT_##name = number,
  WEFT_ERRORS(WEFT_ERR_ROW)
#undef WEFT_ERR_ROW
} weft_err;

/* Returns "INVALID_ARGUMENT" for WEFT_INVALID_ARGUMENT; never NULL. */
WEFT_API const char *weft_error_name(weft_err err);
/* Returns the message of this thread's last failure, or "" if there was none.  It is valid until this thread's next
 * failure. */
WEFT_API const char *weft_error_message(void);

/* What is known of an error beside its code, so that no program need read its text. */
typedef enum weft_error_fact {
  WEFT_FACT_UNINITIALIZED = 1 << 0,     /* a variable was read that has no value yet */
  WEFT_FACT_JOB_OVER = 1 << 3,          /* the training job has ended */
  WEFT_FACT_NO_CHECKPOINT = 1 << 5,     /* the path that was given has no checkpoint */
  WEFT_FACT_NO_SAVED_MODEL = 1 << 6,    /* the folder that was given has no SavedModel */
  WEFT_FACT_NO_SUCH_TAGS = 1 << 7,      /* the SavedModel has no graph with the tags that were asked for */
  WEFT_FACT_MODEL_NOT_READY = 1 << 8,   /* a session's init ops have run or are missing, and the model is not ready */
  WEFT_FACT_NO_GRADIENT = 1 << 9,       /* an op on the way to the result has no gradient */
  WEFT_FACT_LOOP_GRADIENT = 1 << 10,    /* the gradient of the gradient of a loop was asked for */
  WEFT_FACT_TYPE_NOT_ALLOWED = 1 << 11, /* a node's type is none that its op allows */
} weft_error_fact;

/* Returns the facts of this thread's last error, as bits of weft_error_fact.  Other bits may be set too. */
WEFT_API unsigned weft_error_facts(void);
/* For programs: if err is not WEFT_OK, prints the message and exits with 1.  After weft_interrupt, which ends waits
 * here and in other tasks, it prints "interrupted" and exits with 130.  The library itself never calls it. */
WEFT_API void weft_must(weft_err err);

/* ---- types ------------------------------------------------------------------------------- */

/* TensorFlow's DataType numbers.  A reference type is the base plus 100. */
typedef enum weft_dtype {
  WEFT_INVALID = 0,
  WEFT_FLOAT = 1,
  WEFT_DOUBLE = 2,
  WEFT_INT32 = 3,
  WEFT_UINT8 = 4,
  WEFT_INT16 = 5,
  WEFT_INT8 = 6,
  WEFT_STRING = 7,
  WEFT_COMPLEX64 = 8,
  WEFT_INT64 = 9,
  WEFT_BOOL = 10,
  WEFT_QINT8 = 11,
  WEFT_QUINT8 = 12,
  WEFT_QINT32 = 13,
  WEFT_BFLOAT16 = 14,
  WEFT_QINT16 = 15,
  WEFT_QUINT16 = 16,
  WEFT_UINT16 = 17,
  WEFT_COMPLEX128 = 18,
  WEFT_HALF = 19,
  WEFT_RESOURCE = 20,
  WEFT_VARIANT = 21,
  WEFT_UINT32 = 22,
  WEFT_UINT64 = 23,
  WEFT_FLOAT8_E5M2 = 24,
  WEFT_FLOAT8_E4M3FN = 25,
  WEFT_INT4 = 29, /* 26 to 28 are no types */
  WEFT_UINT4 = 30,
  WEFT_DTYPE_COUNT = 31
} weft_dtype;

typedef struct weft_tensor weft_tensor;
typedef struct weft_graph weft_graph;
typedef struct weft_node weft_node;
typedef struct weft_session weft_session;

/* A handle of output `slot` of node `node`.  node < 0 means "no output".  `graph` is the number of the graph that
 * made the handle; a graph refuses handles of another graph.  0, as in handles that a program fills in itself, is
 * not checked. */
typedef struct weft_out {
  int32_t node;
  uint16_t slot, graph;
} weft_out;
#ifdef __cplusplus
#define WEFT_NONE (weft_out{-1, 0, 0})
#else
#define WEFT_NONE ((weft_out){-1, 0, 0})
#endif

/* An option that is yes, no or the default.  0 is the default, which the comment of the option states.  To switch
 * something off, write WEFT_NO, not false. */
typedef enum weft_choice { WEFT_DEFAULT, WEFT_YES, WEFT_NO } weft_choice;

/* ---- log and signals ------------------------------------------------------------------------ */

/* level: 0 debug, 1 info, 2 warning, 3 error.  Any thread may make the call, but only one at a time. */
typedef void weft_log_fn(void *arg, int level, const char *file, int line, const char *message);
/* Sets the function that gets the library's log messages.  NULL drops them, which is the default. */
WEFT_API void weft_log_set(weft_log_fn *WEFT_OPTIONAL fn, void *WEFT_OPTIONAL arg);
/* For programs: a weft_log_fn that writes lines like TensorFlow's ("I file.c:12] message") to stderr.  It obeys
 * TF_CPP_MIN_LOG_LEVEL. */
WEFT_API void weft_log_stderr(void *WEFT_OPTIONAL arg, int level, const char *WEFT_OPTIONAL file, int line,
                              const char *WEFT_OPTIONAL message);
/* Ends every wait inside the library with WEFT_CANCELLED.  A signal handler may call it. */
WEFT_API void weft_interrupt(void);
/* Clears all interrupts so far, so that later waits block again. */
WEFT_API void weft_interrupt_clear(void);
/* Returns the version, such as "0.2.0". */
WEFT_API const char *weft_version(void);

/* ---- tensors -------------------------------------------------------------------------------- */

/* Creates a tensor of the given type and dimensions.  If data is not NULL (numbers only), it is copied; otherwise
 * the elements are zero or empty. */
WEFT_CHECKED weft_err weft_tensor_create(weft_tensor **out, weft_dtype dtype, int rank, const int64_t *dims,
                                         const void *WEFT_OPTIONAL data);
/* Creates a tensor that uses the caller's memory of `size` bytes without a copy.  release(arg) is called when the
 * last tensor that shares it is destroyed; release may be NULL. */
WEFT_CHECKED weft_err weft_tensor_adopt(weft_tensor **out, weft_dtype dtype, int rank, const int64_t *dims, void *data,
                                        size_t size, void (*WEFT_OPTIONAL release)(void *arg), void *WEFT_OPTIONAL arg);
/* As weft_tensor_adopt, for a value that is fed to a run.  Anything that outlives the run copies the elements.  So
 * the caller may reuse the memory once the run has returned and the tensor is destroyed. */
WEFT_CHECKED weft_err weft_tensor_borrow(weft_tensor **out, weft_dtype dtype, int rank, const int64_t *dims, void *data,
                                         size_t size);
/* Returns true if something else (a variable, another tensor) shares the elements.  They must not be written then. */
WEFT_API bool weft_tensor_shared(const weft_tensor *t);
/* Convert from and to a serialized TensorProto.  The caller frees the bytes with weft_free. */
WEFT_CHECKED weft_err weft_tensor_parse(weft_tensor **out, const void *proto, size_t size);
WEFT_CHECKED weft_err weft_tensor_serialize(void **out, size_t *size, const weft_tensor *t);
/* Tensors have a reference count: retain increments it and returns t; destroy decrements it and does nothing for
 * NULL. */
WEFT_API weft_tensor *weft_tensor_retain(weft_tensor *WEFT_OPTIONAL t);
WEFT_API void weft_tensor_destroy(weft_tensor *t);

WEFT_API weft_dtype weft_tensor_dtype(const weft_tensor *t);
WEFT_API int weft_tensor_rank(const weft_tensor *t);
WEFT_API const int64_t *weft_tensor_dims(const weft_tensor *t);
WEFT_API int64_t weft_tensor_count(const weft_tensor *t);
WEFT_API size_t weft_tensor_bytes(const weft_tensor *t);
/* Returns the elements in row-major order; NULL for strings and handles.  Write only to a tensor that you created
 * and that is not shared. */
WEFT_API void *weft_tensor_data(const weft_tensor *t);
/* Read and set string element i.  The bytes that are read are borrowed and not NUL-terminated. */
WEFT_CHECKED weft_err weft_tensor_string(const weft_tensor *t, int64_t i, const char **data, size_t *size);
WEFT_CHECKED weft_err weft_tensor_set_string(weft_tensor *t, int64_t i, const char *WEFT_OPTIONAL data, size_t size);
/* Return "float32" for WEFT_FLOAT, and the bytes of one element (0 for strings and handles). */
WEFT_API const char *weft_dtype_name(weft_dtype dtype);
WEFT_API size_t weft_dtype_size(weft_dtype dtype);

/* Frees bytes or text that a function of this library returned.  Does nothing for NULL. */
WEFT_API void weft_free(void *WEFT_OPTIONAL p);

/* ---- graphs --------------------------------------------------------------------------------- */

WEFT_CHECKED weft_err weft_graph_create(weft_graph **out);
WEFT_API void weft_graph_destroy(weft_graph *g);
/* Returns the first failure of a call that builds nodes, and sets this thread's message to its message; WEFT_OK if
 * there was none. */
WEFT_CHECKED weft_err weft_graph_error(const weft_graph *g);
WEFT_API void weft_graph_clear_error(weft_graph *g);
/* Sets the graph-level seed, as tf.set_random_seed does: it seeds every random op that has no seed of its own. */
WEFT_API void weft_graph_set_seed(weft_graph *g, int64_t seed);

/* Import and export a serialized GraphDef.  prefix (NULL: none) is put before every name.  A failed import leaves
 * the graph unchanged.  Ops that this library does not know are kept and exported unchanged; running one fails. */
WEFT_CHECKED weft_err weft_graph_import(weft_graph *g, const void *graph_def, size_t size,
                                        const char *WEFT_OPTIONAL prefix);
WEFT_CHECKED weft_err weft_graph_export(void **out, size_t *size, const weft_graph *g);
/* Imports the file at `path`: a GraphDef or, if its name ends in ".meta", a MetaGraphDef with its collections.  The
 * content decides whether it is read as binary or as text. */
WEFT_CHECKED weft_err weft_graph_import_file(weft_graph *g, const char *path, const char *WEFT_OPTIONAL prefix);
/* Import and export a MetaGraphDef: graph, collections, saver and signatures. */
WEFT_CHECKED weft_err weft_graph_import_meta(weft_graph *g, const void *meta_graph_def, size_t size,
                                             const char *WEFT_OPTIONAL prefix);
WEFT_CHECKED weft_err weft_graph_export_meta(void **out, size_t *size, const weft_graph *g);
/* Import a GraphDef or a MetaGraphDef whose nodes read to[i] of the graph instead of the definition's output names[i]
 * ("a", "a:1"); "^a" puts the node of to[i] in place of control edges from a.  The shapes of the new nodes follow from
 * the outputs that they read.  A name that no node reads is an error. */
WEFT_CHECKED weft_err weft_graph_import_mapped(weft_graph *g, const void *graph_def, size_t size,
                                               const char *WEFT_OPTIONAL prefix, int n, const char *const *names,
                                               const weft_out *to);
WEFT_CHECKED weft_err weft_graph_import_meta_mapped(weft_graph *g, const void *meta_graph_def, size_t size,
                                                    const char *WEFT_OPTIONAL prefix, int n, const char *const *names,
                                                    const weft_out *to);

/* Finds the output "name" or "name:1".  Returns WEFT_NONE if there is no such output. */
WEFT_API weft_out weft_graph_find(const weft_graph *g, const char *tensor_name);
/* Return the number of nodes, and node i, borrowed. */
WEFT_API int weft_graph_size(const weft_graph *g);
WEFT_API const weft_node *weft_graph_node(const weft_graph *g, int i);
WEFT_API const char *weft_node_name(const weft_node *n);
WEFT_API const char *weft_node_op(const weft_node *n);
WEFT_API const char *weft_node_device(const weft_node *n);
WEFT_API int weft_node_output_count(const weft_node *n);
WEFT_API int weft_node_input_count(const weft_node *n);
WEFT_API weft_out weft_node_input(const weft_node *n, int i);
/* Returns output `slot` of the node of o; WEFT_NONE if the slot is negative. */
WEFT_API weft_out weft_out_at(weft_out o, int slot);
/* Return the type and the rank of an output as far as they are known while the graph is built.  A rank of -1 means
 * unknown.  dims has room for 16 dimensions. */
WEFT_API weft_dtype weft_out_dtype(const weft_graph *g, weft_out o);
WEFT_API int weft_out_shape(const weft_graph *g, weft_out o, int64_t *WEFT_OPTIONAL dims);

WEFT_API bool weft_out_is_ref(const weft_graph *g, weft_out o);
/* Merges a shape that the program knows into the static shape.  Returns INVALID_ARGUMENT if the two contradict each
 * other. */
WEFT_CHECKED weft_err weft_out_set_shape(weft_graph *g, weft_out o, int rank, const int64_t *dims);
/* Stores the value of an output if it is known without a run (constants, small arithmetic of shapes), else NULL. */
WEFT_CHECKED weft_err weft_out_constant(weft_tensor **out, const weft_graph *g, weft_out o);
WEFT_API int weft_node_control_count(const weft_node *n);
WEFT_API weft_out weft_node_control(const weft_node *n, int i);
/* Export a node as a serialized NodeDef, and one of its attributes as a serialized AttrValue.  The latter returns
 * NOT_FOUND if the node has no attribute of that name. */
WEFT_CHECKED weft_err weft_node_export(void **out, size_t *size, const weft_node *n);
WEFT_CHECKED weft_err weft_node_attr(void **out, size_t *size, const weft_node *n, const char *name);
/* Change node `node` of the graph, for programs that rewrite graphs: an attribute (a serialized AttrValue), the
 * device, a control edge, or data input i, which closes a loop's back edge. */
WEFT_CHECKED weft_err weft_node_set_attr(weft_graph *g, int node, const char *name, const void *attr_value,
                                         size_t size);
WEFT_CHECKED weft_err weft_node_set_device(weft_graph *g, int node, const char *WEFT_OPTIONAL device);
WEFT_CHECKED weft_err weft_node_add_control(weft_graph *g, int node, weft_out before);
/* Sets options of a while loop, for one of its outputs (an Exit): whether it has gradients, and whether the values
 * that they save may be swapped to host memory.  GraphDefs do not contain these options. */
WEFT_CHECKED weft_err weft_loop_options(weft_graph *g, weft_out output, bool back_prop, bool swap_memory);
WEFT_CHECKED weft_err weft_node_set_input(weft_graph *g, int node, int i, weft_out from);

/* Building a node of any op:
 *     weft_builder *b = weft_node_begin(g, "MatMul", "xw");
 *     weft_builder_input(b, x);
 *     weft_builder_input(b, w);
 *     weft_builder_bool(b, "transpose_b", true);
 *     weft_out xw = weft_builder_finish(b);
 * Types and lengths of lists follow from the inputs.  finish frees the builder and returns output 0 (a node without
 * outputs: slot 0 of it, for use as a target), or WEFT_NONE with the graph's error set. */
typedef struct weft_builder weft_builder;
WEFT_API weft_builder *weft_node_begin(weft_graph *g, const char *op_name, const char *WEFT_OPTIONAL name);
WEFT_API void weft_builder_input(weft_builder *WEFT_OPTIONAL b, weft_out x);
/* Adds n outputs as one input that is a list.  Error messages call the list by this name. */
WEFT_API void weft_builder_inputs(weft_builder *WEFT_OPTIONAL b, const char *name, int n, const weft_out *x);
WEFT_API void weft_builder_control(weft_builder *WEFT_OPTIONAL b, weft_out x); /* runs after x's node */
WEFT_API void weft_builder_device(weft_builder *WEFT_OPTIONAL b, const char *device);
WEFT_API void weft_builder_int(weft_builder *WEFT_OPTIONAL b, const char *name, int64_t v);
WEFT_API void weft_builder_float(weft_builder *WEFT_OPTIONAL b, const char *name, float v);
WEFT_API void weft_builder_bool(weft_builder *WEFT_OPTIONAL b, const char *name, bool v);
WEFT_API void weft_builder_type(weft_builder *WEFT_OPTIONAL b, const char *name, weft_dtype v);
WEFT_API void weft_builder_string(weft_builder *WEFT_OPTIONAL b, const char *name, const char *WEFT_OPTIONAL data,
                                  size_t size);
WEFT_API void weft_builder_shape(weft_builder *WEFT_OPTIONAL b, const char *name, int rank, const int64_t *dims);
WEFT_API void weft_builder_tensor(weft_builder *WEFT_OPTIONAL b, const char *name, const weft_tensor *t);
WEFT_API void weft_builder_ints(weft_builder *WEFT_OPTIONAL b, const char *name, int n, const int64_t *v);
WEFT_API void weft_builder_types(weft_builder *WEFT_OPTIONAL b, const char *name, int n, const weft_dtype *v);
/* Any attribute, as a serialized AttrValue. */
WEFT_API void weft_builder_attr(weft_builder *WEFT_OPTIONAL b, const char *name, const void *attr_value, size_t size);
/* Sets attributes from text: "strides=[1,2,2,1] padding='SAME' T=float".  Strings are in single quotes.  NULL: none. */
WEFT_API void weft_builder_attrs(weft_builder *WEFT_OPTIONAL b, const char *WEFT_OPTIONAL attrs);
WEFT_API weft_out weft_builder_finish(weft_builder *WEFT_OPTIONAL b);

/* Builds a node in one call: weft_op(g, "MatMul", NULL, 2, (weft_out[]){x, w}, "transpose_b=true"). */
WEFT_API weft_out weft_op(weft_graph *g, const char *op_name, const char *WEFT_OPTIONAL name, int n, const weft_out *in,
                          const char *WEFT_OPTIONAL attrs);

/* Push a scope for the nodes that follow; weft_scope_pop pops the innermost one.  The scopes set a name prefix, a
 * device ("/gpu:0", "/job:ps/task:1"), nodes that must run before (n < 0: outer control scopes do not apply), or a
 * node to be colocated with. */
WEFT_API void weft_scope_push_name(weft_graph *g, const char *WEFT_OPTIONAL name);
WEFT_API void weft_scope_push_device(weft_graph *g, const char *WEFT_OPTIONAL device);
WEFT_API void weft_scope_push_control(weft_graph *g, int n, const weft_out *before);
WEFT_API void weft_scope_push_colocate(weft_graph *g, weft_out with);
/* tf.train.replica_device_setter: variables go to the ps tasks in turn (by_bytes: to the task with the fewest
 * bytes), and all other nodes to worker_device.  NULL devices mean "/job:ps" and "/job:worker".  The setter must
 * outlive the scopes that use it.  It may be entered again and continues its round robin then. */
typedef struct weft_replica weft_replica;
WEFT_CHECKED weft_err weft_replica_create(weft_replica **out, int ps_tasks, const char *WEFT_OPTIONAL ps_device,
                                          const char *WEFT_OPTIONAL worker_device, bool by_bytes);
WEFT_API void weft_replica_destroy(weft_replica *r);
WEFT_API void weft_scope_push_replica(weft_graph *g, weft_replica *r);
/* A device function of the program.  It gets a node that is about to be added, with its name, op and inputs, and the
 * device that inner scopes gave it.  It returns the device to use, valid until its next call, or NULL to refuse the
 * node. */
typedef const char *weft_device_fn(void *arg, const weft_node *n, const char *current);
WEFT_API void weft_scope_push_device_fn(weft_graph *g, weft_device_fn *fn, void *WEFT_OPTIONAL arg);
/* As weft_scope_push_colocate, but outer colocations do not apply.  WEFT_NONE only drops the outer ones. */
WEFT_API void weft_scope_push_colocate_only(weft_graph *g, weft_out with);
/* Sets `_class` of the nodes that follow to this node.  It has no effect on their devices. */
WEFT_API void weft_scope_push_belong(weft_graph *g, const char *node);
WEFT_API void weft_scope_push_container(weft_graph *g, const char *name);
/* Overrides the gradient of an op: nodes of op_type get the attribute `_gradient_op_type`.  They are differentiated
 * as the op `gradient` is, or by the graph's gradient function under that name. */
WEFT_API void weft_scope_push_gradient(weft_graph *g, const char *op_type, const char *gradient);
/* Pops the innermost scope.  If there is none, the graph's error becomes FAILED_PRECONDITION. */
WEFT_API void weft_scope_pop(weft_graph *g);
/* Removes the scopes above `depth`, and pushes them again later.  The replicas of tf.distribute use this to build
 * their parts of a graph in turn.  weft_scope_unpark frees p.  weft_scope_park returns NULL with the graph's error
 * set. */
typedef struct weft_parked weft_parked;
WEFT_API int weft_scope_depth(const weft_graph *g);
WEFT_API weft_parked *weft_scope_park(weft_graph *g, int depth);
WEFT_API void weft_scope_unpark(weft_graph *g, weft_parked *WEFT_OPTIONAL p);
/* Return the current name scope ("a/b", "" at the root), and an unused full name in it, which counts as used
 * afterwards if `take`.  Both strings are valid until the next call. */
WEFT_API const char *weft_scope_prefix(const weft_graph *g);
WEFT_API const char *weft_scope_unique(weft_graph *g, const char *name, bool take);

/* tf.variable_scope and tf.get_variable.  A variable scope prefixes the names of variables and also opens a name
 * scope.  It decides whether an existing variable is reused, and may set the initializer of variables that are
 * created in it. weft_scope_pop leaves it. */
typedef enum weft_reuse { WEFT_REUSE_INHERIT, WEFT_REUSE_NEVER, WEFT_REUSE_ALWAYS, WEFT_REUSE_AUTO } weft_reuse;
typedef enum weft_init {
  WEFT_INIT_DEFAULT, /* the scope's; else Glorot's uniform for floats, zeros for other types */
  WEFT_INIT_ZEROS,
  WEFT_INIT_ONES,
  WEFT_INIT_CONSTANT,  /* a */
  WEFT_INIT_UNIFORM,   /* [a, b) */
  WEFT_INIT_NORMAL,    /* mean a, deviation b */
  WEFT_INIT_TRUNCATED, /* the same, truncated at two deviations */
  WEFT_INIT_VALUE,     /* this tensor, which also sets the type and the shape */
  WEFT_INIT_SCALING    /* variance a / fan (a 0: 1): Glorot's, He's and LeCun's */
} weft_init;
typedef enum weft_fan { WEFT_FAN_IN, WEFT_FAN_OUT, WEFT_FAN_AVG } weft_fan;
typedef enum weft_spread { WEFT_SPREAD_TRUNCATED, WEFT_SPREAD_UNIFORM, WEFT_SPREAD_NORMAL } weft_spread;
typedef struct weft_initial {
  weft_init kind;
  double a, b;
  bool has_seed;
  int64_t seed;
  const weft_tensor *value;
  weft_fan fan;       /* SCALING: the fan is the number of inputs, of outputs, or their mean */
  weft_spread spread; /* SCALING */
} weft_initial;
WEFT_API void weft_scope_push_variables(weft_graph *g, const char *WEFT_OPTIONAL name, weft_reuse reuse,
                                        const weft_initial *WEFT_OPTIONAL init);
/* Enters a variable scope with options.  Set exactly one of name, again (a scope entered before) and default_name
 * (made unique).  The result lives as long as the graph. */
typedef struct weft_variable_scope weft_variable_scope;
typedef struct weft_variable_scope_opts {
  size_t size;
  const char *name;
  const weft_variable_scope *again;
  const char *default_name;
  weft_reuse reuse;
  weft_choice name_scope; /* default yes: also opens a name scope */
} weft_variable_scope_opts;
WEFT_CHECKED weft_err weft_variable_scope_enter(const weft_variable_scope **out, weft_graph *g,
                                                const weft_variable_scope_opts *opts);
WEFT_API const weft_variable_scope *weft_variable_scope_now(weft_graph *g);
WEFT_API const char *weft_variable_scope_name(const weft_variable_scope *s);       /* "a/b" */
WEFT_API const char *weft_variable_scope_name_scope(const weft_variable_scope *s); /* "a_1/b/" */
WEFT_API weft_reuse weft_variable_scope_reuse(const weft_variable_scope *s);
WEFT_API void weft_variable_scope_set_reuse(weft_graph *g); /* reuse_variables() of the current scope */
/* set_use_resource() of the current scope: variables created in it and in scopes opened in it are resources (on) or
 * references. */
WEFT_API void weft_variable_scope_set_resource(weft_graph *g, bool on);
/* tf.get_variable.  A NULL init means the default.  The result is usable as any output, and as a variable for
 * weft_assign and the optimizers. */
WEFT_API weft_out weft_get_variable(weft_graph *g, const char *name, weft_dtype dtype, int rank, const int64_t *dims,
                                    const weft_initial *WEFT_OPTIONAL init, bool trainable);

/* Collections: named lists of a graph, which its MetaGraphDef contains.  A list holds items of one kind: names of
 * nodes ("train") or outputs ("loss:0"), serialized messages (a VariableDef, a QueueRunnerDef), integers or floats. */
WEFT_CHECKED weft_err weft_collection_add(weft_graph *g, const char *list, const char *name);
WEFT_API int weft_collection_size(const weft_graph *g, const char *list);
WEFT_API const char *weft_collection_name(const weft_graph *g, const char *list, int i); /* NULL if there is none */
WEFT_CHECKED weft_err weft_collection_add_bytes(weft_graph *g, const char *list, const void *data, size_t size);
/* Returns item i of a list of names or bytes, borrowed; NULL if there is none. */
WEFT_API const void *weft_collection_item(const weft_graph *g, const char *list, int i, size_t *WEFT_OPTIONAL size,
                                          bool *WEFT_OPTIONAL is_name);
WEFT_CHECKED weft_err weft_collection_add_int(weft_graph *g, const char *list, int64_t v);
WEFT_CHECKED weft_err weft_collection_add_float(weft_graph *g, const char *list, float v);
/* Stores item i of a list of numbers, in *v if *is_int, else in *f.  Returns false if there is no such item. */
WEFT_API bool weft_collection_number(const weft_graph *g, const char *list, int i, int64_t *WEFT_OPTIONAL v,
                                     float *WEFT_OPTIONAL f, bool *WEFT_OPTIONAL is_int);
WEFT_API void weft_collection_clear(weft_graph *g, const char *list);
/* Return the number of lists, and the name of list i. */
WEFT_API int weft_collection_count(const weft_graph *g);
WEFT_API const char *weft_collection_at(const weft_graph *g, int i);

/* Adds the gradients of the sum of ys with respect to each of xs.  A NULL grad_ys means ones.  dxs has room for n_x
 * outputs; an entry is WEFT_NONE if no path connects it with a y.  Slices are converted to dense tensors. */
WEFT_CHECKED weft_err weft_gradients(weft_graph *g, int n_y, const weft_out *ys, const weft_out *WEFT_OPTIONAL grad_ys,
                                     int n_x, const weft_out *xs, weft_out *dxs);

/* The same without the conversion: each result is dense, or it is slices (indices, values and perhaps dense_shape)
 * and `dense` is WEFT_NONE. */
typedef struct weft_gradient {
  weft_out dense, indices, values, dense_shape;
} weft_gradient;
typedef struct weft_gradient_opts {
  size_t size;
  const char *name; /* NULL: "gradients" */
  bool colocate;    /* place each gradient with its forward node */
  bool gate;        /* compute all gradients of one node before any is used */
  bool tree;        /* sum gradients pairwise as they arrive, instead of when all are there */
  int n_stop;       /* outputs that are treated as constants */
  const weft_out *stop;
} weft_gradient_opts;
WEFT_CHECKED weft_err weft_gradients_with(weft_graph *g, int n_y, const weft_out *ys,
                                          const weft_out *WEFT_OPTIONAL grad_ys, int n_x, const weft_out *xs,
                                          const weft_gradient_opts *WEFT_OPTIONAL opts, weft_gradient *dxs);
/* A gradient function of the program.  `type` is the node's op, or the name that a gradient scope set.  The function
 * adds nodes that compute din, one for each input (all WEFT_NONE at first), from dout, one for each output, and sets
 * *found.  It leaves *found false if it has no gradient of that name.  It runs on the thread that requests
 * gradients, in the scopes of that call. */
typedef weft_err weft_gradient_fn(void *arg, int node, const char *type, int n_out, const weft_gradient *dout, int n_in,
                                  weft_gradient *din, bool *found);
/* Sets the gradient function, which is called for ops and names of gradient scopes for which the library has no
 * gradient.  NULL: none. */
WEFT_API void weft_graph_set_gradient_fn(weft_graph *g, weft_gradient_fn *WEFT_OPTIONAL fn, void *WEFT_OPTIONAL arg);
/* An adapter gets every node that is about to be added and may change its edges: in[0..n_in), and
 * control[0..*n_control), which has room for one more.  It is not called for nodes that it adds itself.  A graph has
 * one adapter, which is also called for the nodes of gradients.  NULL: none. */
typedef weft_err weft_adapt_fn(void *arg, const char *op, int n_in, weft_out *in, int *n_control, int *control);
WEFT_API void weft_graph_set_adapter(weft_graph *g, weft_adapt_fn *WEFT_OPTIONAL fn, void *WEFT_OPTIONAL arg);

/* ---- everyday nodes: weft/ops.h, made by the build, has a function for every op --------------- */

/* Expands to the rank and the dimensions as two arguments: weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(-1, 784)).  They
 * are valid until the end of the expression. */
#ifdef __cplusplus
} /* a constructor has C++'s linkage */
struct weft_dims_of {
  int64_t dim[16];
  int rank;
  template <class... T>
  weft_dims_of(T... dims) : dim{static_cast<int64_t>(dims)...}, rank(static_cast<int>(sizeof...(dims))) {}
};
extern "C" {
#define WEFT_DIMS(...) weft_dims_of(__VA_ARGS__).rank, weft_dims_of(__VA_ARGS__).dim
#else
#define WEFT_DIMS(...)                                                                                                 \
  (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) { __VA_ARGS__ }
#endif
#define WEFT_SCALAR 0, NULL

WEFT_API weft_out weft_input(weft_graph *g, const char *WEFT_OPTIONAL name, weft_dtype dtype, int rank,
                             const int64_t *dims);
WEFT_API weft_out weft_constant(weft_graph *g, const weft_tensor *value);
WEFT_API weft_out weft_scalar(weft_graph *g, weft_dtype dtype, double value);
/* Adds a variable with its initial value.  weft_trainable finds the trainable ones.  The result is usable as any
 * output, and as a variable for weft_assign and the optimizer ops. */
WEFT_API weft_out weft_variable(weft_graph *g, const char *WEFT_OPTIONAL name, weft_out initial, bool trainable);
WEFT_API weft_out weft_assign(weft_graph *g, weft_out variable, weft_out value);
/* Adds one node that runs the initial assignment of every variable so far. */
WEFT_API weft_out weft_initializer(weft_graph *g);
/* Stores the trainable variables so far, at most `room` of them.  Returns how many there are. */
WEFT_API int weft_trainable(const weft_graph *g, weft_out *WEFT_OPTIONAL out, int room);
/* Adds one node that runs after all of these. */
WEFT_API weft_out weft_group(weft_graph *g, const char *WEFT_OPTIONAL name, int n, const weft_out *all);
/* Add random values: a normal distribution truncated at two deviations, and a uniform one in [low, high). */
WEFT_API weft_out weft_truncated_normal(weft_graph *g, int rank, const int64_t *dims, float stddev);
WEFT_API weft_out weft_random_uniform(weft_graph *g, int rank, const int64_t *dims, float low, float high);
WEFT_API weft_out weft_zeros(weft_graph *g, weft_dtype dtype, int rank, const int64_t *dims);
WEFT_API weft_out weft_add(weft_graph *g, weft_out x, weft_out y);
WEFT_API weft_out weft_sub(weft_graph *g, weft_out x, weft_out y);
WEFT_API weft_out weft_mul(weft_graph *g, weft_out x, weft_out y);
WEFT_API weft_out weft_div(weft_graph *g, weft_out x, weft_out y);
WEFT_API weft_out weft_square(weft_graph *g, weft_out x);
WEFT_API weft_out weft_relu(weft_graph *g, weft_out x);
WEFT_API weft_out weft_softmax(weft_graph *g, weft_out x);
WEFT_API weft_out weft_matmul(weft_graph *g, weft_out x, weft_out y);
WEFT_API weft_out weft_bias_add(weft_graph *g, weft_out x, weft_out bias);
WEFT_API weft_out weft_reshape(weft_graph *g, weft_out x, int rank, const int64_t *dims);
WEFT_API weft_out weft_mean(weft_graph *g, weft_out x); /* over every axis */
WEFT_API weft_out weft_sum(weft_graph *g, weft_out x);
WEFT_API weft_out weft_cast(weft_graph *g, weft_out x, weft_dtype to);
WEFT_API weft_out weft_argmax(weft_graph *g, weft_out x, int axis); /* int64 */
WEFT_API weft_out weft_equal(weft_graph *g, weft_out x, weft_out y);
/* Adds the loss of each row: logits are (n, classes), labels are (n) int32 or int64. */
WEFT_API weft_out weft_sparse_softmax_cross_entropy(weft_graph *g, weft_out logits, weft_out labels);
/* Images are NHWC, filters HWIO.  The stride is used in both directions.  padding is "SAME" or "VALID". */
WEFT_API weft_out weft_conv2d(weft_graph *g, weft_out x, weft_out filter, int stride, const char *padding);
WEFT_API weft_out weft_max_pool(weft_graph *g, weft_out x, int size, int stride, const char *padding);
/* variable -= rate * gradient */
WEFT_API weft_out weft_apply_gradient_descent(weft_graph *g, weft_out variable, weft_out rate, weft_out gradient);

/* ---- sessions ------------------------------------------------------------------------------- */

typedef struct weft_session_opts {
  size_t size;
  int intra_op_threads; /* inside one op; 0: one per processor */
  int inter_op_threads; /* between ops that may run at once; 0: one per processor */
  bool allow_soft_placement;
  bool log_device_placement; /* TensorFlow's lines on stdout */
  int64_t timeout_ms;        /* for every run; 0: none */
  const char *target;        /* NULL or "": this process; "grpc://host:port": that server (cluster.h) */
  const void *config;        /* a serialized ConfigProto; its fields apply where those above are not set */
  size_t config_size;
} weft_session_opts;

/* Creates a session.  The graph must outlive it; nodes may still be added.  Returns the graph's error, if it has
 * one. */
WEFT_CHECKED weft_err weft_session_create(weft_session **out, weft_graph *g,
                                          const weft_session_opts *WEFT_OPTIONAL opts);
/* Closes the session: refuses new runs, cancels those that run now and waits for them. */
WEFT_API weft_err weft_session_close(weft_session *sess);
WEFT_API void weft_session_destroy(weft_session *sess);

typedef struct weft_feed {
  weft_out to;
  const weft_tensor *value;
} weft_feed;

/* A run's feeds, fetches and targets.  Leave unused fields zero. */
typedef struct weft_request {
  size_t size;
  int n_feed;
  const weft_feed *feeds;
  int n_fetch;
  const weft_out *fetches;
  weft_tensor **fetched; /* room for n_fetch tensors, yours to destroy; on failure all are NULL */
  int n_target;
  const weft_out *targets; /* nodes to run for their effect */
  int64_t timeout_ms;      /* 0: the session's */
  bool trace;              /* collect step stats */
  void **metadata;         /* gets a serialized RunMetadata (weft_free; NULL if it is empty); NULL: not wanted */
  size_t *metadata_size;
  bool partition_graphs; /* RunMetadata.partition_graphs: the graph that each device ran */
  /* runs of one key have the same step id on all masters; 0: derived from the collective ops */
  int64_t collective_graph_key;
} weft_request;
/* Runs the nodes that the fetches and targets need.  Any thread may call it at any time. */
WEFT_CHECKED weft_err weft_session_run(weft_session *sess, const weft_request *request);
/* Run one target, or fetch one value, without feeds.  *out is NULL on failure. */
WEFT_CHECKED weft_err weft_session_run_target(weft_session *sess, weft_out target);
WEFT_CHECKED weft_err weft_session_fetch(weft_tensor **out, weft_session *sess, weft_out fetch);

/* A partial run (TensorFlow's partial_run): one step that is fed and fetched in several calls.  Each node runs once,
 * as soon as its feeds have arrived.  The request names all feeds (their values are not read), fetches and targets.
 * Destroy it before the session. */
typedef struct weft_partial_run weft_partial_run;
WEFT_CHECKED weft_err weft_session_partial_setup(weft_partial_run **out, weft_session *sess,
                                                 const weft_request *request);
/* Feeds some of the feeds and waits for some of the fetches.  The request has no targets and no options.  Returns
 * INVALID_ARGUMENT for feeds or fetches that were not set up, were used before or cannot be computed from the feeds
 * so far; the partial run can then be continued.  It has ended after any other error, and when everything was fed
 * and fetched. */
WEFT_CHECKED weft_err weft_session_partial_run(weft_partial_run *run, const weft_request *request);
WEFT_API bool weft_session_partial_over(const weft_partial_run *run);
WEFT_API void weft_session_partial_destroy(weft_partial_run *run); /* cancels the parts that still run */

/* A callable (TensorFlow's make_callable): a request that is checked and compiled once and run often.  Several
 * threads may run it at once.  Destroy it before the session.  weft_session_callable_create reads neither values nor
 * options. */
typedef struct weft_callable weft_callable;
WEFT_CHECKED weft_err weft_session_callable_create(weft_callable **out, weft_session *sess,
                                                   const weft_request *request);
/* Runs the callable.  The request has the feeds of create in the same order, now with values, and room for the
 * fetches.  Its fetches and targets are not read. */
WEFT_CHECKED weft_err weft_session_callable_run(weft_callable *c, const weft_request *request);
WEFT_API void weft_session_callable_destroy(weft_callable *c);
/* Converts a serialized RunMetadata to the JSON that Chrome's trace viewer loads; weft_free. */
WEFT_CHECKED weft_err weft_trace_json(char **out, const void *metadata, size_t size);

/* ---- ops ------------------------------------------------------------------------------------ */

WEFT_API int weft_op_count(void);
WEFT_API const char *weft_op_name(int i);
/* Return the definition in one line, and a sentence that describes the op. */
WEFT_API const char *weft_op_definition(int i);
WEFT_API const char *weft_op_doc(int i);
/* Returns the file of Weft's sources that has the op's row, such as "ops/linalg/matmul.c". */
WEFT_API const char *weft_op_source(int i);
/* Returns "yes", "none" (the gradient stops there) or "missing" (requesting one is an error). */
WEFT_API const char *weft_op_gradient(int i);
/* Stores a JSON object: name, definition, doc, source, kernel (true if there is one), gradient ("yes", "none",
 * "missing"), stateful, and the cases of the op's tests; weft_free. */
WEFT_CHECKED weft_err weft_op_json(char **out, int i);

/* The function that PyFunc nodes call; `token` names the function of the program.  It stores n_out new tensors and
 * returns WEFT_OK, or fails with weft_fail.  It is called from any thread, by several at once.  NULL: PyFunc nodes
 * fail. */
typedef weft_err weft_call_fn(void *arg, const char *token, int n_in, const weft_tensor *const *in, int n_out,
                              weft_tensor **out);
WEFT_API void weft_call_set(weft_call_fn *WEFT_OPTIONAL fn, void *WEFT_OPTIONAL arg);
/* For callbacks: sets this thread's message to `message`, and returns err. */
WEFT_API weft_err weft_fail(weft_err err, const char *WEFT_OPTIONAL message);

#ifdef __cplusplus
}
#endif
#endif
