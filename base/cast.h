/* cast.h - narrowing of sizes, counts and indices without wrapping.
 *
 * A C cast keeps the low bits: 2^32 + 5 becomes 5, and a tensor of four billion elements one of five.  Outside this
 * header a 64-bit value becomes an int in one of two ways (tests/casts.py refuses a bare cast):
 *
 *   weft__int_of   for a number that came from outside: a tensor, an attribute, a message, a file, a flag, a caller
 *                  of the library.  It fails with the name and the value.
 *   weft__int_sat  for a number that a check nearby has bounded already (a rank, a count of nodes), or of which "as many
 *                  as possible" is meant (a length for "%.*s", a timeout).  It saturates: should the check be missing,
 *                  the result is the largest int, which the next comparison refuses, and never a small number. */
#ifndef WEFT_BASE_CAST_H
#define WEFT_BASE_CAST_H

#include "base/status.h"
#include <limits.h>

static inline bool weft__fits_int(int64_t v) { return v >= INT_MIN && v <= INT_MAX; }
/* *out = v; INVALID_ARGUMENT "<what> is <v>, out of range for a 32-bit integer" where it does not fit (*out stays). */
weft_err weft__int_of(int *out, int64_t v, const char *what);
/* As weft__int_of, for what is counted without a sign. */
weft_err weft__int_of_size(int *out, size_t v, const char *what);

static inline int weft__int_sat_signed(int64_t v) { return v > INT_MAX ? INT_MAX : v < INT_MIN ? INT_MIN : (int)v; }
static inline int weft__int_sat_unsigned(uint64_t v) { return v > INT_MAX ? INT_MAX : (int)v; }
/* The int nearest to v, of any integer type. */
#define weft__int_sat(v)                                                                                               \
  _Generic((v), unsigned                                                                                               \
           : weft__int_sat_unsigned, unsigned long                                                                     \
           : weft__int_sat_unsigned, unsigned long long                                                                \
           : weft__int_sat_unsigned, default                                                                           \
           : weft__int_sat_signed)(v)

#endif
