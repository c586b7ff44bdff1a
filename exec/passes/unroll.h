/* unroll.h - unrolls the loops of a request, so that a step with loops is a straight plan; copies a request for the
 * shapes of its feeds.
 *
 * The dataflow executor schedules every node of every iteration, and launches its kernel on a GPU from the host.  A
 * straight plan is fused, has an arena and, on a GPU, is captured as a cuda graph.  So where the host knows how many
 * iterations a loop has before anything runs, the part of the graph that the request needs is copied with one copy of
 * each loop's nodes per iteration.  The values that decide it (counters, conditions, sizes and indices of TensorArrays)
 * must follow from constants and from shapes that the graph declares, or from feeds that a plan assumes
 * (where->assumed, exec/variants.h).  TensorArrays and stacks disappear: a node that reads an element gets the value
 * that was written.
 *
 * Branches (tf.cond) whose predicate the host knows are decided likewise.
 *
 * If all nodes are on the host, loops are unrolled when the request runs for the second time (exec/variants.h), and the
 * copy is smaller.
 *
 * If a condition depends on data, or the copy would be too large, the request keeps its loops and branches.  If feeds
 * alone decide them, a plan can be made for the values that come (exec/variants.h); else the log says why. */
#ifndef WEFT_EXEC_PASSES_UNROLL_H
#define WEFT_EXEC_PASSES_UNROLL_H

#include "exec/passes/decisions.h"
#include "exec/passes/unrolled_graph.h"

/* Unrolls what the request needs.  *out, which the caller destroys, is NULL if there is no loop with nodes on a GPU
 * (and no branch in a request that has some, nor distinct ids that a GPU can pad: unroll_distinct.c) and nothing is
 * assumed, if the request keeps its loops, or if WEFT_GPU_NO_REPLAY is set.  With where->assumed, a request without
 * loops is copied too: the new graph knows the shapes of the feeds, and so those of most other values.  If the request
 * keeps its loops without where->assumed, *on_feeds, which the caller destroys, is what feeds decide, or NULL; on_feeds
 * may be NULL.  The caller holds the graph's lock; the graph must outlive the result. Returns RESOURCE_EXHAUSTED only.
 * Any other error keeps the loops, and the plan reports what is wrong with the graph. The reason why loops are kept is
 * logged once per process. */
weft_err weft__unroll(unrolled_graph **out, weft_graph *g, const plan_request *r, const plan_devices *where,
                      decisions **on_feeds);

#endif
