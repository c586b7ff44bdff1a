/* crc32c_test.c - tests checksums against known ones, and both ways to compute them. */
#include "io/crc32c.h"

#include "tests/check.h"
#include <stdlib.h>

TEST(known_checksums) {
  EXPECT_EQ_INT(weft__crc32c(0, "123456789", 9), 0xe3069283u);
  EXPECT_EQ_INT(weft__crc32c_mask(0xe3069283u), 0xc78ab0e5u);
  EXPECT_EQ_INT(weft__crc32c_unmask(0xc78ab0e5u), 0xe3069283u);
  EXPECT_EQ_INT(weft__crc32c(0, "", 0), 0);
}

TEST(the_fast_way_and_the_portable_way_agree) {
  unsigned char *p = malloc(40000);
  EXPECT(p != NULL);
  for (int i = 0; i < 40000; i++) p[i] = (unsigned char)(i * 37 + i / 251);
  static const size_t sizes[] = {0, 1, 7, 8, 9, 63, 4096, 12287, 12288, 12289, 30001, 39990};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (size_t off = 0; off < 4; off++)
      EXPECT_EQ_INT(weft__crc32c(7, p + off, sizes[i]), weft__crc32c_portable(7, p + off, sizes[i]));
  free(p);
}

TEST(a_checksum_continues_another) {
  uint32_t whole = weft__crc32c(0, "hello, world", 12);
  EXPECT_EQ_INT(weft__crc32c(weft__crc32c(0, "hello", 5), ", world", 7), whole);
}
