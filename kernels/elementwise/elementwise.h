/* elementwise.h - runs ops that compute element by element.
 *
 * An op defines one loop per type over contiguous memory.  The engine does the rest: numpy broadcasting, 16-bit
 * floats (through the float loop), writing over an input that nothing else reads, and splitting large tensors over
 * the step's threads.
 *
 * An operand whose layout differs from the output's is copied block by block into scratch memory that stays in the
 * L1 cache.  So one contiguous loop serves every case: a scalar, a row (bias) or any other broadcast costs an extra
 * load, but never a slower loop. */
#ifndef WEFT_KERNELS_ELEMENTWISE_ELEMENTWISE_H
#define WEFT_KERNELS_ELEMENTWISE_ELEMENTWISE_H

#include "base/target_clones.h"
#include "graph/kernel.h"
#include "kernels/simd/vmath.h"
#include <string.h>

#define ELEM_BLOCK 1024 /* elements of a scratch block */
#define ELEM_MAX_IN 6

/* z[i] = f(in[0][i], in[1][i], ...) for i in [0, n); z may be one of the inputs. */
typedef void elem_loop(void *z, const void *const *in, int64_t n, const void *arg);

typedef struct elem_op {
  int cost;                          /* approximate nanoseconds for ELEM_BLOCK elements */
  elem_loop *loop[WEFT_DTYPE_COUNT]; /* by the type of the last input; half and bfloat16 use float's by default */
  /* For half and bfloat16: loops over floats that round between their steps, as TF's do.  NULL: float's loop, which
   * rounds only the result. */
  elem_loop *rounded[2];
} elem_op;
enum { COST_CHEAP = 150, COST_VECTOR = 800, COST_CALL = 8000 };

/* The kernel of an op with 1 to 3 inputs that are broadcast together: creates and computes output 0. */
weft_err weft__elementwise(kernel *k, const elem_op *e, const void *arg);
/* The kernel of an op that only runs its loops.  In a row of the table, ELEM(loops) sets the kernel and the loops,
 * so that chains of such ops can be fused. */
weft_err weft__elementwise_cpu(kernel *k);
#define ELEM(loops) weft__elementwise_cpu, .elem = &loops
/* Runs a loop on given tensors.  `out` exists and has the broadcast shape of the inputs.  An input of that shape may
 * share its memory.  With `through_float`, the loop gets half and bfloat16 operands as floats. */
void weft__elementwise_run(const kernel *k, elem_loop *loop, int cost, const void *arg, bool through_float, int n_in,
                           const weft_tensor *const *in, weft_tensor *out);
/* The same, but returns an error if the step ended first: then `out` lacks elements.  Not for variables. */
weft_err weft__elementwise_run_long(const kernel *k, elem_loop *loop, int cost, const void *arg, bool through_float,
                                    int n_in, const weft_tensor *const *in, weft_tensor *out);
/* Creates output 0 with this shape, over the input that the plan allows it to overwrite, if any.  NULL as weft__out. */
weft_tensor *weft__elementwise_out(kernel *k, const shape *s);

/* Returns which element of an operand of shape `in` becomes element i of a broadcast of shape `out`; for types
 * without loops. */
int64_t weft__elementwise_index(const shape *out, const shape *in, int64_t i);

/* ---- stating loops ----
 *
 *   BINARY_REAL(add, (T)((A)x + (A)y))             makes add_f32, add_f64, add_i8 ... add_u64
 *   static const elem_op add_op = {COST_CHEAP, {ROWS_REAL(add)}};
 *
 * In the expression x and y are the elements, T their type and A the type to compute in: T for
 * floats, the unsigned type of at least 32 bits for integers, which wraps around where a signed
 * one would be undefined.  Z is the type of the result. */
/* param is the float that arg points to.  It is read before the loop: the compiler would read arg again for each
 * element, in case the result overwrote it, and then could not vectorize. */
static inline float loop_param(const void *arg) {
  float made = 0;
  if (arg) memcpy(&made, arg, sizeof made);
  return made;
}
#define LOOP_HEAD(name, suffix, Z_, T_, A_)                                                                            \
  static void name##_##suffix(void *zs, const void *const *in, int64_t n, const void *arg) {                           \
    typedef T_ T __attribute__((unused));                                                                              \
    typedef A_ A __attribute__((unused));                                                                              \
    typedef Z_ Z;                                                                                                      \
    const float param __attribute__((unused)) = loop_param(arg);                                                       \
    Z *z = zs;                                                                                                         \
    const T *xs = in[0];
#define UNARY_LOOP(name, suffix, Z_, T_, A_, expr)                                                                     \
  LOOP_HEAD(name, suffix, Z_, T_, A_)                                                                                  \
  WEFT_IVDEP for (int64_t i = 0; i < n; i++) {                                                                         \
    const T x = xs[i];                                                                                                 \
    z[i] = (Z)(expr);                                                                                                  \
  }                                                                                                                    \
  }
#define BINARY_LOOP(name, suffix, Z_, T_, A_, expr)                                                                    \
  LOOP_HEAD(name, suffix, Z_, T_, A_)                                                                                  \
  const T *ys = in[1];                                                                                                 \
  WEFT_IVDEP for (int64_t i = 0; i < n; i++) {                                                                         \
    const T x = xs[i], y = ys[i];                                                                                      \
    z[i] = (Z)(expr);                                                                                                  \
  }                                                                                                                    \
  }

/* The result has the type of the arguments: T -> T. */
#define UNARY(name, suffix, T_, A_, expr) WEFT_TARGET_CLONES UNARY_LOOP(name, suffix, T_, T_, A_, expr)
#define BINARY(name, suffix, T_, A_, expr) WEFT_TARGET_CLONES BINARY_LOOP(name, suffix, T_, T_, A_, expr)
/* Loops that call a function per element do not gain from wider vectors, so they have one copy. */
#define UNARY_CALL(name, suffix, T_, A_, expr) UNARY_LOOP(name, suffix, T_, T_, A_, expr)
#define BINARY_CALL(name, suffix, T_, A_, expr) BINARY_LOOP(name, suffix, T_, T_, A_, expr)
/* Predicates: T -> bool. */
#define UNARY_TEST(name, suffix, T_, A_, expr) WEFT_TARGET_CLONES UNARY_LOOP(name, suffix, bool, T_, A_, expr)
#define BINARY_TEST(name, suffix, T_, A_, expr) WEFT_TARGET_CLONES BINARY_LOOP(name, suffix, bool, T_, A_, expr)

#define EACH_FLOAT(LOOP, name, expr) LOOP(name, f32, float, float, expr) LOOP(name, f64, double, double, expr)
#define EACH_SIGNED(LOOP, name, expr)                                                                                  \
  LOOP(name, i8, int8_t, uint32_t, expr)                                                                               \
  LOOP(name, i16, int16_t, uint32_t, expr)                                                                             \
  LOOP(name, i32, int32_t, uint32_t, expr) LOOP(name, i64, int64_t, uint64_t, expr)
#define EACH_UNSIGNED(LOOP, name, expr)                                                                                \
  LOOP(name, u8, uint8_t, uint32_t, expr)                                                                              \
  LOOP(name, u16, uint16_t, uint32_t, expr)                                                                            \
  LOOP(name, u32, uint32_t, uint32_t, expr) LOOP(name, u64, uint64_t, uint64_t, expr)
#define EACH_INT(LOOP, name, expr) EACH_SIGNED(LOOP, name, expr) EACH_UNSIGNED(LOOP, name, expr)
#define EACH_REAL(LOOP, name, expr) EACH_FLOAT(LOOP, name, expr) EACH_INT(LOOP, name, expr)
#define EACH_COMPLEX(LOOP, name, expr)                                                                                 \
  LOOP(name, c64, float complex, float complex, expr) LOOP(name, c128, double complex, double complex, expr)

/* Loops over floats that stand for half (name_f16) and bfloat16 (name_b16).  EXPR(R) is a macro; R(v) rounds a step. */
#define ROUND_HALF(v) vfrom_half(vto_half(v))
#define ROUND_BFLOAT16(v) vfrom_bfloat16(vto_bfloat16(v))
#define EACH_ROUNDED(LOOP, name, EXPR)                                                                                 \
  LOOP(name, f16, float, float, EXPR(ROUND_HALF)) LOOP(name, b16, float, float, EXPR(ROUND_BFLOAT16))
#define ROWS_ROUNDED(name) .rounded = {name##_f16, name##_b16}

/* The rows of an elem_op for loops made by the macros above. */
#define ROWS_FLOAT(name) [WEFT_FLOAT] = name##_f32, [WEFT_DOUBLE] = name##_f64
#define ROWS_SIGNED(name)                                                                                              \
  [WEFT_INT8] = name##_i8, [WEFT_INT16] = name##_i16, [WEFT_INT32] = name##_i32, [WEFT_INT64] = name##_i64
#define ROWS_UNSIGNED(name)                                                                                            \
  [WEFT_UINT8] = name##_u8, [WEFT_UINT16] = name##_u16, [WEFT_UINT32] = name##_u32, [WEFT_UINT64] = name##_u64
#define ROWS_INT(name) ROWS_SIGNED(name), ROWS_UNSIGNED(name)
#define ROWS_REAL(name) ROWS_FLOAT(name), ROWS_INT(name)
#define ROWS_COMPLEX(name) [WEFT_COMPLEX64] = name##_c64, [WEFT_COMPLEX128] = name##_c128

#endif
