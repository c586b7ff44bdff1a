/* round_operands.h - operands of matrix products that are rounded to bfloat16 once, not for each product.
 *
 * With WEFT_BF16=1 a GPU rounds the operands of a product of floats before it multiplies.  In a training step several
 * products read the same tensor: three of an attention layer and the gradients of their weights, for example.  A
 * variable is such a tensor too, if it does not change between the products.  A group writes what it makes rounded
 * where that is asked for (fused_group.h), and not at all as floats if nothing else reads it. */
#ifndef WEFT_EXEC_PASSES_ROUND_OPERANDS_H
#define WEFT_EXEC_PASSES_ROUND_OPERANDS_H

#include "exec/plan.h"

/* Adds an item to a straight plan for each tensor that several products of a GPU read and would round.  They read its
 * output instead.  Returns RESOURCE_EXHAUSTED if memory is short. */
weft_err weft__round_operands(plan *p);
/* Returns true if this pass added the item. */
bool weft__plan_is_rounding(const plan_item *it);

#endif
