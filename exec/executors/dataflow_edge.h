/* dataflow_edge.h - what happens when a node of a dataflow has run: its values go to the readers, readers become ready,
 * iterations and frames end.
 *
 * The thread that ran a node calls these functions.  Each appends the nodes that became ready to a list of the caller,
 * which runs them or submits them.  RESOURCE_EXHAUSTED is the only error. */
#ifndef WEFT_EXEC_EXECUTORS_DATAFLOW_EDGE_H
#define WEFT_EXEC_EXECUTORS_DATAFLOW_EDGE_H

#include "exec/executors/dataflow_iteration.h"

typedef struct ready { /* nodes that became ready meanwhile, the latest first */
  node_run *first;
  int count;
} ready;

/* Makes every node ready that waits for nothing. */
void weft__dataflow_ready(dataflow *f, ready *r);
/* Returns true if the node, which is ready, is dead: it lies on a branch that was not taken. */
bool weft__node_run_is_dead(const node_run *s);
/* Returns the input of a merge that arrived first.  The merge is ready and not dead. */
int weft__node_run_winner(const node_run *s);
/* Returns where input j lies: in the iteration, in its frame, or in the plan's root iteration.  Borrowed. */
value *weft__node_run_input(const node_run *s, int j);
/* Tells the readers of s that it has run (its outputs are in its kernel's slots; of Enter, Exit and NextIteration,
 * `carried` is moved to where it belongs) or is dead. */
weft_err weft__node_run_deliver(node_run *s, bool dead, value *carried, ready *r);
/* Releases its inputs, and ends its iteration and its frame if it was the last active node there.  s may be freed or
 * reused afterwards. */
weft_err weft__node_run_end(node_run *s, ready *r);

#endif
