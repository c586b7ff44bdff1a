/* sparse_map_test.c - tests that a stored sparse tensor is taken once. */
#include "state/sparse_map.h"

#include "tests/check.h"

/* A vector of one entry whose place is its value. */
static sparse_map_entry one(int64_t at) {
  sparse_map_entry s = {0};
  EXPECT_OK(weft__tensor_init(&s.indices, WEFT_INT64, &SHAPE2(1, 1)));
  EXPECT_OK(weft__tensor_init(&s.values, WEFT_INT64, &SHAPE1(1)));
  EXPECT_OK(weft__tensor_init(&s.dims, WEFT_INT64, &SHAPE1(1)));
  TENSOR_DATA(&s.indices, int64_t)[0] = TENSOR_DATA(&s.values, int64_t)[0] = at;
  TENSOR_DATA(&s.dims, int64_t)[0] = at + 1;
  return s;
}

TEST(what_is_kept_is_taken_once_in_any_order) {
  enum { N = 100 };
  sparse_map *m = NULL;
  int64_t number[N];
  EXPECT_OK(weft__sparse_map_create(&m));
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < N; i++) {
      sparse_map_entry s = one(i);
      EXPECT_OK(weft__sparse_map_add(m, &s, &number[i]));
      EXPECT(!s.values.buf);
    }
    for (int i = 0; i < N; i++) {
      sparse_map_entry got = {0};
      const int which = i * 37 % N;
      EXPECT(weft__sparse_map_take(m, number[which], &got));
      EXPECT_EQ_INT(TENSOR_DATA(&got.values, int64_t)[0], which);
      weft__sparse_map_entry_clear(&got);
      EXPECT(!weft__sparse_map_take(m, number[which], &got));
    }
  }
  weft__object_release((object *)m);
}

TEST(entries_that_were_not_taken_are_freed_with_the_map) {
  sparse_map *m = NULL;
  int64_t number;
  sparse_map_entry got = {0};
  EXPECT_OK(weft__sparse_map_create(&m));
  for (int i = 0; i < 20; i++) {
    sparse_map_entry s = one(i);
    EXPECT_OK(weft__sparse_map_add(m, &s, &number));
    if (i % 2) EXPECT(weft__sparse_map_take(m, number, &got));
    weft__sparse_map_entry_clear(&got);
  }
  EXPECT(!weft__sparse_map_take(m, number + 1, &got));
  weft__object_release((object *)m);
}
