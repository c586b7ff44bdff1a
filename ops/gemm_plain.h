/* gemm_plain.h - the product of matrices in plain loops: the reference, and all there is for integers. */
#ifndef WEFT_OPS_GEMM_PLAIN_H
#define WEFT_OPS_GEMM_PLAIN_H

#include "ops/gemm.h"

bool weft__gemm_plain_has(weft_dtype t);
void weft__gemm_plain(const gemm *g); /* on the caller's thread */

#endif
