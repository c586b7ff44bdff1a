/* memory_limit_test.c - the limit: what is counted, which allocations fail, and that freeing helps. */
#include "base/memory_limit.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/block.h"
#include "tests/check.h"
#include <pthread.h>
#include <stdio.h>

enum { MB = 1 << 20 };

/* Sets a limit that is that many MB above what the process uses. */
static void leave(size_t mb) {
  char text[32];
  EXPECT_OK(weft__memory_limit_set("4G"));
  snprintf(text, sizeof text, "%zu", weft__memory_limit_used() + mb * MB);
  EXPECT_OK(weft__memory_limit_set(text));
}

TEST(a_limit_is_a_number_with_a_unit_or_auto) {
  static const struct {
    const char *text;
    size_t bytes;
  } good[] = {{"1048576", MB}, {"8M", 8 * MB}, {"8m", 8 * MB}, {"3GB", (size_t)3 << 30},
              {"2k", 2048},    {"0", 0},       {"", 0}};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    EXPECT_OK(weft__memory_limit_set(good[i].text));
    EXPECT_EQ_INT(weft__memory_limit(), good[i].bytes);
  }
  EXPECT_OK(weft__memory_limit_set("auto"));
  EXPECT(weft__memory_limit() > 16 * MB);
  static const char *const bad[] = {"x", "-5", "4X", "4GiB", "99999999999T", " 5", "5 G"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    EXPECT_ERR(weft__memory_limit_set(bad[i]), WEFT_INVALID_ARGUMENT, bad[i]);
  EXPECT_OK(weft__memory_limit_set(NULL));
  EXPECT_EQ_INT(weft__memory_limit(), 0);
}

TEST(an_allocation_over_the_limit_fails_and_says_why) {
  leave(8);
  void *fits = weft__alloc(4 * MB);
  EXPECT(fits != NULL);
  EXPECT(weft__alloc(6 * MB) == NULL);
  EXPECT_CONTAINS(weft__error_message(), "WEFT_MEMORY");
  EXPECT(weft__alloc_zero(6, MB) == NULL);
  EXPECT(weft__alloc_aligned(6 * MB) == NULL);
  EXPECT(weft__realloc(NULL, 6 * MB) == NULL);
  arena a = {0};
  EXPECT(weft__arena_alloc(&a, 6 * MB) == NULL);
  weft__free(fits);
  void *now = weft__alloc(6 * MB);
  EXPECT(now != NULL);
  weft__free(now);
  weft__arena_finish(&a);
}

TEST(small_pieces_count_as_well) {
  enum { PIECES = 400000 };
  static void *piece[PIECES];
  leave(4);
  int n = 0;
  while (n < PIECES && (piece[n] = weft__alloc(16)) != NULL) n++;
  EXPECT(n > 1000 && n < PIECES);
  for (int i = 0; i < n; i++) weft__free(piece[i]);
  void *again = weft__alloc(3 * MB);
  EXPECT(again != NULL);
  weft__free(again);
}

TEST(what_is_grown_is_counted_once) {
  leave(32);
  const size_t before = weft__memory_limit_used();
  char *p = NULL;
  for (size_t size = 1; size <= 8 * MB; size *= 2) EXPECT((p = weft__realloc(p, size)) != NULL);
  EXPECT(weft__memory_limit_used() - before >= 8 * MB && weft__memory_limit_used() - before < 9 * MB);
  EXPECT((p = weft__realloc(p, 100)) != NULL);
  EXPECT(weft__memory_limit_used() - before < MB);
  weft__free(p);
  EXPECT_EQ_INT(weft__memory_limit_used(), before);
}

TEST(kept_blocks_are_given_back_before_an_allocation_fails) {
  leave(64);
  void *b[4];
  for (int i = 0; i < 4; i++) EXPECT((b[i] = weft__block_alloc(6 * MB)) != NULL);
  for (int i = 0; i < 4; i++) weft__block_free(b[i], 6 * MB);
  void *all = weft__alloc(60 * MB);
  EXPECT(all != NULL);
  EXPECT_EQ_INT(weft__block_cached(), 0);
  weft__free(all);
}

static void *churn(void *arg) {
  for (int i = 0; i < 20000; i++) {
    void *p = weft__alloc((size_t)(i % 5000)), *q = weft__block_alloc(3000);
    weft__free(p);
    weft__block_free(q, 3000);
  }
  return arg;
}

TEST(threads_leave_the_count_as_it_was) {
  leave(64);
  weft__block_trim();
  const size_t before = weft__memory_limit_used();
  pthread_t t[4];
  for (int i = 0; i < 4; i++) EXPECT_EQ_INT(pthread_create(&t[i], NULL, churn, NULL), 0);
  for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
  weft__block_trim();
  EXPECT_EQ_INT(weft__memory_limit_used(), before);
}
