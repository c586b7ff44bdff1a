/* order.h - pruning and ordering. */
#ifndef WEFT_EXEC_PASSES_ORDER_H
#define WEFT_EXEC_PASSES_ORDER_H

#include "exec/plan.h"

/* The ids of the needed nodes, inputs before readers; free with weft__free.  A node that only computes, and whose value
 * nobody reads, is left out: who waits for it waits for what it would have waited for. */
weft_err weft__order(const weft_graph *g, const plan_request *r, int **order, int *n_order);

/* The control edges among the nodes of an order, drawn around those that were left out. */
typedef struct waits {
  const weft_graph *g;
  bool *ordered;    /* per node */
  int *seen, asked; /* per node: the last question that came upon it; questions so far */
  int *todo;        /* a stack */
  int *from, n;     /* what weft__waits_of found */
} waits;
weft_err weft__waits_init(waits *w, const weft_graph *g, const int *order, int n_order);
void weft__waits_finish(waits *w);
/* The nodes that this one waits for by control edges, into w->from and w->n. */
void weft__waits_of(waits *w, int node);

#endif
