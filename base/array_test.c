/* array_test.c - tests that arrays grow and survive a failed allocation. */
#include "base/array.h"
#include "base/alloc.h"
#include "base/status.h"
#include "tests/check.h"

TEST(an_array_grows_from_nothing_and_keeps_its_elements) {
  int64_t capacity = 0, *a = NULL;
  int moves = 0;
  for (int64_t i = 0; i < 1000; i++) {
    const int64_t before = capacity;
    a = weft__array_grow(a, &capacity, i + 1, sizeof *a);
    EXPECT(a != NULL);
    EXPECT(capacity > i);
    moves += capacity != before;
    a[i] = i * i;
  }
  EXPECT(moves <= 8); /* 8, 16, ..., 1024 */
  for (int64_t i = 0; i < 1000; i++) EXPECT_EQ_INT(a[i], i * i);
  weft__free(a);
}

TEST(a_large_request_is_met_at_once_and_a_smaller_one_changes_nothing) {
  int64_t capacity = 0;
  char *a = weft__array_grow(NULL, &capacity, 100, sizeof *a);
  EXPECT_EQ_INT(capacity, 100);
  EXPECT(weft__array_grow(a, &capacity, 50, sizeof *a) == a);
  EXPECT_EQ_INT(capacity, 100);
  weft__free(a);
}

TEST(without_memory_the_array_stays_as_it_was) {
  int64_t capacity = 0;
  int *a = weft__array_grow(NULL, &capacity, 1, sizeof *a);
  const int64_t before = capacity;
  a[0] = 7;
  weft__alloc_fail_after(1);
  EXPECT(weft__array_grow(a, &capacity, before + 1, sizeof *a) == NULL);
  weft__alloc_fail_after(0);
  EXPECT_EQ_INT(capacity, before);
  EXPECT_EQ_INT(a[0], 7);
  EXPECT(weft__array_grow(a, &capacity, INT64_MAX, sizeof *a) == NULL);
  EXPECT_CONTAINS(weft__error_message(), "Out of memory");
  EXPECT_EQ_INT(capacity, before);
  weft__free(a);
}
