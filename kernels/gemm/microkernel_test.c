/* microkernel_test.c - compares every tile of every instruction set of this processor with three plain loops. */
#include "kernels/gemm/microkernel.h"
#include "tests/check.h"
#include <stdlib.h>

enum { TAPS = 3, RUN = 11, PAD = 5 };

static float noise(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(*state >> 8) / (float)(1 << 23) - 1.0f;
}

static float *numbers(int n, uint32_t seed) {
  float *p = malloc((size_t)n * sizeof *p);
  for (int i = 0; i < n; i++) p[i] = noise(&seed);
  return p;
}

/* Checks one tile of `rows` by `width`, whose result is surrounded by sentinels. */
static void check_tile(const tile_set *s, int width, int rows, bool by_row, bool add) {
  const int64_t a_row = by_row ? 40 : 1, a_col = by_row ? 1 : 9, b_row = width + 3, c_row = width + PAD;
  const int64_t tap[TAPS] = {0, 400, 150};
  float *a = numbers(1200, 1), *b = numbers((int)(TAPS * RUN * b_row), 2), *c = numbers((int)(rows * c_row), 3);
  float *was = malloc((size_t)(rows * c_row) * sizeof *was);
  memcpy(was, c, (size_t)(rows * c_row) * sizeof *was);
  const tile t = {a, tap, a_row, a_col, b, b_row, TAPS, RUN, c, c_row, add};
  (by_row ? weft__tile_by_row(s, width, rows) : weft__tile_by_col(s, width, rows))(&t);
  for (int p = 0; p < rows; p++)
    for (int j = 0; j < width + PAD; j++) {
      double sum = add ? (double)was[p * c_row + j] : 0;
      for (int i = 0; i < TAPS; i++)
        for (int r = 0; r < RUN; r++)
          sum += (double)a[tap[i] + p * a_row + r * a_col] * (double)b[(i * RUN + r) * b_row + (j < width ? j : 0)];
      EXPECT_NEAR(c[p * c_row + j], j < width ? sum : (double)was[p * c_row + j], 1e-5);
    }
  free(a), free(b), free(c), free(was);
}

TEST(every_tile_computes_the_same_as_plain_loops) {
  for (const tile_set *const *s = weft__tile_sets(); *s; s++)
    for (int width = (*s)->lanes; width <= weft__tile_width(*s); width *= 2)
      for (int rows = 1; rows <= weft__tile_rows(*s, width); rows++)
        for (int kind = 0; kind < 4; kind++) check_tile(*s, width, rows, kind & 1, kind & 2);
}

static void check_dot(const tile_set *s, int columns, int run, bool add) {
  const int rows = s->dot_rows, a_row = run + 3, b_row = run + 1, c_row = columns + PAD;
  float *a = numbers(rows * a_row, 1), *b = numbers(columns * b_row, 2), *c = numbers(rows * c_row, 3);
  float *was = numbers(rows * c_row, 3);
  s->dot[columns - 1](
      &(tile){.a = a, .a_row = a_row, .b = b, .b_row = b_row, .run = run, .c = c, .c_row = c_row, .add = add});
  for (int p = 0; p < rows; p++)
    for (int j = 0; j < c_row; j++) {
      double sum = add || j >= columns ? (double)was[p * c_row + j] : 0;
      for (int r = 0; r < run && j < columns; r++) sum += (double)a[p * a_row + r] * (double)b[j * b_row + r];
      EXPECT_NEAR(c[p * c_row + j], sum, 1e-5);
    }
  free(a), free(b), free(c), free(was);
}

TEST(every_dot_tile_computes_the_same_as_plain_loops) {
  for (const tile_set *const *s = weft__tile_sets(); *s; s++)
    for (int columns = 1; columns <= DOT_MAX_COLUMNS; columns++)
      for (int run = 0; run < 60; run += 7)
        for (int add = 0; add < 2; add++) check_dot(*s, columns, run, add);
}

TEST(panels_cover_the_columns_with_no_empty_vector) {
  for (const tile_set *const *s = weft__tile_sets(); *s; s++)
    for (int64_t columns = 1; columns < 300; columns++) {
      int64_t covered = 0;
      while (covered < columns) covered += weft__tile_panel(*s, columns - covered);
      EXPECT(covered - columns < (*s)->lanes);
    }
}
