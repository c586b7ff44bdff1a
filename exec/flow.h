/* flow.h - the general executor: plans with loops, branches and ops that wait.
 *
 * Nodes run when their inputs are there, on the threads of a pool; dead values flow as TensorFlow's
 * do.  It shares plans and kernels with the straight walk of exec/run.c. */
#ifndef WEFT_EXEC_FLOW_H
#define WEFT_EXEC_FLOW_H

#include "base/pool.h"
#include "exec/plan.h"

/* Runs p and waits for its end: the deadline of the run, its cancel token and weft_interrupt() all end it. */
weft_err weft__flow_run(plan *p, plan_run *run, pool *tasks);

#endif
