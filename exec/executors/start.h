/* start.h - runs a plan by whichever executor it needs: straight, in stages, or the general one. */
#ifndef WEFT_EXEC_EXECUTORS_START_H
#define WEFT_EXEC_EXECUTORS_START_H

#include "exec/executors/run.h"

/* Runs on this thread as far as nothing waits; done is called exactly once, perhaps before this returns, on any thread.
 * borrowed: this thread is needed back soon, so what is not brief goes to the pool.  See weft__dataflow_start for what must
 * outlive the run. */
void weft__run_start(plan *p, plan_run *given, pool *tasks, bool borrowed, run_done *done, void *arg);
/* Waits on this thread, which does as much of the work as it can. */
weft_err weft__run_wait(plan *p, plan_run *given, pool *tasks);

#endif
