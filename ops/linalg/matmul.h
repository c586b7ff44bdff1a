/* matmul.h - parts of MatMul (ops/linalg/matmul.c) that its fused kernels use. */
#ifndef WEFT_OPS_LINALG_MATMUL_H
#define WEFT_OPS_LINALG_MATMUL_H

#include "kernels/gemm/gemm.h"

/* Stores the sizes and flags of the product of a MatMul kernel's inputs.  Returns its errors if the shapes do not
 * match. */
weft_err weft__matmul_sizes(const kernel *k, gemm *g);
weft_err weft__matmul_run(kernel *k); /* the kernel of MatMul */
/* For products with one b (ops/linalg/matmul_shared.c, graph/fusion.h). */
bool weft__matmul_shares(const weft_node *n, int64_t readers);
extern const op weft__matmul_prepare_op, weft__matmul_prepared_op;
extern const fusion weft__matmul_fusion; /* ops/linalg/matmul_update.c */

#endif
