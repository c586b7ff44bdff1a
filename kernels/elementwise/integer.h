/* integer.h - integer arithmetic with an answer for every argument.
 *
 * C leaves the quotient of the lowest number by -1 undefined (and x86 traps); TensorFlow wraps it.
 * Arguments of every narrower type are widened to 64 bits on the way in; the caller's cast wraps
 * the result.  A divisor of 0 has been refused before. */
#ifndef WEFT_KERNELS_ELEMENTWISE_INTEGER_H
#define WEFT_KERNELS_ELEMENTWISE_INTEGER_H

#include <stdint.h>

static inline int64_t int_div(int64_t x, int64_t y) { return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y; }
static inline int64_t int_mod(int64_t x, int64_t y) { return y == -1 ? 0 : x % y; }

static inline int64_t int_floor_div(int64_t x, int64_t y) {
  const int64_t q = int_div(x, y), r = int_mod(x, y);
  return q - (r != 0 && (r < 0) != (y < 0));
}

static inline int64_t int_floor_mod(int64_t x, int64_t y) {
  const int64_t r = int_mod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

/* By squaring; exact in wrapping arithmetic, so also for signed x reinterpreted. */
static inline uint64_t int_pow(uint64_t x, uint64_t y) {
  uint64_t z = 1;
  for (; y; y >>= 1, x *= x)
    if (y & 1) z *= x;
  return z;
}

#endif
