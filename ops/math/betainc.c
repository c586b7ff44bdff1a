/* betainc.c - the regularized incomplete beta function I_x(a, b).
 *
 * It is a continued fraction (Lentz's method) times x^a (1-x)^b / (a B(a, b)).  The fraction converges fast for x <
 * (a+1)/(a+b+2); for larger x we use I_x(a, b) = 1 - I_(1-x)(b, a). */
#include "graph/build.h"
#include "kernels/elementwise/elementwise.h"
#include <math.h>

enum { TERMS = 20000 };
static const double LEAST = 1e-300, CLOSE = 1e-16;

static double away_from_zero(double v) { return fabs(v) < LEAST ? LEAST : v; }

/* Returns the continued fraction. */
static double betainc_fraction(double a, double b, double x) {
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), f = d;
  for (int m = 1; m < TERMS; m++) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    f *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    f *= d * c;
    if (fabs(d * c - 1) < CLOSE) break;
  }
  return f;
}

static double log_gamma(double x) { return lgamma_r(x, &(int){0}); }

static double incomplete_beta(double a, double b, double x) {
  if (!(a > 0) || !(b > 0) || !(x >= 0 && x <= 1)) return NAN;
  if (x == 0 || x == 1) return x;
  const double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * betainc_fraction(a, b, x) / a;
  return 1 - front * betainc_fraction(b, a, 1 - x) / b;
}

#define BETA_LOOP(suffix, T)                                                                                           \
  static void beta_##suffix(void *zs, const void *const *in, int64_t n, const void *arg) {                             \
    (void)arg;                                                                                                         \
    T *z = zs;                                                                                                         \
    const T *a = in[0], *b = in[1], *x = in[2];                                                                        \
    for (int64_t i = 0; i < n; i++) z[i] = (T)incomplete_beta((double)a[i], (double)b[i], (double)x[i]);               \
  }
BETA_LOOP(f32, float)
BETA_LOOP(f64, double)
static const elem_op beta_op = {60 * COST_CALL, {ROWS_FLOAT(beta)}};

/* Each input is a scalar, or has the same shape as the others. */
static weft_err betainc_infer(infer *s) {
  shape all = {.rank = 0};
  for (int i = 0; i < 3; i++) {
    if (s->in[i].rank == 0) continue;
    if (s->in[i].rank < 0) {
      if (all.rank == 0) all = s->in[i];
      continue;
    }
    if (all.rank > 0 && weft__shape_merge(&all, &all, &s->in[i]) != WEFT_OK)
      return weft__infer_fail(s, "Shapes of a, b and x must be equal, or of scalars");
    if (all.rank <= 0) all = s->in[i];
  }
  s->out[0] = all;
  return WEFT_OK;
}

static weft_err betainc_cpu(kernel *k) {
  const shape *first = NULL;
  for (int i = 0; i < 3; i++) {
    const shape *s = &k->in[i]->shape;
    if (s->rank == 0) continue;
    if (first && !weft__shape_equal(first, s))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Betainc: the shapes of a, b and x must be equal, or of scalars");
    first = s;
  }
  return weft__elementwise(k, &beta_op, NULL);
}

/* As in TensorFlow, only x has a gradient: the density x^(a-1) (1-x)^(b-1) / B(a, b). */
static weft_err betainc_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out a = b->in[0], c = b->in[1], x = b->in[2];
  const weft_out logs = weft__b_sub(g, weft__b_add(g, weft__b_unary(g, "Lgamma", a), weft__b_unary(g, "Lgamma", c)),
                                    weft__b_unary(g, "Lgamma", weft__b_add(g, a, c)));
  const weft_out upper =
      weft__b_binary(g, "Xlog1py", weft__b_sub(g, c, weft__b_scalar_like(g, c, 1)), weft__b_neg(g, x));
  const weft_out lower = weft__b_binary(g, "Xlogy", weft__b_sub(g, a, weft__b_scalar_like(g, a, 1)), x);
  const weft_out density = weft__b_unary(g, "Exp", weft__b_sub(g, weft__b_add(g, upper, lower), logs));
  weft_out dx = weft__b_mul(g, b->dout[0], density);
  weft__b_unbroadcast(g, x, b->out[0], &dx, NULL);
  b->din[2] = GRAD_DENSE(dx);
  return WEFT_OK;
}

static const op_case betainc_cases[] = {
    {"f64[7] .5 1 2 5 20 .1 100; f64[7] .5 3 2 1 30 .2 50; f64[7] .1 .5 .3 .9 .4 .7 .66"},
    {"f32[3] .5 2 7; f32[] 2; f32[3] .2 .5 .9"},
    {"f64[] 2; f64[] 3; f64[2,2] .1 .2 .3 .4"},
    {"f64[] 2; f64[] 3; f64[] .5"},
    {"f32[0]; f32[0]; f32[0]", "f32[0]"},
    {"f64[2] 1 1; f64[2] 1 1; f64[2] 0 1", NULL, NULL, CASE_NO_GRAD},
    {"f64[2]; f64[3]; f64[2]", "error INVALID_ARGUMENT"},
    {0},
};

OPS(betainc) = {
    {"Betainc(a:T, b:T, x:T) -> (z:T) | T:type{float,double}",
     "The share of the beta distribution of a and b that is below x.", OP_INPLACE, betainc_infer, betainc_cpu,
     .grad = betainc_grad, .cases = betainc_cases},
    {0},
};
