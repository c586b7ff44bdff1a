/* igamma.c - the incomplete gamma functions Igamma and Igammac, and their derivatives IgammaGradA and
 * RandomGammaGrad.
 *
 * Let P be the lower function and Q = 1 - P the upper one.  For x < a + 1, P is summed as a series; otherwise Q is a
 * continued fraction.  Each is computed together with its derivative by a.  If the shape a of a gamma sample x
 * changes, x moves so that P(a, x) stays constant: RandomGammaGrad is dx/da = -(dP/da) / (dP/dx). */
#include "graph/build.h"
#include "kernels/elementwise/elementwise.h"
#include "ops/math/special.h"
#include <math.h>

enum { TURNS = 20000 };
static const double TINY = 1e-17, HUGE_NUMBER = 1e200;

/* f and its derivative by a, without the factor e^-x x^a / gamma(a), which P, Q and (except for powers of x) dP/dx
 * share. */
typedef struct part {
  double f, df;
} part;

/* P = factor * f, where f is the sum of x^n / (a (a+1) ... (a+n)). */
static part igamma_lower(double a, double x) {
  double term = 1, dlog = 0, r = a;
  part s = {1, 0};
  for (int i = 0; i < TURNS && fabs(term) > TINY * s.f; i++) {
    r += 1;
    term *= x / r;
    dlog -= 1 / r;
    s.f += term;
    s.df += term * dlog;
  }
  return (part){s.f / a, (s.df - s.f / a) / a};
}

/* A convergent p/q of the continued fraction, and the derivatives of p and q by a. */
typedef struct convergent {
  double p, q, dp, dq;
} convergent;

static part igamma_quotient(const convergent *c) {
  const double f = c->p / c->q;
  return (part){f, (c->dp - f * c->dq) / c->q};
}

/* Q = factor * f, where f is the continued fraction. */
static part igamma_upper(double a, double x) {
  double y = 1 - a, z = x + y + 1;
  convergent before = {1, x, 0, 0}, now = {x + 1, z * x, 0, -x};
  part s = igamma_quotient(&now);
  for (int c = 1; c < TURNS; c++) {
    y += 1;
    z += 2;
    const double yc = y * c;
    const convergent next = {now.p * z - before.p * yc, now.q * z - before.q * yc,
                             now.dp * z - now.p - before.dp * yc + before.p * c,
                             now.dq * z - now.q - before.dq * yc + before.q * c};
    before = now;
    now = next;
    if (fabs(now.p) > HUGE_NUMBER || fabs(now.q) > HUGE_NUMBER) {
      before = (convergent){before.p / HUGE_NUMBER, before.q / HUGE_NUMBER, before.dp / HUGE_NUMBER,
                            before.dq / HUGE_NUMBER};
      now = (convergent){now.p / HUGE_NUMBER, now.q / HUGE_NUMBER, now.dp / HUGE_NUMBER, now.dq / HUGE_NUMBER};
    }
    const part s2 = igamma_quotient(&now);
    const bool still = fabs(s2.f - s.f) <= 1e-16 * fabs(s2.f) && fabs(s2.df - s.df) <= 1e-15 * fabs(s2.df);
    s = s2;
    if (still) break;
  }
  return s;
}

static bool igamma_outside(double a, double x) { return !(x >= 0) || !(a > 0); }
static bool is_series(double a, double x) { return x <= 1 || x <= a; }
static double igamma_factor(double a, double x) { return exp(a * log(x) - x - lgamma_r(a, &(int){0})); }

static double igamma(double a, double x) {
  if (igamma_outside(a, x)) return NAN;
  if (x == 0) return 0;
  if (isinf(x)) return isinf(a) ? NAN : 1;
  if (isinf(a)) return 0;
  return is_series(a, x) ? igamma_factor(a, x) * igamma_lower(a, x).f : 1 - igamma_factor(a, x) * igamma_upper(a, x).f;
}

static double igammac(double a, double x) {
  if (igamma_outside(a, x)) return NAN;
  if (x == 0) return 1;
  if (isinf(x)) return isinf(a) ? NAN : 0;
  if (isinf(a)) return 1;
  return is_series(a, x) ? 1 - igamma_factor(a, x) * igamma_lower(a, x).f : igamma_factor(a, x) * igamma_upper(a, x).f;
}

/* Returns dP/da without the factor. */
static double igamma_series_slope(double a, double x) {
  const bool series = is_series(a, x);
  const part s = series ? igamma_lower(a, x) : igamma_upper(a, x);
  const double d = s.df + s.f * (log(x) - weft__digamma(a));
  return series ? d : -d;
}

static double igamma_slope(double a, double x) {
  if (igamma_outside(a, x)) return NAN;
  if (x == 0 || isinf(x)) return 0;
  return igamma_factor(a, x) * igamma_series_slope(a, x);
}

static double sample_slope(double a, double x) {
  if (igamma_outside(a, x)) return NAN;
  if (x == 0) return 0;
  return -x * igamma_series_slope(a, x);
}

/* ---- loops ---- */
EACH_FLOAT(BINARY_CALL, below, igamma((double)x, (double)y))
EACH_FLOAT(BINARY_CALL, above, igammac((double)x, (double)y))
EACH_FLOAT(BINARY_CALL, below_slope, igamma_slope((double)x, (double)y))
EACH_FLOAT(BINARY_CALL, sample, sample_slope((double)x, (double)y))

static const elem_op igamma_op = {60 * COST_CALL, {ROWS_FLOAT(below)}};
static const elem_op igammac_op = {60 * COST_CALL, {ROWS_FLOAT(above)}};
static const elem_op slope_op = {90 * COST_CALL, {ROWS_FLOAT(below_slope)}};
static const elem_op sample_op = {90 * COST_CALL, {ROWS_FLOAT(sample)}};

/* ---- gradients ---- */

/* Returns the density of x: e^-x x^(a-1) / gamma(a). */
static weft_out igamma_density(weft_graph *g, weft_out a, weft_out x) {
  const weft_out less = weft__b_sub(g, a, weft__b_scalar_like(g, a, 1));
  const weft_out power = weft__b_mul(g, less, weft__b_unary(g, "Log", x));
  const weft_out log_density = weft__b_sub(g, weft__b_add(g, weft__b_neg(g, x), power), weft__b_unary(g, "Lgamma", a));
  return weft__b_unary(g, "Exp", log_density);
}

static weft_err igamma_gradients(backprop *b, bool negative) {
  weft_graph *g = b->graph;
  const weft_out a = b->in[0], x = b->in[1], dz = negative ? weft__b_neg(g, b->dout[0]) : b->dout[0];
  weft_out da = weft__b_mul(g, dz, weft__b_binary(g, "IgammaGradA", a, x)),
           dx = weft__b_mul(g, dz, igamma_density(g, a, x));
  weft__b_unbroadcast(g, a, x, &da, &dx);
  b->din[0] = GRAD_DENSE(da);
  b->din[1] = GRAD_DENSE(dx);
  return WEFT_OK;
}

static weft_err igamma_grad(backprop *b) { return igamma_gradients(b, false); }
static weft_err igammac_grad(backprop *b) { return igamma_gradients(b, true); }

/* ---- cases ---- */
static const op_case cases[] = {
    {"f64[8] .1 .5 1 2 5 10 30 150; f64[8] .05 .7 3 1.5 9 8 31 170"},
    {"f32[4] .5 1 2.5 7; f32[4] .2 2 2 12"},
    {"f64[3,1] .5 2 9; f64[4] .1 1 5 20"},
    {"f64[] 2; f64[] 1"},
    {"f32[0]; f32[0]", "f32[0]"},
    {"f64[2] 1.5 -1; f64[2] -1 1", "f64[2] nan nan", NULL, CASE_NO_GRAD},
    {0},
};

#define PAIR_ROW(name_, types_, doc_, loops_, ...)                                                                     \
  { name_ " | T:type{" types_ "}", doc_, OP_INPLACE, weft__infer_broadcast, ELEM(loops_), .cases = cases, __VA_ARGS__ }
#define FLOATS "bfloat16,half,float,double"

OPS(igamma) = {
    PAIR_ROW("Igamma(a:T, x:T) -> (z:T)", FLOATS, "The share of the gamma distribution of shape a that is below x.",
             igamma_op, .grad = igamma_grad),
    PAIR_ROW("Igammac(a:T, x:T) -> (z:T)", FLOATS, "The share of the gamma distribution of shape a that is above x.",
             igammac_op, .grad = igammac_grad),
    PAIR_ROW("IgammaGradA(a:T, x:T) -> (z:T)", "float,double", "The slope of Igamma towards a.", slope_op,
             .no_grad = false),
    PAIR_ROW("RandomGammaGrad(alpha:T, sample:T) -> (output:T)", "float,double",
             "How a gamma sample moves with its shape.", sample_op, .no_grad = false),
    {0},
};
