/* function.h - a function of a graph's library, as a graph that a kernel can call.
 *
 * A FunctionDef names its edges by argument ("node:output:index").  The body has the same nodes with the edges of a
 * graph, and an _Arg node for each argument.  The plan that runs the body belongs to a higher floor, which creates
 * `code` at the first call.  Thread safe once created. */
#ifndef WEFT_GRAPH_FUNCTION_H
#define WEFT_GRAPH_FUNCTION_H

#include "graph/kernel.h"

typedef struct function {
  object base;
  arena arena; /* owns the following */
  const char *name;
  const char *where; /* the calling node and attribute; names of private objects of the body begin with it */
  weft_graph *body;
  struct function *of; /* for a clone: the function whose body it uses; a reference */
  int n_arg, n_ret, n_target;
  weft_out *arg, *ret; /* args are fed */
  int *target;         /* nodes with side effects, which must run even if nothing reads them */

  pthread_mutex_t lock; /* guards the creation of the following */
  void *code;
  void (*drop)(void *code);
  char *session; /* the caller's session and `where` */
  atomic_bool ready;
} function;

/* Creates the function that attribute `attr` of the node names; for a list of functions, the which-th.  A node whose
 * op has no such attribute calls the function with the name of its op.  Returns NOT_FOUND if the library of the
 * node's graph has no such function. */
weft_err weft__function_create(function **out, const weft_node *n, const char *attr, int which);
/* Creates another instance of f: it has the same body, but shares no state that nodes keep between calls. */
weft_err weft__function_clone(function **out, function *f);
/* Creates the function of that name, called with the node's attributes. */
weft_err weft__function_create_named(function **out, const weft_node *n, const char *name);
/* Creates a function for node n with the given body.  Takes ownership of the body, also on failure. */
weft_err weft__function_of_body(function **out, const weft_node *n, weft_graph *body, int n_arg, const weft_out *arg,
                                int n_ret, const weft_out *ret);
/* Creates the gradient of the function that the attribute names.  It takes the arguments of the function and a
 * gradient for each result, and returns a gradient for each argument (zeros if there is none). */
weft_err weft__function_gradient(function **out, const weft_node *n, const char *attr);
/* Returns the node's own attribute of that name, or one that names the function whose name is the node's op.  The
 * arena owns the memory. */
weft_err weft__function_attr(attr *out, const char *attr_name, const weft_node *n, arena *a);
int weft__function_count(const weft_node *n, const char *attr); /* the number of functions that the attribute names */
static inline void weft__function_release(function *f) { weft__object_release(f ? &f->base : NULL); }

/* .prepare and .unprepare of an op whose state is the function that its attribute f names. */
weft_err weft__function_prepare(const weft_node *n, void **state);
void weft__function_unprepare(void *state);

/* Functions that compile and run a function.  The executor sets them; kernels reach them through their step. */
struct caller {
  weft_err (*compile)(function *f); /* sets code and drop */
  weft_err (*run)(function *f, const step *st, const weft_tensor *const *arg, weft_tensor **ret);
};

/* Calls f with n_arg tensors as a part of the caller's step. ret gets n_ret tensors, which the caller destroys.  It
 * may block this thread as long as the body runs. */
weft_err weft__function_call(function *f, const step *st, int n_arg, const weft_tensor *const *arg, int n_ret,
                             weft_tensor **ret);

/* ---- converting a graph to a function ---- */
typedef struct function_spec {
  const char *name;
  int n_in, n_out;
  const weft_out *in; /* outputs of placeholders or other nodes; the nodes that compute them are left out */
  const weft_out *out;
  const char *const *out_name; /* NULL: "output_0", ... */
  bool needed_only;            /* leave out the nodes that no result depends on */
  int n_kept;                  /* needed_only: the first n_kept nodes stay, with the nodes they need */
} function_spec;
/* Adds the nodes of `body` to g's library as a function.  If there is one of that name, it must be equal. */
weft_err weft__function_add(weft_graph *g, weft_graph *body, const function_spec *spec);

#endif
