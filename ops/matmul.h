/* matmul.h - what others need of MatMul (ops/matmul.c). */
#ifndef WEFT_OPS_MATMUL_H
#define WEFT_OPS_MATMUL_H

#include "ops/gemm.h"

/* Sizes and flags of the product of a MatMul kernel's inputs; its errors where they do not fit. */
weft_err weft__matmul_sizes(const kernel *k, gemm *g);

#endif
