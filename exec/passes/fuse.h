/* fuse.h - fusion: groups of neighboring ops become one item each, so that the values between them are never stored.
 *
 * graph/fusion.h has what an op declares about it; fuse.c finds the groups.  Returns RESOURCE_EXHAUSTED if memory is
 * short. */
#ifndef WEFT_EXEC_PASSES_FUSE_H
#define WEFT_EXEC_PASSES_FUSE_H

#include "exec/plan.h"

/* Replaces groups of items of a straight plan by one item each.  slot_item and control are kept right. */
weft_err weft__fuse(plan *p);

#endif
