/* staged.h - plans whose only waits are for other tasks: straight plans with pauses.
 *
 * The master, who sees the whole step, gives each _Recv a stage: how many times a value has crossed from task to
 * task on its way here.  A task that runs everything of the stages below before it waits for those of a stage can
 * never keep another from going on.  So such a plan keeps its order, its arena and its fused loops, and only pauses
 * where a stage begins until all that the stage receives is there.
 *
 * Graphs of other masters carry no stages and run on the dataflow executor. */
#ifndef WEFT_EXEC_EXECUTORS_STAGED_H
#define WEFT_EXEC_EXECUTORS_STAGED_H

#include "base/pool.h"
#include "exec/executors/dataflow_iteration.h"

#define WEFT_STAGE_ATTR "_weft_stage" /* of _Recv: an int, at least 1 */

/* Sorts the order by stages, each _Send right behind what it sends.  *stage, per node of the graph, is the caller's to
 * weft__free; NULL when the nodes have no stages: the order is left as it was. */
weft_err weft__staged_order(const weft_graph *g, int *order, int n_order, int **stage);
/* What the plan needs to know of its _Recv items; once they are numbered for good. */
weft_err weft__staged_prepare(plan *p);

/* As weft__dataflow_start and weft__dataflow_run. */
void weft__staged_start(plan *p, plan_run *run, pool *tasks, bool borrowed, run_done *done, void *arg);
weft_err weft__staged_run(plan *p, plan_run *run);

#endif
