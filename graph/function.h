/* function.h - a function of a graph's library, as a graph of its own that a kernel can call.
 *
 * A FunctionDef names its edges by argument ("node:output:index"); the body is the same nodes with edges as graphs
 * have them, and an _Arg node for each argument.  What runs it (a plan) belongs to a higher floor: it makes `code` at the
 * first call.  Thread safe once made. */
#ifndef WEFT_GRAPH_FUNCTION_H
#define WEFT_GRAPH_FUNCTION_H

#include "graph/kernel.h"

typedef struct function {
  object base;
  arena arena; /* of what follows */
  const char *name;
  const char *where; /* the node that calls it and by which attribute: what is private to the body is named after it */
  weft_graph *body;
  struct function *of; /* of a clone: whose body it is; a reference */
  int n_arg, n_ret, n_target;
  weft_out *arg, *ret; /* args are fed */
  int *target;         /* nodes that act and must run though nobody reads them */

  pthread_mutex_t lock; /* guards making what follows */
  void *code;
  void (*drop)(void *code);
  char *session; /* the caller's, and `where` */
  atomic_bool ready;
} function;

/* The function that attribute `attr` of the node names; of a list of functions the which-th.  A node whose op has no such
 * attribute calls the function that its op is named for.  NOT_FOUND if the library of
 * the node's graph has none of that name. */
weft_err weft__function_create(function **out, const weft_node *n, const char *attr, int which);
/* Another instance of f: the same body, nothing shared of what its nodes keep between calls.  */
weft_err weft__function_clone(function **out, function *f);
/* The function of that name, called with the node's attributes. */
weft_err weft__function_create_named(function **out, const weft_node *n, const char *name);
/* A function for the node n whose body is that graph, which is taken over, also on failure. */
weft_err weft__function_of_body(function **out, const weft_node *n, weft_graph *body, int n_arg, const weft_out *arg,
                                int n_ret, const weft_out *ret);
/* The gradient of the function that the attribute names: its arguments, then a gradient for each of its results, give a
 * gradient for each argument; zeros where there is none. */
weft_err weft__function_gradient(function **out, const weft_node *n, const char *attr);
/* The node's own attribute of that name, or one that names the function which the node calls by its op's name; the
 * arena's memory. */
weft_err weft__function_attr(attr *out, const char *attr_name, const weft_node *n, arena *a);
int weft__function_count(const weft_node *n, const char *attr); /* how many the attribute names */
static inline void weft__function_release(function *f) { weft__object_release(f ? &f->base : NULL); }

/* How a function is run: the executor's part, which kernels reach through their step. */
struct caller {
  weft_err (*compile)(function *f); /* sets code and drop */
  weft_err (*run)(function *f, const step *st, const weft_tensor *const *arg, weft_tensor **ret);
};

/* Calls f with n_arg tensors, in the place of the caller's step; ret are n_ret tensors for the caller to destroy.  May wait
 * for as long as the body does, on this thread. */
weft_err weft__function_call(function *f, const step *st, int n_arg, const weft_tensor *const *arg, int n_ret,
                             weft_tensor **ret);

/* ---- the other way: a graph becomes a function ---- */
typedef struct function_spec {
  const char *name;
  int n_in, n_out;
  const weft_out *in; /* outputs of placeholders, or of any nodes: what computes them is left out */
  const weft_out *out;
  const char *const *out_name; /* NULL: "output_0", ... */
  bool needed_only;            /* leaves out the nodes that no result is computed from */
  int n_kept;                  /* needed_only: the first so many nodes stay all the same, and what they need */
} function_spec;
/* Adds the nodes of `body` to g's library as a function; one of that name must be the same. */
weft_err weft__function_add(weft_graph *g, weft_graph *body, const function_spec *spec);

#endif
