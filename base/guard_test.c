/* guard_test.c - guard bytes, written and found changed. */
#include "base/guard.h"
#include "tests/check.h"
#include <string.h>

enum { SIZE = 12 };

typedef struct guarded {
  char block[GUARD_BYTES + SIZE + GUARD_BYTES];
} guarded;

static char *fill(guarded *g) {
  weft__guard_fill(g->block + GUARD_BYTES, SIZE, GUARD_BYTES, GUARD_BYTES);
  return g->block + GUARD_BYTES;
}

static long check_data(const char *data, char *said, size_t size) {
  weft__guard_check(data, SIZE, GUARD_BYTES, GUARD_BYTES, "the value");
  return weft__guard_failures(said, size);
}

TEST(writes_to_the_value_itself_are_fine) {
  guarded g;
  char said[200], *data = fill(&g);
  memset(data, 0, SIZE);
  EXPECT_EQ_INT(check_data(data, said, sizeof said), 0);
}

TEST(a_byte_before_the_start_is_found) {
  guarded g;
  char said[200], *data = fill(&g);
  data[-3] = 0;
  EXPECT_EQ_INT(check_data(data, said, sizeof said), 1);
  EXPECT_EQ_STR(said, "the value of 12 bytes: byte 3 before its start was written");
}

TEST(a_byte_after_the_end_is_found) {
  guarded g;
  char said[200], *data = fill(&g);
  data[SIZE + GUARD_BYTES - 1] = 0;
  EXPECT_EQ_INT(check_data(data, said, sizeof said), 1);
  EXPECT_EQ_STR(said, "the value of 12 bytes: byte 63 after its end was written");
}
