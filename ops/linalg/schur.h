/* schur.h - the complex Schur form a = q t q^H, and functions of triangular matrices. */
#ifndef WEFT_OPS_LINALG_SCHUR_H
#define WEFT_OPS_LINALG_SCHUR_H

#include "kernels/work/long_work.h"
#include <complex.h>

/* Replaces t (n by n, row-major) by its Schur form, an upper triangle, and sets q, if not NULL, to the unitary
 * matrix.  Returns false if the iteration does not converge or memory is short.  Once `work` is over, the results of
 * these functions mean nothing. */
bool weft__schur(double complex *t, double complex *q, int64_t n, long_work *work);
/* Sets r to the principal square root of the upper triangle t. */
void weft__schur_root(const double complex *t, double complex *r, int64_t n, long_work *work);
/* Sets out = a b; all are n by n. */
void weft__schur_product(const double complex *a, const double complex *b, double complex *out, int64_t n,
                         long_work *work);
/* Replaces a by q a q^H; `room` is scratch memory of n * n elements. */
void weft__schur_back(double complex *a, const double complex *q, double complex *room, int64_t n, long_work *work);

#endif
