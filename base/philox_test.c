/* philox_test.c - the published answers of Philox-4x32-10, and blocks that do not depend on who asks for them. */
#include "base/philox.h"
#include "tests/check.h"

static void expect_block(philox p, const uint32_t want[4]) {
  uint32_t got[4];
  weft__philox_blocks(&p, 0, 1, 1, got);
  for (int i = 0; i < 4; i++) EXPECT_EQ_INT(got[i], want[i]);
}

TEST(the_known_answers_hold) {
  const philox ones = {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}};
  const philox pi = {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}};
  expect_block((philox){0}, (const uint32_t[]){0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  expect_block(ones, (const uint32_t[]){0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  expect_block(pi, (const uint32_t[]){0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

/* Many at once, one by one and by skipping: the same words. */
static void expect_same_blocks(philox p, uint64_t stride) {
  enum { BLOCKS = 77 };
  uint32_t all[4 * BLOCKS], one[4];
  weft__philox_blocks(&p, 3, stride, BLOCKS, all);
  for (int i = 0; i < BLOCKS; i++) {
    philox at = p;
    weft__philox_skip(&at, 3 + (uint64_t)i * stride);
    weft__philox_blocks(&at, 0, 1, 1, one);
    EXPECT(memcmp(one, all + 4 * i, sizeof one) == 0);
  }
}

TEST(blocks_are_the_same_however_they_are_asked_for) {
  expect_same_blocks(weft__philox(5, 9), 1);
  expect_same_blocks(weft__philox(5, 9), 256);
}

TEST(the_counter_carries_through_all_its_words) {
  expect_same_blocks((philox){{0xfffffff0, 7, 1, 2}, {3, 4}}, 1);
  expect_same_blocks((philox){{0xfffffff0, ~0u, 1, 2}, {3, 4}}, 1);
  expect_same_blocks((philox){{0xfffffff0, ~0u, ~0u, 2}, {3, 4}}, 5);
  philox p = {{~0u, ~0u, ~0u, 8}, {0, 0}};
  weft__philox_skip(&p, 1);
  EXPECT(p.counter[0] == 0 && p.counter[1] == 0 && p.counter[2] == 0 && p.counter[3] == 9);
}

TEST(a_reader_gives_the_words_in_order) {
  const philox p = weft__philox(1, 2);
  uint32_t words[12];
  weft__philox_blocks(&p, 0, 1, 3, words);
  philox_reader r = weft__philox_reader(p);
  for (int i = 0; i < 12; i++) EXPECT_EQ_INT(weft__philox_word(&r), words[i]);
}

TEST(numbers_below_n_are_below_n_and_reach_all) {
  philox_reader r = weft__philox_reader(weft__philox(1, 2));
  int seen[7] = {0};
  for (int i = 0; i < 1000; i++) {
    const uint32_t x = weft__philox_below(&r, 7);
    EXPECT(x < 7);
    seen[x]++;
  }
  for (int i = 0; i < 7; i++) EXPECT(seen[i] > 90);
  EXPECT_EQ_INT(weft__philox_below(&r, 1), 0);
}

TEST(floats_and_doubles_are_from_zero_to_below_one) {
  EXPECT(weft__philox_to_float(0) == 0 && weft__philox_to_float(UINT32_MAX) < 1);
  EXPECT(weft__philox_to_double(0, 0) == 0 && weft__philox_to_double(UINT32_MAX, UINT32_MAX) < 1);
  EXPECT(weft__philox_to_float(1u << 22) == 0.5f);
}
