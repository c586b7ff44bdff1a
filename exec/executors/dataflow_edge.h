/* dataflow_edge.h - what happens when a node has run: values move, counts fall, iterations and frames end. */
#ifndef WEFT_EXEC_EXECUTORS_DATAFLOW_EDGE_H
#define WEFT_EXEC_EXECUTORS_DATAFLOW_EDGE_H

#include "exec/executors/dataflow_iteration.h"

typedef struct ready { /* nodes that became ready meanwhile, the latest first */
  node_run *first;
  int count;
} ready;

/* Makes every node ready that waits for nothing. */
void weft__dataflow_ready(dataflow *f, ready *r);
/* Is the node, which is ready, dead? */
bool weft__node_run_is_dead(const node_run *s);
/* The input of a merge, which is ready and not dead, that came first. */
int weft__node_run_winner(const node_run *s);
/* Where input j lies. */
value *weft__node_run_input(const node_run *s, int j);
/* Tells the readers of s that it has run (its outputs are in its kernel's slots; of Enter, Exit and NextIteration,
 * `carried` is moved to where it belongs) or is dead. */
weft_err weft__node_run_deliver(node_run *s, bool dead, value *carried, ready *r);
/* Lets go of its inputs; ends its iteration, and the frame, when it was the last.  s may be gone afterwards. */
weft_err weft__node_run_end(node_run *s, ready *r);

#endif
