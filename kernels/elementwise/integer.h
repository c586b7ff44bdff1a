/* integer.h - integer arithmetic that is defined for every argument.
 *
 * In C the quotient of the lowest number and -1 is undefined (and x86 traps); TensorFlow wraps it.  Arguments of
 * narrower types are widened to 64 bits, and the caller's cast wraps the result.  Callers have refused a divisor of
 * 0. */
#ifndef WEFT_KERNELS_ELEMENTWISE_INTEGER_H
#define WEFT_KERNELS_ELEMENTWISE_INTEGER_H

#include <stdint.h>

/* Divides the magnitudes, in 32 bits where they fit: processors take several times as long for 64. */
static inline int64_t int_div(int64_t x, int64_t y) {
  const uint64_t a = x < 0 ? 0 - (uint64_t)x : (uint64_t)x, b = y < 0 ? 0 - (uint64_t)y : (uint64_t)y;
  const uint64_t q = (a | b) >> 32 ? a / b : (uint32_t)a / (uint32_t)b;
  return (int64_t)((x < 0) != (y < 0) ? 0 - q : q);
}
static inline int64_t int_mod(int64_t x, int64_t y) {
  return (int64_t)((uint64_t)x - (uint64_t)int_div(x, y) * (uint64_t)y);
}

static inline int64_t int_floor_div(int64_t x, int64_t y) {
  const int64_t q = int_div(x, y), r = (int64_t)((uint64_t)x - (uint64_t)q * (uint64_t)y);
  return q - (r != 0 && (r < 0) != (y < 0));
}

static inline int64_t int_floor_mod(int64_t x, int64_t y) {
  const int64_t r = int_mod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

/* The same for at most 32 bits, without a branch, so that loops are vectorized.  The caller's cast wraps the result.  A
 * quotient of such numbers is not nearer to the next integer than a double can tell. */
static inline uint32_t int_div_32(int32_t x, int32_t y) {
  const int32_t q = (int32_t)((double)x / (double)(y == -1 ? 1 : y));
  return y == -1 ? 0 - (uint32_t)x : (uint32_t)q;
}
static inline uint32_t int_mod_32(int32_t x, int32_t y) { return (uint32_t)x - int_div_32(x, y) * (uint32_t)y; }

static inline uint32_t int_floor_div_32(int32_t x, int32_t y) {
  const uint32_t q = int_div_32(x, y), r = (uint32_t)x - q * (uint32_t)y;
  return q - ((r != 0) & (r ^ (uint32_t)y) >> 31);
}
static inline uint32_t int_floor_mod_32(int32_t x, int32_t y) {
  const uint32_t r = int_mod_32(x, y);
  return r + ((r != 0) & (r ^ (uint32_t)y) >> 31 ? (uint32_t)y : 0);
}

/* Computes the power by squaring.  It is exact in wrapping arithmetic, so also for a signed x cast to uint64_t. */
static inline uint64_t int_pow(uint64_t x, uint64_t y) {
  uint64_t z = 1;
  for (; y; y >>= 1, x *= x)
    if (y & 1) z *= x;
  return z;
}

#endif
