/* check_test.c - tests the expectations of check.h: correct values pass, and wrong ones fail. */
#include "tests/check.h"
#include <math.h>

TEST(equal_values_pass) {
  EXPECT_EQ_INT(-3, -3);
  EXPECT_EQ_STR("a", "a");
  EXPECT_EQ_MEM("ab", "ab", 2);
  EXPECT_CONTAINS("abc", "bc");
}

TEST(near_knows_nan_and_infinity) {
  EXPECT_NEAR(1.0, 1.0 + 1e-9, 1e-6);
  EXPECT_NEAR(NAN, NAN, 0);
  EXPECT_NEAR(INFINITY, INFINITY, 0);
}
