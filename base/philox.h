/* philox.h - counter-based random numbers: Philox-4x32-10, in the order in which TensorFlow's CPU kernels draw them.
 *
 * A generator is a key and a 128-bit counter.  Block i is a function of the key and counter + i.  So any thread can
 * fill any part of a tensor, and the numbers are the same.  A generator is a plain value and is not thread safe. */
#ifndef WEFT_BASE_PHILOX_H
#define WEFT_BASE_PHILOX_H

#include <stdint.h>

typedef struct philox {
  uint32_t counter[4], key[2];
} philox;

philox weft__philox(uint64_t seed, uint64_t seed2); /* key = seed, upper half of the counter = seed2 */
void weft__philox_skip(philox *p, uint64_t blocks); /* advances the counter */
/* Writes n blocks of four words each: block `first` after p, then every stride-th.  p does not advance. */
void weft__philox_blocks(const philox *p, uint64_t first, uint64_t stride, int64_t n, uint32_t *words);

/* Draws one number after the other, for kernels that need a few of them. */
typedef struct philox_reader {
  philox next;
  uint32_t have[4];
  int left; /* words of `have` that are not drawn yet */
} philox_reader;
static inline philox_reader weft__philox_reader(philox p) { return (philox_reader){.next = p}; }
uint32_t weft__philox_word(philox_reader *r);
double weft__philox_double(philox_reader *r);              /* [0, 1), two words */
uint32_t weft__philox_below(philox_reader *r, uint32_t n); /* [0, n) without bias; n > 0 */

static inline float weft__philox_to_float(uint32_t word) { /* [0, 1) */
  const union {
    uint32_t u;
    float f;
  } bits = {(word & 0x7fffffu) | 0x3f800000u};
  return bits.f - 1.0f;
}
static inline double weft__philox_to_double(uint32_t high, uint32_t low) { /* [0, 1) */
  const union {
    uint64_t u;
    double d;
  } bits = {((uint64_t)((high & 0xfffffu) | 0x3ff00000u) << 32) | low};
  return bits.d - 1.0;
}

#endif
