/* gemm.h - matrix products c = a b, for MatMul, BatchMatMul and convolutions.
 *
 * Matrices are row-major, with a distance between rows.  The library that multiplies (oneDNN, OpenBLAS or our own
 * loops) is called on one thread.  Splitting over threads is done here, so that only the pool creates threads. */
#ifndef WEFT_KERNELS_GEMM_GEMM_H
#define WEFT_KERNELS_GEMM_GEMM_H

#include "graph/kernel.h"

typedef struct gemm {
  weft_dtype type; /* float, double, complex64, complex128, or an integer of 8 to 64 bits */
  int64_t m, n, k; /* a is (m, k), b is (k, n), c is (m, n) */
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc; /* elements from one stored row to the next */
  bool ta, tb;           /* a is stored as (k, m), b as (n, k) */
  bool adjoint;          /* complex matrices that are stored transposed are also conjugated */
  bool accumulate;       /* c += a b */
} gemm;

/* Returns true if matrices of this type can be multiplied; the two functions below do not check it. */
bool weft__gemm_has(weft_dtype t);
void weft__gemm_serial(const gemm *g);           /* on the caller's thread */
void weft__gemm(const kernel *k, const gemm *g); /* split over the step's threads */

#endif
