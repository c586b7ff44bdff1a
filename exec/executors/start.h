/* start.h - runs a plan with the executor that it needs: sequential, staged or dataflow. */
#ifndef WEFT_EXEC_EXECUTORS_START_H
#define WEFT_EXEC_EXECUTORS_START_H

#include "exec/executors/run.h"

/* Starts a run on this thread, which returns when all that is left waits.  Calls done(arg, err) exactly once, on any
 * thread, perhaps before this function returns.  borrowed: this thread is needed back soon, so long work is submitted
 * to the pool `tasks`.  See weft__dataflow_start for what must outlive the run. */
void weft__run_start(plan *p, plan_run *given, pool *tasks, bool borrowed, run_done *done, void *arg);
/* Runs the plan and returns when the run has ended.  This thread does as much of the work as it can. */
weft_err weft__run_wait(plan *p, plan_run *given, pool *tasks);

#endif
