/* unary.cu - functions of one number on the GPU. */
#include "kernels/elementwise/functions.cuh"

/* ---- algebra ---- */
UNARY(sign, x > 0 ? (A)1 : x < 0 ? (A)-1 : x == 0 ? (A)0 : x)

/* ---- exponential, trigonometric and hyperbolic functions ---- */
UNARY(exponential_minus_1, expm1(x))
UNARY(sine, sin(x))
UNARY(cosine, cos(x))
UNARY(tangent, tan(x))
UNARY(arcsine, asin(x))
UNARY(arccosine, acos(x))
UNARY(arctangent, atan(x))
UNARY(hyperbolic_sine, sinh(x))
UNARY(hyperbolic_cosine, cosh(x))
UNARY(area_sine, asinh(x))
UNARY(area_cosine, acosh(x))
UNARY(area_tangent, atanh(x))

/* ---- functions of statistics ---- */

/* The derivative of lgamma.  Negative x is reflected, the recurrence raises x above 10, and the rest is a series. */
template <class A> __device__ A digamma_of(A given) {
  double x = (double)given, sum = 0;
  if (x <= 0) {
    if (x == floor(x)) return (A)NAN;
    sum = -M_PI / tan(M_PI * x);
    x = 1 - x;
  }
  for (; x < 10; x += 1) sum -= 1 / x;
  const double y = 1 / (x * x);
  const double tail = y * (1 / 12. - y * (1 / 120. - y * (1 / 252. - y * (1 / 240. - y * (1 / 132.)))));
  return (A)(sum + log(x) - 0.5 / x - tail);
}
UNARY(error_function_rest, erfc(x))
UNARY(error_function_inverse, erfinv(x))
UNARY(normal_quantile, normcdfinv(x))
UNARY(log_gamma, lgamma(x))
UNARY(digamma, digamma_of(x))

/* ---- rounding and classification ---- */
UNARY(round_down, floor(x))
UNARY(round_up, ceil(x))
UNARY(round_even, rint(x))
UNARY_TEST(not_a_number, x != x)
UNARY_TEST(infinite, isinf(x))
UNARY_TEST(finite_number, isfinite(x))

/* ---- gradients from the result (here x) and the output gradient (here y) ---- */
BINARY(reciprocal_grad, -y *x *x)

#define FLOATS(op, f)                                                                                                  \
  { op, gpu_unary_floats<f>, GPU_FLOATS }
#define NUMBERS(op, f)                                                                                                 \
  { op, gpu_unary_numbers<f>, GPU_NUMBERS }
#define TEST(op, f)                                                                                                    \
  { op, gpu_unary_test<f>, GPU_FLOATS | GPU_BOOL }
#define GRAD(op, f)                                                                                                    \
  { op, gpu_binary_floats<f>, GPU_FLOATS }

GPU_OPS(unary) = {
    NUMBERS("Neg", neg),
    NUMBERS("Abs", absolute),
    NUMBERS("Sign", sign),
    NUMBERS("Square", square),
    FLOATS("Sqrt", square_root),
    FLOATS("Rsqrt", inverse_root),
    FLOATS("Reciprocal", reciprocal),
    FLOATS("Inv", reciprocal),
    FLOATS("Exp", exponential),
    FLOATS("Expm1", exponential_minus_1),
    FLOATS("Log", logarithm),
    FLOATS("Log1p", logarithm_plus_1),
    FLOATS("Sigmoid", sigmoid),
    FLOATS("Sin", sine),
    FLOATS("Cos", cosine),
    FLOATS("Tan", tangent),
    FLOATS("Asin", arcsine),
    FLOATS("Acos", arccosine),
    FLOATS("Atan", arctangent),
    FLOATS("Sinh", hyperbolic_sine),
    FLOATS("Cosh", hyperbolic_cosine),
    FLOATS("Tanh", hyperbolic_tangent),
    FLOATS("Asinh", area_sine),
    FLOATS("Acosh", area_cosine),
    FLOATS("Atanh", area_tangent),
    FLOATS("Erf", error_function),
    FLOATS("Erfc", error_function_rest),
    FLOATS("Erfinv", error_function_inverse),
    FLOATS("Ndtri", normal_quantile),
    FLOATS("Lgamma", log_gamma),
    FLOATS("Digamma", digamma),
    FLOATS("Floor", round_down),
    FLOATS("Ceil", round_up),
    FLOATS("Round", round_even),
    FLOATS("Rint", round_even),
    TEST("IsNan", not_a_number),
    TEST("IsInf", infinite),
    TEST("IsFinite", finite_number),
    GRAD("TanhGrad", tanh_grad),
    GRAD("SigmoidGrad", sigmoid_grad),
    GRAD("ReciprocalGrad", reciprocal_grad),
    GRAD("InvGrad", reciprocal_grad),
    GRAD("SqrtGrad", sqrt_grad),
    GRAD("RsqrtGrad", rsqrt_grad),
    {0},
};
