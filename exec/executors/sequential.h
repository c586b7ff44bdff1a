/* sequential.h - the sequential executor: runs the items of a straight plan one after the other on the calling thread.
 *
 * Any number of threads may run one plan: each takes a frame of its own (exec/executors/frame.h), so there is no
 * lock. */
#ifndef WEFT_EXEC_EXECUTORS_SEQUENTIAL_H
#define WEFT_EXEC_EXECUTORS_SEQUENTIAL_H

#include "exec/executors/item.h"

/* Runs a straight plan and fetches its results.  Returns the first error: a kernel's, which names its node, or the one
 * with which the step was canceled. */
weft_err weft__sequential_run(plan *p, plan_run *run);
/* For the staged executor, the pieces of such a run.  weft__frame_begin takes a frame and puts the feeds into it; the
 * caller releases it.  weft__frame_run then runs items [from, to), with CUDA graphs where the plan has GPU segments. */
weft_err weft__frame_begin(frame **out, plan *p, const plan_run *run);
weft_err weft__frame_run(frame *f, plan_run *run, int from, int to);

#endif
