/* unary.c - functions of one number: y = f(x).
 *
 * Float uses vmath.h and vtrig.h where they have a vectorized version; the rest are functions of the C library,
 * selected by type through tgmath. unary_grad.c has the gradients for which TensorFlow has separate ops (TanhGrad,
 * SqrtGrad, ...). */
#include "graph/build.h"
#include "graph/fusion.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/simd/vtrig.h"
#include <tgmath.h>

/* ---- algebra ---- */
EACH_FLOAT(UNARY, neg, -x)
EACH_SIGNED(UNARY, neg, 0 - (A)x)
EACH_COMPLEX(UNARY, neg, -x)
EACH_FLOAT(UNARY, absolute, fabs(x))
EACH_SIGNED(UNARY, absolute, x < 0 ? 0 - (A)x : (A)x)
EACH_FLOAT(UNARY, sign, x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x)
EACH_SIGNED(UNARY, sign, (x > 0) - (x < 0))
EACH_COMPLEX(UNARY_CALL, sign, x == 0 ? 0 : x / fabs(x))
EACH_REAL(UNARY, square, (A)x *(A)x)
EACH_COMPLEX(UNARY, square, x *x)
EACH_FLOAT(UNARY, root, sqrt(x))
EACH_COMPLEX(UNARY_CALL, root, sqrt(x))
EACH_FLOAT(UNARY, inverse_root, 1 / sqrt(x))
#if defined(__x86_64__)
#define INVERSE_ROOT(R) 1 / sqrtf(x) /* in 16 bits, TF's vector code for x86_64 rounds only the result */
#else
#define INVERSE_ROOT(R) 1 / R(sqrtf(x))
#endif
EACH_ROUNDED(UNARY, inverse_root, INVERSE_ROOT)
EACH_COMPLEX(UNARY_CALL, inverse_root, 1 / sqrt(x))
EACH_FLOAT(UNARY, reciprocal, 1 / x)
EACH_COMPLEX(UNARY_CALL, reciprocal, 1 / x)

static const elem_op neg_op = {COST_CHEAP, {ROWS_FLOAT(neg), ROWS_SIGNED(neg), ROWS_COMPLEX(neg)}};
static const elem_op abs_op = {COST_CHEAP, {ROWS_FLOAT(absolute), ROWS_SIGNED(absolute)}};
static const elem_op sign_op = {COST_CHEAP, {ROWS_FLOAT(sign), ROWS_SIGNED(sign), ROWS_COMPLEX(sign)}};
static const elem_op square_op = {COST_CHEAP, {ROWS_REAL(square), ROWS_COMPLEX(square)}};
static const elem_op sqrt_op = {COST_CHEAP, {ROWS_FLOAT(root), ROWS_COMPLEX(root)}};
static const elem_op rsqrt_op = {
    COST_CHEAP, {ROWS_FLOAT(inverse_root), ROWS_COMPLEX(inverse_root)}, ROWS_ROUNDED(inverse_root)};
static const elem_op reciprocal_op = {COST_CHEAP, {ROWS_FLOAT(reciprocal), ROWS_COMPLEX(reciprocal)}};

/* ---- exponentials and logarithms ---- */
UNARY(exponential, f32, float, float, vexpf(x))
UNARY_CALL(exponential, f64, double, double, exp(x))
EACH_COMPLEX(UNARY_CALL, exponential, exp(x))
UNARY(exponential_minus_1, f32, float, float, vexpm1f(x))
UNARY_CALL(exponential_minus_1, f64, double, double, expm1(x))
EACH_COMPLEX(UNARY_CALL, exponential_minus_1, exp(x) - 1)
UNARY(logarithm, f32, float, float, vlogf(x))
UNARY_CALL(logarithm, f64, double, double, log(x))
EACH_COMPLEX(UNARY_CALL, logarithm, log(x))
UNARY(logarithm_plus_1, f32, float, float, vlog1pf(x))
UNARY_CALL(logarithm_plus_1, f64, double, double, log1p(x))
EACH_COMPLEX(UNARY_CALL, logarithm_plus_1, log(1 + x))
UNARY(sigmoid, f32, float, float, vsigmoidf(x))
UNARY_CALL(sigmoid, f64, double, double, 1 / (1 + exp(-x)))
#define SIGMOID(R) isinf(R(vexpf(x))) ? 1 : R(vexpf(x)) / R(1 + R(vexpf(x)))
EACH_ROUNDED(UNARY, sigmoid, SIGMOID)
EACH_COMPLEX(UNARY_CALL, sigmoid, 1 / (1 + exp(-x)))

static const elem_op exp_op = {COST_VECTOR, {ROWS_FLOAT(exponential), ROWS_COMPLEX(exponential)}};
static const elem_op expm1_op = {COST_VECTOR, {ROWS_FLOAT(exponential_minus_1), ROWS_COMPLEX(exponential_minus_1)}};
static const elem_op log_op = {COST_VECTOR, {ROWS_FLOAT(logarithm), ROWS_COMPLEX(logarithm)}};
static const elem_op log1p_op = {COST_VECTOR, {ROWS_FLOAT(logarithm_plus_1), ROWS_COMPLEX(logarithm_plus_1)}};
static const elem_op sigmoid_op = {COST_VECTOR, {ROWS_FLOAT(sigmoid), ROWS_COMPLEX(sigmoid)}, ROWS_ROUNDED(sigmoid)};

/* ---- trigonometric and hyperbolic functions ---- */
UNARY(near_sine, f32, float, float, vsinf(x))
UNARY_CALL(far_sine, f32, float, float, sin(x))
UNARY_CALL(sine, f64, double, double, sin(x))
EACH_COMPLEX(UNARY_CALL, sine, sin(x))
UNARY(near_cosine, f32, float, float, vcosf(x))
UNARY_CALL(far_cosine, f32, float, float, cos(x))
UNARY_CALL(cosine, f64, double, double, cos(x))
EACH_COMPLEX(UNARY_CALL, cosine, cos(x))
UNARY(near_tangent, f32, float, float, vtanf(x))
UNARY_CALL(far_tangent, f32, float, float, tan(x))

/* Returns true if no angle is too large for the vectorized version. */
WEFT_TARGET_CLONES static bool all_near(const float *x, int64_t n) {
  uint32_t far = 0;
  for (int64_t i = 0; i < n; i++) far |= fabsf(x[i]) < VMATH_MAX_ANGLE ? 0u : 1u;
  return !far;
}

static void sine_f32(void *z, const void *const *in, int64_t n, const void *arg) {
  (all_near(in[0], n) ? near_sine_f32 : far_sine_f32)(z, in, n, arg);
}

static void cosine_f32(void *z, const void *const *in, int64_t n, const void *arg) {
  (all_near(in[0], n) ? near_cosine_f32 : far_cosine_f32)(z, in, n, arg);
}

static void tangent_f32(void *z, const void *const *in, int64_t n, const void *arg) {
  (all_near(in[0], n) ? near_tangent_f32 : far_tangent_f32)(z, in, n, arg);
}

UNARY_CALL(tangent, f64, double, double, tan(x))
EACH_COMPLEX(UNARY_CALL, tangent, tan(x))
UNARY(arcsine, f32, float, float, vasinf(x))
UNARY_CALL(arcsine, f64, double, double, asin(x))
EACH_COMPLEX(UNARY_CALL, arcsine, asin(x))
UNARY(arccosine, f32, float, float, vacosf(x))
UNARY_CALL(arccosine, f64, double, double, acos(x))
EACH_COMPLEX(UNARY_CALL, arccosine, acos(x))
UNARY(arctangent, f32, float, float, vatanf(x))
UNARY_CALL(arctangent, f64, double, double, atan(x))
EACH_COMPLEX(UNARY_CALL, arctangent, atan(x))
UNARY(hyperbolic_sine, f32, float, float, vsinhf(x))
UNARY_CALL(hyperbolic_sine, f64, double, double, sinh(x))
EACH_COMPLEX(UNARY_CALL, hyperbolic_sine, sinh(x))
UNARY(hyperbolic_cosine, f32, float, float, vcoshf(x))
UNARY_CALL(hyperbolic_cosine, f64, double, double, cosh(x))
EACH_COMPLEX(UNARY_CALL, hyperbolic_cosine, cosh(x))
UNARY(hyperbolic_tangent, f32, float, float, vtanhf(x))
UNARY_CALL(hyperbolic_tangent, f64, double, double, tanh(x))
EACH_COMPLEX(UNARY_CALL, hyperbolic_tangent, tanh(x))
UNARY(area_sine, f32, float, float, vasinhf(x))
UNARY_CALL(area_sine, f64, double, double, asinh(x))
EACH_COMPLEX(UNARY_CALL, area_sine, asinh(x))
UNARY(area_cosine, f32, float, float, vacoshf(x))
UNARY_CALL(area_cosine, f64, double, double, acosh(x))
EACH_COMPLEX(UNARY_CALL, area_cosine, acosh(x))
UNARY(area_tangent, f32, float, float, vatanhf(x))
UNARY_CALL(area_tangent, f64, double, double, atanh(x))
EACH_COMPLEX(UNARY_CALL, area_tangent, atanh(x))

static const elem_op sin_op = {COST_VECTOR, {ROWS_FLOAT(sine), ROWS_COMPLEX(sine)}};
static const elem_op cos_op = {COST_VECTOR, {ROWS_FLOAT(cosine), ROWS_COMPLEX(cosine)}};
static const elem_op tan_op = {COST_VECTOR, {ROWS_FLOAT(tangent), ROWS_COMPLEX(tangent)}};
static const elem_op asin_op = {COST_VECTOR, {ROWS_FLOAT(arcsine), ROWS_COMPLEX(arcsine)}};
static const elem_op acos_op = {COST_VECTOR, {ROWS_FLOAT(arccosine), ROWS_COMPLEX(arccosine)}};
static const elem_op atan_op = {COST_VECTOR, {ROWS_FLOAT(arctangent), ROWS_COMPLEX(arctangent)}};
static const elem_op sinh_op = {COST_VECTOR, {ROWS_FLOAT(hyperbolic_sine), ROWS_COMPLEX(hyperbolic_sine)}};
static const elem_op cosh_op = {COST_VECTOR, {ROWS_FLOAT(hyperbolic_cosine), ROWS_COMPLEX(hyperbolic_cosine)}};
static const elem_op tanh_op = {COST_VECTOR, {ROWS_FLOAT(hyperbolic_tangent), ROWS_COMPLEX(hyperbolic_tangent)}};
static const elem_op asinh_op = {COST_VECTOR, {ROWS_FLOAT(area_sine), ROWS_COMPLEX(area_sine)}};
static const elem_op acosh_op = {COST_VECTOR, {ROWS_FLOAT(area_cosine), ROWS_COMPLEX(area_cosine)}};
static const elem_op atanh_op = {COST_VECTOR, {ROWS_FLOAT(area_tangent), ROWS_COMPLEX(area_tangent)}};

/* ---- rounding and classification ---- */
EACH_FLOAT(UNARY, round_down, floor(x))
EACH_FLOAT(UNARY, round_up, ceil(x))
EACH_FLOAT(UNARY, round_even, rint(x))
EACH_SIGNED(UNARY, round_even, x)
EACH_FLOAT(UNARY_TEST, is_nan, x != x)
EACH_FLOAT(UNARY_TEST, is_inf, fabs(x) == (T)INFINITY)
EACH_FLOAT(UNARY_TEST, is_finite, fabs(x) < (T)INFINITY)

static const elem_op floor_op = {COST_CHEAP, {ROWS_FLOAT(round_down)}};
static const elem_op ceil_op = {COST_CHEAP, {ROWS_FLOAT(round_up)}};
static const elem_op round_op = {COST_CHEAP, {ROWS_FLOAT(round_even), ROWS_SIGNED(round_even)}};
static const elem_op is_nan_op = {COST_CHEAP, {ROWS_FLOAT(is_nan)}};
static const elem_op is_inf_op = {COST_CHEAP, {ROWS_FLOAT(is_inf)}};
static const elem_op is_finite_op = {COST_CHEAP, {ROWS_FLOAT(is_finite)}};

/* ---- gradients ---- */
#define G b->graph
#define DY b->dout[0]
#define X weft__b_conj(G, b->in[0])
#define Y weft__b_conj(G, b->out[0])

static weft_err unary_set_dx(backprop *b, weft_out dx) {
  b->din[0] = GRAD_DENSE(dx);
  return WEFT_OK;
}

static weft_out unary_op(weft_graph *g, const char *name, weft_out x) { return weft__b_unary(g, name, x); }
static weft_out one_like(weft_graph *g, weft_out x) { return weft__b_scalar_like(g, x, 1); }

static weft_err neg_grad(backprop *b) { return unary_set_dx(b, weft__b_neg(G, DY)); }
static weft_err abs_grad(backprop *b) { return unary_set_dx(b, weft__b_mul(G, DY, unary_op(G, "Sign", b->in[0]))); }
static weft_err sign_grad(backprop *b) { return unary_set_dx(b, weft__b_zeros_like(G, b->in[0])); }

static weft_err square_grad(backprop *b) {
  const weft_out x = X;
  const weft_out twice = weft__b_binary(G, "Mul", weft__b_scalar_like(G, x, 2), x);
  return unary_set_dx(b, weft__b_binary(G, "Mul", DY, twice));
}

static weft_err sqrt_grad(backprop *b) { return unary_set_dx(b, weft__b_binary(G, "SqrtGrad", b->out[0], DY)); }
static weft_err rsqrt_grad(backprop *b) { return unary_set_dx(b, weft__b_binary(G, "RsqrtGrad", b->out[0], DY)); }
static weft_err reciprocal_grad(backprop *b) {
  return unary_set_dx(b, weft__b_binary(G, "ReciprocalGrad", b->out[0], DY));
}
static weft_err inv_grad(backprop *b) { return unary_set_dx(b, weft__b_binary(G, "InvGrad", b->out[0], DY)); }
static weft_err exp_grad(backprop *b) { return unary_set_dx(b, weft__b_mul(G, DY, Y)); }
static weft_err expm1_grad(backprop *b) { return unary_set_dx(b, weft__b_mul(G, DY, unary_op(G, "Exp", X))); }
static weft_err log_grad(backprop *b) { return unary_set_dx(b, weft__b_mul(G, DY, unary_op(G, "Reciprocal", X))); }

static weft_err log1p_grad(backprop *b) {
  const weft_out x = X;
  return unary_set_dx(b, weft__b_mul(G, DY, unary_op(G, "Reciprocal", weft__b_add(G, one_like(G, x), x))));
}

static weft_err sigmoid_grad(backprop *b) { return unary_set_dx(b, weft__b_binary(G, "SigmoidGrad", Y, DY)); }
static weft_err tanh_grad(backprop *b) { return unary_set_dx(b, weft__b_binary(G, "TanhGrad", Y, DY)); }
static weft_err sin_grad(backprop *b) { return unary_set_dx(b, weft__b_mul(G, DY, unary_op(G, "Cos", X))); }
static weft_err cos_grad(backprop *b) {
  return unary_set_dx(b, weft__b_mul(G, weft__b_neg(G, DY), unary_op(G, "Sin", X)));
}

static weft_err tan_grad(backprop *b) {
  return unary_set_dx(b, weft__b_mul(G, unary_op(G, "Square", unary_op(G, "Reciprocal", unary_op(G, "Cos", X))), DY));
}

/* 1/sqrt(1 - x^2) */
static weft_out arc_slope(backprop *b) {
  const weft_out x = X, rest = weft__b_sub(G, one_like(G, x), unary_op(G, "Square", x));
  return unary_op(G, "Reciprocal", unary_op(G, "Sqrt", rest));
}

static weft_err asin_grad(backprop *b) { return unary_set_dx(b, weft__b_mul(G, DY, arc_slope(b))); }
static weft_err acos_grad(backprop *b) { return unary_set_dx(b, weft__b_mul(G, weft__b_neg(G, DY), arc_slope(b))); }

static weft_err atan_grad(backprop *b) {
  const weft_out x = X, sum = weft__b_add(G, one_like(G, x), unary_op(G, "Square", x));
  return unary_set_dx(b, weft__b_mul(G, DY, unary_op(G, "Reciprocal", sum)));
}

static weft_err sinh_grad(backprop *b) { return unary_set_dx(b, weft__b_mul(G, DY, unary_op(G, "Cosh", X))); }
static weft_err cosh_grad(backprop *b) { return unary_set_dx(b, weft__b_mul(G, DY, unary_op(G, "Sinh", X))); }
static weft_err asinh_grad(backprop *b) { return unary_set_dx(b, weft__b_div(G, DY, unary_op(G, "Cosh", Y))); }
static weft_err acosh_grad(backprop *b) { return unary_set_dx(b, weft__b_div(G, DY, unary_op(G, "Sinh", Y))); }

static weft_err atanh_grad(backprop *b) {
  const weft_out x = X, rest = weft__b_sub(G, one_like(G, x), unary_op(G, "Square", x));
  return unary_set_dx(b, weft__b_mul(G, DY, unary_op(G, "Reciprocal", rest)));
}

/* ---- cases ---- */
static const op_case any_cases[] = {
    /* defined everywhere */
    {"f32[5] -2 -0.5 0.25 1 3"},
    {"f32[] 0.5"},
    {"f32[0,2]", "f32[0,2]"},
    {"f32[2,3,4] rand"},
    {"f32[70,90] normal"},
    {"f32[3] inf -inf nan", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case whole_cases[] = {
    /* for integers too */
    {"f32[5] -2 -1 0 1 3", NULL, NULL, CASE_NO_GRAD},
    {"f32[5] 2 1 4 1 3"},
    {"f32[] 2"},
    {"f32[0,2]", "f32[0,2]"},
    {"f32[70,90] normal", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[3] inf -inf nan", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case positive_cases[] = {
    {"f32[5] 0.5 1 2 3 4"},
    {"f32[] 0.5"},
    {"f32[0,2]", "f32[0,2]"},
    {"f32[70,90] pos"},
    {"f32[4] 0 inf -1 nan", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case angle_cases[] = {
    {"f32[5] -2 -0.5 0.25 1 3"},
    {"f32[] 0.5"},
    {"f32[0,2]", "f32[0,2]"},
    {"f32[70,90] normal"},
    {"f32[6] 100 -1000.5 8000 1e6 -1e20 0", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3] inf -inf nan", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case unit_cases[] = {
    /* between 0 and 1 */
    {"f32[3] 0.1 0.5 0.9"}, {"f32[] 0.5"}, {"f32[0,2]", "f32[0,2]"}, {"f32[70,90] unit"}, {0},
};
static const op_case above_1_cases[] = {
    {"f32[3] 1.5 2 30"},
    {"f32[] 1.5"},
    {"f32[0,2]", "f32[0,2]"},
    {0},
};
static const op_case rounding_cases[] = {
    {"f32[8] 0.4 0.5 1.5 2.5 -0.5 -1.5 -2.7 8388609", NULL, NULL, CASE_NO_GRAD},
    {"f32[] 2.7", NULL, NULL, CASE_NO_GRAD},
    {"f32[0,2]", "f32[0,2]", NULL, CASE_NO_GRAD},
    {"f32[70,90] normal", NULL, NULL, CASE_NO_GRAD},
    {0},
};
static const op_case kind_cases[] = {
    {"f32[5] 1 inf -inf nan 0"}, {"f32[] nan"}, {"f32[0]", "bool[0]"}, {"f64[3] nan inf 1"}, {"f16[3] nan inf 1"}, {0},
};

static const fusion square_root = {ROLE_ROOT};

#define ROW(def_, doc_, cpu_, grad_, ...)                                                                              \
  { def_, doc_, OP_INPLACE, weft__infer_same, cpu_, .grad = grad_, .cases = __VA_ARGS__ }
#define FLOATS "T:type{bfloat16,half,float,double}"
#define FLOATS_COMPLEX "T:type{bfloat16,half,float,double,complex64,complex128}"
#define ROOT ELEM(sqrt_op), .fusion = &square_root

OPS(unary) = {
    ROW("Neg(x:T) -> (y:T) | T:type{bfloat16,half,float,double,int8,int16,int32,int64,complex64,complex128}", "-x.",
        ELEM(neg_op), neg_grad, whole_cases, .amp = AMP_CLEAR),
    ROW("Abs(x:T) -> (y:T) | T:type{bfloat16,half,float,double,int8,int16,int32,int64}", "|x|.", ELEM(abs_op), abs_grad,
        whole_cases, .amp = AMP_CLEAR),
    ROW("Sign(x:T) -> (y:T) | T:type{bfloat16,half,float,double,int8,int16,int32,int64,complex64,complex128}",
        "-1, 0 or 1; of a complex number x/|x|.", ELEM(sign_op), sign_grad, whole_cases, .amp = AMP_CLEAR),
    ROW("Square(x:T) -> (y:T) | "
        "T:type{bfloat16,half,float,double,int8,int16,int32,int64,uint8,uint16,uint32,uint64,complex64,complex128}",
        "x^2.", ELEM(square_op), square_grad, whole_cases),
    ROW("Sqrt(x:T) -> (y:T) | " FLOATS_COMPLEX, "The square root.", ROOT, sqrt_grad, positive_cases, .amp = AMP_INFER),
    ROW("Rsqrt(x:T) -> (y:T) | " FLOATS_COMPLEX, "1/sqrt(x).", ELEM(rsqrt_op), rsqrt_grad, positive_cases),
    ROW("Reciprocal(x:T) -> (y:T) | T:type{bfloat16,half,float,double,int8,int16,int32,int64,complex64,complex128}",
        "1/x.", ELEM(reciprocal_op), reciprocal_grad, positive_cases, .amp = AMP_INFER),
    ROW("Inv(x:T) -> (y:T) | T:type{bfloat16,half,float,double,int8,int16,int32,int64,complex64,complex128}",
        "1/x, by its old name.", ELEM(reciprocal_op), inv_grad, positive_cases, .amp = AMP_INFER),
    ROW("Exp(x:T) -> (y:T) | " FLOATS_COMPLEX, "e^x.", ELEM(exp_op), exp_grad, any_cases, .amp = AMP_DENY),
    ROW("Expm1(x:T) -> (y:T) | " FLOATS_COMPLEX, "e^x - 1.", ELEM(expm1_op), expm1_grad, any_cases, .amp = AMP_DENY),
    ROW("Log(x:T) -> (y:T) | " FLOATS_COMPLEX, "The natural logarithm.", ELEM(log_op), log_grad, positive_cases,
        .amp = AMP_INFER),
    ROW("Log1p(x:T) -> (y:T) | " FLOATS_COMPLEX, "log(1 + x).", ELEM(log1p_op), log1p_grad, positive_cases,
        .amp = AMP_INFER),
    ROW("Sigmoid(x:T) -> (y:T) | " FLOATS_COMPLEX, "1/(1 + e^-x).", ELEM(sigmoid_op), sigmoid_grad, any_cases,
        .amp = AMP_INFER),
    ROW("Sin(x:T) -> (y:T) | " FLOATS_COMPLEX, "The sine.", ELEM(sin_op), sin_grad, angle_cases),
    ROW("Cos(x:T) -> (y:T) | " FLOATS_COMPLEX, "The cosine.", ELEM(cos_op), cos_grad, angle_cases),
    ROW("Tan(x:T) -> (y:T) | " FLOATS_COMPLEX, "The tangent.", ELEM(tan_op), tan_grad, unit_cases),
    ROW("Asin(x:T) -> (y:T) | " FLOATS_COMPLEX, "The angle whose sine is x.", ELEM(asin_op), asin_grad, unit_cases),
    ROW("Acos(x:T) -> (y:T) | " FLOATS_COMPLEX, "The angle whose cosine is x.", ELEM(acos_op), acos_grad, unit_cases),
    ROW("Atan(x:T) -> (y:T) | " FLOATS_COMPLEX, "The angle whose tangent is x.", ELEM(atan_op), atan_grad, any_cases),
    ROW("Sinh(x:T) -> (y:T) | " FLOATS_COMPLEX, "The hyperbolic sine.", ELEM(sinh_op), sinh_grad, any_cases),
    ROW("Cosh(x:T) -> (y:T) | " FLOATS_COMPLEX, "The hyperbolic cosine.", ELEM(cosh_op), cosh_grad, any_cases),
    ROW("Tanh(x:T) -> (y:T) | " FLOATS_COMPLEX, "The hyperbolic tangent.", ELEM(tanh_op), tanh_grad, any_cases,
        .amp = AMP_INFER),
    ROW("Asinh(x:T) -> (y:T) | " FLOATS_COMPLEX, "The inverse of Sinh.", ELEM(asinh_op), asinh_grad, any_cases),
    ROW("Acosh(x:T) -> (y:T) | " FLOATS_COMPLEX, "The inverse of Cosh.", ELEM(acosh_op), acosh_grad, above_1_cases),
    ROW("Atanh(x:T) -> (y:T) | " FLOATS_COMPLEX, "The inverse of Tanh.", ELEM(atanh_op), atanh_grad, unit_cases),
    ROW("Floor(x:T) -> (y:T) | " FLOATS, "The integer at or below x.", ELEM(floor_op), weft__backprop_none,
        rounding_cases, .amp = AMP_CLEAR),
    ROW("Ceil(x:T) -> (y:T) | " FLOATS, "The integer at or above x.", ELEM(ceil_op), weft__backprop_none,
        rounding_cases, .amp = AMP_CLEAR),
    ROW("Round(x:T) -> (y:T) | T:type{bfloat16,half,float,double,int8,int16,int32,int64,complex64,complex128}",
        "The nearest integer, the even one of two.", ELEM(round_op), weft__backprop_none, rounding_cases,
        .amp = AMP_CLEAR),
    ROW("Rint(x:T) -> (y:T) | " FLOATS, "The nearest integer, the even one of two.", ELEM(round_op),
        weft__backprop_none, rounding_cases),
    ROW("IsNan(x:T) -> (y:bool) | " FLOATS, "Is x not a number?", ELEM(is_nan_op), NULL, kind_cases, .amp = AMP_CLEAR),
    ROW("IsInf(x:T) -> (y:bool) | " FLOATS, "Is x infinite?", ELEM(is_inf_op), NULL, kind_cases, .amp = AMP_CLEAR),
    ROW("IsFinite(x:T) -> (y:bool) | " FLOATS, "Is x neither infinite nor NaN?", ELEM(is_finite_op), NULL, kind_cases,
        .amp = AMP_CLEAR),
    {0},
};
