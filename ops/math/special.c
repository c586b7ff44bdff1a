/* special.c - special functions: erf and its inverses, the gamma family.
 *
 * Functions that the C library lacks are computed in double: by series that are known to converge, refined by Newton
 * steps for inverse functions. */
#include "graph/build.h"
#include "kernels/elementwise/elementwise.h"
#include "ops/math/special.h"
#include <tgmath.h>

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

/* ---- the normal distribution ---- */

/* Returns x with erfc(x) = y for 0 < y < 1: a first guess from the shape of the tail, then Newton steps. */
static double inverse_erfc(double y) {
  const double t = sqrt(-2 * log(y / 2));
  double x = (t - (2.30753 + 0.27061 * t) / (1 + t * (0.99229 + 0.04481 * t))) / sqrt(2.0);
  for (int i = 0; i < 4; i++) {
    const double error = erfc(x) - y, slope = -2 / sqrt(M_PI) * exp(-x * x);
    if (slope == 0) break;
    const double s = error / slope;
    x -= s / (1 + x * s); /* Halley's correction: the second derivative is -2x times the first */
  }
  return x;
}

static double inverse_erf(double y) {
  if (!(fabs(y) <= 1)) return NAN;
  if (fabs(y) == 1) return y * INFINITY;
  if (fabs(y) < 1e-8) return y * sqrt(M_PI) / 2;
  const double x = inverse_erfc(1 - fabs(y));
  return copysign(x, y);
}

static double normal_quantile(double p) {
  if (!(p >= 0 && p <= 1)) return NAN;
  if (p == 0 || p == 1) return p == 0 ? -INFINITY : INFINITY;
  if (p == 0.5) return 0;
  return p < 0.5 ? -sqrt(2.0) * inverse_erfc(2 * p) : sqrt(2.0) * inverse_erfc(2 * (1 - p));
}

/* ---- the gamma family ---- */

/* Bernoulli's numbers B2, B4, ... */
static const double bernoulli[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6};
enum { BERNOULLIS = sizeof bernoulli / sizeof *bernoulli, FAR = 1000 };

/* The derivative of log gamma.  The recurrence raises x to at least 10, where the asymptotic series has double
 * precision. */
double weft__digamma(double x) {
  if (x <= 0 && x == floor(x)) return NAN;
  if (x < 0) return weft__digamma(1 - x) - M_PI / tan(M_PI * x);
  double sum = 0;
  for (; x < 10; x++) sum -= 1 / x;
  double power = x * x, tail = 0;
  for (int i = 0; i < BERNOULLIS; i++, power *= x * x) tail += bernoulli[i] / (2 * (i + 1) * power);
  return sum + log(x) - 0.5 / x - tail;
}

/* Hurwitz's zeta function, the sum over n of 1/(n+q)^s: some terms directly, the rest by the Euler-Maclaurin
 * formula. */
static double zeta(double s, double q) {
  if (s == 1) return INFINITY;
  if (!(s > 1)) return NAN;
  if (q <= 0) {
    /* a pole: both sides have one sign only for even powers */
    if (q == floor(q)) return fmod(s, 2) == 0 ? INFINITY : NAN;
    if (s != floor(s)) return NAN;
  }
  if (q < -FAR) { /* the terms before and after 0 are two such sums; one by one they would take as many turns as -q */
    const double part = q - floor(q), before = zeta(s, 1 - part) - zeta(s, 1 - q);
    return zeta(s, part) + (fmod(s, 2) == 0 ? before : -before);
  }
  double sum = 0;
  int n = 0;
  for (; n < 12 || q + n < 12; n++) sum += pow(q + n, -s);
  const double x = q + n, base = pow(x, -s);
  sum += base * x / (s - 1) + base / 2;
  double rising = s, power = base / x, factorial = 2; /* s(s+1)...(s+2k-2), x^-(s+2k-1), (2k)! */
  for (int k = 1; k <= BERNOULLIS; k++) {
    sum += bernoulli[k - 1] / factorial * rising * power;
    rising *= (s + 2 * k - 1) * (s + 2 * k);
    power /= x * x;
    factorial *= (2 * k + 1) * (2 * k + 2);
  }
  return sum;
}

static double polygamma(double n, double x) {
  if (n == 0) return weft__digamma(x);
  if (n < 0 || n != floor(n)) return NAN;
  const double sign = fmod(n, 2) == 0 ? -1 : 1;
  return sign * exp(lgamma_r(n + 1, &(int){0})) * zeta(n + 1, x);
}

/* ---- loops ---- */
UNARY(error_function, f32, float, float, verff(x))
UNARY_CALL(error_function, f64, double, double, erf(x))
EACH_FLOAT(UNARY_CALL, complement, erfc(x))
EACH_FLOAT(UNARY_CALL, inverse, inverse_erf((double)x))
EACH_FLOAT(UNARY_CALL, quantile, normal_quantile((double)x))
/* lgamma_r, because lgamma writes a global variable */
EACH_FLOAT(UNARY_CALL, log_gamma, lgamma_r((double)x, &(int){0}))
EACH_FLOAT(UNARY_CALL, slope, weft__digamma((double)x))
EACH_FLOAT(BINARY_CALL, slopes, polygamma((double)x, (double)y))
EACH_FLOAT(BINARY_CALL, hurwitz, zeta((double)x, (double)y))

static const elem_op erf_op = {COST_VECTOR, {ROWS_FLOAT(error_function)}};
static const elem_op erfc_op = {COST_CALL, {ROWS_FLOAT(complement)}};
static const elem_op erfinv_op = {8 * COST_CALL, {ROWS_FLOAT(inverse)}};
static const elem_op ndtri_op = {8 * COST_CALL, {ROWS_FLOAT(quantile)}};
static const elem_op lgamma_op = {2 * COST_CALL, {ROWS_FLOAT(log_gamma)}};
static const elem_op digamma_op = {8 * COST_CALL, {ROWS_FLOAT(slope)}};
static const elem_op polygamma_op = {60 * COST_CALL, {ROWS_FLOAT(slopes)}};
static const elem_op zeta_op = {60 * COST_CALL, {ROWS_FLOAT(hurwitz)}};

/* ---- gradients ---- */
#define G b->graph
#define X b->in[0]
#define DY b->dout[0]

static weft_err special_set_dx(backprop *b, weft_out dx) {
  b->din[0] = GRAD_DENSE(dx);
  return WEFT_OK;
}

static weft_out special_times(weft_graph *g, double c, weft_out x) {
  return weft__b_mul(g, weft__b_scalar_like(g, x, c), x);
}

static weft_out special_bell(backprop *b) { /* e^-x^2 */
  return weft__b_unary(G, "Exp", weft__b_neg(G, weft__b_unary(G, "Square", X)));
}

static weft_err erf_grad(backprop *b) {
  return special_set_dx(b, weft__b_mul(G, special_times(G, 2 / sqrt(M_PI), DY), special_bell(b)));
}
static weft_err erfc_grad(backprop *b) {
  return special_set_dx(b, weft__b_mul(G, special_times(G, -2 / sqrt(M_PI), DY), special_bell(b)));
}

static weft_err erfinv_grad(backprop *b) {
  const weft_out grown = weft__b_unary(G, "Exp", weft__b_unary(G, "Square", b->out[0]));
  return special_set_dx(b, weft__b_mul(G, DY, special_times(G, sqrt(M_PI) / 2, grown)));
}

static weft_err ndtri_grad(backprop *b) {
  const weft_out half = special_times(G, 0.5, weft__b_unary(G, "Square", b->out[0]));
  return special_set_dx(b, weft__b_mul(G, DY, special_times(G, sqrt(2 * M_PI), weft__b_unary(G, "Exp", half))));
}

static weft_err lgamma_grad(backprop *b) {
  return special_set_dx(b, weft__b_mul(G, DY, weft__b_unary(G, "Digamma", X)));
}

static weft_err digamma_grad(backprop *b) {
  return special_set_dx(b, weft__b_mul(G, DY, weft__b_binary(G, "Polygamma", weft__b_scalar_like(G, X, 1), X)));
}

/* Only the second argument has a gradient. */
static weft_err special_second(backprop *b, weft_out dx) {
  weft__b_unbroadcast(G, b->in[1], b->out[0], &dx, NULL);
  b->din[1] = GRAD_DENSE(dx);
  return WEFT_OK;
}

static weft_err polygamma_grad(backprop *b) {
  const weft_out next = weft__b_add(G, X, weft__b_scalar_like(G, X, 1));
  return special_second(b, weft__b_mul(G, DY, weft__b_binary(G, "Polygamma", next, b->in[1])));
}

static weft_err zeta_grad(backprop *b) {
  const weft_out next = weft__b_add(G, X, weft__b_scalar_like(G, X, 1));
  const weft_out slope = weft__b_mul(G, weft__b_neg(G, X), weft__b_binary(G, "Zeta", next, b->in[1]));
  return special_second(b, weft__b_mul(G, DY, slope));
}

/* ---- cases ---- */
static const op_case any_cases[] = {
    {"f32[6] -2 -0.5 0 0.25 1 3"}, {"f32[] 0.5"}, {"f32[0,2]", "f32[0,2]"}, {"f32[70,90] normal"}, {0},
};
static const op_case unit_cases[] = {
    {"f32[5] 0.01 0.1 0.5 0.9 0.99"},
    {"f32[] 0.3"},
    {"f32[0,2]", "f32[0,2]"},
    {"f32[30,40] unit", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[3] 0 1 2", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case gamma_cases[] = {
    {"f32[5] 0.5 1.5 2 10 100"},
    {"f32[] 0.3"},
    {"f32[0,2]", "f32[0,2]"},
    {"f32[30,40] pos", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[3] 0 -1 -2.5", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case polygamma_cases[] = {
    {"f32[4] 0 1 2 3; f32[4] 0.5 1.5 2 10"},
    {"f32[] 1; f32[3] 0.5 1 4"},
    {"f32[] 2; f32[] 1.25"},
    {"f32[0]; f32[0]", "f32[0]"},
    {"f32[2] 1.5 -1; f32[2] 1 1", "f32[2] nan nan", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case zeta_cases[] = {
    {"f32[4] 2 3 1.5 10; f32[4] 0.5 1.5 2 10"},
    {"f32[] 2; f32[] 1", "f32[] 1.6449341"},
    {"f32[0]; f32[0]", "f32[0]"},
    {"f32[3] 1 0.5 2; f32[3] 1 1 -1", NULL, NULL, CASE_NO_GRAD},
    {0},
};

#define ROW(def_, doc_, loops_, grad_, ...)                                                                            \
  { def_, doc_, OP_INPLACE, weft__infer_same, ELEM(loops_), .grad = grad_, .cases = __VA_ARGS__ }
#define PAIR_ROW(def_, doc_, loops_, grad_, cases_)                                                                    \
  { def_, doc_, OP_INPLACE, weft__infer_broadcast, ELEM(loops_), .grad = grad_, .cases = cases_ }
#define FLOATS "T:type{bfloat16,half,float,double}"

OPS(special) = {
    ROW("Erf(x:T) -> (y:T) | " FLOATS, "The error function.", erf_op, erf_grad, any_cases, .amp = AMP_INFER),
    ROW("Erfc(x:T) -> (y:T) | " FLOATS, "One less the error function.", erfc_op, erfc_grad, any_cases,
        .amp = AMP_INFER),
    ROW("Erfinv(x:T) -> (y:T) | " FLOATS, "The inverse of Erf.", erfinv_op, erfinv_grad, unit_cases),
    ROW("Ndtri(x:T) -> (y:T) | " FLOATS, "The quantile of the normal distribution.", ndtri_op, ndtri_grad, unit_cases),
    ROW("Lgamma(x:T) -> (y:T) | " FLOATS, "log |gamma(x)|.", lgamma_op, lgamma_grad, gamma_cases),
    ROW("Digamma(x:T) -> (y:T) | " FLOATS, "The derivative of Lgamma.", digamma_op, digamma_grad, gamma_cases),
    PAIR_ROW("Polygamma(a:T, x:T) -> (z:T) | T:type{float,double}", "The a-th derivative of Digamma.", polygamma_op,
             polygamma_grad, polygamma_cases),
    PAIR_ROW("Zeta(x:T, q:T) -> (z:T) | T:type{float,double}", "Hurwitz's zeta: the sum of 1/(n + q)^x.", zeta_op,
             zeta_grad, zeta_cases),
    {0},
};
