/* start.h - runs a plan with the executor that it needs: sequential, staged or dataflow. */
#ifndef WEFT_EXEC_EXECUTORS_START_H
#define WEFT_EXEC_EXECUTORS_START_H

#include "exec/executors/run.h"

/* Starts a run on this thread, which returns when all that is left waits.  Calls done(arg, err) exactly once, on any
 * thread, perhaps before this function returns.  See weft__dataflow_start for what must outlive the run.
 *
 * tasks: the task's pool for work between ops (`inter` in exec/task.h).  It takes what does not run on this thread.
 * The kernel of an OP_BLOCKING op may hold a thread of this pool while it waits; an asynchronous op or a receive does
 * not.
 *
 * borrowed: true if the calling thread belongs to a transport and is needed back soon.  Such a thread runs only work
 * that is known to be short, and submits the rest to `tasks`.  A thread that delivers a value to a run later counts as
 * borrowed, too, because it may belong to a transport. */
void weft__run_start(plan *p, plan_run *given, pool *tasks, bool borrowed, run_done *done, void *arg);
/* Runs the plan and returns when the run has ended.  This thread does as much of the work as it can. */
weft_err weft__run_wait(plan *p, plan_run *given, pool *tasks);

#endif
