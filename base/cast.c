/* cast.c - the checked narrowing conversions of base/cast.h, with their error messages. */
#include "base/cast.h"

weft_err weft__int_of(int *out, int64_t v, const char *what) {
  if (!weft__fits_int(v))
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s is %lld, out of range for a 32-bit integer", what, (long long)v);
  *out = (int)v;
  return WEFT_OK;
}

weft_err weft__int_of_size(int *out, size_t v, const char *what) {
  if (v > INT_MAX) return weft__fail(WEFT_INVALID_ARGUMENT, "%s is %zu, out of range for a 32-bit integer", what, v);
  *out = (int)v;
  return WEFT_OK;
}
