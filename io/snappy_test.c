/* snappy_test.c - blocks that come back as they were, blocks with copies, and damaged blocks. */
#include "io/snappy.h"
#include "tests/check.h"
#include <string.h>

TEST(what_is_encoded_is_decoded) {
  char data[200000];
  for (size_t i = 0; i < sizeof data; i++) data[i] = (char)(i * 7 + i / 1000);
  const size_t sizes[] = {0, 1, 60, 65536, 65537, sizeof data};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    text packed = {0}, back = {0};
    weft__snappy_encode(data, sizes[i], &packed);
    EXPECT(weft__snappy_decode((const uint8_t *)packed.data, packed.size, &back) == WEFT_OK);
    EXPECT(back.size == sizes[i] && memcmp(weft__text_get(&back), data, sizes[i]) == 0);
    weft__text_finish(&packed);
    weft__text_finish(&back);
  }
}

TEST(copies_may_overlap) {
  const uint8_t block[] = {11, 1 << 2, 'a', 'b', 5 << 2 | 1, 2}; /* "ab", then 9 bytes from 2 bytes back */
  text back = {0};
  EXPECT(weft__snappy_decode(block, sizeof block, &back) == WEFT_OK);
  EXPECT(back.size == 11 && memcmp(back.data, "abababababa", 11) == 0);
  weft__text_finish(&back);
}

TEST(damaged_blocks_are_refused) {
  const uint8_t good[] = {11, 1 << 2, 'a', 'b', 5 << 2 | 1, 2}, far[] = {4, 1, 9}, none[] = {4, 1, 0},
                cut[] = {9, 8 << 2, 'a'}, huge[] = {0xff, 0xff, 0xff, 0xff, 0x0f, 0, 'a'};
  text back = {0};
  for (size_t n = 0; n < sizeof good; n++) EXPECT(weft__snappy_decode(good, n, &back) == WEFT_DATA_LOSS);
  EXPECT(weft__snappy_decode(far, sizeof far, &back) == WEFT_DATA_LOSS);
  EXPECT(weft__snappy_decode(none, sizeof none, &back) == WEFT_DATA_LOSS);
  EXPECT(weft__snappy_decode(cut, sizeof cut, &back) == WEFT_DATA_LOSS);
  EXPECT(weft__snappy_decode(huge, sizeof huge, &back) == WEFT_DATA_LOSS);
  EXPECT(back.size == 0);
  weft__text_finish(&back);
}
