/* sequential.h - the sequential executor: runs the items of a straight plan one after the other on the calling thread. */
#ifndef WEFT_EXEC_EXECUTORS_SEQUENTIAL_H
#define WEFT_EXEC_EXECUTORS_SEQUENTIAL_H

#include "exec/executors/item.h"

/* Runs a straight plan. */
weft_err weft__sequential_run(plan *p, plan_run *run);
/* The pieces of such a run: a frame that holds the feeds, then its items [from, to). */
weft_err weft__frame_begin(frame **out, plan *p, const plan_run *run);
weft_err weft__frame_run(frame *f, plan_run *run, int from, int to);

#endif
