/* map_test.c - lookups, order, removal, and every failed allocation. */
#include "base/map.h"
#include "base/alloc.h"
#include "tests/check.h"
#include <stdio.h>

static int one = 1, two = 2;

TEST(a_missing_key_gives_null) {
  map m = {0};
  EXPECT(weft__map_get(&m, "x") == NULL);
  EXPECT(weft__map_remove(&m, "x") == NULL);
  weft__map_finish(&m);
}

TEST(a_put_replaces_and_keeps_the_order_of_insertion) {
  map m = {0};
  EXPECT_OK(weft__map_put(&m, "b", &one));
  EXPECT_OK(weft__map_put(&m, "a", &one));
  EXPECT_OK(weft__map_put(&m, "b", &two));
  EXPECT_EQ_INT(m.count, 2);
  EXPECT_EQ_STR(m.entries[0].key, "b");
  EXPECT_EQ_STR(m.entries[1].key, "a");
  EXPECT(weft__map_get(&m, "b") == &two);
  weft__map_finish(&m);
}

TEST(many_keys_survive_growth_and_removal) {
  map m = {0};
  char key[32];
  for (int i = 0; i < 2000; i++) {
    snprintf(key, sizeof key, "node_%d", i);
    EXPECT_OK(weft__map_put(&m, key, &one));
    if (i % 3 != 0) continue;
    EXPECT(weft__map_remove(&m, key) == &one);
  }
  for (int i = 0; i < 2000; i++) {
    snprintf(key, sizeof key, "node_%d", i);
    EXPECT(weft__map_get(&m, key) == (i % 3 == 0 ? NULL : &one));
  }
  int last = -1;
  for (int i = 0; i < m.used; i++) {
    int n;
    if (!m.entries[i].key) continue;
    EXPECT_EQ_INT(sscanf(m.entries[i].key, "node_%d", &n), 1);
    EXPECT(n > last);
    last = n;
  }
  weft__map_finish(&m);
}

TEST(adding_and_removing_one_key_for_ever_does_not_grow_the_map) {
  map m = {0};
  for (int i = 0; i < 10000; i++) {
    EXPECT_OK(weft__map_put(&m, "k", &one));
    EXPECT(weft__map_remove(&m, "k") == &one);
  }
  EXPECT(m.capacity <= 16);
  weft__map_finish(&m);
}

TEST(a_failed_allocation_leaves_the_map_as_it_was) {
  for (long n = 1; n < 40; n++) {
    map m = {0};
    char key[16];
    int put = 0;
    weft__alloc_fail_after(n);
    for (; put < 20; put++) {
      snprintf(key, sizeof key, "%d", put);
      if (weft__map_put(&m, key, &one) != WEFT_OK) break;
    }
    weft__alloc_fail_after(0);
    EXPECT_EQ_INT(m.count, put);
    for (int i = 0; i < put; i++) {
      snprintf(key, sizeof key, "%d", i);
      EXPECT(weft__map_get(&m, key) == &one);
    }
    weft__map_finish(&m);
  }
}
