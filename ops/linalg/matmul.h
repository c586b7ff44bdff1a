/* matmul.h - parts of MatMul (ops/linalg/matmul.c) that its fused kernels use. */
#ifndef WEFT_OPS_LINALG_MATMUL_H
#define WEFT_OPS_LINALG_MATMUL_H

#include "kernels/gemm/gemm.h"

/* Stores the sizes and flags of the product of a MatMul kernel's inputs.  Returns its errors if the shapes do not
 * match. */
weft_err weft__matmul_sizes(const kernel *k, gemm *g);
extern const fusion weft__matmul_fusion; /* ops/linalg/matmul_update.c */

#endif
