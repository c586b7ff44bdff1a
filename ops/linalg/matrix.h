/* matrix.h - row operations on matrices, for factorizations and solvers.
 *
 * All types are computed in double or complex128.  The inputs are copied anyway, and the higher precision hides the
 * order of sums.  Most algorithms subtract a multiple of one row from another.  Rows are contiguous, so that loop is
 * vectorized.  Elimination, substitution and Cholesky's algorithm subtract matrix products (blocked.c). */
#ifndef WEFT_OPS_LINALG_MATRIX_H
#define WEFT_OPS_LINALG_MATRIX_H

#include "kernels/work/long_work.h"
#include <complex.h>

/* A batch of matrices that a kernel may overwrite. */
typedef struct matrices {
  weft_tensor copy;          /* double or complex128; cleared by the kernel */
  int64_t count, rows, cols; /* matrices, and the size of each */
} matrices;
/* Returns a * b * c, the cost of one matrix; 0 if there are none, because their sizes are unlimited then. */
static inline int64_t weft__matrix_cost(const matrices *m, int64_t a, int64_t b, int64_t c) {
  return m->count ? a * b * c : 0;
}

/* Returns how many matrices a loop has to visit.  If they have no elements it is none, because their number is
 * unlimited then. */
static inline int64_t weft__matrices_visits(const matrices *m) { return weft__tensor_count(&m->copy) ? m->count : 0; }

/* Copies input i, whose rank is at least 2.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__matrices_load(kernel *k, int i, matrices *m);
/* Creates zero matrices of that size, with the type and the batch size of `like`. */
weft_err weft__matrices_make(kernel *k, const matrices *like, int64_t rows, int64_t cols, matrices *m);
void weft__matrices_clear(matrices *m);
/* Creates output i, of the given shape, from m. */
weft_err weft__matrices_store(kernel *k, int i, const shape *s, const matrices *m);

/* A reference to one matrix. */
typedef struct matrix {
  bool is_complex;
  int64_t rows, cols;
  void *data;
} matrix;
matrix weft__matrix_at(const matrices *m, int64_t i);

static inline double complex weft__matrix_get(const matrix *m, int64_t row, int64_t col) {
  const int64_t i = row * m->cols + col;
  return m->is_complex ? ((const double complex *)m->data)[i] : (double complex)((const double *)m->data)[i];
}

static inline void weft__matrix_set(const matrix *m, int64_t row, int64_t col, double complex x) {
  const int64_t i = row * m->cols + col;
  if (m->is_complex)
    ((double complex *)m->data)[i] = x;
  else
    ((double *)m->data)[i] = creal(x);
}

/* y -= f x, for n elements of two rows that do not overlap. */
void weft__matrix_less_times(double *restrict y, const double *restrict x, double f, int64_t n);
/* Subtracts f times row `from` of s from row `to` of t, from column `first` on.  Both have the same number of
 * columns. */
void weft__matrix_less(const matrix *t, int64_t to, const matrix *s, int64_t from, double complex f, int64_t first);
void weft__matrix_scale(const matrix *m, int64_t row, double complex f);
void weft__matrix_swap(const matrix *m, int64_t row, int64_t other);
/* Returns the sum of conj(row of a) times row of b, from column `first` on.  Both have the same number of columns. */
double complex weft__matrix_dot(const matrix *a, int64_t row, const matrix *b, int64_t other, int64_t first);
/* Replaces rows i and j by c i - s j and s i + c j. */
void weft__matrix_rotate(const matrix *m, int64_t i, int64_t j, double c, double s);
/* Sets t to the transpose of m. */
void weft__matrix_transpose(const matrix *m, const matrix *t);
/* Sets m to the identity; it may have more rows than columns, or fewer. */
void weft__matrix_identity(const matrix *m);
/* A reflection I - tau v v^H that maps x to beta times the first unit vector; beta is real. */
typedef struct householder {
  double complex tau;
  double beta;
} householder;
/* Returns the reflection of x, which is row 0 of v from column `first` on.  Overwrites x with the vector v, whose
 * element at `first` is 1. */
householder weft__matrix_reflection(const matrix *v, int64_t first);
/* Replaces a square matrix by its adjoint. */
void weft__matrix_adjoint(const matrix *m);

/* ---- blocked.c: algorithms that spend their time in matrix products ----
 *
 * The products are split over the threads of the kernel of w, unless w is NULL or the kernel already splits a loop over
 * a batch.  Once w is over, the results mean nothing. */

/* Solves a x = b for a triangular a, whose other half is not read; x holds b at first.  unit: the diagonal counts as
 * ones. conj_t: uses the adjoint of a. */
void weft__matrix_triangle(long_work *w, const matrix *a, const matrix *x, bool lower, bool conj_t, bool unit);
/* Sets the upper half of m to U with U^H U = m.  Returns false if there is no such U. */
bool weft__matrix_cholesky(long_work *w, const matrix *m);
/* Factors a square m with row exchanges: U in the upper half, and L, whose diagonal is ones, below it.  pivot[i] is the
 * row that was exchanged with row i when column i was eliminated.  Returns false if a column has only zeros left. */
bool weft__matrix_lu(long_work *w, const matrix *m, int64_t *pivot);

/* Returns INVALID_ARGUMENT unless input i of a kernel is a square matrix or a batch of them. */
weft_err weft__matrix_square(const kernel *k, int i);
/* The shape rule of ops from one square matrix (or a batch) to another. */
weft_err weft__matrix_infer_square(infer *s);
/* Returns which matrix of an operand with the batch dimensions of `in` belongs to matrix i of a result with those of
 * `out`. */
int64_t weft__matrix_of(const shape *out, const shape *in, int64_t i);
/* Adds x y, with adjoints, as MatMul or BatchMatMulV2 depending on the rank of x. */
weft_out weft__b_matrix_product(weft_graph *g, weft_out x, weft_out y, bool adj_x, bool adj_y);
/* Sums dx and dy over the batch dimensions along which x and y were broadcast. */
void weft__b_matrix_fold(weft_graph *g, weft_out x, weft_out y, weft_out *dx, weft_out *dy);
/* Adds a node: matrices with the rows of e as diagonals, and zeros elsewhere. */
weft_out weft__matrix_diag_node(weft_graph *g, weft_out e);

#endif
