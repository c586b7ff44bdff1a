/* blocked_test.c - multiplies the factors and solutions of blocked.c out again, for sizes around its blocks. */
#include "base/alloc.h"
#include "ops/linalg/matrix.h"
#include "tests/check.h"
#include <math.h>

enum { LARGEST = 150 };
static const int64_t sizes[] = {1, 2, 7, 16, 17, 33, 50, 97, LARGEST};

static matrix new_matrix(bool is_complex, int64_t rows, int64_t cols) {
  void *data = weft__alloc_zero((size_t)(rows * cols), sizeof(double complex));
  EXPECT(data != NULL);
  return (matrix){is_complex, rows, cols, data};
}

/* Fills m with numbers between -1 and 1; `diagonal` is added to those on the diagonal. */
static void fill_matrix(const matrix *m, double diagonal) {
  uint64_t state = 7;
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t j = 0; j < m->cols; j++) {
      double part[2];
      for (int p = 0; p < 2; p++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        part[p] = (double)(state >> 11) * 0x1p-52 - 1;
      }
      weft__matrix_set(m, i, j, part[0] + part[1] * I + (i == j ? diagonal : 0));
    }
}

static matrix copy_of(const matrix *m) {
  const matrix copy = new_matrix(m->is_complex, m->rows, m->cols);
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t j = 0; j < m->cols; j++) weft__matrix_set(&copy, i, j, weft__matrix_get(m, i, j));
  return copy;
}

static void expect_close(const char *what, int64_t n, double complex got, double complex want) {
  if (!(cabs(got - want) <= 1e-9 * (1 + cabs(want))))
    FAIL("%s of size %lld: %g%+gi, not %g%+gi", what, (long long)n, creal(got), cimag(got), creal(want), cimag(want));
}

static void check_lu(bool is_complex, int64_t n) {
  const matrix m = new_matrix(is_complex, n, n);
  int64_t pivot[LARGEST];
  fill_matrix(&m, 0);
  const matrix a = copy_of(&m);
  EXPECT(weft__matrix_lu(NULL, &m, pivot));
  for (int64_t i = 0; i < n; i++) weft__matrix_swap(&a, i, pivot[i]);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      double complex sum = i <= j ? weft__matrix_get(&m, i, j) : 0;
      for (int64_t p = 0; p < i && p <= j; p++) sum += weft__matrix_get(&m, i, p) * weft__matrix_get(&m, p, j);
      if (i > j) EXPECT(cabs(weft__matrix_get(&m, i, j)) <= 1 + 1e-12); /* the pivot was the largest of its column */
      expect_close("L U", n, sum, weft__matrix_get(&a, i, j));
    }
  weft__free(m.data);
  weft__free(a.data);
}

TEST(the_factors_of_an_elimination_multiply_to_the_matrix) {
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    check_lu(false, sizes[s]);
    check_lu(true, sizes[s]);
  }
}

TEST(a_column_of_zeros_is_found_behind_the_first_block) {
  const matrix m = new_matrix(false, 40, 40);
  int64_t pivot[LARGEST];
  fill_matrix(&m, 0);
  for (int64_t i = 0; i < 40; i++) weft__matrix_set(&m, i, 30, 0);
  EXPECT(!weft__matrix_lu(NULL, &m, pivot));
  weft__free(m.data);
}

/* Returns element (i, j) of the triangle or its adjoint. */
static double complex triangle_at(const matrix *a, int64_t i, int64_t j, bool lower, bool conj_t, bool unit) {
  const int64_t row = conj_t ? j : i, col = conj_t ? i : j;
  if (row == col && unit) return 1;
  if (lower ? col > row : col < row) return 0;
  const double complex x = weft__matrix_get(a, row, col);
  return conj_t ? conj(x) : x;
}

static void check_triangle(bool is_complex, int64_t n, int flags) {
  const bool lower = flags & 1, conj_t = flags & 2, unit = flags & 4;
  const matrix a = new_matrix(is_complex, n, n), x = new_matrix(is_complex, n, 5);
  fill_matrix(&a, (double)(3 * n));
  for (int64_t i = 0; unit && i < n; i++) weft__matrix_scale(&a, i, 1.0 / (double)n); /* so that solutions stay small */
  fill_matrix(&x, 0);
  const matrix b = copy_of(&x);
  weft__matrix_triangle(NULL, &a, &x, lower, conj_t, unit);
  for (int64_t i = 0; i < n; i++)
    for (int64_t c = 0; c < 5; c++) {
      double complex sum = 0;
      for (int64_t j = 0; j < n; j++) sum += triangle_at(&a, i, j, lower, conj_t, unit) * weft__matrix_get(&x, j, c);
      expect_close("a x", n, sum, weft__matrix_get(&b, i, c));
    }
  weft__free(a.data);
  weft__free(x.data);
  weft__free(b.data);
}

TEST(solutions_of_triangles_satisfy_their_equations) {
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int flags = 0; flags < 8; flags++) {
      check_triangle(false, sizes[s], flags);
      check_triangle(true, sizes[s], flags);
    }
}

static void check_cholesky(bool is_complex, int64_t n) {
  const matrix m = new_matrix(is_complex, n, n);
  fill_matrix(&m, (double)(3 * n));
  for (int64_t i = 0; i < n; i++) weft__matrix_set(&m, i, i, creal(weft__matrix_get(&m, i, i)));
  const matrix a = copy_of(&m);
  EXPECT(weft__matrix_cholesky(NULL, &m));
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i; j < n; j++) {
      double complex sum = 0;
      for (int64_t p = 0; p <= i; p++) sum += conj(weft__matrix_get(&m, p, i)) * weft__matrix_get(&m, p, j);
      expect_close("U^H U", n, sum, weft__matrix_get(&a, i, j));
    }
  weft__matrix_set(&a, n - 1, n - 1, -1);
  EXPECT(!weft__matrix_cholesky(NULL, &a));
  weft__free(m.data);
  weft__free(a.data);
}

TEST(cholesky_factors_multiply_to_the_upper_half) {
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    check_cholesky(false, sizes[s]);
    check_cholesky(true, sizes[s]);
  }
}
