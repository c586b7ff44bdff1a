/* matmul.h - what others need of MatMul (ops/linalg/matmul.c). */
#ifndef WEFT_OPS_LINALG_MATMUL_H
#define WEFT_OPS_LINALG_MATMUL_H

#include "kernels/gemm/gemm.h"

/* Sizes and flags of the product of a MatMul kernel's inputs; its errors where they do not fit. */
weft_err weft__matmul_sizes(const kernel *k, gemm *g);
extern const fusion weft__matmul_fusion; /* ops/linalg/matmul_update.c */

#endif
