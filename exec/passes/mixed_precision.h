/* mixed_precision.h - automatic mixed precision: on GPUs, ops compute in half where TensorFlow's graph rewrite lets
 * them.
 *
 * Every op declares what the rewrite may do with it (`amp` in graph/op.h).  Products and convolutions become half.  So
 * do the ops between them, unless they compute from what must stay float.  Casts are inserted where half and float
 * meet.  Variables, feeds and fetches keep their type. */
#ifndef WEFT_EXEC_PASSES_MIXED_PRECISION_H
#define WEFT_EXEC_PASSES_MIXED_PRECISION_H

#include "exec/plan.h"

typedef struct mixed_graph { /* the part of a graph that a request needs, with casts */
  weft_graph *graph;
  plan_request request; /* in terms of its nodes */
  int *of_node;         /* per node: its device */
  arena arena;          /* of the request and of_node */
} mixed_graph;

/* Rewrites what the request needs.  *out is NULL if nothing changes.  The graph's lock is held; the graph must outlive
 * the result. */
weft_err weft__mixed_precision(mixed_graph **out, weft_graph *g, const plan_request *r, const plan_devices *where);
void weft__mixed_graph_destroy(mixed_graph *m); /* NULL is allowed */

/* For the two files of this pass: which nodes of an order compute in half. */
weft_err weft__mixed_choose(const weft_graph *g, const plan_request *r, const plan_devices *where, const int *order,
                            int n_order, bool **half);
/* Returns true if the rewrite changes this attribute of the node from float to half. */
bool weft__mixed_changes(const weft_node *n, const attr *a);

#endif
