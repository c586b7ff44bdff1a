/* radix_sort_test.c - sorts keys of all widths, with equal ones among them. */
#include "kernels/array/radix_sort.h"
#include "tests/check.h"

enum { N = 3000 };

/* Checks that keys of so many bytes are sorted, and that equal keys keep the order of `at`. */
static void check_sort(int bytes, uint64_t mask) {
  static radix_item items[N], spare[N];
  uint64_t state = 1;
  for (int64_t i = 0; i < N; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    items[i] = (radix_item){state >> 7 & mask, i};
  }
  const radix_item *sorted = weft__radix_sort(items, spare, N, bytes);
  uint64_t seen = 0;
  for (int64_t i = 0; i < N; i++) {
    seen += (uint64_t)sorted[i].at;
    if (i > 0) EXPECT(sorted[i - 1].key <= sorted[i].key);
    if (i > 0 && sorted[i - 1].key == sorted[i].key) EXPECT(sorted[i - 1].at < sorted[i].at);
  }
  EXPECT_EQ_INT(seen, (uint64_t)N * (N - 1) / 2);
}

TEST(items_are_sorted_by_their_keys_and_equal_ones_keep_their_order) {
  check_sort(1, 0xff);
  check_sort(2, 0xffff);
  check_sort(4, 0xffffffffu);
  check_sort(8, UINT64_MAX);
  check_sort(8, 0xff00ff); /* most bytes are equal in all keys */
}

TEST(no_items_and_one_item_are_sorted) {
  radix_item one = {7, 3}, spare;
  EXPECT(weft__radix_sort(&one, &spare, 0, 8) == &one);
  EXPECT_EQ_INT(weft__radix_sort(&one, &spare, 1, 8)->at, 3);
}
