/* integer.h - integer arithmetic that is defined for every argument.
 *
 * In C the quotient of the lowest number and -1 is undefined (and x86 traps); TensorFlow wraps it.  Arguments of
 * narrower types are widened to 64 bits, and the caller's cast wraps the result.  Callers have refused a divisor of
 * 0. */
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

/* Computes the power by squaring.  It is exact in wrapping arithmetic, so also for a signed x cast to uint64_t. */
static inline uint64_t int_pow(uint64_t x, uint64_t y) {
  uint64_t z = 1;
  for (; y; y >>= 1, x *= x)
    if (y & 1) z *= x;
  return z;
}

#endif
