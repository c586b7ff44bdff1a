/* segment_grad.h - the gradients of the segment ops. */
#ifndef WEFT_OPS_MATH_SEGMENT_GRAD_H
#define WEFT_OPS_MATH_SEGMENT_GRAD_H

#include "graph/op.h"

/* Gradients of sorted and of unsorted sums and so on; a failure is recorded in the graph (graph/build.h). */
weft_err weft__segment_sum_grad(backprop *b);
weft_err weft__segment_mean_grad(backprop *b);
weft_err weft__segment_prod_grad(backprop *b);
weft_err weft__segment_extreme_grad(backprop *b);
weft_err weft__unsorted_sum_grad(backprop *b);
weft_err weft__unsorted_prod_grad(backprop *b);
weft_err weft__unsorted_extreme_grad(backprop *b);

#endif
