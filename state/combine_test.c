/* combine_test.c - tests elementwise updates of each type. */
#include "state/combine.h"

#include "tests/check.h"

TEST(floats_are_combined_by_element_or_with_a_scalar) {
  float a[] = {1, 2, 3}, b[] = {4, 5, 6}, d[3];
  EXPECT(weft__combine(COMBINE_SUB, WEFT_FLOAT, d, a, b, 1, 3));
  EXPECT_EQ_MEM(d, ((float[]){-3, -3, -3}), sizeof d);
  EXPECT(weft__combine(COMBINE_MUL, WEFT_FLOAT, a, a, b, 0, 3));
  EXPECT_EQ_MEM(a, ((float[]){4, 8, 12}), sizeof a);
  EXPECT(weft__combine(COMBINE_SET, WEFT_FLOAT, d, NULL, b, 0, 3));
  EXPECT_EQ_MEM(d, ((float[]){4, 4, 4}), sizeof d);
}

TEST(integers_wrap_and_never_trap) {
  int32_t a[] = {INT32_MIN, INT32_MAX, 7}, b[] = {-1, 1, 0}, d[3];
  EXPECT(weft__combine(COMBINE_ADD, WEFT_INT32, d, a, b, 1, 3));
  EXPECT_EQ_MEM(d, ((int32_t[]){INT32_MAX, INT32_MIN, 7}), sizeof d);
  EXPECT(weft__combine(COMBINE_DIV, WEFT_INT32, d, a, b, 1, 3));
  EXPECT_EQ_MEM(d, ((int32_t[]){INT32_MIN, INT32_MAX, 0}), sizeof d);
}

TEST(half_goes_through_float) {
  uint16_t a = weft__half_from_float(1.5f), b = weft__half_from_float(0.25f);
  EXPECT(weft__combine(COMBINE_ADD, WEFT_HALF, &a, &a, &b, 1, 1));
  EXPECT_NEAR(weft__half_to_float(a), 1.75, 0);
}

TEST(a_type_without_the_operation_is_refused) {
  EXPECT(!weft__combine_has(COMBINE_MUL, WEFT_BOOL));
  EXPECT(weft__combine_has(COMBINE_SET, WEFT_BOOL));
  EXPECT(!weft__combine_has(COMBINE_MIN, WEFT_COMPLEX64));
  EXPECT(!weft__combine_has(COMBINE_SET, WEFT_STRING));
}
