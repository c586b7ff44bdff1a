/* blocked.c - substitution, elimination and Cholesky's algorithm, by recursion to matrix products.
 *
 * Each splits its matrix in two, solves one half, subtracts the product of that half from the rest, and solves the
 * rest.  So nearly all the work is done by gemm.h, which reads a matrix a few times from memory, where row operations
 * read it once for each row.  Halves of at most SMALLEST rows use row operations. */
#include "kernels/gemm/gemm_long.h"
#include "ops/linalg/matrix.h"
#include <math.h>

enum { SMALLEST = 24 };

/* Some rows and columns of a matrix. */
typedef struct block {
  const matrix *m;
  int64_t row, col, rows, cols;
} block;

static void *block_data(block b) {
  const int64_t at = b.row * b.m->cols + b.col;
  return b.m->is_complex ? (void *)((double complex *)b.m->data + at) : (void *)((double *)b.m->data + at);
}

static void block_negate(block b) {
  const int64_t n = b.cols * (b.m->is_complex ? 2 : 1);
  double *x = block_data(b);
  for (int64_t i = 0; i < b.rows; i++, x += b.m->cols * (b.m->is_complex ? 2 : 1))
    for (int64_t j = 0; j < n; j++) x[j] = -x[j];
}

/* c -= a b, or a^H b.  The product can only be added, so the smaller of c and b is negated before and after it; b is
 * not if it is also a. */
static void block_less(long_work *w, block c, block a, bool conj_t, block b) {
  const bool is_square = a.m == b.m && a.row == b.row && a.col == b.col;
  const block negated = is_square || c.rows < b.rows ? c : b;
  const gemm g = {.type = c.m->is_complex ? WEFT_COMPLEX128 : WEFT_DOUBLE,
                  .m = c.rows,
                  .n = c.cols,
                  .k = b.rows,
                  .a = block_data(a),
                  .b = block_data(b),
                  .c = block_data(c),
                  .lda = a.m->cols,
                  .ldb = b.m->cols,
                  .ldc = c.m->cols,
                  .ta = conj_t,
                  .adjoint = conj_t,
                  .accumulate = true};
  if (c.rows == 0 || c.cols == 0 || b.rows == 0) return;
  block_negate(negated);
  weft__gemm_long(w, &g);
  block_negate(negated);
}

/* Subtracts f times row `from` of a block from row `to` of the same matrix, over the block's columns. */
static void row_less(block b, int64_t to, int64_t from, double complex f) {
  const int64_t n = b.m->cols;
  if (b.m->is_complex) {
    double complex *y = (double complex *)b.m->data + to * n, *x = (double complex *)b.m->data + from * n;
    for (int64_t j = b.col; j < b.col + b.cols; j++) y[j] -= f * x[j];
  } else {
    weft__matrix_less_times((double *)b.m->data + to * n + b.col, (double *)b.m->data + from * n + b.col, creal(f),
                            b.cols);
  }
}

static void row_scale(block b, int64_t row, double complex f) {
  const int64_t n = b.m->cols;
  if (b.m->is_complex)
    for (int64_t j = b.col; j < b.col + b.cols; j++) ((double complex *)b.m->data)[row * n + j] *= f;
  else
    for (int64_t j = b.col; j < b.col + b.cols; j++) ((double *)b.m->data)[row * n + j] *= creal(f);
}

/* ---- substitution ---- */

typedef struct triangle {
  long_work *work;
  bool lower, conj_t, unit;
} triangle;

/* Solves with the square of a at (at, at); the rows of x have the same indices. */
static void triangle_small(const triangle *t, const matrix *a, int64_t at, block x) {
  const bool down = t->lower != t->conj_t;
  const int64_t n = x.rows;
  for (int64_t s = 0; s < n; s++) {
    const int64_t i = down ? s : n - 1 - s, own = at + i;
    const double complex d = weft__matrix_get(a, own, own);
    if (!t->unit) row_scale(x, x.row + i, 1 / (t->conj_t ? conj(d) : d));
    for (int64_t r = s + 1; r < n; r++) {
      const int64_t j = down ? r : n - 1 - r, other = at + j;
      const double complex f = t->conj_t ? conj(weft__matrix_get(a, own, other)) : weft__matrix_get(a, other, own);
      if (f != 0) row_less(x, x.row + j, x.row + i, f);
    }
  }
}

static void triangle_solve(const triangle *t, const matrix *a, int64_t at, block x) {
  const int64_t n = x.rows, half = n / 2;
  if (weft__long_work_is_over(t->work)) return;
  if (n <= SMALLEST) {
    triangle_small(t, a, at, x);
    return;
  }
  const bool down = t->lower != t->conj_t;
  block top = x, bottom = x;
  top.rows = half;
  bottom.row += half;
  bottom.rows -= half;
  const block below = {a, at + half, at, n - half, half}, right = {a, at, at + half, half, n - half};
  triangle_solve(t, a, at + (down ? 0 : half), down ? top : bottom);
  block_less(t->work, down ? bottom : top, t->lower ? below : right, t->conj_t, down ? top : bottom);
  triangle_solve(t, a, at + (down ? half : 0), down ? bottom : top);
}

void weft__matrix_triangle(long_work *w, const matrix *a, const matrix *x, bool lower, bool conj_t, bool unit) {
  const triangle t = {w, lower, conj_t, unit};
  if (x->cols > 0) triangle_solve(&t, a, 0, (block){x, 0, 0, x->rows, x->cols});
}

/* ---- Cholesky ---- */

static bool cholesky_small(const matrix *m, int64_t first, int64_t n) {
  for (int64_t k = first; k < first + n; k++) {
    const double d = creal(weft__matrix_get(m, k, k));
    if (!(d > 0) || !isfinite(d)) return false;
    row_scale((block){m, k, k, 1, first + n - k}, k, 1 / sqrt(d));
    for (int64_t i = k + 1; i < first + n; i++)
      row_less((block){m, i, i, 1, first + n - i}, i, k, conj(weft__matrix_get(m, k, i)));
  }
  return true;
}

static bool cholesky_factor(long_work *w, const matrix *m, int64_t first, int64_t n) {
  const int64_t half = n / 2, next = first + half, rest = n - half;
  if (weft__long_work_is_over(w)) return true;
  if (n <= SMALLEST) return cholesky_small(m, first, n);
  if (!cholesky_factor(w, m, first, half)) return false;
  const triangle t = {w, false, true, false};
  const block right = {m, first, next, half, rest};
  triangle_solve(&t, m, first, right);
  /* only the upper half of the rest is needed: its upper rows, and the right half of its lower rows */
  const int64_t upper = rest / 2;
  const block left_part = {m, first, next, half, upper}, right_part = {m, first, next + upper, half, rest - upper};
  block_less(w, (block){m, next, next, upper, upper}, left_part, true, left_part);
  block_less(w, (block){m, next, next + upper, upper, rest - upper}, left_part, true, right_part);
  block_less(w, (block){m, next + upper, next + upper, rest - upper, rest - upper}, right_part, true, right_part);
  return cholesky_factor(w, m, next, rest);
}

bool weft__matrix_cholesky(long_work *w, const matrix *m) { return cholesky_factor(w, m, 0, m->rows); }

/* ---- elimination ---- */

static int64_t largest_in_column(const matrix *m, int64_t col) {
  int64_t best = col;
  double most = -1;
  for (int64_t i = col; i < m->rows; i++) {
    const double complex x = weft__matrix_get(m, i, col);
    const double size = m->is_complex ? cabs(x) : fabs(creal(x));
    if (size > most || (i == col && isnan(size))) best = i, most = size;
  }
  return best;
}

/* Eliminates one column of a panel of columns [col, end). */
static bool lu_column(const matrix *m, int64_t col, int64_t end, int64_t *pivot) {
  pivot[col] = largest_in_column(m, col);
  weft__matrix_swap(m, col, pivot[col]);
  const double complex d = weft__matrix_get(m, col, col);
  if (d == 0) return false;
  for (int64_t i = col + 1; i < m->rows; i++) {
    const double complex x = weft__matrix_get(m, i, col), f = m->is_complex ? x / d : creal(x) / creal(d);
    weft__matrix_set(m, i, col, f);
    if (f != 0) row_less((block){m, i, col + 1, 1, end - col - 1}, i, col, f);
  }
  return true;
}

/* Factors columns [col, col + n) of all rows from row `col` on. */
static bool lu_panel(long_work *w, const matrix *m, int64_t col, int64_t n, int64_t *pivot) {
  const int64_t half = n / 2, next = col + half, rest = n - half, below = m->rows - next;
  if (weft__long_work_is_over(w)) return true;
  if (n <= SMALLEST) {
    for (int64_t i = col; i < col + n; i++)
      if (!lu_column(m, i, col + n, pivot)) return false;
    return true;
  }
  if (!lu_panel(w, m, col, half, pivot)) return false;
  const triangle t = {w, true, false, true};
  const block right = {m, col, next, half, rest};
  triangle_solve(&t, m, col, right);
  block_less(w, (block){m, next, next, below, rest}, (block){m, next, col, below, half}, false, right);
  return lu_panel(w, m, next, rest, pivot);
}

bool weft__matrix_lu(long_work *w, const matrix *m, int64_t *pivot) { return lu_panel(w, m, 0, m->rows, pivot); }
