/* cancel_test.c - a token fires once, and off waits for a running watch. */
#include "base/cancel.h"
#include "base/alloc.h"
#include "tests/check.h"
#include <stdatomic.h>

static void count(void *arg) { atomic_fetch_add((atomic_int *)arg, 1); }

TEST(firing_runs_every_watch_once_and_refuses_new_ones) {
  cancel c;
  cancel_watch a, b, late;
  atomic_int runs = 0;
  weft__cancel_init(&c);
  EXPECT_OK(weft__cancel_raise(&c));
  EXPECT_OK(weft__cancel_watch_add(&c, &a, count, &runs));
  EXPECT_OK(weft__cancel_watch_add(&c, &b, count, &runs));
  weft__cancel_fire(&c, WEFT_CANCELLED, "by %s", "test");
  weft__cancel_fire(&c, WEFT_INTERNAL, "again");
  EXPECT_EQ_INT(runs, 2);
  EXPECT(weft__cancel_fired(&c));
  EXPECT_ERR(weft__cancel_watch_add(&c, &late, count, &runs), WEFT_CANCELLED, "by test");
  EXPECT(!weft__cancel_watch_remove(&c, &a));
  EXPECT(!weft__cancel_watch_remove(&c, &b));
  weft__cancel_finish(&c);
}

TEST(a_watch_taken_off_never_runs) {
  cancel c;
  cancel_watch w;
  atomic_int runs = 0;
  weft__cancel_init(&c);
  EXPECT_OK(weft__cancel_watch_add(&c, &w, count, &runs));
  EXPECT(weft__cancel_watch_remove(&c, &w));
  weft__cancel_fire(&c, WEFT_CANCELLED, "stop");
  EXPECT_EQ_INT(runs, 0);
  weft__cancel_finish(&c);
}

typedef struct self_freeing {
  cancel *c;
  cancel_watch w;
} self_freeing;

static void take_off_and_free(void *arg) {
  self_freeing *s = arg;
  EXPECT(!weft__cancel_watch_remove(s->c, &s->w));
  weft__free(s);
}

TEST(a_function_may_take_its_own_watch_off_and_free_it) {
  cancel c;
  weft__cancel_init(&c);
  self_freeing *s = weft__alloc_zero(1, sizeof *s);
  s->c = &c;
  EXPECT_OK(weft__cancel_watch_add(&c, &s->w, take_off_and_free, s));
  weft__cancel_fire(&c, WEFT_CANCELLED, "stop");
  EXPECT(weft__cancel_fired(&c));
  weft__cancel_finish(&c);
}

typedef struct racer {
  cancel *c;
  atomic_int *in_flight; /* functions between entry and exit that off must wait for */
} racer;

static void slow(void *arg) {
  atomic_int *n = arg;
  for (int i = 0; i < 1000; i++) atomic_fetch_add(n, i % 2 ? -1 : 1);
}

static void *race(void *arg) {
  racer *r = arg;
  for (int i = 0; i < 200; i++) {
    cancel_watch w;
    atomic_int steps = 0;
    if (weft__cancel_watch_add(r->c, &w, slow, &steps) != WEFT_OK) break;
    weft__cancel_watch_remove(r->c, &w);
    EXPECT_EQ_INT(steps, 0); /* a running function would be seen half-way */
  }
  return NULL;
}

TEST(off_waits_for_a_function_running_on_another_thread) {
  for (int round = 0; round < 50; round++) {
    cancel c;
    pthread_t ids[3];
    weft__cancel_init(&c);
    racer r = {&c, NULL};
    for (int i = 0; i < 3; i++) EXPECT_EQ_INT(pthread_create(&ids[i], NULL, race, &r), 0);
    weft__cancel_fire(&c, WEFT_CANCELLED, "stop");
    for (int i = 0; i < 3; i++) pthread_join(ids[i], NULL);
    EXPECT(weft__cancel_fired(&c));
    weft__cancel_finish(&c);
  }
}
