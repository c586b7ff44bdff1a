/* dtype.c - the table of element types, generated from one list, and the conversion of 16-bit floats.
 *
 * Include cycle with tensor/tensor: the sizes of strings and objects are those of the types that a tensor holds them
 * as. */
#include "tensor/dtype.h"
#include "tensor/tensor.h"
#include <string.h>

/* type, C storage, TF's Python name, the name in op definitions, class */
#define TYPES(X)                                                                                                       \
  X(FLOAT, float, "float32", "float", FLOAT)                                                                           \
  X(DOUBLE, double, "float64", "double", FLOAT)                                                                        \
  X(INT32, int32_t, "int32", "int32", INT)                                                                             \
  X(UINT8, uint8_t, "uint8", "uint8", UINT)                                                                            \
  X(INT16, int16_t, "int16", "int16", INT)                                                                             \
  X(INT8, int8_t, "int8", "int8", INT)                                                                                 \
  X(STRING, str, "string", "string", STRING)                                                                           \
  X(COMPLEX64, float complex, "complex64", "complex64", COMPLEX)                                                       \
  X(INT64, int64_t, "int64", "int64", INT)                                                                             \
  X(BOOL, bool, "bool", "bool", BOOL)                                                                                  \
  X(QINT8, int8_t, "qint8", "qint8", INT)                                                                              \
  X(QUINT8, uint8_t, "quint8", "quint8", UINT)                                                                         \
  X(QINT32, int32_t, "qint32", "qint32", INT)                                                                          \
  X(BFLOAT16, uint16_t, "bfloat16", "bfloat16", FLOAT)                                                                 \
  X(QINT16, int16_t, "qint16", "qint16", INT)                                                                          \
  X(QUINT16, uint16_t, "quint16", "quint16", UINT)                                                                     \
  X(UINT16, uint16_t, "uint16", "uint16", UINT)                                                                        \
  X(COMPLEX128, double complex, "complex128", "complex128", COMPLEX)                                                   \
  X(HALF, uint16_t, "float16", "half", FLOAT)                                                                          \
  X(RESOURCE, object *, "resource", "resource", OBJECT)                                                                \
  X(VARIANT, object *, "variant", "variant", OBJECT)                                                                   \
  X(UINT32, uint32_t, "uint32", "uint32", UINT)                                                                        \
  X(UINT64, uint64_t, "uint64", "uint64", UINT)                                                                        \
  X(FLOAT8_E5M2, uint8_t, "float8_e5m2", "float8_e5m2", SMALL)                                                         \
  X(FLOAT8_E4M3FN, uint8_t, "float8_e4m3fn", "float8_e4m3fn", SMALL)                                                   \
  X(INT4, uint8_t, "int4", "int4", SMALL)                                                                              \
  X(UINT4, uint8_t, "uint4", "uint4", SMALL)

typedef struct type_row {
  const char *name, *ref_name, *brief;
  size_t size;
  dtype_class class;
} type_row;

static const type_row rows[WEFT_DTYPE_COUNT] = {[WEFT_INVALID] = {"invalid", "invalid", "invalid", 0, CLASS_NONE},
#define TYPE_ROW(type, storage, name, brief, class)                                                                    \
  [WEFT_##type] = {name, name "_ref", brief, sizeof(storage), CLASS_##class},
                                                TYPES(TYPE_ROW)
#undef TYPE_ROW
};

bool weft__dtype_is_known(int64_t number) { return number > 0 && number < WEFT_DTYPE_COUNT && rows[number].name; }

static const type_row *dtype_row(weft_dtype t) {
  int i = (int)weft__dtype_base(t);
  return &rows[weft__dtype_is_known(i) ? i : 0];
}

size_t weft__dtype_size(weft_dtype t) { return dtype_row(t)->size; }

const char *weft__dtype_name(weft_dtype t) {
  return (int)t > WEFT_REF_BASE ? dtype_row(t)->ref_name : dtype_row(t)->name;
}

const char *weft__dtype_short(weft_dtype t) { return dtype_row(t)->brief; }

dtype_class weft__dtype_class(weft_dtype t) { return dtype_row(t)->class; }

static bool dtype_name_is(const char *want, const char *name, size_t len) {
  return strlen(want) == len && memcmp(want, name, len) == 0;
}

weft_dtype weft__dtype_parse(const char *name, size_t len) {
  for (int i = 1; i < WEFT_DTYPE_COUNT; i++) {
    if (!rows[i].name) continue;
    if (dtype_name_is(rows[i].name, name, len) || dtype_name_is(rows[i].brief, name, len)) return (weft_dtype)i;
    if (dtype_name_is(rows[i].ref_name, name, len)) return (weft_dtype)(i + WEFT_REF_BASE);
  }
  return WEFT_INVALID;
}

/* ---- 16-bit floats ---- */

static uint32_t float_to_bits(float f) {
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  return u;
}

static float float_from_bits(uint32_t u) {
  float f;
  memcpy(&f, &u, sizeof f);
  return f;
}

float weft__half_to_float(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = h & 0x7fff;
  if (magnitude >= 0x7c00) return float_from_bits(sign | 0x7f800000 | (magnitude & 0x3ff) << 13); /* infinity, NaN */
  if (magnitude < 0x400) { /* subnormal: value * 2^-24 */
    float f = (float)magnitude * 0x1p-24f;
    return sign ? -f : f;
  }
  return float_from_bits(sign | ((magnitude << 13) + (112u << 23)));
}

uint16_t weft__half_from_float(float f) {
  uint32_t u = float_to_bits(f), sign = u >> 16 & 0x8000, magnitude = u & 0x7fffffff;
  if (magnitude > 0x7f800000) return (uint16_t)(sign | 0x7e00);  /* NaN */
  if (magnitude >= 0x477ff000) return (uint16_t)(sign | 0x7c00); /* 65520 and above round to infinity */
  if (magnitude < 0x38800000) { /* below 2^-14: let the addition round to a multiple of 2^-24 */
    uint32_t rounded = float_to_bits(float_from_bits(magnitude) + 0.5f) - float_to_bits(0.5f);
    return (uint16_t)(sign | rounded);
  }
  uint32_t odd = magnitude >> 13 & 1;
  return (uint16_t)(sign | (magnitude - (112u << 23) + 0xfff + odd) >> 13);
}

float weft__bfloat16_to_float(uint16_t b) { return float_from_bits((uint32_t)b << 16); }

uint16_t weft__bfloat16_from_float(float f) {
  uint32_t u = float_to_bits(f);
  if ((u & 0x7fffffff) > 0x7f800000) return (uint16_t)((u >> 16 & 0x8000) | 0x7fc0);
  return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
