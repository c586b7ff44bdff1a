#include "base/sync_event.h"
#include "base/clock.h"
#include "tests/check.h"
#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { ROUNDS = 5000 };

TEST(a_gate_that_nobody_opens_is_waited_for_as_long_as_asked) {
  sync_event g = {0};
  int64_t begin = weft__clock_now_ns();
  while (!weft__sync_event_wait(&g, 5000000) && weft__clock_now_ns() < begin + 5000000) continue;
  ck_assert(!weft__sync_event_wait(&g, 0));
  ck_assert(!weft__sync_event_wait(&g, -1));
  ck_assert(weft__clock_now_ns() >= begin + 5000000);
}

TEST(an_open_gate_is_not_waited_for) {
  sync_event g = {0};
  weft__sync_event_set(&g);
  ck_assert(weft__sync_event_wait(&g, 0));
  ck_assert(weft__sync_event_wait(&g, 60 * NS_PER_S));
}

static sync_event *_Atomic handed; /* to the thread that opens */

static void *open_all(void *arg) {
  (void)arg;
  for (int i = 0; i < ROUNDS; i++) {
    sync_event *g;
    while (!(g = atomic_exchange(&handed, NULL))) sched_yield();
    weft__sync_event_set(g);
  }
  return NULL;
}

/* As a step does: the sync_event is on the waiting thread's stack, which is used for something else right after. */
static bool pass_once(void) {
  sync_event g = {0};
  atomic_store(&handed, &g);
  int64_t limit = weft__clock_now_ns() + 60 * NS_PER_S;
  bool open = false;
  while (!open && weft__clock_now_ns() < limit) open = weft__sync_event_wait(&g, NS_PER_S);
  memset(&g, 0, sizeof g);
  return open;
}

TEST_WITHIN(60, a_gate_may_go_as_soon_as_it_was_seen_open) {
  pthread_t opener;
  ck_assert(pthread_create(&opener, NULL, open_all, NULL) == 0);
  int passed = 0;
  for (int i = 0; i < ROUNDS; i++) passed += pass_once();
  ck_assert(pthread_join(opener, NULL) == 0);
  ck_assert(passed == ROUNDS);
}
