/* dataflow.h - the dataflow executor: runs plans with loops, branches or asynchronous ops.
 *
 * A node runs when its inputs have arrived, on the thread that starts the run or on one of a pool.  Dead values
 * (outputs of branches that were not taken) propagate as in TensorFlow.  Plans and kernels are the same as those of
 * exec/executors/sequential.c. */
#ifndef WEFT_EXEC_EXECUTORS_DATAFLOW_H
#define WEFT_EXEC_EXECUTORS_DATAFLOW_H

#include "exec/executors/run.h"

/* Runs p and returns when the run has ended.  The run's deadline, its cancel token and weft_interrupt() end it early.
 */
weft_err weft__dataflow_run(plan *p, plan_run *given, pool *tasks);
/* Runs nodes on this thread until all that is left waits, then returns.  exec/executors/start.h defines `tasks` and
 * `borrowed`: a borrowed thread submits expensive nodes to the pool.
 * - Nodes with OP_ASYNC hold no thread while they wait; nodes with OP_BLOCKING hold theirs (graph/op.h).
 * - done is called exactly once, by the thread that ends the last node, perhaps before this function returns.
 *   given->fetched is set by then.
 * - The run checks its deadline between nodes only.  If all remaining nodes wait, only their events or the run's cancel
 *   token end it: the owner of the deadline must fire the token.
 * - `given`, its feeds and its cancel token must outlive the run.  done may be called inside weft__cancel_fire, so the
 *   token must outlive that call as well. */
void weft__dataflow_start(plan *p, plan_run *given, pool *tasks, bool borrowed, run_done *done, void *arg);

#endif
