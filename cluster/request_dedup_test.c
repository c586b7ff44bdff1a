#include "cluster/request_dedup.h"

#include "tests/check.h"

static int64_t id_of(int i) { return (int64_t)((uint64_t)(i + 1) * UINT64_C(0xD1B54A32D192ED03)); }

TEST(an_id_is_new_once_until_it_is_forgotten) {
  enum { LIMIT = 1000 };
  once *o = NULL;
  EXPECT_OK(weft__once_create(&o, LIMIT));
  for (int i = 0; i < 5 * LIMIT; i++) {
    EXPECT_OK(weft__once_check(o, "RunGraph", id_of(i)));
    if (i % 7 == 0)
      EXPECT_ERR(weft__once_check(o, "RunGraph", id_of(i)), WEFT_ABORTED,
                 "The same RunGraph request was received twice");
    int before = i - LIMIT + 1;
    if (before >= 0 && i % 11 == 0) EXPECT_ERR(weft__once_check(o, "x", id_of(before)), WEFT_ABORTED, "twice");
  }
  EXPECT_OK(weft__once_check(o, "x", id_of(0))); /* long ago */
  weft__once_destroy(o);
}

TEST(the_id_zero_is_never_checked) {
  once *o = NULL;
  EXPECT_OK(weft__once_create(&o, 10));
  for (int i = 0; i < 3; i++) EXPECT_OK(weft__once_check(o, "x", 0));
  weft__once_destroy(o);
}
