/* gemm_few_rows.h - matrix products c = a b' in which a has few rows, as in the gradient of a layer by its input. */
#ifndef WEFT_KERNELS_GEMM_GEMM_FEW_ROWS_H
#define WEFT_KERNELS_GEMM_GEMM_FEW_ROWS_H

#include "kernels/gemm/gemm.h"

/* Computes such a product of floats on the caller's thread.  Returns false if it is none, if another way is faster, or
 * if there is no memory for the packed a; c is unchanged then. */
bool weft__gemm_few_rows(const gemm *g);

#endif
