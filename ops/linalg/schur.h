/* schur.h - the complex Schur form a = q t q^H, and functions of triangles. */
#ifndef WEFT_OPS_LINALG_SCHUR_H
#define WEFT_OPS_LINALG_SCHUR_H

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

/* t (n by n, by rows) becomes its Schur form, an upper triangle; q the unitary matrix, if not NULL.  false: it does not
 * converge, or there is no memory. */
bool weft__schur(double complex *t, double complex *q, int64_t n);
/* r becomes the principal square root of the upper triangle t. */
void weft__schur_root(const double complex *t, double complex *r, int64_t n);
/* out = a b, all n by n. */
void weft__schur_product(const double complex *a, const double complex *b, double complex *out, int64_t n);
/* a becomes q a q^H; room has n * n elements. */
void weft__schur_back(double complex *a, const double complex *q, double complex *room, int64_t n);

#endif
