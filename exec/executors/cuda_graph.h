/* cuda_graph.h - captures parts of a plan that one GPU runs alone as CUDA graphs, and launches them as a whole.
 *
 * A GPU segment is a sequence of consecutive items on one GPU in which the host decides nothing.  The kernels still
 * read some values in host memory, such as shapes and axes.  These follow from the shapes of the feeds, and each
 * frame is made for one set of feed shapes, so they are the same in every run of the frame.
 *
 * The first run with these feed shapes uses a frame without a layout: it queues the items one by one and finds out how
 * large the values are.  Later runs use frames with a layout.  Such a frame queues its items in its first two runs (the
 * first also runs the OP_ONCE items and does not come here) and captures them in its third.  A later run checks that
 * the graph still fits: inputs from outside the segment are at the same addresses, variables are in the same buffers,
 * and nobody shares a buffer that the segment writes.  Then it launches the graph; otherwise it queues the items one by
 * one.  A graph that has been launched is not captured again (cuda_graph.c says what that means for a variable that has
 * moved).
 *
 * A frame owns its graphs and belongs to one run at a time, so the graphs have no lock.  A launch takes the locks of the
 * segment's variables, in the order of their addresses, until the graph is enqueued. */
#ifndef WEFT_EXEC_EXECUTORS_CUDA_GRAPH_H
#define WEFT_EXEC_EXECUTORS_CUDA_GRAPH_H

#include "exec/executors/item.h"

/* Finds the GPU segments of a complete plan and lists them in p->straight.  Finds none if the plan has no GPU, is of
 * the dataflow executor, or never launches CUDA graphs (WEFT_GPU_NO_REPLAY).  Returns RESOURCE_EXHAUSTED. */
weft_err weft__cuda_graph_find(plan *p);
/* Runs segment number gpu_segment of the plan.  *done is true if it was launched as a whole; if not, the caller runs
 * its items. */
weft_err weft__cuda_graph_run(frame *f, plan_run *run, int gpu_segment, bool *done);
/* Makes room for the graphs of a frame, one for each segment.  The frame destroys them when it is destroyed. */
weft_err weft__cuda_graph_create(frame *f);

#endif
