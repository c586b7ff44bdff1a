/* philox.c - the block function of Philox, computed for sixteen blocks at a time with vector instructions. */
#include "base/philox.h"
#include "base/assert.h"
#include "base/target_clones.h"

enum { LANES = 16, ROUNDS = 10 };

philox weft__philox(uint64_t seed, uint64_t seed2) {
  return (philox){.key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
                  .counter = {0, 0, (uint32_t)seed2, (uint32_t)(seed2 >> 32)}};
}

void weft__philox_skip(philox *p, uint64_t blocks) {
  const uint64_t low = p->counter[0] | (uint64_t)p->counter[1] << 32, sum = low + blocks;
  p->counter[0] = (uint32_t)sum;
  p->counter[1] = (uint32_t)(sum >> 32);
  if (sum < low && ++p->counter[2] == 0) p->counter[3]++;
}

static inline __attribute__((always_inline)) uint32_t philox_high(uint32_t x, uint32_t y) {
  return (uint32_t)((uint64_t)x * y >> 32);
}

/* Computes n blocks (n is a constant), `stride` apart.  Every lane does the same work, so that compilers vectorize it.
 * The two halves of a product are written as two products, because compilers vectorize that more readily. */
static inline __attribute__((always_inline)) void philox_lanes(const philox *p, uint64_t stride, int n,
                                                               uint32_t *words) {
  uint32_t a[LANES], b[LANES], c[LANES], d[LANES], k0 = p->key[0], k1 = p->key[1];
  const uint64_t low = p->counter[0] | (uint64_t)p->counter[1] << 32;
  for (int i = 0; i < n; i++) {
    const uint64_t at = low + (uint64_t)i * stride;
    const uint32_t carry = at < low, c2 = p->counter[2] + carry;
    a[i] = (uint32_t)at;
    b[i] = (uint32_t)(at >> 32);
    c[i] = c2;
    d[i] = p->counter[3] + (carry && c2 == 0);
  }
  for (int r = 0; r < ROUNDS; r++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u)
    for (int i = 0; i < n; i++) {
      const uint32_t x = 0xD2511F53u * a[i], y = 0xCD9E8D57u * c[i];
      const uint32_t xh = philox_high(a[i], 0xD2511F53u), yh = philox_high(c[i], 0xCD9E8D57u);
      a[i] = yh ^ b[i] ^ k0;
      b[i] = y;
      c[i] = xh ^ d[i] ^ k1;
      d[i] = x;
    }
  for (int i = 0; i < n; i++) {
    words[4 * i] = a[i];
    words[4 * i + 1] = b[i];
    words[4 * i + 2] = c[i];
    words[4 * i + 3] = d[i];
  }
}

WEFT_TARGET_CLONES void weft__philox_blocks(const philox *p, uint64_t first, uint64_t stride, int64_t n,
                                            uint32_t *words) {
  philox at = *p;
  weft__philox_skip(&at, first);
  for (; n >= LANES; n -= LANES, words += 4 * LANES) {
    philox_lanes(&at, stride, LANES, words);
    weft__philox_skip(&at, LANES * stride);
  }
  for (; n > 0; n--, words += 4) {
    philox_lanes(&at, stride, 1, words);
    weft__philox_skip(&at, stride);
  }
}

/* ---- one number after the other ---- */

uint32_t weft__philox_word(philox_reader *r) {
  if (r->left == 0) {
    weft__philox_blocks(&r->next, 0, 1, 1, r->have);
    weft__philox_skip(&r->next, 1);
    r->left = 4;
  }
  WEFT_ASSERT(r->left > 0 && r->left <= 4);
  return r->have[4 - r->left--];
}

double weft__philox_double(philox_reader *r) {
  const uint32_t high = weft__philox_word(r);
  return weft__philox_to_double(high, weft__philox_word(r));
}

uint32_t weft__philox_below(philox_reader *r, uint32_t n) {
  WEFT_ASSERT(n > 0);
  const uint32_t uneven = (UINT32_MAX % n + 1) % n; /* words below this would favor the small results */
  uint32_t word;
  do word = weft__philox_word(r);
  while (word < uneven);
  return word % n;
}
