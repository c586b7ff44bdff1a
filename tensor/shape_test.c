/* shape_test.c - shapes with unknowns: counting, merging, broadcasting, text. */
#include "tensor/tensor.h"
#include "tests/check.h"

TEST(make_checks_rank_and_dimensions) {
  shape s;
  EXPECT_OK(weft__shape_make(&s, 2, (int64_t[]){3, -1}));
  EXPECT_EQ_STR(weft__shape_text(&s), "[3,?]");
  EXPECT_OK(weft__shape_make(&s, -1, NULL));
  EXPECT_EQ_STR(weft__shape_text(&s), "<unknown>");
  EXPECT_ERR(weft__shape_make(&s, 17, (int64_t[17]){0}), WEFT_INVALID_ARGUMENT, "rank 17");
  EXPECT_ERR(weft__shape_make(&s, 1, (int64_t[]){-2}), WEFT_INVALID_ARGUMENT, "-2");
}

TEST(counting_tells_unknown_from_too_many) {
  EXPECT_EQ_INT(weft__shape_count(&SHAPE_SCALAR), 1);
  EXPECT_EQ_INT(weft__shape_count(&SHAPE2(3, 4)), 12);
  EXPECT_EQ_INT(weft__shape_count(&SHAPE2(3, -1)), -1);
  EXPECT_EQ_INT(weft__shape_count(&SHAPE_UNKNOWN), -1);
  EXPECT_EQ_INT(weft__shape_count(&SHAPE3(INT64_MAX, 2, 3)), -2);
  EXPECT_EQ_INT(weft__shape_product(&SHAPE4(2, 3, 5, 7), 1, 3), 15);
}

TEST(an_empty_shape_whose_other_dimensions_overflow_is_too_large) {
  const int64_t most = INT64_C(1) << 56;
  EXPECT_EQ_INT(weft__shape_count(&SHAPE2(0, most)), 0);
  EXPECT_EQ_INT(weft__shape_count(&SHAPE3(most / 2, 2, 0)), 0);
  EXPECT_EQ_INT(weft__shape_count(&SHAPE2(0, most + 1)), -2);
  EXPECT_EQ_INT(weft__shape_count(&SHAPE3(0, most, 2)), -2);
  EXPECT_EQ_INT(weft__shape_count(&SHAPE3(INT64_MAX, 2, 0)), -2);
  EXPECT_EQ_INT(weft__shape_count(&SHAPE1(most + 1)), most + 1); /* memory refuses it */
  EXPECT_EQ_INT(weft__shape_product(&SHAPE3(0, most, most), 1, 3), INT64_MAX);
  weft_tensor t;
  EXPECT_ERR(weft__tensor_init(&t, WEFT_FLOAT, &SHAPE3(0, most, 2)), WEFT_INVALID_ARGUMENT,
             "Shape [0,72057594037927936,2] has no elements, but its other dimensions multiply to more than 2**56");
}

TEST(merging_takes_what_either_knows) {
  shape out;
  EXPECT_OK(weft__shape_merge(&out, &SHAPE2(-1, 4), &SHAPE2(3, -1)));
  EXPECT_EQ_STR(weft__shape_text(&out), "[3,4]");
  EXPECT_OK(weft__shape_merge(&out, &SHAPE_UNKNOWN, &SHAPE1(2)));
  EXPECT_EQ_STR(weft__shape_text(&out), "[2]");
  EXPECT_ERR(weft__shape_merge(&out, &SHAPE1(2), &SHAPE1(3)), WEFT_INVALID_ARGUMENT, "are 2 and 3");
  EXPECT_ERR(weft__shape_merge(&out, &SHAPE1(2), &SHAPE2(2, 3)), WEFT_INVALID_ARGUMENT, "equal rank");
  EXPECT(weft__shape_compatible(&SHAPE2(-1, 4), &SHAPE2(3, 4)));
  EXPECT(!weft__shape_compatible(&SHAPE2(-1, 4), &SHAPE2(3, 5)));
  EXPECT(!weft__shape_compatible(&SHAPE1(4), &SHAPE2(3, 4)));
  EXPECT(weft__shape_equal(&SHAPE2(-1, 4), &SHAPE2(-1, 4)));
  EXPECT(!weft__shape_equal(&SHAPE2(-1, 4), &SHAPE2(3, 4)));
}

TEST(broadcasting_follows_numpy_and_keeps_unknowns) {
  shape out;
  EXPECT_OK(weft__shape_broadcast(&out, &SHAPE3(2, 1, 4), &SHAPE2(3, 1)));
  EXPECT_EQ_STR(weft__shape_text(&out), "[2,3,4]");
  EXPECT_OK(weft__shape_broadcast(&out, &SHAPE2(-1, 1), &SHAPE2(1, -1)));
  EXPECT_EQ_STR(weft__shape_text(&out), "[?,?]");
  EXPECT_OK(weft__shape_broadcast(&out, &SHAPE1(-1), &SHAPE1(5)));
  EXPECT_EQ_STR(weft__shape_text(&out), "[5]");
  EXPECT_OK(weft__shape_broadcast(&out, &SHAPE1(0), &SHAPE1(1)));
  EXPECT_EQ_STR(weft__shape_text(&out), "[0]");
  EXPECT_OK(weft__shape_broadcast(&out, &SHAPE_UNKNOWN, &SHAPE1(5)));
  EXPECT_EQ_INT(out.rank, -1);
  EXPECT_ERR(weft__shape_broadcast(&out, &SHAPE2(2, 3), &SHAPE1(4)), WEFT_INVALID_ARGUMENT,
             "Incompatible shapes: [2,3] vs. [4]");
}

TEST(an_axis_counts_from_either_end) {
  int axis;
  EXPECT_OK(weft__shape_axis(&axis, -1, 3));
  EXPECT_EQ_INT(axis, 2);
  EXPECT_ERR(weft__shape_axis(&axis, 3, 3), WEFT_INVALID_ARGUMENT, "[-3, 3)");
  EXPECT_ERR(weft__shape_axis(&axis, -4, 3), WEFT_INVALID_ARGUMENT, "-4");
}

TEST(the_longest_shape_fits_its_text) {
  shape s = {.rank = WEFT_MAX_RANK};
  for (int i = 0; i < s.rank; i++) s.dim[i] = INT64_MAX;
  EXPECT_EQ_INT(strlen(weft__shape_text(&s)), WEFT_MAX_RANK * 20 + 1);
}
