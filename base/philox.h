/* philox.h - random numbers by counter: Philox-4x32-10, drawn exactly as TensorFlow's CPU kernels draw.
 *
 * A generator is a key and a 128-bit counter; block i is a function of key and counter + i, so any
 * part of a tensor can be filled by any thread and the numbers are the same. */
#ifndef WEFT_BASE_PHILOX_H
#define WEFT_BASE_PHILOX_H

#include <stdint.h>

typedef struct philox {
  uint32_t counter[4], key[2];
} philox;

philox weft__philox(uint64_t seed, uint64_t seed2); /* key = seed, upper half of the counter = seed2 */
void weft__philox_skip(philox *p, uint64_t blocks);
/* n blocks, four words each: the one `first` after p, then every stride-th.  p itself stays where it is. */
void weft__philox_blocks(const philox *p, uint64_t first, uint64_t stride, int64_t n, uint32_t *words);

/* One number after the other, as kernels that draw a few of them do. */
typedef struct philox_reader {
  philox next;
  uint32_t have[4];
  int left; /* words of `have` not yet given out */
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
