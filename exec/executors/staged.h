/* staged.h - staged execution: runs a plan without control flow whose only waits are for values of other tasks.
 *
 * Stage numbers.  The master sees the whole step and gives each _Recv a stage number, which is at least 1
 * (exec/passes/stages.c):
 * - Consider the longest path of the step that ends in the received value.  The stage number is the number of transfers
 *   from task to task on that path, this transfer included.
 * - The master raises it for a small value in two cases: to send it in one message with values of a later stage, or
 *   because it is sent by way of the client's task, which makes one more transfer (exec/passes/stages.h).
 * The stage number of any other item is the largest among its inputs and control inputs; it is 0 if the item needs no
 * receive.  Control inputs of a _Recv can raise its stage, but do not delay it: every receive starts with the run.
 *
 * Why tasks cannot wait for each other in a circle.  A value that is received in stage k depends only on work of stages
 * below k.  Each task finishes all work of the stages below k, sends included, before it waits for receives of stage k.
 *
 * Apart from the sorting, a staged plan is compiled as if it had no receives: it has an arena and fused loops, and its
 * items run one after the other.  Where a stage begins, it waits until all receives of that stage have ended.  A
 * receive stores its value in the slot of its _Recv item, so the item has nothing left to do when it runs
 * (exec/executors/sequential.c).  A _Send never waits: it gives its value to the step's rendezvous, which keeps it
 * until the other task has received it or the step ends (state/rendezvous.h).
 *
 * A TensorFlow master sets no stage numbers.  A part whose _Recv nodes have none runs on the dataflow executor.  A part
 * that only sends is staged, too: all its items have stage 0. */
#ifndef WEFT_EXEC_EXECUTORS_STAGED_H
#define WEFT_EXEC_EXECUTORS_STAGED_H

#include "exec/executors/run.h"

#define WEFT_STAGE_ATTR "_weft_stage" /* of _Recv: an int, at least 1 */

/* Sorts a topological order by stages, and sets *stage to an array with the stage number of each node of the graph,
 * which the caller frees.  A _Send without control inputs comes right behind the node that makes its value, so that the
 * other task gets the value before the rest of this stage runs.  This is not so for a value on a GPU: it is sent when
 * all of its stage is queued (exec/passes/copy_insertion.h).
 *
 * If the plan is not staged, *stage becomes NULL and the order is not changed: no node sends or receives, a _Recv has
 * no stage, a node has an unknown op, there is control flow, or an op other than _Send and _Recv is asynchronous
 * (OP_ASYNC in graph/op.h).  Returns RESOURCE_EXHAUSTED. */
weft_err weft__staged_order(const weft_graph *g, int *order, int n_order, int **stage);
/* Lists the _Recv items of the plan with their keys, grouped by stage and sender, and makes room for the stages' costs.
 * Called after the last pass that renumbers items.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__staged_prepare(plan *p);

/* Starts a run.  `done` is called exactly once, when all items and receives have ended: on this thread, perhaps before
 * this function returns, on a thread that delivers a value, or on a thread of the pool.
 *
 * exec/executors/start.h defines `tasks` and `borrowed`.  A borrowed thread runs a stage if it is known to be short
 * (weft__cost_is_short in exec/executors/run.h), and submits the run to the pool otherwise; if the pool has no memory
 * for it, the thread runs the stage all the same.  Where a receive
 * is missing, the thread parks the run and leaves, so no thread of the pool ever waits. */
void weft__staged_start(plan *p, plan_run *given, pool *tasks, bool borrowed, run_done *done, void *arg);
/* The same on the calling thread alone, which sleeps where a stage waits.  Returns the run's error. */
weft_err weft__staged_run(plan *p, plan_run *given);

#endif
