/* csr_matrix.h - a sparse matrix, or a batch of them, by compressed rows; it is stored in a variant tensor.
 *
 * A matrix is constant once it was made, so there is no lock. */
#ifndef WEFT_STATE_CSR_MATRIX_H
#define WEFT_STATE_CSR_MATRIX_H

#include "state/variant.h"
#include <complex.h>

#define CSR_MATRIX_TYPE "sparse matrix"

typedef struct csr_matrix {
  resource base;
  shape dense;           /* [rows, columns] or [batch, rows, columns] */
  int64_t n, rows, cols; /* n: matrices */
  int64_t *start;        /* n + 1: where the elements of each matrix begin */
  int32_t *row;          /* n times rows + 1: where the elements of each row begin, relative to `start` of its matrix */
  weft_tensor col;       /* int32: the column of each element */
  weft_tensor values;
} csr_matrix;

/* Creates a matrix with room for `count` elements; the caller fills start, row, col and values, and owns the one
 * reference.  Returns INVALID_ARGUMENT if the rank is neither 2 nor 3, or if a dimension or the count does not fit
 * int32, and RESOURCE_EXHAUSTED. */
weft_err weft__csr_create(csr_matrix **out, weft_dtype dtype, const shape *dense, int64_t count);
/* Finds the matrix in a variant tensor, which owns it.  Returns INVALID_ARGUMENT if the tensor is empty or holds
 * something else. */
weft_err weft__csr_get(const weft_tensor *t, csr_matrix **out);
/* Reads and writes elements of the types float, double, complex64 and complex128. */
double complex weft__csr_value(const weft_tensor *t, int64_t i);
void weft__csr_put(weft_tensor *t, int64_t i, double complex v);
/* Creates the transpose, with conjugated values if `conjugate` is true.  The caller owns the one reference.  Returns
 * RESOURCE_EXHAUSTED, or INVALID_ARGUMENT as weft__csr_create. */
weft_err weft__csr_transpose(csr_matrix **out, const csr_matrix *m, bool conjugate);

static inline void weft__csr_release(csr_matrix *m) { weft__object_release(m ? &m->base.base : NULL); }

#endif
