/* gemm_amx_test.c - products on the matrix unit: what they are, how they round, and numbers that it cannot multiply. */
#include "kernels/gemm/gemm_amx.h"
#include "kernels/gemm/amx.h"
#include "kernels/gemm/gemm_tile.h"
#include "tests/check.h"
#include <math.h>
#include <stdlib.h>

enum { PAD = 3 }; /* columns between the end of a row of c and the next row */
static const float UNTOUCHED = 77;
static const kernel alone;

static float noise(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(*state >> 8) / (float)(1 << 23) - 1.0f;
}

static float *numbers(int64_t n, uint32_t seed) {
  float *p = malloc((size_t)n * sizeof *p);
  for (int64_t i = 0; i < n; i++) p[i] = noise(&seed);
  return p;
}

/* A product and what it is in double precision. */
typedef struct example {
  gemm g;
  float *a, *b, *c;
} example;

static float *left(const example *e, int64_t i, int64_t r) {
  return e->a + (e->g.ta ? r * e->g.lda + i : i * e->g.lda + r);
}
static float *right(const example *e, int64_t r, int64_t j) {
  return e->b + (e->g.tb ? j * e->g.ldb + r : r * e->g.ldb + j);
}

static example make(int64_t m, int64_t n, int64_t k, int flags) {
  example e = {.g = {.type = WEFT_FLOAT, .m = m, .n = n, .k = k}};
  gemm *g = &e.g;
  g->ta = flags & 1, g->tb = flags & 2, g->accumulate = flags & 4;
  g->lda = (g->ta ? m : k) + PAD, g->ldb = (g->tb ? k : n) + PAD, g->ldc = n + PAD;
  e.a = numbers((g->ta ? k : m) * g->lda, 1), e.b = numbers((g->tb ? n : k) * g->ldb, 2);
  e.c = malloc((size_t)(m * g->ldc) * sizeof(float));
  g->a = e.a, g->b = e.b, g->c = e.c;
  return e;
}

static void end(const example *e) { free(e->a), free(e->b), free(e->c); }

static double exact(const example *e, int64_t i, int64_t j) {
  double sum = e->g.accumulate ? (double)UNTOUCHED : 0;
  for (int64_t r = 0; r < e->g.k; r++) sum += (double)*left(e, i, r) * (double)*right(e, r, j);
  return sum;
}

static void clear(const example *e) {
  for (int64_t i = 0; i < e->g.m * e->g.ldc; i++) e->c[i] = UNTOUCHED;
}

/* Returns the root of the mean square of the errors, relative to that of the results. */
static double error_of(const example *e) {
  double errors = 0, results = 0;
  for (int64_t i = 0; i < e->g.m; i++) {
    for (int64_t j = 0; j < e->g.n; j++) {
      const double right_one = exact(e, i, j), off = (double)e->c[i * e->g.ldc + j] - right_one;
      errors += off * off, results += right_one * right_one;
    }
    for (int64_t j = e->g.n; j < e->g.ldc; j++) EXPECT_NEAR(e->c[i * e->g.ldc + j], UNTOUCHED, 0);
  }
  return sqrt(errors / results);
}

typedef bool multiply(const example *e); /* returns false if the matrix unit does not take the product */

static void expect_errors_of_floats(const int64_t (*sizes)[3], size_t n, multiply *run) {
  if (!weft__amx_has()) return;
  for (size_t s = 0; s < n; s++)
    for (int flags = (int)s % 3; flags < 8; flags += 3) {
      const example e = make(sizes[s][0], sizes[s][1], sizes[s][2], flags);
      clear(&e);
      weft__gemm_tile(&e.g);
      const double of_floats = error_of(&e);
      clear(&e);
      EXPECT(run(&e));
      EXPECT(error_of(&e) <= of_floats);
      end(&e);
    }
}

static bool multiply_alone(const example *e) { return weft__gemm_amx(&alone, &e->g); }

TEST(errors_are_at_most_those_of_float_products) {
  /* edges of tiles, of blocks of rows and of columns, of packed terms, and of all of them */
  static const int64_t sizes[][3] = {
      {224, 224, 192}, {162, 513, 201}, {321, 177, 250}, {450, 164, 520}, {200, 250, 1060}};
  expect_errors_of_floats(sizes, sizeof sizes / sizeof *sizes, multiply_alone);
}

/* Numbers without three exact pieces, one in a row of a and one in a column of b, are multiplied as floats.  Rows and
 * columns beside theirs are too, and must be right as well. */
TEST(numbers_without_exact_pieces_are_multiplied_as_floats) {
  const float odd[] = {INFINITY, -INFINITY, NAN, 3.4e38f, 1e-36f, 1e-42f};
  if (!weft__amx_has()) return;
  for (size_t o = 0; o < sizeof odd / sizeof *odd; o++)
    for (int flags = (int)o % 3; flags < 8; flags += 3) {
      const example e = make(224, 192, 320, flags);
      *left(&e, 40, 300) = odd[o];
      *right(&e, 7, 100) = odd[o];
      for (int64_t r = 0; r < 320; r++) *left(&e, 90, r) *= 1e-36f;
      clear(&e);
      EXPECT(weft__gemm_amx(&alone, &e.g));
      for (int64_t i = 0; i < e.g.m; i++)
        for (int64_t j = 0; j < e.g.n; j++) {
          const double sum = exact(&e, i, j), got = (double)e.c[i * e.g.ldc + j];
          if (isnan(sum) || isinf(sum))
            EXPECT(isnan(sum) ? isnan(got) : got == sum);
          else if (fabs(sum) < 3e38)
            EXPECT_NEAR(got, sum,
                        1e-4 * fmax(fabs(sum), i == 90 && !e.g.accumulate ? 1e-35 : fmax(1, fabs((double)odd[o]))));
        }
      end(&e);
    }
}

/* Of more than 16,384 rows or columns, so many are packed at a time. */
TEST(products_of_many_rows_are_computed_in_parts) {
  if (!weft__amx_has()) return;
  for (int flags = 0; flags < 8; flags++) {
    const bool high = flags & 1;
    const example e = make(high ? 16500 : 170, high ? 170 : 16500, 170, flags);
    clear(&e);
    EXPECT(weft__gemm_amx(&alone, &e.g));
    for (int64_t at = 16380; at < 16500; at++)
      for (int64_t other = 0; other < 170; other += 7) {
        const int64_t i = high ? at : other, j = high ? other : at;
        EXPECT_NEAR(e.c[i * e.g.ldc + j], exact(&e, i, j), 1e-4);
      }
    end(&e);
  }
}

TEST(small_products_are_left_to_others) {
  static const int64_t sizes[][3] = {{100, 500, 784}, {1024, 128, 512}, {500, 500, 100}};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const example e = make(sizes[s][0], sizes[s][1], sizes[s][2], 0);
    EXPECT(!weft__gemm_amx(&alone, &e.g));
    end(&e);
  }
}

/* Computes the product with a b that was packed before.  Returns false if that is refused. */
static bool multiply_shared(const example *e) {
  void *packed = aligned_alloc(64, (size_t)(weft__gemm_amx_shared_bytes(e->g.n, e->g.k) + 63) / 64 * 64);
  weft__gemm_amx_share(&alone, &e->g, packed);
  const bool done = weft__gemm_amx_shared(&alone, &e->g, packed);
  free(packed);
  return done;
}

TEST(products_that_share_b_round_as_float_products_do) {
  /* one strip of rows and two, edges of tiles, more terms of a than are packed at a time */
  static const int64_t sizes[][3] = {{16, 64, 64},    {32, 576, 2048}, {33, 130, 100},
                                     {100, 500, 784}, {17, 79, 65},    {320, 70, 1100}};
  expect_errors_of_floats(sizes, sizeof sizes / sizeof *sizes, multiply_shared);
}

TEST(a_shared_b_may_have_numbers_without_exact_pieces) {
  const float odd[] = {INFINITY, NAN, 3.4e38f, 1e-42f};
  if (!weft__amx_has()) return;
  for (size_t o = 0; o < sizeof odd / sizeof *odd; o++) {
    const example e = make(40, 192, 320, (int)o);
    *left(&e, 35, 300) = odd[o];
    *right(&e, 7, 100) = odd[o];
    clear(&e);
    EXPECT(multiply_shared(&e));
    for (int64_t i = 0; i < e.g.m; i++)
      for (int64_t j = 0; j < e.g.n; j++) {
        const double sum = exact(&e, i, j), got = (double)e.c[i * e.g.ldc + j];
        if (isnan(sum) || isinf(sum))
          EXPECT(isnan(sum) ? isnan(got) : got == sum);
        else if (fabs(sum) < 3e38)
          EXPECT_NEAR(got, sum, 1e-4 * fmax(1, fabs(sum)));
      }
    end(&e);
  }
}

TEST(a_shared_b_is_refused_for_products_of_other_sizes) {
  if (!weft__amx_has()) return;
  example e = make(32, 128, 96, 0);
  void *packed = aligned_alloc(64, (size_t)(weft__gemm_amx_shared_bytes(128, 96) + 63) / 64 * 64);
  weft__gemm_amx_share(&alone, &e.g, packed);
  e.g.n = 96;
  EXPECT(!weft__gemm_amx_shared(&alone, &e.g, packed));
  e.g.n = 128, e.g.m = 5000;
  EXPECT(!weft__gemm_amx_shared(&alone, &e.g, packed));
  free(packed);
  end(&e);
}
