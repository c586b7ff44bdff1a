/* dtype.h - the element types: size, name, class, and the conversion of 16-bit floats.
 *
 * Elements are stored in a tensor as follows: numbers and bools as in C, half and bfloat16 as uint16_t bit patterns,
 * complex numbers as pairs, WEFT_STRING as `str`, WEFT_RESOURCE and WEFT_VARIANT as `object *`.
 *
 * The functions keep no state; any thread may call them. */
#ifndef WEFT_TENSOR_DTYPE_H
#define WEFT_TENSOR_DTYPE_H

#include "weft/core.h"
#include <complex.h>

#define WEFT_REF_BASE 100

typedef enum dtype_class {
  CLASS_NONE,
  CLASS_FLOAT, /* half, bfloat16, float, double */
  CLASS_INT,   /* signed, and quantized signed */
  CLASS_UINT,
  CLASS_BOOL,
  CLASS_COMPLEX,
  CLASS_STRING,
  CLASS_OBJECT, /* resource, variant */
  CLASS_SMALL   /* float8 and 4-bit integers (tensor/small_types.h): they are stored, copied and cast only */
} dtype_class;

size_t weft__dtype_size(weft_dtype t);       /* bytes of one element; 0 for invalid */
const char *weft__dtype_name(weft_dtype t);  /* TensorFlow's name: "float32", "int64", "bool", "float32_ref" */
const char *weft__dtype_short(weft_dtype t); /* the name in op definitions: "float", "half", "int32" */
bool weft__dtype_is_known(int64_t number);   /* the number of a type, and of no reference */
weft_dtype weft__dtype_parse(const char *name, size_t len); /* parses either name; WEFT_INVALID if unknown */
/* Returns the class of the elements, also for a reference; CLASS_NONE for an unknown type. */
dtype_class weft__dtype_class(weft_dtype t);
static inline bool weft__dtype_is_integer(weft_dtype t) { /* signed or unsigned */
  const dtype_class c = weft__dtype_class(t);
  return c == CLASS_INT || c == CLASS_UINT;
}
static inline bool weft__dtype_is_plain(weft_dtype t) { /* memcpy may copy its elements */
  return t != WEFT_STRING && t != WEFT_RESOURCE && t != WEFT_VARIANT;
}
static inline weft_dtype weft__dtype_base(weft_dtype t) {
  return (int)t > WEFT_REF_BASE ? (weft_dtype)((int)t - WEFT_REF_BASE) : t;
}

/* Conversion of 16-bit floats.  From float: rounds to nearest even, and NaN stays NaN. */
float weft__half_to_float(uint16_t h);
uint16_t weft__half_from_float(float f);
float weft__bfloat16_to_float(uint16_t b);
uint16_t weft__bfloat16_from_float(float f);

#endif
