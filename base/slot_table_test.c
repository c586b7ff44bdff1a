/* slot_table_test.c - tests that keys find their items and do not come back with their slot. */
#include "base/slot_table.h"
#include "tests/check.h"

TEST(an_item_is_found_by_its_key_until_it_is_removed) {
  slot_table t = {0};
  int item[100];
  uint64_t key[100];
  EXPECT(weft__slot_table_get(&t, 0) == NULL && weft__slot_table_get(&t, 1) == NULL);
  for (int i = 0; i < 100; i++) EXPECT_OK(weft__slot_table_add(&t, &item[i], &key[i]));
  for (int i = 0; i < 100; i++) {
    EXPECT(key[i] > 0 && key[i] < UINT64_C(1) << 63);
    EXPECT(weft__slot_table_get(&t, key[i]) == &item[i]);
  }
  for (int i = 0; i < 100; i += 2) EXPECT(weft__slot_table_remove(&t, key[i]) == &item[i]);
  for (int i = 0; i < 100; i++) EXPECT(weft__slot_table_get(&t, key[i]) == (i % 2 ? &item[i] : NULL));
  EXPECT(weft__slot_table_remove(&t, key[0]) == NULL);
  EXPECT(weft__slot_table_get(&t, UINT64_MAX) == NULL);
  weft__slot_table_finish(&t);
  EXPECT_EQ_INT(t.capacity, 0);
}

TEST(a_key_does_not_come_back_with_its_slot) {
  slot_table t = {0};
  int item;
  uint64_t first, key;
  EXPECT_OK(weft__slot_table_add(&t, &item, &first));
  EXPECT(weft__slot_table_remove(&t, first) == &item);
  for (int i = 0; i < 1000; i++) { /* every slot is taken many times */
    EXPECT_OK(weft__slot_table_add(&t, &item, &key));
    EXPECT(key != first && weft__slot_table_get(&t, first) == NULL);
    EXPECT(weft__slot_table_remove(&t, key) == &item);
  }
  EXPECT(t.capacity <= 16); /* free slots are used again */
  weft__slot_table_finish(&t);
}

TEST(a_generation_that_wraps_gives_no_key_of_zero) {
  slot_table t = {.generation = INT32_MAX};
  int item;
  uint64_t key = 0;
  EXPECT_OK(weft__slot_table_add(&t, &item, &key));
  EXPECT(key != 0 && weft__slot_table_get(&t, key) == &item);
  weft__slot_table_finish(&t);
}
