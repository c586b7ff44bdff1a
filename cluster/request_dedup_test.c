/* request_dedup_test.c - tests that a request id is accepted once. */
#include "cluster/request_dedup.h"

#include "tests/check.h"

static int64_t id_of(int i) { return (int64_t)((uint64_t)(i + 1) * UINT64_C(0xD1B54A32D192ED03)); }

TEST(an_id_is_accepted_once_until_it_is_forgotten) {
  enum { LIMIT = 1000 };
  request_dedup *d = NULL;
  EXPECT_OK(weft__request_dedup_create(&d, LIMIT));
  for (int i = 0; i < 5 * LIMIT; i++) {
    EXPECT_OK(weft__request_dedup_check(d, "RunGraph", id_of(i)));
    if (i % 7 == 0)
      EXPECT_ERR(weft__request_dedup_check(d, "RunGraph", id_of(i)), WEFT_ABORTED,
                 "The same RunGraph request was received twice");
    int before = i - LIMIT + 1;
    if (before >= 0 && i % 11 == 0) EXPECT_ERR(weft__request_dedup_check(d, "x", id_of(before)), WEFT_ABORTED, "twice");
  }
  EXPECT_OK(weft__request_dedup_check(d, "x", id_of(0))); /* forgotten long ago */
  weft__request_dedup_destroy(d);
}

TEST(the_id_zero_is_never_checked) {
  request_dedup *d = NULL;
  EXPECT_OK(weft__request_dedup_create(&d, 10));
  for (int i = 0; i < 3; i++) EXPECT_OK(weft__request_dedup_check(d, "x", 0));
  weft__request_dedup_destroy(d);
}
