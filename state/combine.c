/* combine.c - one loop for each operation and type, made by two macros and found in a table.
 *
 * The loops are simple so that the compiler vectorises them; 16-bit floats go through float. */
#include "state/combine.h"

#include "base/target_clones.h"
#include <string.h>

typedef void combine_fn(void *dst, const void *a, const void *b, int b_step, int64_t n);

#define LOAD_PLAIN(x) (x)
#define STORE_PLAIN(x) (x)
#define LOAD_HALF(x) weft__half_to_float(x)
#define STORE_HALF(x) weft__half_from_float(x)
#define LOAD_BF16(x) weft__bfloat16_to_float(x)
#define STORE_BF16(x) weft__bfloat16_from_float(x)

/* NAME(dst, a, b): T is how it is stored, C what is computed with; x and y are the operands in EXPR. */
#define LOOP(NAME, T, C, LOAD, STORE, EXPR)                                                                            \
  WEFT_TARGET_CLONES static void NAME(void *dst, const void *a, const void *b, int b_step, int64_t n) {                \
    T *d = dst;                                                                                                        \
    const T *p = a, *q = b;                                                                                            \
    if (b_step) {                                                                                                      \
      for (int64_t i = 0; i < n; i++) {                                                                                \
        C x = (C)LOAD(p[i]), y = (C)LOAD(q[i]);                                                                        \
        d[i] = (T)STORE((C)(EXPR));                                                                                    \
      }                                                                                                                \
    } else {                                                                                                           \
      C y = (C)LOAD(q[0]);                                                                                             \
      for (int64_t i = 0; i < n; i++) {                                                                                \
        C x = (C)LOAD(p[i]);                                                                                           \
        d[i] = (T)STORE((C)(EXPR));                                                                                    \
      }                                                                                                                \
    }                                                                                                                  \
  }

#define ARITHMETIC(S, T, C, LOAD, STORE)                                                                               \
  LOOP(add_##S, T, C, LOAD, STORE, x + y)                                                                              \
  LOOP(sub_##S, T, C, LOAD, STORE, x - y)                                                                              \
  LOOP(mul_##S, T, C, LOAD, STORE, x *y)
#define ORDER(S, T, C, LOAD, STORE)                                                                                    \
  LOOP(min_##S, T, C, LOAD, STORE, y < x ? y : x)                                                                      \
  LOOP(max_##S, T, C, LOAD, STORE, x < y ? y : x)

/* Signed sums are taken unsigned: overflow wraps, as TF's does.  U computes, T divides and compares. */
#define INTEGER(S, T, U)                                                                                               \
  ARITHMETIC(S, U, U, LOAD_PLAIN, STORE_PLAIN)                                                                         \
  LOOP(div_##S, T, T, LOAD_PLAIN, STORE_PLAIN, y == 0 ? 0 : y == (T)-1 ? (T)(0 - (U)x) : x / y)                        \
  ORDER(S, T, T, LOAD_PLAIN, STORE_PLAIN)
#define UNSIGNED(S, T)                                                                                                 \
  ARITHMETIC(S, T, T, LOAD_PLAIN, STORE_PLAIN)                                                                         \
  LOOP(div_##S, T, T, LOAD_PLAIN, STORE_PLAIN, y == 0 ? 0 : x / y)                                                     \
  ORDER(S, T, T, LOAD_PLAIN, STORE_PLAIN)
#define FLOATING(S, T, C, LOAD, STORE)                                                                                 \
  ARITHMETIC(S, T, C, LOAD, STORE)                                                                                     \
  LOOP(div_##S, T, C, LOAD, STORE, x / y)                                                                              \
  ORDER(S, T, C, LOAD, STORE)
#define COMPLEX(S, T)                                                                                                  \
  ARITHMETIC(S, T, T, LOAD_PLAIN, STORE_PLAIN)                                                                         \
  LOOP(div_##S, T, T, LOAD_PLAIN, STORE_PLAIN, x / y)

FLOATING(f32, float, float, LOAD_PLAIN, STORE_PLAIN)
FLOATING(f64, double, double, LOAD_PLAIN, STORE_PLAIN)
FLOATING(f16, uint16_t, float, LOAD_HALF, STORE_HALF)
FLOATING(bf16, uint16_t, float, LOAD_BF16, STORE_BF16)
INTEGER(i8, int8_t, uint8_t)
INTEGER(i16, int16_t, uint16_t)
INTEGER(i32, int32_t, uint32_t)
INTEGER(i64, int64_t, uint64_t)
UNSIGNED(u8, uint8_t)
UNSIGNED(u16, uint16_t)
UNSIGNED(u32, uint32_t)
UNSIGNED(u64, uint64_t)
COMPLEX(c64, float _Complex)
COMPLEX(c128, double _Complex)
LOOP(add_bool, bool, bool, LOAD_PLAIN, STORE_PLAIN, x || y)
LOOP(sub_bool, bool, bool, LOAD_PLAIN, STORE_PLAIN, x != y)

#define ROW(S)                                                                                                         \
  { NULL, add_##S, sub_##S, mul_##S, div_##S, min_##S, max_##S }
#define ROW_COMPLEX(S)                                                                                                 \
  { NULL, add_##S, sub_##S, mul_##S, div_##S, NULL, NULL }
static combine_fn *const loops[WEFT_DTYPE_COUNT][COMBINE_COUNT] = {
    [WEFT_FLOAT] = ROW(f32),
    [WEFT_DOUBLE] = ROW(f64),
    [WEFT_HALF] = ROW(f16),
    [WEFT_BFLOAT16] = ROW(bf16),
    [WEFT_INT8] = ROW(i8),
    [WEFT_INT16] = ROW(i16),
    [WEFT_INT32] = ROW(i32),
    [WEFT_INT64] = ROW(i64),
    [WEFT_UINT8] = ROW(u8),
    [WEFT_UINT16] = ROW(u16),
    [WEFT_UINT32] = ROW(u32),
    [WEFT_UINT64] = ROW(u64),
    [WEFT_COMPLEX64] = ROW_COMPLEX(c64),
    [WEFT_COMPLEX128] = ROW_COMPLEX(c128),
    [WEFT_BOOL] = {NULL, add_bool, sub_bool, NULL, NULL, NULL, NULL},
};

bool weft__combine_has(combine_op op, weft_dtype dtype) {
  if (dtype <= WEFT_INVALID || dtype >= WEFT_DTYPE_COUNT) return false;
  return op == COMBINE_SET ? weft__dtype_is_plain(dtype) : loops[dtype][op] != NULL;
}

bool weft__combine(combine_op op, weft_dtype dtype, void *dst, const void *a, const void *b, int b_step, int64_t n) {
  if (!weft__combine_has(op, dtype)) return false;
  if (op != COMBINE_SET) {
    loops[dtype][op](dst, a, b, b_step, n);
  } else {
    size_t size = weft__dtype_size(dtype);
    if (b_step)
      memmove(dst, b, (size_t)n * size);
    else
      for (int64_t i = 0; i < n; i++) memcpy((char *)dst + (size_t)i * size, b, size);
  }
  return true;
}
