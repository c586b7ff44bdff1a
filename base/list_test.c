/* list_test.c - tests the order of linked lists and the removal of elements. */
#include "base/list.h"
#include "tests/check.h"

typedef struct item {
  int number;
  list_link link;
} item;

static int number_of(list_link *k) { return k ? WEFT_LIST_ITEM(k, item, link)->number : -1; }

/* The numbers from front to back as digits of one number. */
static int64_t digits(const linked_list *l) {
  int64_t all = 0;
  WEFT_LIST_FOR_EACH(k, l) all = all * 10 + number_of(k);
  return all;
}

TEST(an_empty_list_has_no_first_and_no_last) {
  linked_list l;
  weft__list_init(&l);
  EXPECT(weft__list_is_empty(&l));
  EXPECT(weft__list_first(&l) == NULL);
  EXPECT(weft__list_last(&l) == NULL);
  EXPECT_EQ_INT(digits(&l), 0);
}

TEST(a_static_list_is_empty_from_the_start) {
  static linked_list l = WEFT_LIST_INIT(l);
  item a = {1, {0}};
  EXPECT(weft__list_is_empty(&l));
  weft__list_append(&l, &a.link);
  EXPECT_EQ_INT(digits(&l), 1);
}

TEST(elements_keep_the_order_in_which_they_were_inserted) {
  item a = {1, {0}}, b = {2, {0}}, c = {3, {0}}, d = {4, {0}};
  linked_list l;
  weft__list_init(&l);
  weft__list_append(&l, &b.link);
  weft__list_append(&l, &d.link);
  weft__list_prepend(&l, &a.link);
  weft__list_insert_after(&b.link, &c.link);
  EXPECT_EQ_INT(digits(&l), 1234);
  EXPECT_EQ_INT(number_of(weft__list_first(&l)), 1);
  EXPECT_EQ_INT(number_of(weft__list_last(&l)), 4);
}

TEST(a_removed_element_is_in_no_list_and_its_neighbors_are_joined) {
  item a = {1, {0}}, b = {2, {0}}, c = {3, {0}};
  linked_list l;
  weft__list_init(&l);
  EXPECT(!weft__list_is_linked(&b.link));
  weft__list_append(&l, &a.link);
  weft__list_append(&l, &b.link);
  weft__list_append(&l, &c.link);
  EXPECT(weft__list_is_linked(&b.link));
  weft__list_remove(&b.link);
  EXPECT(!weft__list_is_linked(&b.link));
  EXPECT_EQ_INT(digits(&l), 13);
  weft__list_append(&l, &b.link);
  EXPECT_EQ_INT(digits(&l), 132);
  weft__list_remove(&a.link);
  weft__list_remove(&c.link);
  weft__list_remove(&b.link);
  EXPECT(weft__list_is_empty(&l));
}
