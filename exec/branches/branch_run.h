/* branch_run.h - runs a group of branches (exec/branches/branches.h): one after the other, or shared by the step's
 * threads.
 *
 * Which way is faster depends on the sizes and on the machine, so both are tried, and the faster one is used. */
#ifndef WEFT_EXEC_BRANCHES_BRANCH_RUN_H
#define WEFT_EXEC_BRANCHES_BRANCH_RUN_H

#include "exec/executors/run.h"

/* Runs the items of the group, and releases the slots that several branches read.  Returns the error of the first
 * branch that failed. */
weft_err weft__branches_run(frame *f, plan_run *run, plan_group *g);

#endif
