/* cuda_graph.h - GPU segments of a straight plan that a GPU runs by itself, recorded once and then queued as a whole.
 *
 * A gpu_segment is a row of items of one GPU in which the host decides nothing: what the host reads for them (shapes, axes)
 * follows from the shapes of the feeds, for which the frame was made.  The first run of a frame queues the items one
 * by one, the second records them; a later run only looks whether every address is still what it was (values from
 * outside in their places, variables in their buffers and nobody else's), and queues the recording.  Where it is not, the
 * items are queued one by one again. */
#ifndef WEFT_EXEC_EXECUTORS_CUDA_GRAPH_H
#define WEFT_EXEC_EXECUTORS_CUDA_GRAPH_H

#include "exec/executors/frame.h"

/* Finds the GPU segments, once a plan is complete. */
weft_err weft__cuda_graph_find(plan *p);
/* Runs the gpu_segment that begins at item `at`.  *done: it was queued as a whole; else its items are still to be run. */
weft_err weft__cuda_graph_run(frame *f, plan_run *run, int gpu_segment, bool *done);
/* Room for a frame's recordings, and their end. */
weft_err weft__cuda_graph_create(frame *f);
void weft__cuda_graph_destroy(frame *f);

#endif
