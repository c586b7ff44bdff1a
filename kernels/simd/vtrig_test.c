/* vtrig_test.c - compares the vectorized functions with the C library in double, over the whole range of float. */
#include "kernels/simd/vtrig.h"
#include "tests/check.h"
#include <float.h>

/* Returns the unit in the last place of a float near y. */
static double float_unit(double y) {
  int e;
  frexp(y, &e);
  return ldexp(1, e < -125 ? -149 : e - 24);
}

/* Fails unless got is within so many ulp of the exact value, with its sign. */
static void expect_near(const char *name, double x, float got, double want, double ulps) {
  bool same = fabs((double)got - want) <= ulps * float_unit(want) && !signbit(got) == !signbit(want);
  if (want != want) same = got != got;
  if (fabs(want) > FLT_MAX) same = fabs(want) < 3.41e38 || (double)got == (want > 0 ? INFINITY : -INFINITY);
  if (!same) FAIL("%s(%a) is %a, not %a", name, x, (double)got, want);
}

#define CHECK_ALL(name, limit, ulps)                                                                                   \
  for (uint64_t bits = 0; bits < (uint64_t)1 << 32; bits += 80021) {                                                   \
    const float x = vfloat((uint32_t)bits);                                                                            \
    if (fabsf(x) <= limit || limit == INFINITY) expect_near(#name, (double)x, v##name##f(x), name((double)x), ulps);   \
  }

TEST(inverse_functions_are_within_two_ulp_everywhere){CHECK_ALL(atan, INFINITY, 2) CHECK_ALL(asin, INFINITY, 2.5)
                                                          CHECK_ALL(acos, INFINITY, 2)}

TEST(hyperbolic_functions_and_their_inverses_are_within_three_ulp_everywhere){
    CHECK_ALL(sinh, INFINITY, 2) CHECK_ALL(cosh, INFINITY, 2) CHECK_ALL(asinh, INFINITY, 3)
        CHECK_ALL(acosh, INFINITY, 3) CHECK_ALL(atanh, INFINITY, 3.2)}

TEST(the_tangent_is_within_three_ulp_also_near_its_poles) {
  CHECK_ALL(tan, VMATH_MAX_ANGLE, 3)
  for (int k = -999; k <= 999; k += 2) { /* the floats on both sides of each pole */
    const float pole = (float)(k * 1.57079632679489662), side = nextafterf(pole, 0);
    expect_near("tan", (double)pole, vtanf(pole), tan((double)pole), 3);
    expect_near("tan", (double)side, vtanf(side), tan((double)side), 3);
  }
}

TEST(atan2_has_the_angles_of_the_c_library) {
  const float at[] = {0.0f, -0.0f, 1.0f, -1.0f, 3e38f, -3e38f, 1e-38f, -1e-38f, INFINITY, -INFINITY, NAN, 0.7f};
  const size_t n = sizeof at / sizeof *at;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      expect_near("atan2", (double)at[i], vatan2f(at[i], at[j]), atan2((double)at[i], (double)at[j]), 3);
  for (uint32_t bits = 0x38000000u; bits < 0x48000000u; bits += 40009) {
    const float y = vfloat(bits), x = vfloat(0x7f000000u - bits) * (bits & 1 ? 0.37f : -0.37f);
    expect_near("atan2", (double)y, vatan2f(y, x), atan2((double)y, (double)x), 3);
  }
}
