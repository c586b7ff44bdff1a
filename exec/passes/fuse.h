/* fuse.h - chains of elementwise ops become one pass over memory. */
#ifndef WEFT_EXEC_PASSES_FUSE_H
#define WEFT_EXEC_PASSES_FUSE_H

#include "exec/plan.h"

/* Replaces groups of items of a straight plan by one item each.  slot_item and control are kept right. */
weft_err weft__fuse(plan *p);

#endif
