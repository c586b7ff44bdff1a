/* dataflow.h - the dataflow executor: plans with loops, branches and ops that wait.
 *
 * Nodes run when their inputs are there, on the threads of a pool; dead values dataflow as TensorFlow's
 * do.  It shares plans and kernels with the straight walk of exec/executors/sequential.c. */
#ifndef WEFT_EXEC_EXECUTORS_DATAFLOW_H
#define WEFT_EXEC_EXECUTORS_DATAFLOW_H

#include "exec/executors/run.h"

/* Runs p and waits for its end: the deadline of the run, its cancel token and weft_interrupt() all end it. */
weft_err weft__dataflow_run(plan *p, plan_run *given, pool *tasks);
/* Runs on this thread as far as nothing waits and returns; no thread is held_value while nodes wait.  done is called exactly
 * once, perhaps before this returns, by whichever thread ends the last node, with what was fetched in run->fetched.
 * borrowed: this thread belongs to somebody who needs it back soon (a transport), so what is not cheap goes to the
 * pool, as it does on threads that end a node's wait.
 * The run, its feeds and its token outlive the run.  Nothing but the token ends a run all of whose nodes wait: for a
 * deadline, its owner fires it.  done may be called inside weft__cancel_fire, which the token must outlive as well. */
void weft__dataflow_start(plan *p, plan_run *given, pool *tasks, bool borrowed, run_done *done, void *arg);

#endif
