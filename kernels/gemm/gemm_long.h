/* gemm_long.h - products of matrices that end with their step. */
#ifndef WEFT_KERNELS_GEMM_GEMM_LONG_H
#define WEFT_KERNELS_GEMM_GEMM_LONG_H

#include "kernels/gemm/gemm.h"
#include "kernels/work/long_work.h"

/* Computes the product, split over the threads of w's kernel.  A product that takes a large part of a second is
 * computed in blocks of c, and the step is checked before each.  Once w is over, c means nothing.  If w is NULL, the
 * product is computed on the caller's thread without checks. */
void weft__gemm_long(long_work *w, const gemm *g);

#endif
