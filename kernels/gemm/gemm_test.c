/* gemm_test.c - checks that every way to multiply matrices gives the result of three plain loops. */
#include "kernels/gemm/gemm.h"
#include "base/pool.h"
#include "kernels/gemm/gemm_few_rows.h"
#include "kernels/gemm/gemm_narrow.h"
#include "kernels/gemm/gemm_packed.h"
#include "kernels/gemm/gemm_plain.h"
#include "kernels/gemm/gemm_tile.h"
#include "kernels/gemm/microkernel.h"
#include "tests/check.h"
#include <stdlib.h>

enum { PAD = 3 }; /* extra columns between the end of a row and the next row */
static const double UNTOUCHED = 77;

typedef void multiply_fn(const gemm *g);

static double noise(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (double)(*state >> 20) / 512.0 - 4; /* few bits, so that sums are exact in float */
}

static double get(weft_dtype t, const void *p, int64_t i) {
  return t == WEFT_FLOAT    ? (double)((const float *)p)[i]
         : t == WEFT_DOUBLE ? ((const double *)p)[i]
                            : ((const int32_t *)p)[i];
}

static void put(weft_dtype t, void *p, int64_t i, double v) {
  if (t == WEFT_FLOAT) ((float *)p)[i] = (float)v;
  if (t == WEFT_DOUBLE) ((double *)p)[i] = v;
  if (t == WEFT_INT32) ((int32_t *)p)[i] = (int32_t)v;
}

static void *matrix(weft_dtype t, int64_t rows, int64_t ld, uint32_t seed) {
  const int64_t n = rows * ld + 1;
  void *p = malloc((size_t)n * weft__dtype_size(t));
  for (int64_t i = 0; i < n; i++) put(t, p, i, seed ? noise(&seed) : UNTOUCHED);
  return p;
}

static void check_product(multiply_fn *multiply, weft_dtype t, int m, int n, int k, bool ta, bool tb, bool accumulate) {
  gemm g = {.type = t, .m = m, .n = n, .k = k, .ta = ta, .tb = tb, .accumulate = accumulate};
  g.lda = (ta ? m : k) + PAD, g.ldb = (tb ? k : n) + PAD, g.ldc = n + PAD;
  void *a = matrix(t, ta ? k : m, g.lda, 1), *b = matrix(t, tb ? n : k, g.ldb, 2), *c = matrix(t, m, g.ldc, 0);
  g.a = a, g.b = b, g.c = c;
  multiply(&g);
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      double sum = accumulate ? UNTOUCHED : 0;
      for (int p = 0; p < k; p++)
        sum += get(t, a, ta ? p * g.lda + i : i * g.lda + p) * get(t, b, tb ? j * g.ldb + p : p * g.ldb + j);
      if (t == WEFT_INT32) EXPECT(fabs(sum) < 2147483648.0);
      EXPECT_NEAR(get(t, c, i * g.ldc + j), sum, t == WEFT_FLOAT ? 1e-2 : 1e-9);
    }
    for (int j = n; j < n + PAD; j++) EXPECT_NEAR(get(t, c, i * g.ldc + j), UNTOUCHED, 0);
  }
  free(a), free(b), free(c);
}

static void check_all(multiply_fn *multiply, weft_dtype t) {
  static const int sizes[][3] = {{1, 1, 1},    {1, 70, 5},  {5, 1, 70},    {7, 64, 9},  {13, 17, 300},
                                 {6, 33, 257}, {97, 10, 3}, {100, 65, 40}, {3, 100, 0}, {50, 60, 70}};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int flags = 0; flags < 8; flags++)
      check_product(multiply, t, sizes[s][0], sizes[s][1], sizes[s][2], flags & 1, flags & 2, flags & 4);
}

TEST(tiles_multiply_floats) { check_all(weft__gemm_tile, WEFT_FLOAT); }

static void narrow_if_it_is(const gemm *g) { (weft__gemm_narrow_has(g) ? weft__gemm_narrow : weft__gemm_tile)(g); }

TEST(narrow_products_run_along_the_large_operand) {
  check_all(narrow_if_it_is, WEFT_FLOAT);
  for (int n = 1; n <= TILE_MAX_ROWS; n++)
    for (int flags = 0; flags < 8; flags++)
      check_product(narrow_if_it_is, WEFT_FLOAT, 30 + 11 * n, n, 21, flags & 1, flags & 2, flags & 4);
  check_product(narrow_if_it_is, WEFT_FLOAT, 21, 10, 1030, false, false, false);
  EXPECT(weft__gemm_narrow_has(&(gemm){.type = WEFT_FLOAT, .m = 784, .n = 10, .k = 100, .ta = true}));
  EXPECT(weft__gemm_narrow_has(&(gemm){.type = WEFT_FLOAT, .m = 100, .n = 10, .k = 784}));
}

static int packed; /* products that were */

static void packed_if_possible(const gemm *g) {
  const bool was = weft__gemm_packed(g);
  packed += was;
  if (!was) weft__gemm_tile(g);
}

TEST(packed_operands_give_the_same_product) {
  static const int sizes[][3] = {{8, 64, 79}, {11, 100, 300}, {400, 70, 20}, {96, 64, 257}, {33, 79, 513}};
  check_all(packed_if_possible, WEFT_FLOAT);
  packed = 0;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int flags = 0; flags < 8; flags++)
      check_product(packed_if_possible, WEFT_FLOAT, sizes[s][0], sizes[s][1], sizes[s][2], flags & 1, flags & 2,
                    flags & 4);
  EXPECT_EQ_INT(packed, weft__tile_set()->packed ? 40 : 0);
}

static int few; /* products that were of few rows */

static void few_rows_if_it_is(const gemm *g) {
  const bool was = weft__gemm_few_rows(g);
  few += was;
  if (!was) weft__gemm_tile(g);
}

TEST(products_of_few_rows_read_the_large_operand_in_place) {
  /* dot products, one panel, two panels, sums in several parts, and rows that are whole pages apart */
  static const int sizes[][3] = {{2, 1030, 260}, {7, 513, 515},  {12, 300, 1024 - PAD}, {13, 67, 129},
                                 {16, 90, 300},  {45, 530, 515}, {64, 270, 1024 - PAD}, {20, 65, 4100}};
  check_all(few_rows_if_it_is, WEFT_FLOAT);
  few = 0;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int flags = 0; flags < 8; flags++)
      check_product(few_rows_if_it_is, WEFT_FLOAT, sizes[s][0], sizes[s][1], sizes[s][2], flags & 1, flags & 2,
                    flags & 4);
  if (weft__tile_set()->lanes == 16) EXPECT_EQ_INT(few, 3 * 2 + 5 * 4);
  if (weft__tile_set()->packed) EXPECT_EQ_INT(few, 0);
}

TEST(plain_loops_multiply_floats_doubles_and_integers) {
  check_all(weft__gemm_plain, WEFT_FLOAT);
  check_all(weft__gemm_plain, WEFT_DOUBLE);
  check_all(weft__gemm_plain, WEFT_INT32);
}

TEST(whoever_is_chosen_multiplies_right) {
  check_all(weft__gemm_serial, WEFT_FLOAT);
  check_all(weft__gemm_serial, WEFT_DOUBLE);
  check_all(weft__gemm_serial, WEFT_INT32);
}

static step threads;

static void on_threads(const gemm *g) {
  const kernel k = {.step = &threads};
  weft__gemm(&k, g);
}

TEST(a_product_is_the_same_when_split_over_threads) {
  EXPECT_OK(weft__pool_create(&threads.intra, 3));
  for (int flags = 0; flags < 8; flags++) {
    check_product(on_threads, WEFT_FLOAT, 130, 200, 250, flags & 1, flags & 2, flags & 4);
    check_product(on_threads, WEFT_DOUBLE, 300, 100, 211, flags & 1, flags & 2, flags & 4);
  }
  weft__pool_destroy(threads.intra);
}

/* The adjoint of (1+2i) times i is (1-2i)i = 2+i.  The transpose only gives (1+2i)i = -2+i. */
TEST(a_complex_operand_is_transposed_or_its_adjoint) {
  const double complex a = 1 + 2 * I, b = I;
  double complex c = 0;
  gemm g = {.type = WEFT_COMPLEX128, .m = 1, .n = 1, .k = 1, .a = &a, .b = &b, .c = &c, .lda = 1, .ldb = 1, .ldc = 1};
  for (int i = 0; i < 4; i++) {
    g.ta = i & 1;
    g.adjoint = i & 2;
    weft__gemm_serial(&g);
    EXPECT_NEAR(creal(c), i == 3 ? 2 : -2, 1e-12);
    EXPECT_NEAR(cimag(c), 1, 1e-12);
  }
}
