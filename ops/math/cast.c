/* cast.c - Cast: conversion between any two number types.
 *
 * Integers wrap around.  A float outside the range of the integer type (or NaN) becomes the lowest number, as on x86
 * and as TensorFlow gives it there.  Types narrower than 32 bits are converted through int32.  A complex number
 * loses its imaginary part.  Half and bfloat16 are converted through float.
 *
 * float8 comes from floats only and goes to every type but 4-bit integers; these are cast from and to integers only. */
#include "ops/math/cast.h"
#include "graph/build.h"
#include "kernels/elementwise/elementwise.h"
#include "tensor/small_types.h"

/* ---- from floats ---- */
VMATH int32_t to_i32(double x) { return x > -2147483649.0 && x < 2147483648.0 ? (int32_t)x : INT32_MIN; }
VMATH int32_t to_i32f(float x) { return x >= -2147483648.0f && x < 2147483648.0f ? (int32_t)x : INT32_MIN; }
VMATH int64_t to_i64(double x) { return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN; }
VMATH uint64_t to_u64(double x) { return x >= 0x1p63 && x < 0x1p64 ? (uint64_t)x : (uint64_t)to_i64(x); }

#define FROM_FLOAT(LOOP, name, T, I32)                                                                                 \
  LOOP(name, f32, float, T, T, x)                                                                                      \
  LOOP(name, f64, double, T, T, x)                                                                                     \
  LOOP(name, c64, float complex, T, T, x)                                                                              \
  LOOP(name, c128, double complex, T, T, x)                                                                            \
  LOOP(name, i8, int8_t, T, T, I32(x))                                                                                 \
  LOOP(name, i16, int16_t, T, T, I32(x))                                                                               \
  LOOP(name, i32, int32_t, T, T, I32(x))                                                                               \
  LOOP(name, i64, int64_t, T, T, to_i64(x))                                                                            \
  LOOP(name, u8, uint8_t, T, T, I32(x))                                                                                \
  LOOP(name, u16, uint16_t, T, T, I32(x))                                                                              \
  LOOP(name, u32, uint32_t, T, T, to_i64(x))                                                                           \
  LOOP(name, u64, uint64_t, T, T, to_u64(x))                                                                           \
  LOOP(name, b, bool, T, T, x != 0)

/* ---- from integers ---- */
#define FROM_INT(LOOP, name, T)                                                                                        \
  LOOP(name, f32, float, T, T, x)                                                                                      \
  LOOP(name, f64, double, T, T, x)                                                                                     \
  LOOP(name, c64, float complex, T, T, (float)x)                                                                       \
  LOOP(name, c128, double complex, T, T, (double)x)                                                                    \
  LOOP(name, i8, int8_t, T, T, x)                                                                                      \
  LOOP(name, i16, int16_t, T, T, x)                                                                                    \
  LOOP(name, i32, int32_t, T, T, x)                                                                                    \
  LOOP(name, i64, int64_t, T, T, x)                                                                                    \
  LOOP(name, u8, uint8_t, T, T, x)                                                                                     \
  LOOP(name, u16, uint16_t, T, T, x)                                                                                   \
  LOOP(name, u32, uint32_t, T, T, x)                                                                                   \
  LOOP(name, u64, uint64_t, T, T, x)                                                                                   \
  LOOP(name, b, bool, T, T, x != 0)

#define HOT_LOOP(name, suffix, Z_, T_, A_, expr) WEFT_TARGET_CLONES UNARY_LOOP(name, suffix, Z_, T_, A_, expr)

FROM_FLOAT(HOT_LOOP, from_f32, float, to_i32f)
FROM_FLOAT(HOT_LOOP, from_f64, double, to_i32)
FROM_INT(UNARY_LOOP, from_i8, int8_t)
FROM_INT(UNARY_LOOP, from_i16, int16_t)
FROM_INT(HOT_LOOP, from_i32, int32_t)
FROM_INT(HOT_LOOP, from_i64, int64_t)
FROM_INT(HOT_LOOP, from_u8, uint8_t)
FROM_INT(UNARY_LOOP, from_u16, uint16_t)
FROM_INT(UNARY_LOOP, from_u32, uint32_t)
FROM_INT(UNARY_LOOP, from_u64, uint64_t)
FROM_INT(HOT_LOOP, from_bool, bool)

/* ---- from complex numbers: converts the real part, except to another complex type ---- */
UNARY_LOOP(real_of, c64, float, float complex, float, crealf(x))
UNARY_LOOP(real_of, c128, double, double complex, double, creal(x))
UNARY_LOOP(from_c64, c128, double complex, float complex, float, x)
UNARY_LOOP(from_c128, c64, float complex, double complex, double, x)

#define TO_ALL(name)                                                                                                   \
  {                                                                                                                    \
    ROWS_REAL(name),                                                                                                   \
        ROWS_COMPLEX(name), [WEFT_BOOL] = name##_b, [WEFT_HALF] = name##_f32, [WEFT_BFLOAT16] = name##_f32             \
  }

static elem_loop *const loops[WEFT_DTYPE_COUNT][WEFT_DTYPE_COUNT] = {
    [WEFT_FLOAT] = TO_ALL(from_f32),
    [WEFT_HALF] = TO_ALL(from_f32),
    [WEFT_BFLOAT16] = TO_ALL(from_f32),
    [WEFT_DOUBLE] = TO_ALL(from_f64),
    [WEFT_INT8] = TO_ALL(from_i8),
    [WEFT_INT16] = TO_ALL(from_i16),
    [WEFT_INT32] = TO_ALL(from_i32),
    [WEFT_INT64] = TO_ALL(from_i64),
    [WEFT_UINT8] = TO_ALL(from_u8),
    [WEFT_UINT16] = TO_ALL(from_u16),
    [WEFT_UINT32] = TO_ALL(from_u32),
    [WEFT_UINT64] = TO_ALL(from_u64),
    [WEFT_BOOL] = TO_ALL(from_bool),
    [WEFT_COMPLEX64] = {[WEFT_FLOAT] = real_of_c64, [WEFT_COMPLEX128] = from_c64_c128},
    [WEFT_COMPLEX128] = {[WEFT_DOUBLE] = real_of_c128, [WEFT_COMPLEX64] = from_c128_c64},
};

/* Returns the integer type that a quantized type is stored as. */
static weft_dtype stored_as(weft_dtype t) {
  switch (t) {
  case WEFT_QINT8: return WEFT_INT8;
  case WEFT_QUINT8: return WEFT_UINT8;
  case WEFT_QINT16: return WEFT_INT16;
  case WEFT_QUINT16: return WEFT_UINT16;
  case WEFT_QINT32: return WEFT_INT32;
  default: return t;
  }
}

static weft_err no_such_cast(const kernel *k, weft_dtype from, weft_dtype to) {
  return weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "Cast %s to %s is not supported", weft__dtype_short(from),
                           weft__dtype_short(to));
}

/* Converts complex to real types: takes the real parts, then converts them. */
static weft_err cast_real_part(const kernel *k, const weft_tensor *src, weft_tensor *dst) {
  weft_tensor real = {0};
  WEFT_TRY(weft__tensor_init(&real, src->dtype == WEFT_COMPLEX64 ? WEFT_FLOAT : WEFT_DOUBLE, &src->shape));
  weft_err err = weft__cast_elements(k, src, &real);
  if (!err) err = weft__cast_elements(k, &real, dst);
  weft__tensor_clear(&real);
  return err;
}

static bool is_small(weft_dtype t) { return weft__dtype_class(t) == CLASS_SMALL; }
static bool is_int4(weft_dtype t) { return t == WEFT_INT4 || t == WEFT_UINT4; }

static bool small_cast_exists(weft_dtype from, weft_dtype to) {
  if (is_int4(from) || is_int4(to))
    return (is_int4(from) || weft__dtype_is_integer(from)) && (is_int4(to) || weft__dtype_is_integer(to));
  return !is_small(to) || is_small(from) || weft__dtype_class(from) == CLASS_FLOAT;
}

/* Converts from or to a small type through its wide one. */
static weft_err cast_small(const kernel *k, const weft_tensor *src, weft_tensor *dst) {
  weft_tensor from = {0}, to = {0};
  const bool widens = is_small(src->dtype), narrows = is_small(dst->dtype);
  if (!small_cast_exists(src->dtype, dst->dtype)) return no_such_cast(k, src->dtype, dst->dtype);
  weft_err err = widens ? weft__tensor_init(&from, weft__small_type_wide(src->dtype), &src->shape) : WEFT_OK;
  if (!err && narrows) err = weft__tensor_init(&to, weft__small_type_wide(dst->dtype), &src->shape);
  if (!err && widens) weft__small_type_widen(src, &from);
  if (!err) err = weft__cast_elements(k, widens ? &from : src, narrows ? &to : dst);
  if (!err && narrows) weft__small_type_narrow(&to, dst);
  weft__tensor_clear(&from);
  weft__tensor_clear(&to);
  return err;
}

weft_err weft__cast_elements(const kernel *k, const weft_tensor *src, weft_tensor *dst) {
  const weft_dtype from = stored_as(src->dtype), to = stored_as(dst->dtype);
  if (from == to) return weft__elements_copy(from, dst->data, src->data, weft__tensor_count(src));
  if (is_small(from) || is_small(to)) return cast_small(k, src, dst);
  elem_loop *loop = loops[from][to];
  if (!loop && weft__dtype_class(from) == CLASS_COMPLEX && loops[WEFT_DOUBLE][to]) return cast_real_part(k, src, dst);
  if (!loop) return no_such_cast(k, src->dtype, dst->dtype);
  weft__elementwise_run(k, loop, COST_CHEAP, NULL, true, 1, &src, dst);
  return WEFT_OK;
}

/* ---- Truncate: narrows a float type by rounding toward 0, not to nearest ---- */
UNARY_LOOP(chop, f32, float, float, float, vfloat(vbits(x) & *(const uint32_t *)arg))
static void chop_f64(void *zs, const void *const *in, int64_t n, const void *arg) {
  const uint64_t mask = *(const uint64_t *)arg;
  const double *x = in[0];
  float *z = zs;
  for (int64_t i = 0; i < n; i++) {
    uint64_t bits;
    double chopped;
    memcpy(&bits, &x[i], sizeof bits);
    bits &= mask;
    memcpy(&chopped, &bits, sizeof bits);
    z[i] = (float)chopped;
  }
}

static int mantissa_bits(weft_dtype t) {
  switch (t) {
  case WEFT_BFLOAT16: return 7;
  case WEFT_HALF: return 10;
  case WEFT_FLOAT: return 23;
  case WEFT_DOUBLE: return 52;
  default: return 0;
  }
}

static bool cast_chops(weft_dtype from, weft_dtype to) {
  return mantissa_bits(to) > 0 && mantissa_bits(from) > mantissa_bits(to);
}

static void cast_truncate(const kernel *k, const weft_tensor *src, weft_tensor *dst) {
  if (src->dtype == WEFT_DOUBLE) {
    const uint64_t mask = ~(uint64_t)0 << (52 - mantissa_bits(dst->dtype));
    weft__elementwise_run(k, chop_f64, COST_CHEAP, &mask, true, 1, &src, dst);
  } else {
    const uint32_t mask = ~(uint32_t)0 << (23 - mantissa_bits(dst->dtype));
    weft__elementwise_run(k, chop_f32, COST_CHEAP, &mask, true, 1, &src, dst);
  }
}

static weft_err cast_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  const weft_dtype to = weft__dtype_base(k->node->out_type[0]);
  if (to == x->dtype) return weft__forward(k, 0, 0, &x->shape);
  if (!weft__dtype_is_plain(to) || !weft__dtype_is_plain(x->dtype)) return no_such_cast(k, x->dtype, to);
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_RESOURCE_EXHAUSTED;
  if (!cast_chops(x->dtype, to) || !weft__node_bool(k->node, "Truncate", false)) return weft__cast_elements(k, x, y);
  cast_truncate(k, x, y);
  return WEFT_OK;
}

/* Only types that have derivatives have a gradient. */
static weft_err cast_grad(backprop *b) {
  const weft_dtype from = weft__out_type(b->graph, b->in[0]), to = weft__out_type(b->graph, b->out[0]);
  const dtype_class cf = weft__dtype_class(from), ct = weft__dtype_class(to);
  if ((cf == CLASS_FLOAT || cf == CLASS_COMPLEX) && (ct == CLASS_FLOAT || ct == CLASS_COMPLEX))
    b->din[0] = GRAD_DENSE(weft__b_cast(b->graph, b->dout[0], from));
  return WEFT_OK;
}

static const op_case cast_cases[] = {
    {"f32[4] 1.5 -1.5 0 300", "i32[4] 1 -1 0 300", "DstT=int32", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3] 1.5 -1.5 0", "bool[3] true true false", "DstT=bool", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3] 300.7 -1.5 127", "i8[3] 44 -1 127", "DstT=int8", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i64[3] 300 -1 4294967301", "u8[3] 44 255 5", "DstT=uint8", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i64[3] 300 -1 4294967301", "i32[3] 300 -1 5", "DstT=int32", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"bool[2] true false", "f32[2] 1 0", "DstT=float", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2000] rand", NULL, "DstT=half"},
    {"f32[2000] rand", NULL, "DstT=bfloat16"},
    {"f32[2000] rand", NULL, "DstT=double"},
    {"f32[40] rand", NULL, "DstT=int64"},
    {"f32[40] rand", NULL, "DstT=complex64"},
    {"f32[40] pos", NULL, "DstT=uint16"},
    {"f16[40] rand", NULL, "DstT=bfloat16"},
    {"c64[40] rand", NULL, "DstT=float", CASE_NO_GRAD},
    {"c64[4] 1", NULL, "DstT=int32", CASE_NO_GRAD},
    {"f32[3] 1.00390625 1.999999 1.0117", NULL, "DstT=bfloat16 Truncate=true", CASE_NO_GRAD},
    {"f64[3] 1.00390625 1.999999 1.0117", NULL, "DstT=half Truncate=true", CASE_NO_GRAD},
    {"f32[] 2.5", "i64[] 2", "DstT=int64", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[0]", "i64[0]", "DstT=int64", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3] 1 2 3", "f32[3] 1 2 3", "DstT=float"},
    {"str[1] \"a\"", "error UNIMPLEMENTED", "DstT=float", CASE_FIXED_TYPE},
    {0},
};

OPS(cast) = {
    {"Cast(x:SrcT) -> (y:DstT) | SrcT:type DstT:type Truncate:bool=false", "x in another type.",
     .known = weft__known_input, .infer = weft__infer_same, .cpu = cast_cpu, .grad = cast_grad, .cases = cast_cases,
     .narrow = NARROW_ALL},
    {0},
};
