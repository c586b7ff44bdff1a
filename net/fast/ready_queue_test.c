/* ready_queue_test.c - which source is popped next. */
#include "net/fast/ready_queue.h"
#include "tests/check.h"
#include <limits.h>

enum { MS = 1000000, SOME = 40 };

typedef struct rig {
  ready_queue queue;
  source sources[SOME];
} rig;

static void queue_set_up(rig *r) {
  *r = (rig){0};
  weft__ready_queue_init(&r->queue);
  for (int i = 0; i < SOME; i++) EXPECT_OK(weft__ready_queue_register(&r->queue, &r->sources[i]));
}

static void queue_push(rig *r, int i, uint32_t events, int64_t now_ns) {
  weft__ready_queue_push(&r->queue, r->sources[i].key, events, now_ns);
}

/* The index of the source; -1: the queue is empty. */
static int queue_pop(rig *r, int64_t now_ns) {
  uint32_t events;
  source *s = weft__ready_queue_pop(&r->queue, now_ns, &events);
  return s ? (int)(s - r->sources) : -1;
}

TEST(the_newest_source_is_popped_first) {
  rig r;
  queue_set_up(&r);
  for (int i = 0; i < SOME; i++) queue_push(&r, i, 1, i);
  for (int i = SOME - 1; i >= 0; i--) EXPECT_EQ_INT(queue_pop(&r, SOME), i);
  EXPECT_EQ_INT(queue_pop(&r, SOME), -1);
  EXPECT(!weft__ready_queue_has_ready(&r.queue));
  weft__ready_queue_finish(&r.queue);
}

TEST(no_source_starves_behind_those_that_keep_coming) {
  rig r;
  queue_set_up(&r);
  int64_t now = 0, since[SOME] = {0}, longest = 0;
  for (int i = 0; i < SOME; i++) queue_push(&r, i, 1, now);
  for (int round = 0; round < 10000; round++) { /* a popped source is ready again at once; a callback takes 0.1 ms */
    int who = queue_pop(&r, now);
    EXPECT(who >= 0);
    if (now - since[who] > longest) longest = now - since[who];
    now += MS / 10;
    queue_push(&r, who, 1, since[who] = now);
  }
  EXPECT(longest >= (int64_t)READY_MAX_WAIT_MS * MS);                  /* they were not popped in turn */
  EXPECT(longest <= (int64_t)READY_MAX_WAIT_MS * MS + SOME * MS / 10); /* but late ones are */
  weft__ready_queue_finish(&r.queue);
}

TEST(a_deferred_source_is_queued_behind_the_others) {
  rig r;
  queue_set_up(&r);
  for (int i = 0; i < 3; i++) queue_push(&r, i, 1, 0);
  weft__ready_queue_defer(&r.queue, &r.sources[9]);
  queue_push(&r, 9, 1, 0);
  queue_push(&r, 3, 1, 1);
  for (int i = 3; i >= 0; i--) EXPECT_EQ_INT(queue_pop(&r, 1), i);
  EXPECT_EQ_INT(queue_pop(&r, 1), 9);
  queue_push(&r, 0, 1, 2);
  queue_push(&r, 9, 1, 2); /* and only once */
  EXPECT_EQ_INT(queue_pop(&r, 2), 9);
  EXPECT_EQ_INT(queue_pop(&r, 2), 0);
  weft__ready_queue_finish(&r.queue);
}

TEST(a_deferred_source_does_not_hide_a_late_one) {
  rig r;
  queue_set_up(&r);
  int64_t late = (int64_t)(READY_MAX_WAIT_MS + 1) * MS;
  queue_push(&r, 0, 1, 0);
  weft__ready_queue_defer(&r.queue, &r.sources[1]);
  queue_push(&r, 1, 1, late - 1);
  queue_push(&r, 2, 1, late);
  EXPECT_EQ_INT(queue_pop(&r, late), 0);
  EXPECT_EQ_INT(queue_pop(&r, late), 2);
  EXPECT_EQ_INT(queue_pop(&r, late), 1);
  weft__ready_queue_finish(&r.queue);
}

/* `flooding` sources are deferred after each callback, the others are not; all are ready again at once.  Returns the
 * longest wait of any source, in a simulation of 2 s in which a callback takes 0.1 ms. */
static int64_t queue_longest_wait(int flooding, int n) {
  rig r;
  queue_set_up(&r);
  int64_t now = 0, since[SOME] = {0}, longest = 0;
  for (int i = 0; i < n; i++) queue_push(&r, i, 1, now);
  for (int round = 0; round < 20000; round++) {
    int popped = queue_pop(&r, now);
    EXPECT(popped >= 0);
    now += MS / 10;
    if (popped < flooding) weft__ready_queue_defer(&r.queue, &r.sources[popped]);
    queue_push(&r, popped, 1, since[popped] = now);
    for (int i = 0; i < n; i++)
      if (now - since[i] > longest) longest = now - since[i];
  }
  weft__ready_queue_finish(&r.queue);
  return longest;
}

TEST(sources_with_endless_input_keep_no_other_waiting) {
  const int64_t most = (int64_t)READY_MAX_WAIT_MS * MS + SOME * MS / 10;
  EXPECT(queue_longest_wait(1, 3) <= most);
  EXPECT(queue_longest_wait(2, 2) <= most);
  EXPECT(queue_longest_wait(3, SOME) <= most);
  EXPECT(queue_longest_wait(SOME, SOME) <= most);
}

/* Pops `rounds` times; a callback takes 0.01 ms.  What is popped is ready again after AWAY callbacks, or after twice as
 * many if its caller has waited and finds a cold cache.  Counts the pops of each. */
static void queue_serve(rig *r, int rounds, int64_t *now, int *pops) {
  enum { AWAY = 2 };
  int back_in[SOME] = {0};
  int64_t since[SOME] = {0};
  memset(pops, 0, SOME * sizeof *pops);
  for (int round = 0; round < rounds; round++) {
    int popped = queue_pop(r, *now);
    EXPECT(popped >= 0);
    pops[popped]++;
    back_in[popped] = *now - since[popped] > MS ? 2 * AWAY : AWAY;
    *now += MS / 100;
    for (int i = 0; i < SOME; i++)
      if (back_in[i] && --back_in[i] == 0) queue_push(r, i, 1, since[i] = *now);
  }
  for (int i = 0; i < SOME; i++)
    if (back_in[i]) queue_push(r, i, 1, *now);
}

TEST(sources_that_never_pause_are_served_equally_often) {
  rig r;
  queue_set_up(&r);
  int64_t now = MS;
  int pops[SOME], fewest = INT_MAX, most = 0;
  for (int i = 0; i < SOME; i++) queue_push(&r, i, 1, now);
  queue_serve(&r, 400000, &now, pops); /* 4 s */
  for (int i = 0; i < SOME; i++) {
    if (pops[i] < fewest) fewest = pops[i];
    if (pops[i] > most) most = pops[i];
  }
  EXPECT(fewest >= most * 3 / 4);
  weft__ready_queue_finish(&r.queue);
}

TEST(a_source_that_was_idle_gets_no_more_than_its_share) {
  rig r;
  queue_set_up(&r);
  int64_t now = MS;
  int pops[SOME];
  for (int i = 1; i < SOME; i++) queue_push(&r, i, 1, now);
  queue_serve(&r, 800000, &now, pops);
  queue_push(&r, 0, 1, now);
  queue_serve(&r, 100000, &now, pops);
  EXPECT(pops[0] >= 100000 / SOME / 2 && pops[0] < 100000 / SOME + READY_LAG_MAX + READY_TURNS);
  weft__ready_queue_finish(&r.queue);
}

TEST(events_of_one_source_come_together) {
  rig r;
  queue_set_up(&r);
  uint32_t events = 0;
  queue_push(&r, 5, 1, 0);
  queue_push(&r, 5, 4, 1);
  EXPECT(weft__ready_queue_pop(&r.queue, 1, &events) == &r.sources[5]);
  EXPECT_EQ_INT(events, 5);
  EXPECT(!weft__ready_queue_has_ready(&r.queue));
  weft__ready_queue_finish(&r.queue);
}

TEST(an_event_for_an_unregistered_source_is_ignored) {
  rig r;
  queue_set_up(&r);
  uint64_t key = r.sources[7].key;
  queue_push(&r, 7, 1, 0);
  weft__ready_queue_unregister(&r.queue, &r.sources[7]);
  EXPECT_EQ_INT(queue_pop(&r, 0), -1);
  source another = {0};
  EXPECT_OK(weft__ready_queue_register(&r.queue, &another)); /* in the same place */
  weft__ready_queue_push(&r.queue, key, 1, 0);
  EXPECT_EQ_INT(queue_pop(&r, 0), -1);
  weft__ready_queue_finish(&r.queue);
}
