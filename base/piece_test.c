/* piece_test.c - the caches of small pieces. */
#include "base/piece.h"
#include "base/alloc.h"
#include "base/sanitizer.h"
#include "tests/check.h"
#include <pthread.h>
#include <string.h>

#ifndef WEFT_SANITIZED
TEST(a_freed_piece_is_given_again) {
  char *first = weft__piece_alloc(5);
  weft__piece_free(first);
  EXPECT(weft__piece_cached() > 0);
  char *second = weft__piece_alloc(20);
  EXPECT(first == second);
  EXPECT_EQ_INT(0, (int64_t)weft__piece_cached());
  weft__piece_free(second);
  char *large = weft__piece_alloc(30);
  EXPECT(large != second);
  weft__piece_free(large);
}

TEST(a_cache_is_bounded) {
  enum { PIECES = 200000 };
  static char *all[PIECES];
  for (int i = 0; i < PIECES; i++) all[i] = weft__piece_alloc(8);
  for (int i = 0; i < PIECES; i++) weft__piece_free(all[i]);
  EXPECT(weft__piece_cached() > 100000);
  EXPECT(weft__piece_cached() < 2000000);
}

TEST(an_allocation_that_is_to_fail_takes_no_cached_piece) {
  weft__piece_free(weft__piece_alloc(8));
  weft__alloc_fail_after(1);
  EXPECT(weft__piece_alloc(8) == NULL);
  weft__alloc_fail_after(0);
}
#endif

static void *free_all(void *arg) {
  char **all = arg;
  for (int i = 0; i < 100; i++) weft__piece_free(all[i]);
  return NULL;
}

TEST(pieces_of_all_sizes_have_room_and_may_end_on_another_thread) {
  char *all[100] = {0};
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 100; i++) {
      all[i] = weft__piece_alloc((size_t)((i * 37 + round) % 100));
      EXPECT(all[i] != NULL);
      memset(all[i], i, (size_t)((i * 37 + round) % 100));
    }
    for (int i = 0; i < 100; i++)
      for (int at = 0; at < (i * 37 + round) % 100; at++) EXPECT_EQ_INT(i, all[i][at]);
    pthread_t thread;
    if (round == 1) {
      EXPECT_EQ_INT(0, pthread_create(&thread, NULL, free_all, all));
      pthread_join(thread, NULL);
    } else {
      free_all(all);
    }
  }
}
