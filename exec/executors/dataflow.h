/* dataflow.h - the dataflow executor: plans with loops, branches and ops that wait.
 *
 * A node runs when its inputs have arrived, on the threads of a pool.  Dead values (outputs of branches that were not
 * taken) propagate as in TensorFlow.  Plans and kernels are the same as those of exec/executors/sequential.c. */
#ifndef WEFT_EXEC_EXECUTORS_DATAFLOW_H
#define WEFT_EXEC_EXECUTORS_DATAFLOW_H

#include "exec/executors/run.h"

/* Runs p and returns when the run has ended.  The run's deadline, its cancel token and weft_interrupt() end it early.
 */
weft_err weft__dataflow_run(plan *p, plan_run *given, pool *tasks);
/* Runs nodes on this thread until all that is left waits, then returns; no thread is held while nodes wait.  done is
 * called exactly once, by the thread that ends the last node, perhaps before this function returns.  given->fetched is
 * set then. borrowed: this thread is needed back soon (it belongs to a transport).  Expensive nodes then go to the
 * pool, as they do on a thread whose event ended a node's wait. `given`, its feeds and its cancel token must outlive
 * the run.  A run all of whose nodes wait ends only when the token is fired; the owner of a deadline fires it.  done
 * may be called inside weft__cancel_fire, so the token must outlive that call as well. */
void weft__dataflow_start(plan *p, plan_run *given, pool *tasks, bool borrowed, run_done *done, void *arg);

#endif
