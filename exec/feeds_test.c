/* feeds_test.c - outputs looked up among many feeds. */
#include "exec/feeds.h"
#include "tests/check.h"

TEST(each_of_many_feeds_is_found_and_no_other_output) {
  enum { N = 5000 };
  static weft_out feed[N];
  feeds f;
  for (int i = 0; i < N; i++) feed[i] = (weft_out){i / 2 * 3, (uint16_t)(i % 2)};
  EXPECT_OK(weft__feeds_init(&f, N, feed));
  EXPECT_EQ_INT(f.twice, -1);
  for (int i = 0; i < N; i++) EXPECT_EQ_INT(weft__feeds_find(&f, feed[i]), i);
  for (int i = 0; i < N; i++) EXPECT_EQ_INT(weft__feeds_find(&f, (weft_out){i / 2 * 3 + 1, (uint16_t)(i % 2)}), -1);
  EXPECT_EQ_INT(weft__feeds_find(&f, (weft_out){0, 2}), -1);
  weft__feeds_finish(&f);
}

TEST(feeding_an_output_twice_is_an_error) {
  const weft_out feed[] = {{4, 0}, {5, 0}, {4, 1}, {5, 0}, {4, 0}};
  feeds f;
  EXPECT_OK(weft__feeds_init(&f, 5, feed));
  EXPECT_EQ_INT(f.twice, 3);
  EXPECT_EQ_INT(weft__feeds_find(&f, feed[3]), 1);
  weft__feeds_finish(&f);
}

TEST(without_feeds_nothing_is_fed) {
  feeds f;
  EXPECT_OK(weft__feeds_init(&f, 0, NULL));
  EXPECT_EQ_INT(weft__feeds_find(&f, (weft_out){0, 0}), -1);
  weft__feeds_finish(&f);
}
