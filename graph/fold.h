/* fold.h - constant folding: running a node's kernel on constants, outside of any step.
 *
 * Plans fold what would be the same in every step (exec/compile.c); shape rules ask for values of small subgraphs
 * (graph/constant.c).  Both obey the one rule here of what may be run so. */
#ifndef WEFT_GRAPH_FOLD_H
#define WEFT_GRAPH_FOLD_H

#include "graph/kernel.h"

enum { FOLD_MAX_IN = 16, FOLD_MAX_OUT = 16 };

/* May this op's kernel run without a step?  Not if it acts or waits, calls functions, or has an argument that stands for
 * an object of a step or of a device (a reference, a resource, a variant).  An op that names such objects by plain
 * strings says so itself: OP_NO_FOLD. */
bool weft__op_may_fold(const op *o);
/* As above for this node, whose argument types are known, with at most FOLD_MAX_IN inputs and FOLD_MAX_OUT outputs. */
bool weft__node_may_fold(const weft_graph *g, const weft_node *n);

/* Runs the kernel of a node that may fold.  out: n_out values, for the caller to clear whatever is returned.
 * RESOURCE_EXHAUSTED if an output or scratch memory would take more than `limit` bytes (0: no limit): folding must not
 * cost more memory than it is worth. */
weft_err weft__node_fold(const weft_node *n, const weft_tensor *const *in, value *out, size_t limit);

#endif
