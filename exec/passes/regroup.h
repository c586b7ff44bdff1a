/* regroup.h - orders the items of a plan so that more of them can be one kernel or one CUDA graph.
 *
 * Feeds, and what the host computes from them, are copied to their devices first: a CUDA graph ends in front of a copy
 * (exec/executors/cuda_graph.h).
 *
 * Sums over the rows of a matrix run behind the elementwise items that follow them.  The gradient of a bias or of a
 * layer norm's scale sums the rows of a tensor that elementwise items read too.  If it ran between those and their
 * maker, they could not become one group (exec/fused_groups/fused_group.h), since it would need the tensor before the
 * group's end. */
#ifndef WEFT_EXEC_PASSES_REGROUP_H
#define WEFT_EXEC_PASSES_REGROUP_H

#include "exec/plan.h"

/* Changes the order of the items.  A sum moves only as far as elementwise items go, so its input is not kept much
 * longer. */
weft_err weft__regroup(plan *p);

#endif
