/* lookup_test.c - tests lookup tables while entries come and go. */
#include "state/lookup.h"

#include "tests/check.h"
#include <stdio.h>

/* n strings "k0", "k1", ... from `first` on, every `by`-th. */
static weft_tensor strings(int first, int n, int by) {
  weft_tensor t = {0};
  EXPECT_OK(weft__tensor_init(&t, WEFT_STRING, &SHAPE1(n)));
  for (int i = 0; i < n; i++) {
    char name[16];
    const int size = snprintf(name, sizeof name, "k%d", first + i * by);
    EXPECT_OK(weft__str_set(&TENSOR_DATA(&t, str)[i], name, (size_t)size));
  }
  return t;
}

static weft_tensor numbers(int first, int n, int by) {
  weft_tensor t = {0};
  EXPECT_OK(weft__tensor_init(&t, WEFT_INT64, &SHAPE1(n)));
  for (int i = 0; i < n; i++) TENSOR_DATA(&t, int64_t)[i] = first + i * by;
  return t;
}

static lookup *make(bool fixed, weft_dtype key, weft_dtype val) {
  lookup *t = NULL;
  EXPECT_OK(weft__lookup_create(&t, &(lookup_spec){fixed, key, val, SHAPE_SCALAR}));
  return t;
}

TEST(every_entry_is_found_after_many_came_and_many_went) {
  enum { N = 3000 };
  lookup *t = make(false, WEFT_STRING, WEFT_INT64);
  weft_tensor keys = strings(0, N, 1), values = numbers(0, N, 1), found = numbers(0, N, 1),
              third = strings(0, N / 3, 3);
  weft_tensor *none = NULL;
  EXPECT_OK(weft__tensor_scalar(&none, WEFT_INT64, -1));
  EXPECT_OK(weft__lookup_insert(t, &keys, &values));
  EXPECT_EQ_INT(weft__lookup_size(t), N);
  EXPECT_OK(weft__lookup_remove(t, &third));
  EXPECT_OK(weft__lookup_remove(t, &third));
  EXPECT_EQ_INT(weft__lookup_size(t), N - N / 3);
  EXPECT_OK(weft__lookup_find(t, &keys, none, &found));
  for (int i = 0; i < N; i++) EXPECT_EQ_INT(TENSOR_DATA(&found, int64_t)[i], i % 3 ? i : -1);
  EXPECT_OK(weft__lookup_remove(t, &keys));
  EXPECT_EQ_INT(weft__lookup_size(t), 0);
  weft__tensor_clear(&keys), weft__tensor_clear(&values), weft__tensor_clear(&found), weft__tensor_clear(&third);
  weft_tensor_destroy(none);
  weft__object_release((object *)t);
}

TEST(a_fixed_table_is_filled_whole_or_not_at_all_and_then_stays) {
  lookup *t = make(true, WEFT_INT64, WEFT_STRING);
  weft_tensor keys = numbers(0, 3, 1), same = numbers(7, 3, 0), values = strings(0, 3, 1), two = numbers(0, 2, 1);
  weft_tensor found = {0}, all = {0};
  EXPECT_ERR(weft__lookup_fill(t, &same, &values), WEFT_FAILED_PRECONDITION, "Key 7 has k0 and trying to add value k1");
  EXPECT_EQ_INT(weft__lookup_size(t), 0);
  EXPECT_ERR(weft__lookup_export(t, &all, &found), WEFT_ABORTED, "not initialized");
  EXPECT_OK(weft__lookup_fill(t, &keys, &values));
  EXPECT_OK(weft__lookup_fill(t, &keys, &values));
  EXPECT_ERR(weft__lookup_fill(t, &two, &values), WEFT_FAILED_PRECONDITION, "different data");
  EXPECT_ERR(weft__lookup_insert(t, &keys, &values), WEFT_UNIMPLEMENTED, "Insert not supported");
  EXPECT_OK(weft__lookup_export(t, &all, &found));
  EXPECT_EQ_INT(weft__tensor_count(&all), 3);
  EXPECT_EQ_INT(TENSOR_DATA(&all, int64_t)[2], 2);
  EXPECT_EQ_INT(TENSOR_DATA(&found, str)[2].data[1], '2');
  weft__tensor_clear(&keys), weft__tensor_clear(&same), weft__tensor_clear(&values), weft__tensor_clear(&two);
  weft__tensor_clear(&found), weft__tensor_clear(&all);
  weft__object_release((object *)t);
}

TEST(there_are_no_tables_of_handles) {
  lookup *t = NULL;
  EXPECT_ERR(weft__lookup_create(&t, &(lookup_spec){true, WEFT_RESOURCE, WEFT_INT64, SHAPE_SCALAR}),
             WEFT_INVALID_ARGUMENT, "no tables from resource");
}
