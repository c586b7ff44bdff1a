/* reduce.h - reductions by type, and the gradients of reductions. */
#ifndef WEFT_OPS_MATH_REDUCE_H
#define WEFT_OPS_MATH_REDUCE_H

#include "kernels/reduce/reduction.h"

/* Indexed by the type of the elements. */
extern const reduction_kind weft__reduce_sum[WEFT_DTYPE_COUNT], weft__reduce_squares[WEFT_DTYPE_COUNT];

/* Gradients, in reduce_grad.c. */
weft_err weft__sum_grad(backprop *b);
weft_err weft__mean_grad(backprop *b);
weft_err weft__prod_grad(backprop *b);
weft_err weft__extreme_grad(backprop *b); /* Max and Min */
weft_err weft__norm_grad(backprop *b);

#endif
