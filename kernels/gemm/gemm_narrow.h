/* gemm_narrow.h - products whose second operand has a few columns: a last layer and its gradient. */
#ifndef WEFT_KERNELS_GEMM_GEMM_NARROW_H
#define WEFT_KERNELS_GEMM_GEMM_NARROW_H

#include "kernels/gemm/gemm.h"

/* Is it such a product of floats, with enough rows to be worth it? */
bool weft__gemm_narrow_has(const gemm *g);
void weft__gemm_narrow(const gemm *g); /* on the caller's thread */

#endif
