/* cast.h - narrowing of sizes, counts and indices without wrapping.
 *
 * A C cast keeps the low bits: 2^32 + 5 becomes 5, and a tensor of four billion elements becomes one of five elements.
 * Outside this header a 64-bit value becomes an int in one of two ways (tests/casts.py refuses a bare cast):
 *
 *   weft__int_of   for a number that came from outside: a tensor, an attribute, a message, a file, a flag, a caller
 *                  of the library.  It fails with the name and the value.
 *   weft__int_sat  for a number that a check nearby has bounded already (a rank, a count of nodes), or of which "as
 *   many
 *                  as possible" is meant (a length for "%.*s", a timeout).  It saturates.  If the check is missing, the
 *                  result is the largest int, which the next comparison refuses, and never a small number.
 *
 * The functions keep no state; any thread may call them. */
#ifndef WEFT_BASE_CAST_H
#define WEFT_BASE_CAST_H

#include "base/status.h"
#include <limits.h>

static inline bool weft__fits_int(int64_t v) { return v >= INT_MIN && v <= INT_MAX; }
/* Stores v in *out.  If v does not fit, returns INVALID_ARGUMENT "<what> is <v>, out of range for a 32-bit integer" and
 * leaves *out as it is. */
weft_err weft__int_of(int *out, int64_t v, const char *what);
/* As weft__int_of, for unsigned sizes. */
weft_err weft__int_of_size(int *out, size_t v, const char *what);

static inline int weft__int_sat_signed(int64_t v) { return v > INT_MAX ? INT_MAX : v < INT_MIN ? INT_MIN : (int)v; }
static inline int weft__int_sat_unsigned(uint64_t v) { return v > INT_MAX ? INT_MAX : (int)v; }
/* Returns the number whose bits are the low 32 of v, for formats that store an int32 in a wider word. */
static inline int32_t weft__bits_int32(uint64_t v) {
  const uint32_t low = (uint32_t)v;
  return low <= INT32_MAX ? (int32_t)low                      /* fits: just compared */
                          : -1 - (int32_t)(UINT32_MAX - low); /* fits: below 2^31 */
}
/* Returns the int nearest to v, which may be of any integer type. */
#define weft__int_sat(v)                                                                                               \
  _Generic((v), unsigned                                                                                               \
           : weft__int_sat_unsigned, unsigned long                                                                     \
           : weft__int_sat_unsigned, unsigned long long                                                                \
           : weft__int_sat_unsigned, default                                                                           \
           : weft__int_sat_signed)(v)

#endif
