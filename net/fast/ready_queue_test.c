/* ready_queue_test.c - who is called next. */
#include "net/fast/ready_queue.h"
#include "tests/check.h"

enum { MS = 1000000, SOME = 40 };

typedef struct rig {
  sources table;
  source source[SOME];
} rig;

static void set_up(rig *r) {
  *r = (rig){0};
  weft__sources_init(&r->table);
  for (int i = 0; i < SOME; i++) EXPECT_OK(weft__source_name(&r->table, &r->source[i]));
}

static void note(rig *r, int i, uint32_t events, int64_t now_ns) {
  weft__ready_note(&r->table, r->source[i].key, events, now_ns);
}

/* Its number; -1: nobody. */
static int next(rig *r, int64_t now_ns) {
  uint32_t events;
  source *s = weft__ready_next(&r->table, now_ns, &events);
  return s ? (int)(s - r->source) : -1;
}

TEST(who_came_last_is_called_first) {
  rig r;
  set_up(&r);
  for (int i = 0; i < SOME; i++) note(&r, i, 1, i);
  for (int i = SOME - 1; i >= 0; i--) EXPECT_EQ_INT(next(&r, SOME), i);
  EXPECT_EQ_INT(next(&r, SOME), -1);
  EXPECT(!weft__ready_any(&r.table));
  weft__sources_finish(&r.table);
}

TEST(nobody_waits_for_ever_for_those_who_keep_coming) {
  rig r;
  set_up(&r);
  int64_t now = 0, since[SOME] = {0}, longest = 0;
  for (int i = 0; i < SOME; i++) note(&r, i, 1, now);
  for (int turn = 0; turn < 10000; turn++) { /* whoever is called comes back at once; a call takes 0.1 ms */
    int who = next(&r, now);
    EXPECT(who >= 0);
    if (now - since[who] > longest) longest = now - since[who];
    now += MS / 10;
    note(&r, who, 1, since[who] = now);
  }
  EXPECT(longest >= (int64_t)READY_WAIT_MS * MS);                  /* they did not go in turn */
  EXPECT(longest <= (int64_t)READY_WAIT_MS * MS + SOME * MS / 10); /* and those who are late do */
  weft__sources_finish(&r.table);
}

TEST(who_has_more_than_it_takes_in_one_go_stands_behind_the_others) {
  rig r;
  set_up(&r);
  for (int i = 0; i < 3; i++) note(&r, i, 1, 0);
  weft__ready_later(&r.table, &r.source[9]);
  note(&r, 9, 1, 0);
  note(&r, 3, 1, 1);
  for (int i = 3; i >= 0; i--) EXPECT_EQ_INT(next(&r, 1), i);
  EXPECT_EQ_INT(next(&r, 1), 9);
  note(&r, 0, 1, 2);
  note(&r, 9, 1, 2); /* and only once */
  EXPECT_EQ_INT(next(&r, 2), 9);
  EXPECT_EQ_INT(next(&r, 2), 0);
  weft__sources_finish(&r.table);
}

TEST(who_stands_behind_hides_nobody_that_is_late) {
  rig r;
  set_up(&r);
  int64_t late = (int64_t)(READY_WAIT_MS + 1) * MS;
  note(&r, 0, 1, 0);
  weft__ready_later(&r.table, &r.source[1]);
  note(&r, 1, 1, late - 1);
  note(&r, 2, 1, late);
  EXPECT_EQ_INT(next(&r, late), 1);
  EXPECT_EQ_INT(next(&r, late), 0);
  EXPECT_EQ_INT(next(&r, late), 2);
  weft__sources_finish(&r.table);
}

TEST(events_of_one_source_come_together) {
  rig r;
  set_up(&r);
  uint32_t events = 0;
  note(&r, 5, 1, 0);
  note(&r, 5, 4, 1);
  EXPECT(weft__ready_next(&r.table, 1, &events) == &r.source[5]);
  EXPECT_EQ_INT(events, 5);
  EXPECT(!weft__ready_any(&r.table));
  weft__sources_finish(&r.table);
}

TEST(an_event_for_one_that_is_gone_is_nobodys) {
  rig r;
  set_up(&r);
  uint64_t key = r.source[7].key;
  note(&r, 7, 1, 0);
  weft__source_unname(&r.table, &r.source[7]);
  EXPECT_EQ_INT(next(&r, 0), -1);
  source another = {0};
  EXPECT_OK(weft__source_name(&r.table, &another)); /* in the same place */
  weft__ready_note(&r.table, key, 1, 0);
  EXPECT_EQ_INT(next(&r, 0), -1);
  weft__sources_finish(&r.table);
}
