/* cast_test.c - what fits comes through, what does not is refused or saturates, and nothing wraps. */
#include "base/cast.h"
#include "tests/check.h"

TEST(a_number_that_fits_is_converted) {
  int v = 7;
  EXPECT_OK(weft__int_of(&v, INT_MAX, "n"));
  EXPECT_EQ_INT(v, INT_MAX);
  EXPECT_OK(weft__int_of(&v, INT_MIN, "n"));
  EXPECT_EQ_INT(v, INT_MIN);
  EXPECT_OK(weft__int_of_size(&v, 5, "n"));
  EXPECT_EQ_INT(v, 5);
}

TEST(a_number_that_does_not_fit_is_refused_with_its_name_and_value) {
  int v = 7;
  EXPECT_ERR(weft__int_of(&v, (INT64_C(1) << 32) + 5, "task"), WEFT_INVALID_ARGUMENT,
             "task is 4294967301, out of range");
  EXPECT_ERR(weft__int_of(&v, INT64_MIN, "task"), WEFT_INVALID_ARGUMENT, "-9223372036854775808");
  EXPECT_ERR(weft__int_of_size(&v, SIZE_MAX, "n_dim"), WEFT_INVALID_ARGUMENT, "n_dim is 18446744073709551615");
  EXPECT_EQ_INT(v, 7);
}

TEST(saturation_gives_the_nearest_int) {
  EXPECT_EQ_INT(weft__int_sat(42), 42);
  EXPECT_EQ_INT(weft__int_sat((INT64_C(1) << 32) + 5), INT_MAX);
  EXPECT_EQ_INT(weft__int_sat(-(INT64_C(1) << 32)), INT_MIN);
  EXPECT_EQ_INT(weft__int_sat((size_t)1 << 32), INT_MAX);
  EXPECT_EQ_INT(weft__int_sat((size_t)3), 3);
}
