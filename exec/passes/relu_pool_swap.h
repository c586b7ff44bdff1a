/* relu_pool_swap.h - slopes taken where the tensors are small. */
#ifndef WEFT_EXEC_PASSES_RELU_POOL_SWAP_H
#define WEFT_EXEC_PASSES_RELU_POOL_SWAP_H

#include "exec/plan.h"

/* On a straight plan whose slots are numbered. */
weft_err weft__swap_relu_pool(plan *p);

#endif
