/* alloc_test.c - the heap, its failures, and the blocks kept for tensors. */
#include "base/alloc.h"
#include "base/arena.h"
#include "base/block.h"
#include "base/sanitizer.h"
#include "base/text.h"
#include "tests/check.h"
#include <stdint.h>

TEST(the_countdown_fails_the_nth_allocation_and_all_later_ones) {
  weft__alloc_fail_after(2);
  void *first = weft__alloc(10), *second = weft__alloc(10), *third = weft__alloc_zero(1, 10);
  weft__alloc_fail_after(0);
  EXPECT(first != NULL);
  EXPECT(second == NULL && third == NULL);
  weft__free(first);
  void *after = weft__alloc(10);
  EXPECT(after != NULL);
  weft__free(after);
}

TEST(a_size_that_overflows_is_refused) {
  EXPECT(weft__alloc_zero(SIZE_MAX / 2, 4) == NULL);
  EXPECT(weft__alloc_aligned(SIZE_MAX - 5) == NULL);
}

TEST(aligned_memory_is_aligned_and_strings_are_copied) {
  void *p = weft__alloc_aligned(100);
  EXPECT_EQ_INT((uintptr_t)p % 64, 0);
  weft__free(p);
  char *s = weft__sprintf("%d-%s", 5, "x"), *d = weft__strndup("abcdef", 3);
  EXPECT_EQ_STR(s, "5-x");
  EXPECT_EQ_STR(d, "abc");
  weft__free(s);
  weft__free(d);
}

TEST(an_arena_hands_out_zeroed_aligned_memory_of_any_size) {
  arena a = {0};
  for (size_t size = 0; size < 100000; size = size * 2 + 1) {
    unsigned char *p = weft__arena_alloc(&a, size);
    EXPECT(p != NULL);
    EXPECT_EQ_INT((uintptr_t)p % 16, 0);
    for (size_t i = 0; i < size; i++)
      if (p[i]) FAIL("byte %zu is not zero", i);
    memset(p, 0xff, size);
  }
  EXPECT_EQ_STR(weft__arena_strdup(&a, "hello"), "hello");
  EXPECT(weft__arena_alloc(&a, SIZE_MAX - 3) == NULL);
  weft__arena_finish(&a);
  EXPECT(a.blocks == NULL);
}

TEST(a_text_grows_and_its_first_failure_sticks) {
  text t = {0};
  EXPECT_EQ_STR(weft__text_get(&t), "");
  for (int i = 0; i < 100; i++) weft__text_printf(&t, "%d,", i);
  EXPECT_CONTAINS(weft__text_get(&t), ",98,99,");
  weft__alloc_fail_after(1);
  for (int i = 0; i < 100; i++) weft__text_puts(&t, "0123456789");
  weft__alloc_fail_after(0);
  weft__text_puts(&t, "more");
  EXPECT(t.failed);
  EXPECT(strstr(weft__text_get(&t), "more") == NULL);
  weft__text_finish(&t);
}

TEST(a_freed_large_block_serves_the_next_request_of_its_class) {
  size_t size = 3 << 20;
  void *a = weft__block_alloc(size);
  EXPECT(a != NULL);
  memset(a, 1, size);
  weft__block_free(a, size);
#ifndef WEFT_SANITIZED
  EXPECT(weft__block_cached() >= size);
  void *b = weft__block_alloc(size - 1000);
  EXPECT(a == b);
  weft__block_free(b, size - 1000);
#endif
  weft__block_trim();
  EXPECT_EQ_INT(weft__block_cached(), 0);
}

TEST(freed_blocks_are_kept_if_they_are_small_or_large) {
  weft__block_trim();
  weft__block_free(weft__block_alloc(100), 100);
#ifndef WEFT_SANITIZED
  EXPECT(weft__block_cached() >= 100);
#endif
  weft__block_trim();
  EXPECT_EQ_INT(weft__block_cached(), 0);
  weft__block_free(weft__block_alloc(20000), 20000);
  EXPECT_EQ_INT(weft__block_cached(), 0);
}

TEST(every_size_of_block_holds_its_bytes) {
  for (size_t size = 1; size < (size_t)40 << 20; size += size / 3 + 1) {
    char *p = weft__block_alloc(size);
    EXPECT(p != NULL && (uintptr_t)p % 64 == 0);
    p[0] = p[size - 1] = 1;
    weft__block_free(p, size);
  }
  weft__block_trim();
  EXPECT_EQ_INT(weft__block_cached(), 0);
}

#ifndef WEFT_SANITIZED
TEST(a_large_block_begins_with_a_huge_page) {
  const size_t size = ((size_t)64 << 20) + 5;
  char *p = weft__alloc_aligned(size);
  EXPECT(p != NULL && (uintptr_t)p % (2 << 20) == 0);
  p[0] = p[size - 1] = 1;
  weft__free(p);
}
#endif
