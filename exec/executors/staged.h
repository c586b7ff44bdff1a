/* staged.h - staged execution: runs a plan without control flow whose only waits are for values of other tasks.
 *
 * The master, which sees the whole step, gives each _Recv a stage: the number of transfers from task to task on the
 * longest path to its value.  A value of stage k depends only on work of stages below k.  Each task finishes all work
 * of the stages below k, sends included, before it waits for stage k.  So tasks cannot wait for each other in a
 * circle.  A staged plan keeps its order, its arena and its fused loops; it only pauses where a stage begins, until
 * all receives of that stage have ended.  The _Recv items themselves then only find their value in its slot
 * (exec/executors/sequential.c).
 *
 * Graphs of other masters carry no stages and run on the dataflow executor. */
#ifndef WEFT_EXEC_EXECUTORS_STAGED_H
#define WEFT_EXEC_EXECUTORS_STAGED_H

#include "exec/executors/run.h"

#define WEFT_STAGE_ATTR "_weft_stage" /* of _Recv: an int, at least 1 */

/* Sorts the order, which is topological, by stages; each _Send without control inputs comes right behind what it sends.  *stage has a number
 * per node of the graph; the caller frees it.  If the nodes have no stages, *stage is NULL and the order is not
 * changed. */
weft_err weft__staged_order(const weft_graph *g, int *order, int n_order, int **stage);
/* Lists the _Recv items of the plan.  Called after the last pass that renumbers items. */
weft_err weft__staged_prepare(plan *p);

/* As weft__dataflow_start (which says which thread calls `done`) and weft__dataflow_run.  borrowed: the calling thread
 * belongs to a transport and must return soon. */
void weft__staged_start(plan *p, plan_run *given, pool *tasks, bool borrowed, run_done *done, void *arg);
weft_err weft__staged_run(plan *p, plan_run *given);

#endif
