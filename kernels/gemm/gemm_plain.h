/* gemm_plain.h - matrix products in plain loops: the reference for tests, and the only ones for integers. */
#ifndef WEFT_KERNELS_GEMM_GEMM_PLAIN_H
#define WEFT_KERNELS_GEMM_GEMM_PLAIN_H

#include "kernels/gemm/gemm.h"

/* Returns true if there are loops for the type.  Any thread may call it. */
bool weft__gemm_plain_has(weft_dtype t);
/* Computes the product on the caller's thread.  The type is one for which weft__gemm_plain_has is true. */
void weft__gemm_plain(const gemm *g);

#endif
