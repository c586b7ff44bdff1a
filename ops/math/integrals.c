/* integrals.c - functions that are integrals: Dawson's, the exponential integral, Fresnel's two, and Spence's.
 *
 * Each is computed in double: as a power series where it converges fast and loses no digits, and otherwise as a sum
 * or a continued fraction for large arguments. */
#include "graph/build.h"
#include "kernels/elementwise/elementwise.h"
#include <complex.h>
#include <math.h>

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
static const double EULER = 0.57721566490153286061;

/* Returns e^(-x^2) times the integral of e^(t^2) from 0 to x.  Away from zero it is Rybicki's sum over odd n of
 * e^-(x - n h)^2 / n, whose error decreases as e^-(pi / 2h)^2. */
static double dawson(double x) {
  if (isnan(x) || isinf(x)) return isnan(x) ? x : 0;
  if (fabs(x) < 0.25) {
    double term = x, sum = x;
    for (int k = 1; k < 20; k++) {
      term *= -2 * x * x / (2 * k + 1);
      sum += term;
    }
    return sum;
  }
  const double h = 0.2, size = fabs(x);
  if (size > 1e6) return 0.5 / x;
  const double middle = 2 * floor(size / (2 * h) + 0.5), rest = size - middle * h;
  double sum = 0;
  for (int n = -35; n <= 35; n += 2) sum += exp(-(rest - n * h) * (rest - n * h)) / (middle + n);
  return copysign(sum / sqrt(M_PI), x);
}

/* Returns the integral of e^t / t from -inf to x, for x > 0. */
static double exponential_integral(double x) {
  if (isnan(x) || x < 0) return NAN;
  if (x == 0) return -INFINITY;
  if (isinf(x)) return x;
  double term = 1, sum = 0;
  if (x <= 40) {
    for (int k = 1; k < 200; k++) {
      term *= x / k;
      sum += term / k;
      if (term < 1e-18 * sum * k) break;
    }
    return EULER + log(x) + sum;
  }
  sum = 1;
  for (int k = 1; k < x && term > 1e-17; k++) {
    term *= k / x;
    sum += term;
  }
  return exp(x) / x * sum;
}

/* Returns C(x) + i S(x), the integral of e^(i pi t^2 / 2) from 0 to x, for x >= 0. */
static double complex fresnel_pair(double x) {
  const double angle = M_PI / 2 * x * x;
  if (isinf(x) || x > 1e8) return 0.5 + 0.5 * I;
  if (x < 1.5) {
    double complex term = x, sum = x;
    for (int k = 1; k < 60; k++) {
      term *= I * angle / k;
      sum += term / (2 * k + 1);
    }
    return sum;
  }
  /* Computes the continued fraction of the complementary error function by Lentz's method. */
  double complex b = 1 - 2 * angle * I, c = 1e300, d = 1 / b, h = d;
  for (int k = 1; k < 400; k++) {
    const double a = -(2.0 * k - 1) * (2.0 * k);
    b += 4;
    d = 1 / (a * d + b);
    c = b + a / c;
    h *= c * d;
    if (cabs(c * d - 1) < 1e-16) break;
  }
  const double whole = fmod(x * x, 4) * M_PI / 2; /* the angle, reduced before it is rounded */
  h *= x - x * I;
  return (0.5 + 0.5 * I) * (1 - (cos(whole) + I * sin(whole)) * h);
}

static double fresnel_cosine(double x) { return isnan(x) ? x : copysign(creal(fresnel_pair(fabs(x))), x); }
static double fresnel_sine(double x) { return isnan(x) ? x : copysign(cimag(fresnel_pair(fabs(x))), x); }

/* Returns the dilogarithm of 1 - x.  Identities reduce x to [1/2, 1], where the series converges fast. */
static double spence(double x) {
  if (isnan(x) || x < 0) return NAN;
  if (x == 0) return M_PI * M_PI / 6;
  if (isinf(x)) return -INFINITY;
  if (x > 1) return -0.5 * log(x) * log(x) - spence(1 / x);
  if (x < 0.5) return M_PI * M_PI / 6 - log(x) * log1p(-x) - spence(1 - x);
  const double z = 1 - x;
  double power = 1, sum = 0;
  for (int k = 1; k < 60; k++) {
    power *= z;
    sum += power / ((double)k * k);
  }
  return sum;
}

/* ---- loops ---- */
#define INTEGRAL(stem, function, calls)                                                                                \
  EACH_FLOAT(UNARY_CALL, stem, function((double)x))                                                                    \
  static const elem_op stem##_op = {calls * COST_CALL, {ROWS_FLOAT(stem)}};
INTEGRAL(dawson, dawson, 40)
INTEGRAL(exponential, exponential_integral, 40)
INTEGRAL(fresnel_cosines, fresnel_cosine, 60)
INTEGRAL(fresnel_sines, fresnel_sine, 60)
INTEGRAL(spences, spence, 40)

/* ---- gradients ---- */
#define G b->graph
#define X b->in[0]

static weft_err integrals_set_dx(backprop *b, weft_out slope) {
  b->din[0] = GRAD_DENSE(weft__b_mul(G, b->dout[0], slope));
  return WEFT_OK;
}

static weft_err dawson_grad(backprop *b) {
  const weft_out twice = weft__b_mul(G, weft__b_scalar_like(G, X, 2), weft__b_mul(G, X, b->out[0]));
  return integrals_set_dx(b, weft__b_sub(G, weft__b_scalar_like(G, X, 1), twice));
}

static weft_err expint_grad(backprop *b) { return integrals_set_dx(b, weft__b_div(G, weft__b_unary(G, "Exp", X), X)); }

static weft_err fresnel_grad(backprop *b, const char *kind) {
  const weft_out angle = weft__b_mul(G, weft__b_scalar_like(G, X, M_PI / 2), weft__b_unary(G, "Square", X));
  return integrals_set_dx(b, weft__b_unary(G, kind, angle));
}
static weft_err fresnel_cos_grad(backprop *b) { return fresnel_grad(b, "Cos"); }
static weft_err fresnel_sin_grad(backprop *b) { return fresnel_grad(b, "Sin"); }

/* The derivative is log(x) / (1 - x), which is -1 at x = 1. */
static weft_err spence_grad(backprop *b) {
  const weft_out one = weft__b_scalar_like(G, X, 1);
  const weft_out slope = weft__b_div(G, weft__b_unary(G, "Log", X), weft__b_sub(G, one, X));
  return integrals_set_dx(
      b, weft__b_select(G, weft__b_binary(G, "Equal", X, one), weft__b_neg(G, weft__b_ones_like(G, X)), slope));
}

/* ---- cases ---- */
static const op_case whole_cases[] = {
    {"f64[10] -40 -7.5 -1 -.1 .1 .8 1.49 1.51 3 20"},
    {"f32[5] -3 .01 1 2.5 9"},
    {"f32[] 0"},
    {"f32[0,2]", "f32[0,2]"},
    {0},
};
static const op_case positive_cases[] = {
    {"f64[8] .001 .1 .49 .99 1.01 2 5 20"},          {"f32[5] .01 .5 1.5 2.5 9"},
    {"f64[2] 39 45", NULL, NULL, CASE_NO_GRAD},      {"f32[0,2]", "f32[0,2]"},
    {"f32[4] 0 1 -1 nan", NULL, NULL, CASE_NO_GRAD}, {0},
};

#define FLOATS " | T:type{bfloat16,half,float,double}"
#define ROW(name_, doc_, loops_, grad_, cases_)                                                                        \
  { name_ "(x:T) -> (y:T)" FLOATS, doc_, OP_INPLACE, weft__infer_same, ELEM(loops_), .grad = grad_, .cases = cases_ }

OPS(integrals) = {
    ROW("Dawsn", "Dawson's integral.", dawson_op, dawson_grad, whole_cases),
    ROW("Expint", "The exponential integral Ei of positive numbers.", exponential_op, expint_grad, positive_cases),
    ROW("FresnelCos", "Fresnel's cosine integral.", fresnel_cosines_op, fresnel_cos_grad, whole_cases),
    ROW("FresnelSin", "Fresnel's sine integral.", fresnel_sines_op, fresnel_sin_grad, whole_cases),
    ROW("Spence", "Spence's integral: the dilogarithm of 1 - x.", spences_op, spence_grad, positive_cases),
    {0},
};
