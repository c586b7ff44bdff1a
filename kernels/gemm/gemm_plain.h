/* gemm_plain.h - matrix products in plain loops: the reference for tests, and the only ones for integers. */
#ifndef WEFT_KERNELS_GEMM_GEMM_PLAIN_H
#define WEFT_KERNELS_GEMM_GEMM_PLAIN_H

#include "kernels/gemm/gemm.h"

bool weft__gemm_plain_has(weft_dtype t);
void weft__gemm_plain(const gemm *g); /* on the caller's thread */

#endif
