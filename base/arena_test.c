/* arena_test.c - tests that arrays in an arena grow, and survive a failed allocation. */
#include "base/arena.h"
#include "base/alloc.h"
#include "base/status.h"
#include "tests/check.h"

TEST(an_array_in_an_arena_grows_from_nothing_and_keeps_its_elements) {
  arena a = {0};
  int64_t capacity = 0, *list = NULL;
  int moves = 0;
  for (int64_t i = 0; i < 1000; i++) {
    const int64_t before = capacity;
    EXPECT_OK(WEFT_ARENA_RESERVE(&a, list, capacity, i + 1));
    EXPECT(capacity > i);
    moves += capacity != before;
    EXPECT_EQ_INT(list[capacity - 1], 0); /* the elements that are new are zero */
    list[i] = i * i + 1;
  }
  EXPECT(moves <= 9); /* 4, 8, ..., 1024 */
  for (int64_t i = 0; i < 1000; i++) EXPECT_EQ_INT(list[i], i * i + 1);
  weft__arena_finish(&a);
}

TEST(a_large_request_in_an_arena_is_met_at_once_and_a_smaller_one_changes_nothing) {
  arena a = {0};
  int64_t capacity = 0;
  char *list = NULL;
  EXPECT_OK(WEFT_ARENA_RESERVE(&a, list, capacity, 100));
  EXPECT_EQ_INT(capacity, 100);
  const char *before = list;
  EXPECT_OK(WEFT_ARENA_RESERVE(&a, list, capacity, 50));
  EXPECT(list == before);
  EXPECT_EQ_INT(capacity, 100);
  weft__arena_finish(&a);
}

TEST(without_memory_an_array_in_an_arena_stays_as_it_was) {
  arena a = {0};
  int64_t capacity = 0, *list = NULL;
  EXPECT_OK(WEFT_ARENA_RESERVE(&a, list, capacity, 1));
  const int64_t *before = list, was = capacity;
  list[0] = 7;
  weft__alloc_fail_after(1);
  EXPECT_EQ_INT(WEFT_ARENA_RESERVE(&a, list, capacity, 100000), WEFT_RESOURCE_EXHAUSTED);
  weft__alloc_fail_after(0);
  EXPECT_EQ_INT(WEFT_ARENA_RESERVE(&a, list, capacity, INT64_MAX), WEFT_RESOURCE_EXHAUSTED);
  EXPECT_CONTAINS(weft__error_message(), "Out of memory");
  EXPECT(list == before);
  EXPECT_EQ_INT(capacity, was);
  EXPECT_EQ_INT(list[0], 7);
  weft__arena_finish(&a);
}
