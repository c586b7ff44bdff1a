/* relu_pool_swap.h - the relu/max-pool swap: moves a ReluGrad behind a MaxPoolGrad, where the tensors are smaller.
 *
 * relu_pool_swap.c says why the result has the same bits. */
#ifndef WEFT_EXEC_PASSES_RELU_POOL_SWAP_H
#define WEFT_EXEC_PASSES_RELU_POOL_SWAP_H

#include "exec/plan.h"

/* Changes a straight plan whose slots are numbered and which only this thread knows.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__swap_relu_pool(plan *p);

#endif
