/* binary.c - arithmetic on two operands that broadcast.
 *
 * Integers wrap around.  Integer division by zero is an error.  The divisor is checked before anything is computed,
 * so that the loops need no checks. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/fusion.h"
#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/integer.h"
#include "kernels/simd/vtrig.h"
#include "kernels/work/long_work.h"
#include "ops/math/choose.h"
#include <tgmath.h>

/* ---- sums and products ---- */
EACH_REAL(BINARY, add, (A)x + (A)y)
EACH_COMPLEX(BINARY, add, x + y)
EACH_REAL(BINARY, sub, (A)x - (A)y)
EACH_COMPLEX(BINARY, sub, x - y)
EACH_REAL(BINARY, mul, (A)x *(A)y)
EACH_COMPLEX(BINARY, mul, x *y)
EACH_REAL(BINARY, squared_difference, ((A)x - (A)y) * ((A)x - (A)y))
EACH_COMPLEX(BINARY_CALL, squared_difference, (x - y) * conj(x - y))
#define SQUARED_DIFFERENCE(R) R(x - y) * R(x - y)
EACH_ROUNDED(BINARY, squared_difference, SQUARED_DIFFERENCE)
EACH_FLOAT(BINARY, mul_no_nan, y == 0 ? 0 : x * y)
EACH_COMPLEX(BINARY, mul_no_nan, y == 0 ? 0 : x * y)

const elem_op weft__add_op = {COST_CHEAP, {ROWS_REAL(add), ROWS_COMPLEX(add)}};
static const elem_op sub_op = {COST_CHEAP, {ROWS_REAL(sub), ROWS_COMPLEX(sub)}};
const elem_op weft__mul_op = {COST_CHEAP, {ROWS_REAL(mul), ROWS_COMPLEX(mul)}};
static const elem_op squared_difference_op = {
    COST_CHEAP, {ROWS_REAL(squared_difference), ROWS_COMPLEX(squared_difference)}, ROWS_ROUNDED(squared_difference)};
static const elem_op mul_no_nan_op = {COST_CHEAP, {ROWS_FLOAT(mul_no_nan), ROWS_COMPLEX(mul_no_nan)}};

/* ---- quotients ---- */

/* Returns the remainder with the sign of the divisor. */
static inline double binary_towards(double r, double y) { return r != 0 && (r < 0) != (y < 0) ? r + y : r; }

/* Quotients of integers: of up to 32 bits in vectors, of 64 bits one by one. */
#define EACH_QUOTIENT(name)                                                                                            \
  BINARY(name, i8, int8_t, uint32_t, int_##name##_32(x, y))                                                            \
  BINARY(name, i16, int16_t, uint32_t, int_##name##_32(x, y))                                                          \
  BINARY(name, i32, int32_t, uint32_t, int_##name##_32(x, y))                                                          \
  BINARY_CALL(name, i64, int64_t, uint64_t, int_##name(x, y))

EACH_FLOAT(BINARY, div, x / y)
EACH_COMPLEX(BINARY, div, x / y)
EACH_QUOTIENT(div)
EACH_UNSIGNED(BINARY_CALL, div, x / y)
EACH_FLOAT(BINARY, truncate_div, trunc(x / y))
EACH_FLOAT(BINARY, floor_div, floor(x / y))
#define TRUNCATE_DIV(R) truncf(R(x / y))
EACH_ROUNDED(BINARY, truncate_div, TRUNCATE_DIV)
#define FLOOR_DIV(R) floorf(R(x / y))
EACH_ROUNDED(BINARY, floor_div, FLOOR_DIV)
EACH_QUOTIENT(floor_div)
EACH_FLOAT(BINARY_CALL, floor_mod, binary_towards(fmod(x, y), y))
EACH_QUOTIENT(floor_mod)
EACH_UNSIGNED(BINARY_CALL, floor_mod, x % y)
EACH_FLOAT(BINARY_CALL, mod, fmod(x, y))
EACH_QUOTIENT(mod)
EACH_FLOAT(BINARY, div_no_nan, y == 0 ? 0 : x / y)
EACH_COMPLEX(BINARY, div_no_nan, y == 0 ? 0 : x / y)
EACH_FLOAT(BINARY, xdivy, x == 0 ? 0 : x / y)
EACH_COMPLEX(BINARY, xdivy, x == 0 ? 0 : x / y)

static const elem_op real_div_op = {COST_CHEAP, {ROWS_FLOAT(div), ROWS_COMPLEX(div)}};
static const elem_op div_op = {COST_VECTOR, {ROWS_REAL(div), ROWS_COMPLEX(div)}};
static const elem_op truncate_div_op = {
    COST_VECTOR, {ROWS_FLOAT(truncate_div), ROWS_INT(div)}, ROWS_ROUNDED(truncate_div)};
static const elem_op floor_div_op = {
    COST_VECTOR, {ROWS_FLOAT(floor_div), ROWS_SIGNED(floor_div), ROWS_UNSIGNED(div)}, ROWS_ROUNDED(floor_div)};
static const elem_op floor_mod_op = {COST_CALL, {ROWS_REAL(floor_mod)}};
static const elem_op mod_op = {COST_CALL, {ROWS_FLOAT(mod), ROWS_SIGNED(mod)}};
static const elem_op div_no_nan_op = {COST_CHEAP, {ROWS_FLOAT(div_no_nan), ROWS_COMPLEX(div_no_nan)}};
static const elem_op xdivy_op = {COST_CHEAP, {ROWS_FLOAT(xdivy), ROWS_COMPLEX(xdivy)}};

/* ---- extremes: NaN wins ---- */
EACH_FLOAT(BINARY, maximum, x < y || y != y ? y : x)
EACH_INT(BINARY, maximum, x < y ? y : x)
EACH_FLOAT(BINARY, minimum, y < x || y != y ? y : x)
EACH_INT(BINARY, minimum, y < x ? y : x)

const elem_op weft__maximum_op = {COST_CHEAP, {ROWS_REAL(maximum)}};
const elem_op weft__minimum_op = {COST_CHEAP, {ROWS_REAL(minimum)}};

/* ---- powers, logarithms, angles ---- */
EACH_FLOAT(BINARY_CALL, power, pow(x, y))
EACH_COMPLEX(BINARY_CALL, power, x == 0 && y == 0 ? 1 : pow(x, y))
EACH_SIGNED(BINARY_CALL, power, int_pow((uint64_t)x, (uint64_t)y))
EACH_FLOAT(UNARY, power2, x *x)
/* Common exponents, without a call of pow for each element.  Products of floats are exact or nearly exact in double,
 * so the result is rounded only once.  Products of doubles would be rounded twice, so doubles use pow.  As with pow,
 * a root of -0 is 0 and a root of -infinity is infinity. */
UNARY(power3, f32, float, double, (double)x *x *x)
UNARY_CALL(power3, f64, double, double, pow(x, 3.0))
UNARY(power4, f32, float, double, ((double)x * x) * ((double)x * x))
UNARY_CALL(power4, f64, double, double, pow(x, 4.0))
EACH_FLOAT(UNARY, inverse, 1 / x)
EACH_FLOAT(UNARY, root, x == -(A)INFINITY ? (A)INFINITY : sqrt(x) + 0)
UNARY(inverse_root, f32, float, double, x == -INFINITY ? 0 : 1 / (sqrt((double)x) + 0))
UNARY_CALL(inverse_root, f64, double, double, pow(x, -0.5))
/* The exponents that gradients of the former have. */
EACH_FLOAT(UNARY, power1, x)
UNARY(inverse2, f32, float, double, 1 / ((double)x * x))
UNARY_CALL(inverse2, f64, double, double, pow(x, -2.0))
UNARY(root3, f32, float, double, x == -INFINITY ? INFINITY : (double)x * sqrt((double)x))
UNARY_CALL(root3, f64, double, double, pow(x, 1.5))
UNARY(inverse_root3, f32, float, double, x == -INFINITY ? 0 : 1 / ((double)x * sqrt((double)x)))
UNARY_CALL(inverse_root3, f64, double, double, pow(x, -1.5))
BINARY(xlogy, f32, float, float, x == 0 ? 0 : x * vlogf(y))
BINARY_CALL(xlogy, f64, double, double, x == 0 ? 0 : x * log(y))
EACH_COMPLEX(BINARY_CALL, xlogy, x == 0 ? 0 : x * log(y))
BINARY(xlog1py, f32, float, float, x == 0 ? 0 : x * vlog1pf(y))
BINARY_CALL(xlog1py, f64, double, double, x == 0 ? 0 : x * log1p(y))
#define XLOGY(R) x == 0 ? 0 : x *R(logf(y))
EACH_ROUNDED(BINARY_CALL, xlogy, XLOGY)
#define XLOG1PY(R) x == 0 ? 0 : x *R(log1pf(y))
EACH_ROUNDED(BINARY_CALL, xlog1py, XLOG1PY)
EACH_COMPLEX(BINARY_CALL, xlog1py, x == 0 ? 0 : x * log(1 + y))
BINARY(arctan2, f32, float, float, vatan2f(x, y))
BINARY_CALL(arctan2, f64, double, double, atan2(x, y))
EACH_FLOAT(BINARY_CALL, next_after, nextafter(x, y))

static const elem_op pow_op = {COST_CALL, {ROWS_FLOAT(power), ROWS_SIGNED(power), ROWS_COMPLEX(power)}};
static const elem_op first_op = {COST_CHEAP, {ROWS_FLOAT(power1)}};
static const elem_op square_op = {COST_CHEAP, {ROWS_FLOAT(power2)}};
static const elem_op inverse_square_op = {COST_CHEAP, {ROWS_FLOAT(inverse2)}};
static const elem_op root_cube_op = {COST_CHEAP, {ROWS_FLOAT(root3)}};
static const elem_op inverse_root_cube_op = {COST_CHEAP, {ROWS_FLOAT(inverse_root3)}};
static const elem_op cube_op = {COST_CHEAP, {ROWS_FLOAT(power3)}};
static const elem_op fourth_op = {COST_CHEAP, {ROWS_FLOAT(power4)}};
static const elem_op inverse_op = {COST_CHEAP, {ROWS_FLOAT(inverse)}};
static const elem_op root_op = {COST_VECTOR, {ROWS_FLOAT(root)}};
static const elem_op inverse_root_op = {COST_VECTOR, {ROWS_FLOAT(inverse_root)}};
static const elem_op xlogy_op = {COST_CALL, {ROWS_FLOAT(xlogy), ROWS_COMPLEX(xlogy)}, ROWS_ROUNDED(xlogy)};
static const elem_op xlog1py_op = {COST_CALL, {ROWS_FLOAT(xlog1py), ROWS_COMPLEX(xlog1py)}, ROWS_ROUNDED(xlog1py)};
static const elem_op atan2_op = {COST_VECTOR, {ROWS_FLOAT(arctan2)}};
static const elem_op next_after_op = {COST_CALL, {ROWS_FLOAT(next_after)}};

/* ---- kernels ---- */
/* Return true if one of n numbers is 0, or is negative. */
#define DEFINE_ANY(T)                                                                                                  \
  WEFT_TARGET_CLONES static bool any_zero_##T(const T *v, int64_t n) {                                                 \
    T bad = 0;                                                                                                         \
    for (int64_t i = 0; i < n; i++) bad |= v[i] == 0;                                                                  \
    return bad != 0;                                                                                                   \
  }                                                                                                                    \
  WEFT_TARGET_CLONES static bool any_negative_##T(const T *v, int64_t n) {                                             \
    T bad = 0;                                                                                                         \
    for (int64_t i = 0; i < n; i++) bad |= v[i];                                                                       \
    return bad < 0;                                                                                                    \
  }
DEFINE_ANY(int32_t)
DEFINE_ANY(int64_t)

static bool is_zero(int64_t v) { return v == 0; }
static bool is_negative(int64_t v) { return v < 0; }

static bool any_int(const weft_tensor *t, bool (*is_bad)(int64_t)) {
  const int64_t n = weft__tensor_count(t);
  if (t->dtype == WEFT_INT32)
    return (is_bad == is_zero ? any_zero_int32_t : any_negative_int32_t)(TENSOR_DATA(t, int32_t), n);
  if (t->dtype == WEFT_INT64)
    return (is_bad == is_zero ? any_zero_int64_t : any_negative_int64_t)(TENSOR_DATA(t, int64_t), n);
  for (int64_t i = 0; i < n; i++)
    if (is_bad(weft__tensor_int(t, i))) return true;
  return false;
}

/* Returns true if the result has elements; for an empty result the second operand is not checked. */
static bool is_used(const kernel *k) { return weft__tensor_count(k->in[0]) > 0; }

static weft_err binary_divide(kernel *k, const elem_op *e) {
  const weft_tensor *y = k->in[1];
  if (weft__dtype_is_integer(y->dtype) && is_used(k) && any_int(y, is_zero))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Integer division by zero");
  return weft__elementwise(k, e, NULL);
}

static weft_err binary_join(str *z, const str *x, const str *y) {
  char *both = weft__alloc(x->size + y->size + 1);
  if (!both) return WEFT_OOM;
  if (x->size) memcpy(both, x->data, x->size);
  if (y->size) memcpy(both + x->size, y->data, y->size);
  const weft_err err = weft__str_set(z, both, x->size + y->size);
  weft__free(both);
  return err;
}

/* Adds strings by concatenation. */
static weft_err add_strings(kernel *k) {
  shape s;
  WEFT_TRY(weft__shape_broadcast(&s, &k->in[0]->shape, &k->in[1]->shape));
  weft_tensor *z = weft__out(k, 0, &s);
  if (!z) return WEFT_OOM;
  const int64_t n = weft__tensor_count(z);
  for (int64_t i = 0; i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const str *x = TENSOR_DATA(k->in[0], str) + weft__elementwise_index(&s, &k->in[0]->shape, i);
    const str *y = TENSOR_DATA(k->in[1], str) + weft__elementwise_index(&s, &k->in[1]->shape, i);
    WEFT_TRY(binary_join(TENSOR_DATA(z, str) + i, x, y));
  }
  return WEFT_OK;
}

static weft_err binary_add_cpu(kernel *k) {
  return k->in[0]->dtype == WEFT_STRING ? add_strings(k) : weft__elementwise(k, &weft__add_op, NULL);
}
static weft_err binary_div_cpu(kernel *k) { return binary_divide(k, &div_op); }
static weft_err truncate_div_cpu(kernel *k) { return binary_divide(k, &truncate_div_op); }
static weft_err floor_div_cpu(kernel *k) { return binary_divide(k, &floor_div_op); }
static weft_err floor_mod_cpu(kernel *k) { return binary_divide(k, &floor_mod_op); }
static weft_err mod_cpu(kernel *k) { return binary_divide(k, &mod_op); }

/* Returns the loop for the exponents y. */
static const elem_op *pow_loop(const weft_tensor *y) {
  static const struct {
    double exponent;
    const elem_op *op;
  } known[] = {{1, &first_op},       {2, &square_op},
               {3, &cube_op},        {4, &fourth_op},
               {-1, &inverse_op},    {-2, &inverse_square_op},
               {0.5, &root_op},      {-0.5, &inverse_root_op},
               {1.5, &root_cube_op}, {-1.5, &inverse_root_cube_op}};
  if (y->shape.rank > 0 || weft__dtype_class(y->dtype) != CLASS_FLOAT) return &pow_op;
  const double exponent = weft__tensor_double(y, 0);
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (known[i].exponent == exponent) return known[i].op;
  return &pow_op;
}

static const elem_op *pow_given(const weft_tensor *y) {
  const elem_op *loops = pow_loop(y);
  return loops == &pow_op ? NULL : loops;
}

static weft_err pow_cpu(kernel *k) {
  const weft_tensor *y = k->in[1];
  if (weft__dtype_is_integer(y->dtype) && is_used(k) && any_int(y, is_negative))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Integers to negative integer powers are not allowed");
  return weft__elementwise(k, pow_loop(y), NULL);
}

/* ---- gradients ---- */
#define X b->in[0]
#define Y b->in[1]
#define DZ b->dout[0]

/* Both gradients have the broadcast shape; each is summed to the shape of its operand. */
static weft_err binary_both(backprop *b, weft_out dx, weft_out dy) {
  weft__b_unbroadcast(b->graph, X, Y, &dx, &dy);
  b->din[0] = GRAD_DENSE(dx);
  b->din[1] = GRAD_DENSE(dy);
  return WEFT_OK;
}

static weft_err binary_add_grad(backprop *b) { return binary_both(b, DZ, DZ); }

static weft_err sub_grad(backprop *b) { return binary_both(b, DZ, weft__b_neg(b->graph, DZ)); }

static weft_err mul_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out dx = weft__b_binary(g, "Mul", DZ, weft__b_conj(g, Y));
  return binary_both(b, dx, weft__b_binary(g, "Mul", weft__b_conj(g, X), DZ));
}

static weft_err mul_no_nan_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out dx = weft__b_binary(g, "MulNoNan", DZ, Y);
  return binary_both(b, dx, weft__b_binary(g, "MulNoNan", X, DZ));
}

/* dx = dz / y, dy = -dz x / y / y, with the op's own kind of division. */
static weft_err quotient_grad(backprop *b, const char *div) {
  weft_graph *g = b->graph;
  const weft_out x = weft__b_conj(g, X), y = weft__b_conj(g, Y);
  const weft_out dx = weft__b_binary(g, div, DZ, y);
  const weft_out q = weft__b_binary(g, div, weft__b_binary(g, div, weft__b_neg(g, x), y), y);
  return binary_both(b, dx, weft__b_mul(g, DZ, q));
}

static weft_err div_grad(backprop *b) { return quotient_grad(b, "Div"); }
static weft_err real_div_grad(backprop *b) { return quotient_grad(b, "RealDiv"); }
static weft_err div_no_nan_grad(backprop *b) { return quotient_grad(b, "DivNoNan"); }

static weft_err floor_mod_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out floors = weft__b_binary(g, "FloorDiv", X, Y);
  return binary_both(b, DZ, weft__b_mul(g, DZ, weft__b_neg(g, floors)));
}

/* The larger (or smaller) operand gets the whole gradient; a tie goes to x. */
static weft_err binary_extreme_grad(backprop *b, const char *x_wins) {
  weft_graph *g = b->graph;
  const weft_out mask = weft__b_binary(g, x_wins, X, Y), zeros = weft__b_zeros_like(g, DZ);
  const weft_out dx = gradient_choose(g, mask, DZ, zeros); /* first: the order gives the names */
  return binary_both(b, dx, gradient_choose(g, mask, zeros, DZ));
}

static weft_err maximum_grad(backprop *b) { return binary_extreme_grad(b, "GreaterEqual"); }
static weft_err minimum_grad(backprop *b) { return binary_extreme_grad(b, "LessEqual"); }

static weft_err squared_difference_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out twice = weft__b_binary(g, "Mul", weft__b_scalar_like(g, DZ, 2), DZ);
  const weft_out dx = weft__b_mul(g, twice, weft__b_sub(g, X, Y));
  return binary_both(b, dx, weft__b_neg(g, dx));
}

/* dx = dz y x^(y-1); dy = dz x^y log x, or 0 where log x is not defined. */
static weft_err pow_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out x = weft__b_conj(g, X), y = weft__b_conj(g, Y), z = weft__b_conj(g, b->out[0]);
  const bool is_complex = weft__dtype_class(weft__out_type(g, X)) == CLASS_COMPLEX;
  const weft_out less = weft__b_sub(g, y, weft__b_scalar_like(g, y, 1));
  const weft_out dx = weft__b_mul(g, weft__b_mul(g, DZ, y), weft__b_binary(g, "Pow", x, less));
  const weft_out zero = weft__b_scalar_like(g, x, 0);
  const weft_out ok = weft__b_binary(g, is_complex ? "NotEqual" : "Greater", x, zero);
  const weft_out safe = weft__b_select(g, ok, x, weft__b_ones_like(g, x));
  const weft_out log_x = weft__b_select(g, ok, weft__b_unary(g, "Log", safe), weft__b_zeros_like(g, x));
  return binary_both(b, dx, weft__b_mul(g, weft__b_mul(g, DZ, z), log_x));
}

/* Returns 1 where x is not 0, in x's type. */
static weft_out not_zero(weft_graph *g, weft_out x) {
  const weft_out test = weft__b_binary(g, "NotEqual", x, weft__b_scalar_like(g, x, 0));
  return weft__b_cast(g, test, weft__out_type(g, x));
}

static weft_err xdivy_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out px = weft__b_binary(g, "Xdivy", not_zero(g, X), Y);
  const weft_out py = weft__b_binary(g, "Xdivy", weft__b_neg(g, X), weft__b_unary(g, "Square", Y));
  const weft_out dx = weft__b_mul(g, px, DZ);
  return binary_both(b, dx, weft__b_mul(g, py, DZ));
}

static weft_err xlogy_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out px = weft__b_binary(g, "Xlogy", not_zero(g, X), Y), py = weft__b_binary(g, "Xdivy", X, Y);
  const weft_out dx = weft__b_mul(g, px, DZ);
  return binary_both(b, dx, weft__b_mul(g, py, DZ));
}

static weft_err xlog1py_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out px = weft__b_binary(g, "Xlog1py", not_zero(g, X), Y);
  const weft_out py = weft__b_binary(g, "Xdivy", X, weft__b_add(g, Y, weft__b_scalar_like(g, Y, 1)));
  const weft_out dx = weft__b_mul(g, px, DZ);
  return binary_both(b, dx, weft__b_mul(g, py, DZ));
}

static weft_err atan2_grad(backprop *b) { /* y is the first operand */
  weft_graph *g = b->graph;
  const weft_out squares = weft__b_add(g, weft__b_unary(g, "Square", Y), weft__b_unary(g, "Square", X));
  const weft_out d = weft__b_div(g, DZ, squares);
  const weft_out dx = weft__b_mul(g, Y, d);
  return binary_both(b, dx, weft__b_mul(g, weft__b_neg(g, X), d));
}

static weft_err next_after_grad(backprop *b) { return binary_both(b, DZ, weft__b_zeros_like(b->graph, DZ)); }

/* ---- cases ---- */
static const op_case add_cases[] = {
    {"f32[3] 1 2 3; f32[3] 10 20 30", "f32[3] 11 22 33"},
    {"f32[] 1; f32[] 2", "f32[] 3"},
    {"f32[0,3]; f32[3] 1", "f32[0,3]"},
    {"f32[2,3] rand; f32[3] rand"},
    {"f32[2,1] rand; f32[1,3] rand"},
    {"f32[4,1,3] rand; f32[5,1] rand"},
    {"f32[] 2; f32[33,65] rand"},
    {"f32[7,300] rand; f32[7,1] rand"},
    {"f32[3,2000] rand; f32[2000] rand"},
    {"f32[2,3,4,5] rand; f32[2,1,4,1] rand"},
    {"f32[2,40,3,1] rand; f32[1,40,3,17] rand"}, /* short rows, more than a block of them */
    {"f32[3,9,1,4] rand; f32[1,9,50,4] rand"},
    {"f64[3,70,1] rand; f64[3,1,7] rand"},
    {"i32[2] 2147483647 1; i32[] 1", "i32[2] -2147483648 2"},
    {"u8[2] 255 1; u8[2] 1 1", "u8[2] 0 2", NULL, CASE_NO_GRAD},
    {"f32[2] 1 2; f32[3] 1 2 3", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case string_add_cases[] = {
    {"f32[3] 1 2 3; f32[3] 10 20 30", "f32[3] 11 22 33"},
    {"f32[2,3] rand; f32[3] rand"},
    {"str[2] \"a\" \"b\"; str[] \"c\"", "str[2] \"ac\" \"bc\"", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[0]; f32[] 1", "f32[0]"},
    {"f32[2] 1 2; f32[3] 1 2 3", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case product_cases[] = {
    {"f32[3] 1 2 3; f32[] 2"},
    {"f32[] 3; f32[] 4"},
    {"f32[0,2]; f32[1,2] 1", "f32[0,2]"},
    {"f32[2,3] rand; f32[2,1] rand"},
    {"f32[4,1,3] rand; f32[5,1] rand"},
    {"f32[63,65] rand; f32[65] rand"},
    {"f32[2] 1 2; f32[3] 1 2 3", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case quotient_cases[] = {
    {"f32[3] 7 -7 9; f32[] 2"},
    {"f32[] 3; f32[] 4"},
    {"f32[0]; f32[] 1", "f32[0]"},
    {"f32[2,3] rand; f32[3] pos"},
    {"f32[4,1,3] rand; f32[5,1] pos"},
    {"f32[63,65] normal; f32[65] pos", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[4] 1 -1 0 3; f32[4] 0 0 0 2", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {0},
};

static const op_case int_quotient_cases[] = {
    {"i32[6] 7 -7 7 -7 6 -6; i32[6] 3 3 -3 -3 3 3", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i64[3] 7 -7 -9223372036854775808; i64[3] 2 2 -1", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i64[4] 9223372036854775807 -9223372036854775807 -8589934592 4294967297; i64[4] -3 4294967297 4294967295 -2", NULL,
     NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i32[20] -2147483648 -2147483647 2147483647 -2147483648 2147483647 -2147483647 2147483646 -2147483648 5 -5 0 1 -1 "
     "2147483647 2147483646 -2147483646 46341 -46341 2147395600 -2147395600; "
     "i32[20] 2147483647 -2147483648 2147483646 3 -2 46341 -46341 1 -2147483648 2147483647 7 -7 7 2147483647 "
     "2147483647 "
     "2147483647 46341 46340 -46340 46340",
     NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i32[2] 1 2; i32[2] 1 0", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"i32[0]; i32[] 0", "i32[0]", NULL, CASE_FIXED_TYPE},
    {"f32[8] 7.5 -7.5 5 -5 -6 6 0 1; f32[8] 2 2 inf 7 3 -3 2 -4", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,65] normal; f32[65] pos", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[] 7; f32[] 2", NULL, NULL, CASE_NO_GRAD},
    {"f32[0,2]; f32[2] 1", "f32[0,2]", NULL, CASE_NO_GRAD},
    {0},
};

static const op_case extreme_cases[] = {
    {"f32[4] 1 5 -3 2; f32[4] 2 4 -4 3"},
    {"f32[] 3; f32[] 4"},
    {"f32[0]; f32[] 1", "f32[0]"},
    {"f32[2,3] rand; f32[3] normal", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[63,65] rand; f32[] 0.1", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[3] nan 1 nan; f32[3] 1 nan nan", "f32[3] nan nan nan", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2] 1 1; f32[2] 1 1", "f32[2] 1 1", NULL, CASE_NO_GRAD},
    {0},
};

static const op_case pow_cases[] = {
    {"f32[4] 1 2 3 4; f32[4] 2 3 1 2", "f32[4] 1 8 3 16"},
    {"f32[] 3; f32[] 2", "f32[] 9"},
    {"f32[0]; f32[] 1", "f32[0]"},
    {"f32[2,3] pos; f32[3] pos", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[33,65] pos; f32[] 2", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[33,65] normal; f32[] 3"},
    {"f32[33,65] normal; f32[] 4"},
    {"f32[33,65] pos; f32[] -1"},
    {"f32[33,65] pos; f32[] 0.5"},
    {"f32[33,65] pos; f32[] -0.5"},
    {"f32[33,65] normal; f32[] 1"},
    {"f32[33,65] pos; f32[] -2"},
    {"f32[33,65] pos; f32[] 1.5"},
    {"f32[33,65] pos; f32[] -1.5"},
    {"f32[5] -inf -0 0 inf nan; f32[] 1", "f32[5] -inf -0 0 inf nan", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[5] -inf -0 0 inf nan; f32[] -2", "f32[5] 0 inf inf 0 nan", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[6] -inf -0 0 inf nan -1; f32[] 1.5", "f32[6] inf 0 0 inf nan nan", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[6] -inf -0 0 inf nan -1; f32[] -1.5", "f32[6] 0 inf inf 0 nan nan", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[6] -0 0 -inf inf nan -2; f32[] 3", "f32[6] -0 0 -inf inf nan -8", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[6] -0 0 -inf inf nan -2; f32[] 4", "f32[6] 0 0 inf inf nan 16", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[6] -0 0 -inf inf nan -2; f32[] -1", "f32[6] -inf inf -0 0 nan -0.5", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[6] -0 0 -inf inf nan -2; f32[] 0.5", "f32[6] 0 0 inf inf nan nan", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[6] -0 0 -inf inf nan -2; f32[] -0.5", "f32[6] inf inf 0 0 nan nan", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[4] 1e13 -1e13 1e-15 -1e-16; f32[] 3", "f32[4] inf -inf 1e-45 -0", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[33,65] pos; f32[65] normal", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[3] 0 -2 0; f32[3] 0 3 2", "f32[3] 1 -8 0", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i32[2] 2 3; i32[2] -1 2", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"i32[3] 2 3 -2; i32[3] 31 25 3", "i32[3] -2147483648 1180052131 -8", NULL, CASE_FIXED_TYPE},
    {0},
};

static const op_case log_cases[] = {
    {"f32[4] 1 2 3 4; f32[4] 2 3 1 2"},
    {"f32[] 3; f32[] 2"},
    {"f32[0]; f32[] 1", "f32[0]"},
    {"f32[2,3] pos; f32[3] pos"},
    {"f32[33,65] pos; f32[65] pos"},
    {"f32[3] 0 0 0; f32[3] 0 nan 2", "f32[3] 0 0 0", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

static const fusion plus = {ROLE_PLUS}, product = {ROLE_PRODUCT}, quotient = {ROLE_QUOTIENT},
                    powers = {ROLE_POWER, .given = pow_given};

#define ROW(def_, doc_, cpu_, grad_, ...)                                                                              \
  { def_, doc_, OP_INPLACE, weft__infer_broadcast, cpu_, .grad = grad_, .cases = __VA_ARGS__ }
#define ADD binary_add_cpu, .elem = &weft__add_op, .fusion = &plus /* numeric additions can be fused */
#define PLUS ELEM(weft__add_op), .fusion = &plus
#define PRODUCT ELEM(weft__mul_op), .fusion = &product
#define QUOTIENT ELEM(real_div_op), .fusion = &quotient

OPS(binary) = {
    ROW("Add(x:T, y:T) -> (z:T) | "
        "T:type{bfloat16,half,float,double,uint8,int8,int16,int32,int64,complex64,complex128,string}",
        "x + y; strings are joined.", ADD, binary_add_grad, string_add_cases, .amp = AMP_INFER),
    ROW("AddV2(x:T, y:T) -> (z:T) | "
        "T:type{bfloat16,half,float,double,uint8,uint16,uint32,uint64,int8,int16,int32,int64,complex64,complex128} ; "
        "commutative aggregate",
        "x + y.", PLUS, binary_add_grad, add_cases, .amp = AMP_INFER),
    ROW("Sub(x:T, y:T) -> (z:T) | "
        "T:type{bfloat16,half,float,double,uint8,int8,uint16,int16,int32,int64,complex64,complex128,uint32,uint64}",
        "x - y.", ELEM(sub_op), sub_grad, product_cases, .amp = AMP_INFER),
    ROW("Mul(x:T, y:T) -> (z:T) | "
        "T:type{bfloat16,half,float,double,uint8,int8,uint16,int16,int32,uint32,uint64,int64,complex64,complex128} ; "
        "commutative",
        "x * y.", PRODUCT, mul_grad, product_cases, .amp = AMP_INFER),
    ROW("MulNoNan(x:T, y:T) -> (z:T) | T:type{bfloat16,half,float,double,complex64,complex128}",
        "x * y, and 0 where y is 0 even if x is not finite.", ELEM(mul_no_nan_op), mul_no_nan_grad, product_cases),
    ROW("SquaredDifference(x:T, y:T) -> (z:T) | T:type{bfloat16,half,float,double,int32,int64,complex64,complex128} ; "
        "commutative",
        "(x - y)^2.", ELEM(squared_difference_op), squared_difference_grad, product_cases),
    ROW("Div(x:T, y:T) -> (z:T) | "
        "T:type{bfloat16,half,float,double,uint8,int8,uint16,int16,int32,uint32,uint64,int64,complex64,complex128}",
        "x / y; integers round towards 0.", binary_div_cpu, div_grad, quotient_cases),
    ROW("RealDiv(x:T, y:T) -> (z:T) | "
        "T:type{bfloat16,half,float,double,uint8,int8,uint16,int16,int32,uint32,uint64,int64,complex64,complex128}",
        "x / y.", QUOTIENT, real_div_grad, quotient_cases, .amp = AMP_INFER),
    ROW("FloorDiv(x:T, y:T) -> (z:T) | "
        "T:type{bfloat16,half,float,double,uint8,int8,uint16,int16,int32,uint32,uint64,int64,complex64,complex128}",
        "x / y rounded towards minus infinity.", floor_div_cpu, weft__backprop_none, int_quotient_cases,
        .amp = AMP_INFER),
    ROW("TruncateDiv(x:T, y:T) -> (z:T) | "
        "T:type{bfloat16,half,float,double,uint8,int8,uint16,int16,int32,uint32,uint64,int64,complex64,complex128}",
        "x / y rounded towards 0.", truncate_div_cpu, weft__backprop_none, int_quotient_cases),
    ROW("FloorMod(x:T, y:T) -> (z:T) | "
        "T:type{int8,int16,int32,int64,uint8,uint16,uint32,uint64,bfloat16,half,float,double}",
        "The remainder of FloorDiv: it has the sign of y.", floor_mod_cpu, floor_mod_grad, int_quotient_cases),
    ROW("Mod(x:T, y:T) -> (z:T) | T:type{int32,int64,half,half,bfloat16,float,double}",
        "The remainder of TruncateDiv: it has the sign of x.", mod_cpu, NULL, int_quotient_cases),
    ROW("TruncateMod(x:T, y:T) -> (z:T) | T:type{int32,int64,bfloat16,half,float,double}",
        "The remainder of TruncateDiv: it has the sign of x.", mod_cpu, NULL, int_quotient_cases),
    ROW("DivNoNan(x:T, y:T) -> (z:T) | T:type{half,float,bfloat16,double,complex64,complex128}",
        "x / y, and 0 where y is 0.", ELEM(div_no_nan_op), div_no_nan_grad, quotient_cases),
    ROW("Xdivy(x:T, y:T) -> (z:T) | T:type{half,bfloat16,float,double,complex64,complex128}",
        "x / y, and 0 where x is 0.", ELEM(xdivy_op), xdivy_grad, quotient_cases),
    ROW("Xlogy(x:T, y:T) -> (z:T) | T:type{half,bfloat16,float,double,complex64,complex128}",
        "x log(y), and 0 where x is 0.", ELEM(xlogy_op), xlogy_grad, log_cases),
    ROW("Xlog1py(x:T, y:T) -> (z:T) | T:type{half,bfloat16,float,double,complex64,complex128}",
        "x log(1 + y), and 0 where x is 0.", ELEM(xlog1py_op), xlog1py_grad, log_cases),
    ROW("Maximum(x:T, y:T) -> (z:T) | "
        "T:type{bfloat16,half,float,double,int8,uint8,int16,uint16,int32,uint32,int64,uint64}",
        "The greater of x and y; NaN if either is.", ELEM(weft__maximum_op), maximum_grad, extreme_cases,
        .amp = AMP_CLEAR),
    ROW("Minimum(x:T, y:T) -> (z:T) | "
        "T:type{bfloat16,half,float,double,int8,uint8,int16,uint16,int32,uint32,int64,uint64}",
        "The lesser of x and y; NaN if either is.", ELEM(weft__minimum_op), minimum_grad, extreme_cases,
        .amp = AMP_CLEAR),
    ROW("Pow(x:T, y:T) -> (z:T) | T:type{bfloat16,float,half,double,int8,int16,int32,int64,complex64,complex128}",
        "x to the power y.", pow_cpu, pow_grad, pow_cases, .fusion = &powers, .amp = AMP_DENY),
    ROW("Atan2(y:T, x:T) -> (z:T) | T:type{bfloat16,half,float,double}", "The angle of the point (x, y).",
        ELEM(atan2_op), atan2_grad, quotient_cases),
    ROW("NextAfter(x1:T, x2:T) -> (output:T) | T:type{double,float}=float",
        "The next representable number after x1 towards x2.", ELEM(next_after_op), next_after_grad, extreme_cases),
    {0},
};
