/* vmath_test.c - compares the vectorized functions with the C library in double, over the whole range of float. */
#include "kernels/simd/vmath.h"
#include "base/denormal.h"
#include "tensor/dtype.h"
#include "tests/check.h"
#include <float.h>

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }

/* Returns the unit in the last place of a float near y. */
static double ulp(double y) {
  int e;
  frexp(y, &e);
  return ldexp(1, e - 24 < -149 ? -149 : e - 24);
}

typedef float float_fn(float);
typedef double double_fn(double);

static void check_range(const char *name, float_fn *f, double_fn *exact, float low, float high, double ulps,
                        double floor_) {
  for (uint64_t bits = 0; bits < (uint64_t)1 << 32; bits += 40009) {
    const float x = vfloat((uint32_t)bits);
    if (!(x >= low && x <= high)) continue;
    const double want = exact((double)x);
    const float got = f(x);
    if (want != want || fabs(want) > FLT_MAX) {
      if (fabs(want) > FLT_MAX && fabs(want) < 3.41e38) continue; /* may round either way */
      if (!(want != want ? got != got : got == (float)want))
        FAIL("%s(%a) is %a, not %a", name, (double)x, (double)got, want);
      continue;
    }
    const double error = fabs((double)got - want);
    if (!(error <= ulps * ulp(want) || error <= floor_))
      FAIL("%s(%a) is %a, not %a", name, (double)x, (double)got, want);
  }
}

static float exp_of(float x) { return vexpf(x); }
static float expm1_of(float x) { return vexpm1f(x); }
static float log_of(float x) { return vlogf(x); }
static float log1p_of(float x) { return vlog1pf(x); }
static float tanh_of(float x) { return vtanhf(x); }
static float sigmoid_of(float x) { return vsigmoidf(x); }
static float softplus_of(float x) { return vsoftplusf(x); }
static float erf_of(float x) { return verff(x); }
static float sin_of(float x) { return vsinf(x); }
static float cos_of(float x) { return vcosf(x); }

TEST(functions_are_within_a_few_ulp_everywhere) {
  check_range("exp", exp_of, exp, -INFINITY, INFINITY, 2, 0);
  check_range("expm1", expm1_of, expm1, -INFINITY, INFINITY, 2, 0);
  check_range("log", log_of, log, -INFINITY, INFINITY, 2, 0);
  check_range("log1p", log1p_of, log1p, -INFINITY, INFINITY, 3, 0);
  check_range("tanh", tanh_of, tanh, -INFINITY, INFINITY, 7, 0);
  check_range("sigmoid", sigmoid_of, sigmoid, -INFINITY, INFINITY, 3, 0);
  check_range("softplus", softplus_of, softplus, -INFINITY, INFINITY, 4, 0);
  check_range("erf", erf_of, erf, -INFINITY, INFINITY, 7, 0);
  check_range("sin", sin_of, sin, -VMATH_MAX_ANGLE, VMATH_MAX_ANGLE, 3, 1e-7);
  check_range("cos", cos_of, cos, -VMATH_MAX_ANGLE, VMATH_MAX_ANGLE, 3, 1e-7);
}

TEST(nan_stays_nan_and_zero_keeps_its_sign) {
  float_fn *all[] = {exp_of, expm1_of, log_of, log1p_of, tanh_of, sigmoid_of, softplus_of, erf_of};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) EXPECT(all[i](NAN) != all[i](NAN));
  float_fn *odd[] = {expm1_of, log1p_of, tanh_of, erf_of};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) EXPECT(signbit(odd[i](-0.0f)) && odd[i](-0.0f) == 0);
}

TEST(every_half_survives_the_trip_through_float) {
  const uint64_t mode = weft__denormal_flush(); /* as in a step */
  for (uint32_t h = 0; h < 65536; h++) {
    const float f = vfrom_half((uint16_t)h);
    if (f == f) EXPECT_EQ_INT(vto_half(f), h);
    const float b = vfrom_bfloat16((uint16_t)h);
    if (b == b) EXPECT_EQ_INT(vto_bfloat16(b), h);
    EXPECT(f != f || f == weft__half_to_float((uint16_t)h));
  }
  weft__denormal_restore(mode);
  EXPECT(vfrom_half(vto_half(NAN)) != vfrom_half(vto_half(NAN)));
  EXPECT(vfrom_bfloat16(vto_bfloat16(NAN)) != vfrom_bfloat16(vto_bfloat16(NAN)));
}

TEST(floats_round_to_the_nearest_half_and_ties_to_even) {
  EXPECT_EQ_INT(vto_half(1.0f + 0x1p-11f), 0x3c00);        /* a tie, down to even */
  EXPECT_EQ_INT(vto_half(1.0f + 3 * 0x1p-11f), 0x3c02);    /* a tie, up to even */
  EXPECT_EQ_INT(vto_half(65519.0f), 0x7bff);               /* the largest half */
  EXPECT_EQ_INT(vto_half(65520.0f), 0x7c00);               /* halfway to 2^16: infinity */
  EXPECT_EQ_INT(vto_half(0x1p-25f), 0);                    /* half of the smallest, a tie */
  EXPECT_EQ_INT(vto_half(-0x1.8p-24f), 0x8002);            /* a subnormal tie, to even */
  EXPECT_EQ_INT(vto_bfloat16(1.0f + 0x1p-8f), 0x3f80);     /* a tie, down to even */
  EXPECT_EQ_INT(vto_bfloat16(1.0f + 3 * 0x1p-8f), 0x3f82); /* a tie, up to even */
}
