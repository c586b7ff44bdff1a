/* cuda_graph.h - captures parts of a plan that one GPU runs alone as CUDA graphs, and launches them as a whole.
 *
 * A GPU segment is a sequence of consecutive items whose kernels run on one GPU.  Items on the host whose results are
 * the same in every run of a frame may lie between them, and OP_ONCE items too; a launch skips both.
 *
 * Which kernels run in a segment, and their sizes, depends on no data that the segment computes.  The kernels still
 * read some values in host memory:
 * - Most of these values follow from the shapes of the feeds.  A frame is made for one set of feed shapes, so they
 *   stay.
 * - The others, such as the number of elements that tf.where found, are compared with those of the capture.
 *
 * For one set of feed shapes, the first run of the plan measures.  Its frame has no layout: the values have no fixed
 * places in the arena (frame.h).  Later runs use frames with a layout.  A plan has several frames if runs overlap, or
 * if a run ends while its kernels run (frame.h).  Each of these frames has its own graphs and counts its own runs:
 * - Run 1 of a frame also runs the OP_ONCE items (graph/op.h), whose results stay in the frame.  It does not call
 *   weft__cuda_graph_run.
 * - Run 2 calls weft__cuda_graph_run for the first time.  It captures nothing, and enqueues the items one by one.  With
 *   the run that measures it is at least the plan's third, so a plan that runs three times pays for no capture.
 * - Run 3 captures the segments and launches them.
 * - A later run launches a graph if it still fits: inputs from outside the segment are at the same addresses (or, in
 *   host memory, have the same values, if a kernel reads them), variables are in the same buffers, and nothing else
 *   shares the buffer of a variable that the segment writes.  If it does not fit, the items are enqueued one by one.  A
 *   graph that has been launched is not captured again (cuda_graph.c says what that means for a variable that has
 *   moved).
 * A plan keeps layouts for 16 sets of feed shapes.  Runs with other shapes have no layout, and no CUDA graph.
 *
 * A frame owns its graphs and belongs to one run at a time, so the graphs have no lock.  A launch takes the locks of
 * the segment's variables, in the order of their addresses, until the graph is enqueued. */
#ifndef WEFT_EXEC_EXECUTORS_CUDA_GRAPH_H
#define WEFT_EXEC_EXECUTORS_CUDA_GRAPH_H

#include "exec/executors/item.h"

/* Finds the GPU segments of a complete plan and lists them in p->straight.  A plan without a GPU, of the dataflow
 * executor, or with WEFT_GPU_NO_REPLAY has none.  Segments that are too short, or whose device cannot capture, are left
 * out.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__cuda_graph_find(plan *p);
/* Runs segment number gpu_segment of the plan.  *done is true if the graph's launch was tried, also if it failed; if
 * not, the caller runs its items.  Returns RESOURCE_EXHAUSTED, or the device's error if a capture cannot begin or a
 * launch fails; either fails the run. */
weft_err weft__cuda_graph_run(frame *f, plan_run *run, int gpu_segment, bool *done);
/* Makes room for the graphs of a frame, one for each segment.  The frame destroys them when it is destroyed.  A graph
 * retains the variables that it uses until then.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__cuda_graph_create(frame *f);

#endif
