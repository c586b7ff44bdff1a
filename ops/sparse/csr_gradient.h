/* csr_gradient.h - the gradients of the ops in csr_matmul.c. */
#ifndef WEFT_OPS_SPARSE_CSR_GRADIENT_H
#define WEFT_OPS_SPARSE_CSR_GRADIENT_H

#include "graph/op.h"

/* A failure to add a node is recorded in the graph (graph/build.h). */
weft_err weft__csr_matmul_grad(backprop *b);
weft_err weft__csr_sparse_matmul_grad(backprop *b);
weft_err weft__csr_add_grad(backprop *b);
weft_err weft__csr_mul_grad(backprop *b); /* UNIMPLEMENTED: TensorFlow raises NotImplementedError */
weft_err weft__csr_softmax_grad(backprop *b);

#endif
