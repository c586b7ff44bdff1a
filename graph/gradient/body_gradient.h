/* body_gradient.h - the gradient of a function's body, for ops that call functions conditionally or in loops.
 *
 * The gradients are added to the body, and the body is then written to the library as two functions: a forward one that
 * also returns the values that the gradients read, and a backward one that takes them.  So nothing runs twice.  A body
 * with loops or branches of its own (Enter, Switch) keeps no values: its backward function computes it again. */
#ifndef WEFT_GRAPH_GRADIENT_BODY_GRADIENT_H
#define WEFT_GRAPH_GRADIENT_BODY_GRADIENT_H

#include "graph/function.h"
#include "graph/gradient.h"

typedef struct body_gradient {
  function *f;
  weft_graph *body;
  arena arena;   /* owns the lists below */
  int n_forward; /* the number of nodes before the gradients were added */
  bool again;    /* the backward function computes the body again */
  bool *forward; /* per node: true if the forward function needs it */
  weft_out *dy;  /* per result: the placeholder of its gradient; node < 0: it gets none */
  weft_out *dx;  /* per argument: its gradient, dense; node < 0: none */
  int n_saved;
  weft_out *saved; /* forward outputs that the gradients read, including arguments but no constants */
} body_gradient;

/* Creates the function that the attribute names, and adds its gradients. has_dy says which results get gradients. */
weft_err weft__body_gradient_init(body_gradient *b, const weft_node *n, const char *attr, int which,
                                  const bool *has_dy);
/* Finds the values that the gradients read, after the last node was added to the body.  Does nothing if the body is
 * computed again. */
weft_err weft__body_gradient_find_saved(body_gradient *b);
int weft__body_gradient_argument(const body_gradient *b, weft_out o); /* the number of the argument, or -1 */
void weft__body_gradient_finish(body_gradient *b);

/* Returns true if a tensor of this type can have a gradient of its own type. */
bool weft__body_carries_gradient(weft_dtype type);
/* Adds a placeholder with the type and shape of an output of a graph, which may be another graph. */
weft_out weft__body_placeholder(weft_graph *g, const char *name, const weft_graph *like, weft_out o);
/* Returns zeros for an argument without a gradient. `type` is that of a resource's variable. */
weft_out weft__body_zeros(weft_graph *g, weft_out arg, weft_dtype type);
/* Adds a function with an unused name.  The arena owns the name. */
weft_err weft__body_add(weft_graph *g, weft_graph *body, const char *base, function_spec *spec, arena *a);
/* Makes an attribute that names functions: a list of them if is_list. */
weft_err weft__body_function_attr(attr *out, const char *name, int n, const char *const *called, bool is_list,
                                  arena *a);
/* Returns true if one of the functions has side effects. */
bool weft__body_is_stateful(const weft_graph *g, int n, const char *const *called);

/* The gradients of If, Case, While and their stateless forms. */
weft_err weft__gradient_if(backprop *b);
weft_err weft__gradient_case(backprop *b);
weft_err weft__gradient_while(backprop *b);

#endif
