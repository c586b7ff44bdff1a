/* bessel.c - Bessel functions of the orders 0 and 1, unscaled and scaled by e^-|x| or e^x.
 *
 * I_n is a series of positive terms, or its asymptotic series for large arguments.  K_n is a series near zero, and
 * otherwise the integral of e^(-x cosh t) cosh(n t), for which the trapezoidal rule converges faster than any power
 * of its step.  J_n and Y_n are the C library's functions. */
#include "graph/build.h"
#include "kernels/elementwise/elementwise.h"
#include <math.h>

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
static const double EULER = 0.57721566490153286061, FAR = 30;
enum { POINTS = 48 };

/* Returns the sum over k of (x^2/4)^k / (k! (k+n)!), for n = 0 or 1. */
static double power_series(double x, int n) {
  const double q = x * x / 4;
  double term = 1, sum = 1;
  for (int k = 1; term > 1e-18 * sum; k++) {
    term *= q / k / (k + n);
    sum += term;
  }
  return sum;
}

/* Returns I_n(x) e^-x sqrt(2 pi x) for x > FAR. */
static double bessel_asymptotic(double x, int n) {
  const double order = 4 * n * n;
  double term = 1, sum = 1;
  for (int k = 1; k < 60 && fabs(term) > 1e-17; k++) {
    term *= -(order - (2.0 * k - 1) * (2.0 * k - 1)) / (8 * x * k);
    sum += term;
  }
  return sum;
}

static double scaled_i(double x, int n) {
  const double size = fabs(x), sign = n && x < 0 ? -1 : 1;
  if (isnan(x)) return x;
  if (isinf(x)) return 0;
  if (size > FAR) return sign * bessel_asymptotic(size, n) / sqrt(2 * M_PI * size);
  return sign * exp(-size) * power_series(size, n) * (n ? size / 2 : 1);
}

static double i0e(double x) { return scaled_i(x, 0); }
static double i1e(double x) { return scaled_i(x, 1); }

static double plain_i(double x, int n) {
  const double size = fabs(x), sign = n && x < 0 ? -1 : 1;
  if (isnan(x)) return x;
  if (size > 715) return sign * INFINITY;
  /* e^x is applied as e^(x/2) twice, so that it overflows only if the product does. */
  if (size > FAR) return sign * (bessel_asymptotic(size, n) / sqrt(2 * M_PI * size) * exp(size / 2)) * exp(size / 2);
  return sign * power_series(size, n) * (n ? size / 2 : 1);
}

static double i0(double x) { return plain_i(x, 0); }
static double i1(double x) { return plain_i(x, 1); }

/* Returns K_n(x) for 0 < x <= 1. */
static double near_k(double x, int n) {
  const double q = x * x / 4, logarithm = log(x / 2);
  double term = 1, harmonic = 0, sum = n ? 1 - 2 * EULER : 0;
  for (int k = 1; k < 40; k++) {
    term *= q / k / (k + n);
    harmonic += 1.0 / k;
    sum += term * (n ? 2 * harmonic + 1.0 / (k + 1) - 2 * EULER : harmonic);
  }
  if (n) return 1 / x + logarithm * (x / 2) * power_series(x, 1) - x / 4 * sum;
  return -(logarithm + EULER) * power_series(x, 0) + sum;
}

/* Returns K_n(x) e^x for x > 1. */
static double far_k(double x, int n) {
  const double end = acosh(1 + 45 / x), width = end / POINTS;
  double sum = 0.5;
  for (int i = 1; i <= POINTS; i++) {
    const double half = sinh(i * width / 2), rise = 2 * half * half; /* cosh t - 1, without cancellation */
    sum += exp(-x * rise) * (n ? 1 + rise : 1);
  }
  return sum * width;
}

static double any_k(double x, int n, bool scaled) {
  if (isnan(x)) return NAN;
  if (x <= 0) return INFINITY;
  if (isinf(x)) return 0;
  if (x <= 1) return near_k(x, n) * (scaled ? exp(x) : 1);
  return far_k(x, n) * (scaled ? 1 : exp(-x));
}

static double k0(double x) { return any_k(x, 0, false); }
static double k0e(double x) { return any_k(x, 0, true); }
static double k1(double x) { return any_k(x, 1, false); }
static double k1e(double x) { return any_k(x, 1, true); }
static double bessel_y0(double x) { return x <= 0 ? -INFINITY : y0(x); }
static double bessel_y1(double x) { return x <= 0 ? -INFINITY : y1(x); }

/* ---- loops ---- */
#define BESSEL(stem, function, calls)                                                                                  \
  EACH_FLOAT(UNARY_CALL, stem, function((double)x))                                                                    \
  static const elem_op stem##_op = {calls * COST_CALL, {ROWS_FLOAT(stem)}};
BESSEL(bessel_i0, i0, 8)
BESSEL(bessel_i0e, i0e, 8)
BESSEL(bessel_i1, i1, 8)
BESSEL(bessel_i1e, i1e, 8)
BESSEL(bessel_j0, j0, 4)
BESSEL(bessel_j1, j1, 4)
BESSEL(bessel_k0, k0, 60)
BESSEL(bessel_k0e, k0e, 60)
BESSEL(bessel_k1, k1, 60)
BESSEL(bessel_k1e, k1e, 60)
BESSEL(bessel_y0, bessel_y0, 4)
/* As in TensorFlow, NaN at zero in float. */
UNARY_CALL(bessel_y1, f32, float, float, x == 0 ? NAN : bessel_y1((double)x))
UNARY_CALL(bessel_y1, f64, double, double, bessel_y1(x))
static const elem_op bessel_y1_op = {4 * COST_CALL, {ROWS_FLOAT(bessel_y1)}};

/* ---- gradients ---- */
#define G b->graph
#define X b->in[0]
#define Y b->out[0]
#define DY b->dout[0]

static weft_err bessel_set_dx(backprop *b, weft_out slope) {
  b->din[0] = GRAD_DENSE(weft__b_mul(G, DY, slope));
  return WEFT_OK;
}

static weft_out of_x(backprop *b, const char *kind) { return weft__b_unary(G, kind, X); }
static weft_out y_over_x(backprop *b) { return weft__b_div(G, Y, X); }

/* Returns the derivative, but `constant` where x is zero. */
static weft_out at_zero(backprop *b, double constant, weft_out slope) {
  const weft_out zero = weft__b_binary(G, "Equal", X, weft__b_scalar_like(G, X, 0));
  const weft_out there = weft__b_mul(G, weft__b_scalar_like(G, X, constant), weft__b_ones_like(G, X));
  return weft__b_select(G, zero, there, slope);
}

static weft_err i0_grad(backprop *b) { return bessel_set_dx(b, of_x(b, "BesselI1")); }
static weft_err i0e_grad(backprop *b) {
  return bessel_set_dx(b, weft__b_sub(G, of_x(b, "BesselI1e"), weft__b_mul(G, of_x(b, "Sign"), Y)));
}
/* At zero, TensorFlow's derivative is 1, although the correct one is 1/2. */
static weft_err i1_grad(backprop *b) {
  return bessel_set_dx(b, at_zero(b, 1, weft__b_sub(G, of_x(b, "BesselI0"), y_over_x(b))));
}
static weft_err i1e_grad(backprop *b) {
  const weft_out both = weft__b_add(G, of_x(b, "Sign"), weft__b_unary(G, "Reciprocal", X));
  return bessel_set_dx(b, at_zero(b, 0.5, weft__b_sub(G, of_x(b, "BesselI0e"), weft__b_mul(G, Y, both))));
}
static weft_err j0_grad(backprop *b) { return bessel_set_dx(b, weft__b_neg(G, of_x(b, "BesselJ1"))); }
static weft_err j1_grad(backprop *b) {
  return bessel_set_dx(b, at_zero(b, 0.5, weft__b_sub(G, of_x(b, "BesselJ0"), y_over_x(b))));
}
static weft_err k0_grad(backprop *b) { return bessel_set_dx(b, weft__b_neg(G, of_x(b, "BesselK1"))); }
static weft_err k0e_grad(backprop *b) { return bessel_set_dx(b, weft__b_sub(G, Y, of_x(b, "BesselK1e"))); }
static weft_err k1_grad(backprop *b) {
  return bessel_set_dx(b, weft__b_neg(G, weft__b_add(G, of_x(b, "BesselK0"), y_over_x(b))));
}
static weft_err k1e_grad(backprop *b) {
  const weft_out less = weft__b_sub(G, weft__b_scalar_like(G, X, 1), weft__b_unary(G, "Reciprocal", X));
  return bessel_set_dx(b, weft__b_sub(G, weft__b_mul(G, Y, less), of_x(b, "BesselK0e")));
}
static weft_err y0_grad(backprop *b) { return bessel_set_dx(b, weft__b_neg(G, of_x(b, "BesselY1"))); }
static weft_err y1_grad(backprop *b) { return bessel_set_dx(b, weft__b_sub(G, of_x(b, "BesselY0"), y_over_x(b))); }

/* ---- cases ---- */
static const op_case whole_cases[] = {
    {"f64[10] -40 -7.5 -1 -.1 .1 .8 2 7.9 8.1 50"},
    {"f32[5] -3 .01 1 8 20"},
    {"f32[] 0"},
    {"f32[0,2]", "f32[0,2]"},
    {0},
};
static const op_case i1_cases[] = {
    {"f64[10] -40 -7.5 -1 -.1 .1 .8 2 7.9 8.1 50"},
    {"f32[5] -3 .01 1 8 20"},
    {"f32[] 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[0,2]", "f32[0,2]"},
    {0},
};
static const op_case positive_cases[] = {
    {"f64[8] .001 .1 .99 1.01 2 5 20 100"},
    {"f32[5] .01 .5 1.5 2.5 9"},
    {"f32[0,2]", "f32[0,2]"},
    {"f32[3] 0 -1 nan", NULL, NULL, CASE_NO_GRAD},
    {0},
};

#define FLOATS " | T:type{bfloat16,half,float,double}"
#define ROW(name_, doc_, loops_, grad_, cases_)                                                                        \
  { name_ "(x:T) -> (y:T)" FLOATS, doc_, OP_INPLACE, weft__infer_same, ELEM(loops_), .grad = grad_, .cases = cases_ }

OPS(bessel) = {
    ROW("BesselI0", "The modified Bessel function of the first kind, order 0.", bessel_i0_op, i0_grad, whole_cases),
    ROW("BesselI0e", "BesselI0 times e^-|x|.", bessel_i0e_op, i0e_grad, whole_cases),
    ROW("BesselI1", "The modified Bessel function of the first kind, order 1.", bessel_i1_op, i1_grad, i1_cases),
    ROW("BesselI1e", "BesselI1 times e^-|x|.", bessel_i1e_op, i1e_grad, whole_cases),
    ROW("BesselJ0", "The Bessel function of the first kind, order 0.", bessel_j0_op, j0_grad, whole_cases),
    ROW("BesselJ1", "The Bessel function of the first kind, order 1.", bessel_j1_op, j1_grad, whole_cases),
    ROW("BesselK0", "The modified Bessel function of the second kind, order 0.", bessel_k0_op, k0_grad, positive_cases),
    ROW("BesselK0e", "BesselK0 times e^x.", bessel_k0e_op, k0e_grad, positive_cases),
    ROW("BesselK1", "The modified Bessel function of the second kind, order 1.", bessel_k1_op, k1_grad, positive_cases),
    ROW("BesselK1e", "BesselK1 times e^x.", bessel_k1e_op, k1e_grad, positive_cases),
    ROW("BesselY0", "The Bessel function of the second kind, order 0.", bessel_y0_op, y0_grad, positive_cases),
    ROW("BesselY1", "The Bessel function of the second kind, order 1.", bessel_y1_op, y1_grad, positive_cases),
    {0},
};
