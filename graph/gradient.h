/* gradient.h - adds to a graph the nodes that compute derivatives.
 *
 * The traversal is TensorFlow's: from ys back to xs, each node after all of its consumers on the way.  Several paths
 * are summed by AddN.  Slices are kept separate from dense tensors as long as possible. */
#ifndef WEFT_GRAPH_GRADIENT_H
#define WEFT_GRAPH_GRADIENT_H

#include "graph/graph.h"

typedef enum gradient_sum { SUM_ADD_N, SUM_TREE } gradient_sum;

typedef struct gradient_opts {
  const char *name; /* NULL: "gradients" */
  bool colocate;    /* place each gradient with its forward node */
  bool gate;        /* compute all gradients of one node before any is used */
  gradient_sum sum;
  int n_stop;
  const weft_out *stop; /* treated as constants */
} gradient_opts;

/* Computes d(sum of ys)/dx for each x, weighted by grad_ys (ones where grad_ys is NULL or an entry is WEFT_NONE).
 * out[i] is GRAD_NONE if no path leads from xs[i] to a y, or only paths of types without derivatives.  NOT_FOUND "No
 * gradient defined for operation'NAME' (op type: OP) ..." names the op without a gradient, as TF does.  On failure
 * the graph is unchanged. */
weft_err weft__gradients(weft_graph *g, int n_y, const weft_out *ys, int n_x, const weft_out *xs,
                         const weft_out *grad_ys, const gradient_opts *opts, grad_value *out);

/* Returns the gradient as one tensor: slices are summed into a dense tensor.  WEFT_NONE stays WEFT_NONE. */
weft_out weft__gradient_dense(weft_graph *g, const grad_value *v);

/* The gradient of input 0 is that of output 0, also as slices; for Print and similar ops. */
weft_err weft__gradient_pass(backprop *b);

/* The gradients of Switch and Merge that are not part of a loop's own control nodes. */
weft_err weft__gradient_switch(backprop *b);
weft_err weft__gradient_merge(backprop *b);
/* Returns true if the gradients of the two outputs of a Switch, at least one of them slices, can be merged as
 * slices. */
bool weft__gradient_switch_takes(const weft_graph *g, const grad_value *d);
weft_err weft__gradient_switch_slices(backprop *b, const grad_value *given);
/* Exit and NextIteration are differentiated with their whole loop; alone they are an error. */
weft_err weft__gradient_loop_part(backprop *b);

weft_err weft__gradient_loop_oom(void); /* returns RESOURCE_EXHAUSTED: no memory for the gradient of a loop */

#endif
