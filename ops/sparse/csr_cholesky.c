/* csr_cholesky.c - Cholesky factors of sparse matrices by compressed rows, and orders of rows that keep them sparse.
 *
 * The factor L of a matrix A with its rows and columns in a given order has a row for each row of A.  The columns of
 * row k of L are found by walking up a tree from the columns of A's row: the parent of a column is the row of the
 * topmost element below the diagonal of that column of L.  A first pass counts the elements of each column of L, a
 * second one computes them row by row.  Both read only what is on and left of A's diagonal. */
#include "base/alloc.h"
#include "base/cast.h"
#include "kernels/sparse/min_degree.h"
#include "kernels/work/long_work.h"
#include "ops/sparse/csr_shape.h"
#include <math.h>
#include <string.h>

static weft_err check_square(const kernel *k, const csr_matrix *m) {
  if (m->rows == m->cols) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "sparse matrix must be square; got: %lld != %lld",
                           (long long)m->rows, (long long)m->cols);
}

/* ---- the order ---- */

static weft_err order_cpu(kernel *k) {
  csr_matrix *m = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__csr_get(k->in[0], &m)));
  WEFT_TRY(check_square(k, m));
  weft_tensor *y = weft__out(k, 0, m->dense.rank == 3 ? &SHAPE2(m->n, m->rows) : &SHAPE1(m->rows));
  if (!y) return WEFT_OOM;
  long_work work = weft__long_work(k);
  weft_err err = WEFT_OK;
  for (int64_t b = 0; b < m->n && !err; b++)
    err = weft__min_degree(&work, weft__int_sat(m->rows), m->row + b * (m->rows + 1),
                           TENSOR_DATA(&m->col, const int32_t) + m->start[b], TENSOR_DATA(y, int32_t) + b * m->rows);
  return weft__kernel_in(k, err);
}

/* ---- one matrix ---- */

typedef struct factor {
  int32_t n;
  const int32_t *order; /* row k of L belongs to row order[k] of A */
  int32_t *place;       /* the row of L that belongs to a row of A */
  /* A in that order: where the elements left of and on the diagonal of each row are */
  int32_t *row, *col;
  double *re, *im;
  /* working space of a row, and the tree */
  int32_t *parent, *seen, *path, *next;
  double *x_re, *x_im;
} factor;

static void factor_finish(factor *f) {
  void *const held[] = {f->place, f->row, f->col, f->re, f->im, f->parent, f->seen, f->path, f->next, f->x_re, f->x_im};
  for (size_t i = 0; i < sizeof held / sizeof *held; i++) weft__free(held[i]);
}

static weft_err factor_init(factor *f, int64_t n, int64_t count) {
  const size_t rows = (size_t)n + 2, elements = (size_t)count + 1;
  *f = (factor){.n = weft__int_sat(n)};
  int32_t **const by_row[] = {&f->place, &f->row, &f->parent, &f->seen, &f->path, &f->next};
  bool made = true;
  for (size_t i = 0; i < sizeof by_row / sizeof *by_row; i++)
    made = (*by_row[i] = weft__alloc_zero(rows, sizeof **by_row[i])) && made;
  f->col = weft__alloc_zero(elements, sizeof *f->col);
  f->re = weft__alloc_zero(elements, sizeof *f->re);
  f->im = weft__alloc_zero(elements, sizeof *f->im);
  f->x_re = weft__alloc_zero(rows, sizeof *f->x_re);
  f->x_im = weft__alloc_zero(rows, sizeof *f->x_im);
  made = made && f->col && f->re && f->im && f->x_re && f->x_im;
  if (!made) factor_finish(f);
  return made ? WEFT_OK : WEFT_OOM;
}

/* Sets `place`.  Returns false unless the order has each row once. */
static bool factor_places(factor *f) {
  for (int32_t i = 0; i < f->n; i++) f->place[i] = -1;
  for (int32_t i = 0; i < f->n; i++) {
    const int32_t r = f->order[i];
    if (r < 0 || r >= f->n || f->place[r] >= 0) return false;
    f->place[r] = i;
  }
  return true;
}

/* Brings matrix b into the order: an element goes to the left of the diagonal, and is conjugated if it crosses it. */
static void factor_take(factor *f, const csr_matrix *m, int64_t b) {
  const int32_t *row = m->row + b * (m->rows + 1), *col = TENSOR_DATA(&m->col, const int32_t) + m->start[b];
  memset(f->row, 0, ((size_t)f->n + 1) * sizeof *f->row);
  for (int32_t r = 0; r < f->n; r++)
    for (int32_t i = row[r]; i < row[r + 1]; i++) {
      if (col[i] > r) continue;
      const int32_t a = f->place[r], c = f->place[col[i]];
      f->row[(a > c ? a : c) + 1]++;
    }
  for (int32_t r = 0; r < f->n; r++) f->row[r + 1] += f->row[r];
  memcpy(f->next, f->row, (size_t)f->n * sizeof *f->next);
  for (int32_t r = 0; r < f->n; r++)
    for (int32_t i = row[r]; i < row[r + 1]; i++) {
      if (col[i] > r) continue;
      const int32_t a = f->place[r], c = f->place[col[i]];
      const int32_t at = f->next[a > c ? a : c]++;
      const double complex v = weft__csr_value(&m->values, m->start[b] + i);
      f->col[at] = a > c ? c : a;
      f->re[at] = creal(v);
      f->im[at] = a >= c ? cimag(v) : -cimag(v);
    }
}

static void factor_begin(factor *f) {
  for (int32_t i = 0; i < f->n; i++) f->parent[i] = f->seen[i] = -1;
}

/* Finds the columns of row k of L that are left of the diagonal, each after all columns that it depends on: they are
 * path[first] .. path[n - 1].  Extends the tree.  Returns `first`. */
static int32_t factor_columns(factor *f, int32_t k) {
  int32_t first = f->n;
  f->seen[k] = k;
  for (int32_t i = f->row[k]; i < f->row[k + 1]; i++) {
    int32_t n = 0;
    for (int32_t j = f->col[i]; f->seen[j] != k; j = f->parent[j]) {
      f->path[n++] = j; /* below first: no column occurs twice */
      f->seen[j] = k;
      if (f->parent[j] < 0) f->parent[j] = k;
    }
    while (n > 0) f->path[--first] = f->path[--n];
  }
  return first;
}

/* Counts the elements of each column of L. */
static weft_err factor_count(factor *f, int32_t *count, int64_t *total) {
  factor_begin(f);
  for (int32_t k = 0; k < f->n; k++) {
    count[k]++;
    const int32_t first = factor_columns(f, k);
    for (int32_t i = first; i < f->n; i++) count[f->path[i]]++;
    *total += f->n - first + 1;
    if (*total > INT32_MAX)
      return weft__fail(WEFT_RESOURCE_EXHAUSTED, "the Cholesky factor would have more than 2**31 - 1 elements");
  }
  return WEFT_OK;
}

/* Takes column j's part from the row that is being computed: x -= L[:, j] * y, where the column so far is at
 * from .. to - 1. */
static void factor_subtract(const factor *f, const csr_matrix *columns, int64_t from, int64_t to, double y_re,
                            double y_im) {
  const int32_t *row = TENSOR_DATA(&columns->col, const int32_t);
  for (int64_t i = from; i < to; i++) {
    const double complex v = weft__csr_value(&columns->values, i);
    f->x_re[row[i]] -= creal(v) * y_re - cimag(v) * y_im;
    f->x_im[row[i]] -= creal(v) * y_im + cimag(v) * y_re;
  }
}

/* Computes row k.  `columns` has the columns of L one after the other, column j from base + begin[j] on; next[j] are
 * the elements that it has.  Returns false if the matrix is not positive definite. */
static bool factor_row(factor *f, csr_matrix *columns, int64_t base, const int32_t *begin, int32_t k) {
  const int32_t first = factor_columns(f, k);
  double diagonal = 0;
  for (int32_t i = f->row[k]; i < f->row[k + 1]; i++) {
    if (f->col[i] == k) {
      diagonal += f->re[i];
    } else {
      f->x_re[f->col[i]] += f->re[i];
      f->x_im[f->col[i]] -= f->im[i];
    }
  }
  for (int32_t i = first; i < f->n; i++) {
    const int32_t j = f->path[i];
    const int64_t at = base + begin[j];
    const double pivot = creal(weft__csr_value(&columns->values, at));
    const double re = f->x_re[j] / pivot, im = f->x_im[j] / pivot;
    f->x_re[j] = f->x_im[j] = 0;
    factor_subtract(f, columns, at + 1, at + f->next[j], re, im);
    diagonal -= re * re + im * im;
    TENSOR_DATA(&columns->col, int32_t)[at + f->next[j]] = k;
    weft__csr_put(&columns->values, at + f->next[j]++, re - im * (double complex)I);
  }
  if (diagonal <= 0) return false; /* NaN goes on, as in TensorFlow */
  TENSOR_DATA(&columns->col, int32_t)[base + begin[k]] = k;
  weft__csr_put(&columns->values, base + begin[k], sqrt(diagonal));
  f->next[k] = 1;
  return true;
}

/* ---- the op ---- */

static weft_err cholesky_check(const kernel *k, const csr_matrix *m) {
  const shape *p = &k->in[1]->shape;
  WEFT_TRY(check_square(k, m));
  if (p->rank + 1 != m->dense.rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "sparse matrix must have the same rank as permutation; got: %d != %d + 1.", m->dense.rank,
                             p->rank);
  if (p->rank == 2 && p->dim[0] != m->n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "permutation must have the same batch size as sparse matrix; got: %lld != %lld",
                             (long long)p->dim[0], (long long)m->n);
  if (p->dim[p->rank - 1] != m->rows)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "permutation must have the same number of elements in each batch as the number of rows in "
                             "sparse matrix; got: %lld != %lld",
                             (long long)p->dim[p->rank - 1], (long long)m->rows);
  return WEFT_OK;
}

static weft_err cholesky_open(const kernel *k, const csr_matrix *m, int64_t b, factor *f) {
  f->order = TENSOR_DATA(k->in[1], const int32_t) + b * m->rows;
  if (!factor_places(f))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "permutation must have each of the numbers 0 to %lld once, but that of batch index %lld "
                             "does not",
                             (long long)m->rows - 1, (long long)b);
  factor_take(f, m, b);
  return WEFT_OK;
}

/* Counts the elements of all factors' columns; makes `row` the places where the columns begin. */
static weft_err cholesky_count(const kernel *k, const csr_matrix *m, factor *f, int32_t *row, int64_t *start) {
  for (int64_t b = 0; b < m->n; b++) {
    int32_t *of = row + b * (m->rows + 1);
    start[b + 1] = start[b];
    WEFT_TRY(cholesky_open(k, m, b, f));
    WEFT_TRY(weft__kernel_in(k, factor_count(f, of + 1, &start[b + 1])));
    for (int64_t c = 0; c < m->rows; c++) of[c + 1] += of[c];
  }
  return WEFT_OK;
}

static weft_err cholesky_fill(const kernel *k, const csr_matrix *m, factor *f, csr_matrix *columns) {
  for (int64_t b = 0; b < m->n; b++) {
    WEFT_TRY(cholesky_open(k, m, b, f));
    factor_begin(f);
    for (int32_t r = 0; r < f->n; r++)
      if (!factor_row(f, columns, columns->start[b], columns->row + b * (m->rows + 1), r))
        return weft__kernel_fail(
            k, WEFT_INVALID_ARGUMENT,
            "Sparse Cholesky factorization failed for batch index %lld. The input might not be valid.", (long long)b);
  }
  return WEFT_OK;
}

static weft_err cholesky_make(const kernel *k, const csr_matrix *m, factor *f, csr_matrix **columns) {
  int32_t *row = weft__alloc_zero((size_t)(m->n * (m->rows + 1)) + 1, sizeof *row);
  int64_t *start = weft__alloc_zero((size_t)m->n + 1, sizeof *start);
  weft_err err = row && start ? cholesky_count(k, m, f, row, start) : WEFT_OOM;
  if (!err) err = weft__kernel_in(k, weft__csr_create(columns, m->values.dtype, &m->dense, start[m->n]));
  if (!err) {
    memcpy((*columns)->row, row, (size_t)(m->n * (m->rows + 1)) * sizeof *row);
    memcpy((*columns)->start, start, ((size_t)m->n + 1) * sizeof *start);
    err = cholesky_fill(k, m, f, *columns);
  }
  weft__free(start);
  weft__free(row);
  return err;
}

static weft_err cholesky_cpu(kernel *k) {
  csr_matrix *m = NULL, *columns = NULL, *made = NULL;
  factor f;
  WEFT_TRY(weft__csr_in(k, 0, &m));
  WEFT_TRY(cholesky_check(k, m));
  int64_t most = 0; /* elements of a matrix */
  for (int64_t b = 0; b < m->n; b++)
    if (m->start[b + 1] - m->start[b] > most) most = m->start[b + 1] - m->start[b];
  WEFT_TRY(factor_init(&f, m->rows, most));
  weft_err err = cholesky_make(k, m, &f, &columns);
  factor_finish(&f);
  if (!err) err = weft__kernel_in(k, weft__csr_transpose(&made, columns, false));
  weft__csr_release(columns);
  return err ? err : weft__variant_output(k, 0, &made->base);
}

/* ---- shapes ---- */

static weft_err infer_square(infer *s, shape *dense) {
  weft__csr_dense_shape(s->graph, s->node->in[0], dense);
  if (dense->rank < 0) return WEFT_OK;
  if (dense->rank != 2 && dense->rank != 3)
    return weft__infer_fail(s, "Invalid rank: %d.  Expected a known rank of either 2 or 3.", dense->rank);
  const int64_t rows = dense->dim[dense->rank - 2], cols = dense->dim[dense->rank - 1];
  if (rows >= 0 && cols >= 0 && rows != cols)
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)rows, (long long)cols);
  return WEFT_OK;
}

static weft_err order_infer(infer *s) {
  shape dense;
  WEFT_TRY(infer_square(s, &dense));
  if (dense.rank > 0) dense.rank--;
  s->out[0] = dense;
  return WEFT_OK;
}

static weft_err cholesky_infer(infer *s) {
  shape dense;
  const shape *p = &s->in[1];
  WEFT_TRY(infer_square(s, &dense));
  WEFT_TRY(weft__infer_rank_at_least(s, 1, 1));
  if (dense.rank >= 2 && p->rank >= 1) {
    const int64_t rows = dense.dim[dense.rank - 2], n = p->dim[p->rank - 1];
    if (rows >= 0 && n >= 0 && rows != n)
      return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)rows, (long long)n);
  }
  s->out[0] = SHAPE_SCALAR;
  return WEFT_OK;
}

OPS(csr_cholesky) = {
    {"SparseMatrixOrderingAMD(input:variant) -> (output:int32)",
     "An order of rows and columns in which the Cholesky factor of a sparse matrix has few elements.",
     .flags = OP_NO_FOLD, .infer = order_infer, .cpu = order_cpu},
    {"SparseMatrixSparseCholesky(input:variant, permutation:int32) -> (output:variant) | "
     "type:type{float,double,complex64,complex128}",
     "The Cholesky factor of a sparse matrix whose rows and columns were put into an order.", .flags = OP_NO_FOLD,
     .infer = cholesky_infer, .cpu = cholesky_cpu},
    {.scenario = "tests/parity/test_csr_matrices.py"},
};
