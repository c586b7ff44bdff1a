/* fused_group.h - groups of elementwise ops with several results, which become one kernel of a GPU each.
 *
 * The chains of fuse.h have one result, because the values between their ops have one reader.  The pointwise part of a
 * recurrent cell is different: its gates are read again by the gradient.  A group writes every value that others read.
 * It reads parts of tensors in place of copies (Split, Slice), and writes its results to their places in a larger
 * tensor (ConcatV2), by what the rows of these ops declare (graph/fusion.h).  Launching many small kernels takes longer
 * than running them.  Large tensors are grouped where the group's kernel can be compiled; they are read whole, repeated
 * or transposed (fused_group_moves.h).  The results are those of the single kernels, bit by bit. */
#ifndef WEFT_EXEC_FUSED_GROUPS_FUSED_GROUP_H
#define WEFT_EXEC_FUSED_GROUPS_FUSED_GROUP_H

#include "exec/plan.h"

/* Replaces groups of items of a straight plan by one item each, whose outputs are new slots.  Returns
 * RESOURCE_EXHAUSTED if memory is short. */
weft_err weft__fuse_groups(plan *p);

#endif
