/* small_types.h - float8 and 4-bit integers: how their bits are read and written.
 *
 * Each element is a byte, as in numpy and TensorFlow.  float8_e5m2 has infinities; float8_e4m3fn has none, and what is
 * too large becomes NaN.  A 4-bit integer is in the low half of its byte; the high half is 0.
 *
 * The functions keep no state; any thread may call them. */
#ifndef WEFT_TENSOR_SMALL_TYPES_H
#define WEFT_TENSOR_SMALL_TYPES_H

#include "tensor/tensor.h"

/* t is a float8 type or a 4-bit integer type, as the name of the function says. */
double weft__float8_to_double(weft_dtype t, uint8_t bits);
uint8_t weft__float8_from_double(weft_dtype t, double x); /* to nearest, ties to even */
int weft__int4_to_int(weft_dtype t, uint8_t bits);
static inline uint8_t weft__int4_from_int(int64_t x) { return (uint8_t)(x & 15); } /* modulo 16, for both types */

/* Returns the type that holds every value of a small type and that casts go through: double, int8 or uint8. */
weft_dtype weft__small_type_wide(weft_dtype t);
/* Converts all elements from a small type to its wide one, or back.  Both tensors have the same count. */
void weft__small_type_widen(const weft_tensor *small, weft_tensor *wide);
void weft__small_type_narrow(const weft_tensor *wide, weft_tensor *small);

#endif
