/* sync_event_test.c - tests waiting for an event, and freeing it as soon as it is set. */
#include "base/sync_event.h"
#include "base/clock.h"
#include "tests/check.h"
#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { ROUNDS = 5000 };

TEST(an_event_that_is_not_set_is_waited_for_as_long_as_requested) {
  sync_event g = {0};
  int64_t begin = weft__clock_now_ns();
  while (!weft__sync_event_wait(&g, 5000000) && weft__clock_now_ns() < begin + 5000000) continue;
  ck_assert(!weft__sync_event_wait(&g, 0));
  ck_assert(!weft__sync_event_wait(&g, -1));
  ck_assert(weft__clock_now_ns() >= begin + 5000000);
}

TEST(a_set_event_is_not_waited_for) {
  sync_event g = {0};
  weft__sync_event_set(&g);
  ck_assert(weft__sync_event_wait(&g, 0));
  ck_assert(weft__sync_event_wait(&g, 60 * NS_PER_S));
}

static sync_event *_Atomic handed; /* to the thread that sets it */

static void *set_all(void *arg) {
  (void)arg;
  for (int i = 0; i < ROUNDS; i++) {
    sync_event *g;
    while (!(g = atomic_exchange(&handed, NULL))) sched_yield();
    weft__sync_event_set(g);
  }
  return NULL;
}

/* As a step does: the event is on the waiting thread's stack, which is used for something else right after. */
static bool pass_once(void) {
  sync_event g = {0};
  atomic_store(&handed, &g);
  int64_t limit = weft__clock_now_ns() + 60 * NS_PER_S;
  bool set = false;
  while (!set && weft__clock_now_ns() < limit) set = weft__sync_event_wait(&g, NS_PER_S);
  memset(&g, 0, sizeof g);
  return set;
}

TEST_WITHIN(60, an_event_may_be_freed_as_soon_as_it_is_seen_set) {
  pthread_t setter;
  ck_assert(pthread_create(&setter, NULL, set_all, NULL) == 0);
  int passed = 0;
  for (int i = 0; i < ROUNDS; i++) passed += pass_once();
  ck_assert(pthread_join(setter, NULL) == 0);
  ck_assert(passed == ROUNDS);
}
