/* resample_test.c - tests that a rate which a header asks for costs no more than the sound. */
#include "base/alloc.h"
#include "codec/wav.h"
#include "tests/check.h"
#include <math.h>

/* The filter of the whole ratio would have 10^11 taps. */
TEST(a_few_samples_of_a_huge_rate_become_one) {
  float x[10], y[1] = {9};
  for (int i = 0; i < 10; i++) x[i] = 1;
  EXPECT_EQ_INT(weft__resampled_frames(10, UINT32_MAX, 1), 1);
  EXPECT_OK(weft__resample(x, 10, 1, UINT32_MAX, 1, y));
  EXPECT_NEAR(y[0], 10 * 0.97 / UINT32_MAX, 1e-10);
}

TEST(a_constant_stays_constant_at_any_rate) {
  enum { N = 4000 };
  static const uint32_t rates[][2] = {{8000, 11025}, {11025, 8000}, {44100, 8000}, {44099, 8000}, {8000, 7919}};
  float *x = weft__alloc(N * sizeof *x), *y = weft__alloc(2 * N * sizeof *y);
  EXPECT(x && y);
  for (int i = 0; i < N; i++) x[i] = 0.5f;
  for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
    const int64_t n = weft__resampled_frames(N, rates[r][0], rates[r][1]);
    EXPECT(n <= 2 * N);
    EXPECT_OK(weft__resample(x, N, 1, rates[r][0], rates[r][1], y));
    for (int64_t i = n / 4; i < n * 3 / 4; i++) EXPECT_NEAR(y[i], 0.5, 1e-3);
  }
  weft__free(x);
  weft__free(y);
}
