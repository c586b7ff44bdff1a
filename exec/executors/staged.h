/* staged.h - staged execution: runs a plan without control flow whose only waits are for values of other tasks.
 *
 * The master sees the whole step.  It gives each _Recv a stage number (exec/passes/stages.c): at least the number of
 * transfers from task to task on the longest path to the received value, this transfer included.  It is larger for a
 * small value that is sent together with those of a later stage, or that a client's task passes on.  The stage number
 * of any other item is the largest among its inputs and control inputs, or 0.  (A _Recv starts with the run, whatever
 * its control inputs; they only raise its stage.)  So a value that is received in stage k depends only on work of
 * stages below k.  Each task finishes all work of the stages below k, sends included, before it waits for the receives
 * of stage k.  So tasks cannot wait for each other in a circle.
 *
 * Apart from the sorting, a staged plan is compiled as if it had no receives: it has an arena and fused loops, and its
 * items run one after the other.  It only pauses where a stage begins, until all receives of that stage have ended.  A
 * receive stores its value in the slot of its _Recv item, so the item has nothing left to do when it runs
 * (exec/executors/sequential.c).  A _Send never waits: it gives its value to the step's rendezvous, which keeps it
 * until the other task has received it or the step ends (state/rendezvous.h).
 *
 * A part that receives runs on the dataflow executor if its _Recv nodes have no stages, as those of a TensorFlow
 * master.  A part that only sends needs no stage numbers. */
#ifndef WEFT_EXEC_EXECUTORS_STAGED_H
#define WEFT_EXEC_EXECUTORS_STAGED_H

#include "exec/executors/run.h"

#define WEFT_STAGE_ATTR "_weft_stage" /* of _Recv: an int, at least 1 */

/* Sorts a topological order by stages.  Each _Send without control inputs comes right behind the node that makes its
 * value, so that the other task gets the value before the rest of this stage runs.  (A value on a GPU is sent when all
 * of its stage is queued, see exec/passes/copy_insertion.h.)  *stage becomes an array with the
 * stage number of each node of the graph, which the caller frees.  *stage is NULL, and the order is not changed, if the
 * plan cannot run by stages: no node sends or receives, a _Recv has no stage, there is control flow, or another op
 * waits.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__staged_order(const weft_graph *g, int *order, int n_order, int **stage);
/* Lists the _Recv items of the plan with their keys, grouped by stage and sender, and makes room for the stages' costs.
 * Called after the last pass that renumbers items.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__staged_prepare(plan *p);

/* Starts a run.  `done` is called exactly once, when all items and receives have ended: on this thread, perhaps before
 * this function returns, on a thread that delivers a value, or on a thread of the pool.  If `borrowed`, the calling
 * thread belongs to an event loop and is needed back soon: it runs stages whose measured cost is small
 * (weft__cost_is_short in exec/executors/run.h) and gives the others to the pool. */
void weft__staged_start(plan *p, plan_run *given, pool *tasks, bool borrowed, run_done *done, void *arg);
/* The same on the calling thread alone, which sleeps where a stage waits.  Returns the run's error. */
weft_err weft__staged_run(plan *p, plan_run *given);

#endif
