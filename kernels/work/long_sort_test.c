/* long_sort_test.c - tests that merged pieces are sorted, whatever their number. */
#include "kernels/work/long_sort.h"
#include "base/alloc.h"
#include "tests/check.h"

typedef struct pair {
  int64_t key, place;
} pair;

static int by_key(const void *a, const void *b) {
  const pair *x = a, *y = b;
  return x->key < y->key ? -1 : x->key > y->key;
}

TEST(items_of_any_number_are_sorted) {
  static const int64_t sizes[] = {0, 1, 2, 8191, 8192, 8193, 16385, 50000, 65536, 100001};
  const kernel k = {0};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const int64_t n = sizes[s];
    pair *items = weft__alloc((size_t)(n + 1) * sizeof *items);
    EXPECT(items != NULL);
    int64_t sum = 0, found = 0;
    for (int64_t i = 0; i < n; i++) items[i] = (pair){i * 7919 % 10007, i}, sum += i;
    EXPECT_EQ_INT(weft__long_sort(&k, items, n, sizeof *items, by_key), WEFT_OK);
    for (int64_t i = 0; i < n; i++) {
      EXPECT(i == 0 || items[i - 1].key <= items[i].key);
      EXPECT_EQ_INT(items[i].key, items[i].place * 7919 % 10007);
      found += items[i].place;
    }
    EXPECT_EQ_INT(found, sum);
    weft__free(items);
  }
}

TEST(without_memory_the_error_says_so) {
  const kernel k = {0};
  static int64_t items[20000];
  weft__alloc_fail_after(1);
  EXPECT_EQ_INT(weft__long_sort(&k, items, 20000, sizeof *items, by_key), WEFT_OOM);
  weft__alloc_fail_after(0);
}
