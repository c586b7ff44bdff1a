/* binary.h - loops of binary ops, for kernels that combine more than two tensors. */
#ifndef WEFT_KERNELS_ELEMENTWISE_BINARY_H
#define WEFT_KERNELS_ELEMENTWISE_BINARY_H

#include "kernels/elementwise/elementwise.h"

extern const elem_op weft__add_op, weft__mul_op, weft__maximum_op, weft__minimum_op;

#endif
