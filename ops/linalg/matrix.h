/* matrix.h - rows of matrices: what factorisations and solvers are made of.
 *
 * Every type is worked in double or complex128: the inputs are copied anyway, and one precision above the caller's
 * hides the order of the sums.  Elimination, substitution and Cholesky's columns are all the same step, a multiple of
 * one row taken from another, so that is the only loop; rows lie next to each other, and it vectorises. */
#ifndef WEFT_OPS_LINALG_MATRIX_H
#define WEFT_OPS_LINALG_MATRIX_H

#include "graph/kernel.h"
#include <complex.h>

/* A batch of matrices that a kernel may write on. */
typedef struct matrices {
  weft_tensor copy;          /* double or complex128; cleared by the kernel */
  int64_t count, rows, cols; /* matrices, and the size of each */
} matrices;
/* a * b * c, what one of them costs; 0 if there are none, for their sides may be of any size then. */
static inline int64_t weft__matrix_cost(const matrices *m, int64_t a, int64_t b, int64_t c) {
  return m->count ? a * b * c : 0;
}

/* Copies input i, whose rank is at least 2. */
weft_err weft__matrices_load(kernel *k, int i, matrices *m);
/* Zeros of that size, with the type and the batch of `like`. */
weft_err weft__matrices_make(kernel *k, const matrices *like, int64_t rows, int64_t cols, matrices *m);
void weft__matrices_clear(matrices *m);
/* Output i, of the given shape, from m. */
weft_err weft__matrices_store(kernel *k, int i, const shape *s, const matrices *m);

/* One of them, by reference. */
typedef struct matrix {
  bool is_complex;
  int64_t rows, cols;
  void *data;
} matrix;
matrix weft__matrix_at(const matrices *m, int64_t i);

double complex weft__matrix_get(const matrix *m, int64_t row, int64_t col);
void weft__matrix_set(const matrix *m, int64_t row, int64_t col, double complex x);
/* Row `to` of t, less f times row `from` of s; columns from `first` on.  Both have the same columns. */
void weft__matrix_less(const matrix *t, int64_t to, const matrix *s, int64_t from, double complex f, int64_t first);
void weft__matrix_scale(const matrix *m, int64_t row, double complex f);
void weft__matrix_swap(const matrix *m, int64_t row, int64_t other);
/* The sum of conj(row of a) times row of b, columns from `first` on.  Both have the same columns. */
double complex weft__matrix_dot(const matrix *a, int64_t row, const matrix *b, int64_t other, int64_t first);
/* The upper half of m becomes U with U^H U = m.  Returns false if there is none. */
bool weft__matrix_cholesky(const matrix *m);
/* Rows i and j become c i - s j and s i + c j. */
void weft__matrix_rotate(const matrix *m, int64_t i, int64_t j, double c, double s);
/* t becomes the transpose of m, which has its rows as columns. */
void weft__matrix_transpose(const matrix *m, const matrix *t);
/* The identity, as far as m has rows and columns. */
void weft__matrix_identity(const matrix *m);
/* A reflection I - tau v v^H that maps x to beta times the first unit vector, beta being real. */
typedef struct householder {
  double complex tau;
  double beta;
} householder;
/* That of x, which is row 0 of v from column `first` on; v becomes the reflection's vector there, with 1 at `first`. */
householder weft__matrix_reflection(const matrix *v, int64_t first);
/* The adjoint of a square matrix, in place. */
void weft__matrix_adjoint(const matrix *m);
/* x becomes the solution of a x = b for a triangle a (the other half is not read); unit: its diagonal counts as ones.
 * conj_t: the adjoint of the triangle is meant. */
void weft__matrix_triangle(const matrix *a, const matrix *x, bool lower, bool conj_t, bool unit);

/* Rank and squareness of input i of a kernel: INVALID_ARGUMENT. */
weft_err weft__matrix_square(const kernel *k, int i);
/* The shape rule of one square matrix (or a batch) to another. */
weft_err weft__matrix_infer_square(infer *s);
/* Which matrix of an operand with `in`'s batch dimensions goes with matrix i of a result with `out`'s. */
int64_t weft__matrix_of(const shape *out, const shape *in, int64_t i);
/* Nodes: x y with either adjoint, MatMul or BatchMatMulV2 as the rank of x asks. */
weft_out weft__b_matrix_product(weft_graph *g, weft_out x, weft_out y, bool adj_x, bool adj_y);
/* Sums dx and dy over the batch dimensions that x and y were repeated along. */
void weft__b_matrix_fold(weft_graph *g, weft_out x, weft_out y, weft_out *dx, weft_out *dy);
/* Adds a node to the graph: the matrices with the rows of e as diagonals, and zeros elsewhere. */
weft_out weft__matrix_diag_node(weft_graph *g, weft_out e);

#endif
