/* order.h - finds the nodes that a request needs, and an order in which they can run.
 *
 * The caller holds the graph's lock, and owns what these functions allocate. */
#ifndef WEFT_EXEC_PASSES_ORDER_H
#define WEFT_EXEC_PASSES_ORDER_H

#include "exec/plan.h"

/* Stores the ids of the needed nodes, inputs before readers, in an array that the caller frees with weft__free.  A node
 * that only computes, and whose value no node reads, is left out.  A node with a control edge from it then waits for
 * the nodes that the left-out node would have waited for (weft__waits_of).  Returns INVALID_ARGUMENT for a cycle. */
weft_err weft__order(const weft_graph *g, const plan_request *r, int **order, int *n_order);

/* The control edges among the nodes of an order.  An edge from a node that was left out is replaced by edges from the
 * nodes that it would have waited for.  So is each edge, also one with data, from a node of `folded`. */
typedef struct waits {
  const weft_graph *g;
  bool *ordered;      /* per node */
  const bool *folded; /* per node: it became a constant, and waited for others; NULL: none.  Set by the caller */
  int *seen, asked;   /* per node: the number of the last call of weft__waits_of that visited it; calls so far */
  int *todo;          /* a stack of nodes to visit */
  int *from, n;       /* what weft__waits_of found */
} waits;
weft_err weft__waits_init(waits *w, const weft_graph *g, const int *order, int n_order);
void weft__waits_finish(waits *w);
/* Stores the nodes that this one waits for by control edges in w->from, and their number in w->n. */
void weft__waits_of(waits *w, int node);

#endif
