/* small_types.c - float8 and 4-bit integers.  A format is its number of mantissa bits, its bias and its special codes.
 */
#include "tensor/small_types.h"
#include <math.h>

typedef struct float8_format {
  int mantissa, bias;
  uint8_t max, overflow, nan; /* codes without the sign: of the largest finite number, of larger numbers, of NaN */
} float8_format;

static const float8_format e5m2 = {2, 15, 0x7b, 0x7c, 0x7e}, e4m3fn = {3, 7, 0x7e, 0x7f, 0x7f};

static const float8_format *small_types_format_of(weft_dtype t) { return t == WEFT_FLOAT8_E5M2 ? &e5m2 : &e4m3fn; }

double weft__float8_to_double(weft_dtype t, uint8_t bits) {
  const float8_format *f = small_types_format_of(t);
  const int code = bits & 0x7f, exponent = code >> f->mantissa, one = 1 << f->mantissa, low = code & (one - 1);
  double x = exponent ? ldexp(low + one, exponent - f->bias - f->mantissa) : ldexp(low, 1 - f->bias - f->mantissa);
  if (code > f->max) x = code == f->overflow && f->overflow != f->nan ? (double)INFINITY : (double)NAN;
  return bits & 0x80 ? -x : x;
}

uint8_t weft__float8_from_double(weft_dtype t, double x) {
  const float8_format *f = small_types_format_of(t);
  const uint8_t sign = signbit(x) ? 0x80 : 0;
  int exponent;
  if (isnan(x)) return sign | f->nan;
  if (isinf(x)) return sign | f->overflow;
  if (x == 0) return sign;
  frexp(x, &exponent);
  exponent =
      exponent - 1 < 1 - f->bias ? 1 - f->bias : exponent - 1; /* below are subnormal numbers, in the same steps */
  const double steps = rint(ldexp(fabs(x), f->mantissa - exponent)); /* rounds to even, as TensorFlow does */
  /* `steps` includes the leading 1, hence exponent + bias - 1.  If it was rounded up to the next power of two, the sum
   * is that power's code. */
  const double code = ldexp(exponent + f->bias - 1, f->mantissa) + steps;
  return code > f->max ? sign | f->overflow : sign | (uint8_t)code;
}

int weft__int4_to_int(weft_dtype t, uint8_t bits) {
  const int low = bits & 15;
  return t == WEFT_INT4 && low > 7 ? low - 16 : low;
}

weft_dtype weft__small_type_wide(weft_dtype t) {
  return t == WEFT_INT4 ? WEFT_INT8 : t == WEFT_UINT4 ? WEFT_UINT8 : WEFT_DOUBLE;
}

void weft__small_type_widen(const weft_tensor *small, weft_tensor *wide) {
  const int64_t n = weft__tensor_count(small);
  const uint8_t *from = small->data;
  for (int64_t i = 0; i < n; i++) {
    if (wide->dtype == WEFT_DOUBLE)
      TENSOR_DATA(wide, double)[i] = weft__float8_to_double(small->dtype, from[i]);
    else
      TENSOR_DATA(wide, uint8_t)[i] = (uint8_t)weft__int4_to_int(small->dtype, from[i]);
  }
}

void weft__small_type_narrow(const weft_tensor *wide, weft_tensor *small) {
  const int64_t n = weft__tensor_count(small);
  uint8_t *to = small->data;
  for (int64_t i = 0; i < n; i++)
    to[i] = wide->dtype == WEFT_DOUBLE ? weft__float8_from_double(small->dtype, TENSOR_DATA(wide, double)[i])
                                       : weft__int4_from_int(TENSOR_DATA(wide, uint8_t)[i]);
}
