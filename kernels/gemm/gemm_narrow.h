/* gemm_narrow.h - matrix products whose second operand has few columns, as in a last layer and its gradient. */
#ifndef WEFT_KERNELS_GEMM_GEMM_NARROW_H
#define WEFT_KERNELS_GEMM_GEMM_NARROW_H

#include "kernels/gemm/gemm.h"

/* Returns true for such a product of floats that has enough rows to be faster this way. */
bool weft__gemm_narrow_has(const gemm *g);
void weft__gemm_narrow(const gemm *g); /* on the caller's thread */

#endif
