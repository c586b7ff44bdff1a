/* share_operands.h - products with the same second operand, which is prepared once for all of them.
 *
 * A kernel that multiplies by a matrix first packs it into the order in which it is read.  The steps of a recurrent
 * layer, which the program or exec/passes/unroll.h has unrolled, multiply few rows each by the same weights, so packing
 * takes a large part of their time.  An op declares that its nodes can share that (fusion.shares). */
#ifndef WEFT_EXEC_PASSES_SHARE_OPERANDS_H
#define WEFT_EXEC_PASSES_SHARE_OPERANDS_H

#include "exec/plan.h"

/* Adds items to a straight plan that prepare what several items of the host read.  Returns RESOURCE_EXHAUSTED if memory
 * is short. */
weft_err weft__share_operands(plan *p);

#endif
