/* fold.h - constant folding: runs a node's kernel on constants, outside any step.
 *
 * Plans fold nodes whose value is the same in every step (exec/compile.c).  Shape rules need the values of small
 * subgraphs (graph/constant.c).  Both use the rule here for what may be folded. */
#ifndef WEFT_GRAPH_FOLD_H
#define WEFT_GRAPH_FOLD_H

#include "graph/kernel.h"

enum { FOLD_MAX_IN = 16, FOLD_MAX_OUT = 16 };

/* Returns true if this op's kernel may run without a step.  It may not if it has side effects or waits, calls
 * functions, or has an argument that stands for an object of a step or a device (a reference, a resource, a
 * variant).  The flag OP_NO_FOLD is for ops that name such objects by plain strings, and for those whose result may
 * be a thousand times as large as their input. */
bool weft__op_may_fold(const op *o);
/* The same check for this node, whose argument types are known.  It must have at most FOLD_MAX_IN inputs and
 * FOLD_MAX_OUT outputs. */
bool weft__node_may_fold(const weft_graph *g, const weft_node *n);

/* Runs the kernel of a node that may be folded. out has n_out values, which the caller clears even after an error.
 * Returns RESOURCE_EXHAUSTED if an output or scratch memory would exceed `limit` bytes (0: no limit), because
 * folding must not cost more memory than it is worth; and DEADLINE_EXCEEDED if a kernel that checks the time runs for
 * more than a second, unless limit is 0. */
weft_err weft__node_fold(const weft_node *n, const weft_tensor *const *in, value *out, size_t limit);

#endif
