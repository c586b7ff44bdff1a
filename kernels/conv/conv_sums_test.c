/* conv_sums_test.c - checks that the transforms of every scheme and of every instruction set of this processor give
 * a convolution. */
#include "kernels/conv/conv_sums.h"
#include "tests/check.h"

enum {
  N = SQUARE_MAX_POINTS,
  F = SQUARE_MAX_FILTER,
  R = SQUARE_RESULTS,
  D = F + R - 1,
  WIDE = 2 * 16,
  POINT = WIDE + 3
};

/* Runs every scheme with every instruction set. */
#define EACH_SUMS(s)                                                                                                   \
  for (const tile_set *const *set = weft__tile_sets(); *set; set++)                                                    \
    for (int scheme = 0; scheme < SQUARE_SCHEMES; scheme++)                                                            \
      for (const winograd_2d_transforms *s = weft__winograd_2d_transforms(*set, (square_scheme)scheme); s; s = NULL)

typedef struct numbers {
  float d[D * D * WIDE], g[F * F * WIDE], y[R * R * WIDE];
  float u[N * N * POINT], v[N * N * POINT];
} numbers;

static float noise(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(*state >> 8) / (float)(1 << 23) - 1.0f;
}

/* Returns the result at (i, j) of channel c by plain sums over the pixels that exist. */
static double plain(const winograd_2d_transforms *s, const numbers *n, const patch *p, int i, int j, int c) {
  double sum = 0;
  for (int h = 0; h < s->taps; h++)
    for (int w = 0; w < s->taps; w++) {
      if (i + h < p->begin[0] || i + h >= p->end[0] || j + w < p->begin[1] || j + w >= p->end[1]) continue;
      sum += (double)n->d[((i + h) * D + j + w) * WIDE + c] * (double)n->g[(h * s->taps + w) * WIDE + c];
    }
  return sum;
}

static void check(const winograd_2d_transforms *s, const int begin[2], const int end[2]) {
  static numbers n;
  uint32_t seed = 1;
  for (int i = 0; i < D * D * WIDE; i++) n.d[i] = noise(&seed);
  for (int i = 0; i < F * F * WIDE; i++) n.g[i] = noise(&seed);
  const patch d = {n.d, 0, D * WIDE, WIDE, {begin[0], begin[1]}, {end[0], end[1]}};
  const patch y = {n.y, 0, R * WIDE, WIDE, {0, 0}, {R, R}};
  s->pixels(&d, n.u, POINT, WIDE);
  s->filter(n.g, WIDE, n.v, POINT, WIDE);
  for (int i = 0; i < s->points * s->points * POINT; i++) n.u[i] *= n.v[i];
  s->results(n.u, POINT, &y, WIDE);
  for (int i = 0; i < R; i++)
    for (int j = 0; j < R; j++)
      for (int c = 0; c < WIDE; c++) EXPECT_NEAR(n.y[(i * R + j) * WIDE + c], plain(s, &n, &d, i, j, c), 1e-4);
}

TEST(products_of_sums_are_a_convolution) { EACH_SUMS(s) check(s, (int[]){0, 0}, (int[]){s->reach, s->reach}); }

TEST(pixels_outside_the_image_count_as_zero) {
  EACH_SUMS(s) {
    check(s, (int[]){2, 0}, (int[]){s->reach, 3});
    check(s, (int[]){0, s->reach - 2}, (int[]){s->reach - 1, s->reach});
    check(s, (int[]){s->reach, s->reach}, (int[]){s->reach, s->reach});
  }
}

TEST(results_outside_the_image_are_not_written) {
  EACH_SUMS(s) {
    static float m[N * N * WIDE], y[R * R * WIDE];
    for (int i = 0; i < N * N * WIDE; i++) m[i] = 1;
    for (int i = 0; i < R * R * WIDE; i++) y[i] = 7;
    s->results(m, WIDE, &(patch){y, 0, R * WIDE, WIDE, {0, 0}, {1, 2}}, WIDE);
    for (int i = 0; i < R * WIDE; i++) EXPECT(y[i] != 7 && y[R * WIDE + i] == 7);
  }
}
