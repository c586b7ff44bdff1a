/* schedule.c - the schedules of tf.train, with its nodes: each opens a scope, and its last node has the scope's
 * name. */
#include "train/model/schedule.h"

#include "graph/scope.h"
#include <math.h>

#define PI 3.14159265358979323846

static weft_out rate_of(weft_graph *g, const decay *d) {
  weft_out rate = weft__named_term(g, "initial_learning_rate", d->rate, 0);
  return weft__variable_or_value(g, rate);
}

/* tf.cast of a parameter; a Python number has the type `number` in C.  A resource is read in the scope of the cast,
 * as in tf.cast. */
static weft_out as_type(weft_graph *g, term x, weft_dtype number, weft_dtype to) {
  if (x.out.node < 0 && !x.constant) return weft__named_number(g, x.number, number, to);
  const bool variable = x.out.node >= 0 && weft__variable_is(g, x.out);
  const bool resource = variable && weft__variable_is_resource(g, x.out);
  if (x.out.node >= 0 && (!resource || weft__variable_type(g, x.out) == to))
    return weft__b_cast(g, weft__variable_or_value(g, x.out), to);
  weft__b_push_name(g, "Cast");
  weft_out o = resource ? weft__variable_value(g, x.out) : weft__named_term(g, "x", x, 0);
  if (weft__type_of(g, o) != to) o = weft__n_scope_node(g, "Cast", 1, &o, 1, &A_TYPE("DstT", to));
  weft__b_pop(g);
  return o;
}

static weft_out schedule_cast(weft_graph *g, term x, weft_out like) {
  return as_type(g, x, WEFT_FLOAT, weft__type_of(g, like));
}

/* A number that is an int in Python becomes an int32 constant before it is cast. */
static weft_out steps_of(weft_graph *g, const decay *d, weft_out like) {
  const double v = d->steps.number;
  return as_type(g, d->steps, v == floor(v) && fabs(v) < 2e9 ? WEFT_INT32 : WEFT_FLOAT, weft__type_of(g, like));
}

static weft_out schedule_op(weft_graph *g, const char *type, weft_out x, weft_out y) {
  weft_out o = weft__n_scope_node(g, type, 2, (weft_out[]){x, y}, 0, NULL);
  weft__b_pop(g);
  return o;
}

/* Returns step / steps, rounded down if requested. */
static weft_out schedule_progress(weft_graph *g, const decay *d, weft_out step, weft_out steps) {
  weft_out p = weft__named_binary_of(g, "RealDiv", "truediv", step, steps);
  return d->staircase ? weft__named_unary(g, "Floor", "Floor", p) : p;
}

/* Returns rate * factor ^ progress; factor is a constant of this scope or an output from outside. */
static weft_out schedule_exponential(weft_graph *g, const decay *d, weft_out factor) {
  weft__named_push(g, d->name, "ExponentialDecay");
  weft_out rate = rate_of(g, d), steps = steps_of(g, d, rate);
  factor = schedule_cast(g, factor.node < 0 ? d->factor : OUT(factor), rate);
  weft_out step = schedule_cast(g, d->step, rate);
  weft_out power = weft__named_binary_of(g, "Pow", "Pow", factor, schedule_progress(g, d, step, steps));
  return schedule_op(g, "Mul", rate, power);
}

weft_out weft__exponential_decay(weft_graph *g, const decay *d) { return schedule_exponential(g, d, WEFT_NONE); }

weft_out weft__natural_exp_decay(weft_graph *g, const decay *d) {
  weft__b_push_name(g, "Neg");
  weft_out x = weft__named_term(g, "x", d->factor, 0);
  weft_out minus = weft__n_scope_node(g, "Neg", 1, &x, 0, NULL);
  weft__b_pop(g);
  return schedule_exponential(g, d, weft__named_unary(g, "Exp", "Exp", minus));
}

weft_out weft__inverse_time_decay(weft_graph *g, const decay *d) {
  weft__named_push(g, d->name, "InverseTimeDecay");
  weft_out rate = rate_of(g, d), steps = steps_of(g, d, rate);
  weft_out factor = schedule_cast(g, d->factor, rate);
  weft_out step = schedule_cast(g, d->step, rate), p = schedule_progress(g, d, step, steps);
  weft_out one = weft__b_cast(g, weft__n_scalar(g, "Const", WEFT_INT32, 1), weft__type_of(g, rate));
  weft_out below = weft__named_binary_of(g, "AddV2", "Add", one, weft__named_binary_of(g, "Mul", "Mul", factor, p));
  return schedule_op(g, "RealDiv", rate, below);
}

/* Returns ceil(step / steps), or 1 at step 0: the number of the cycle that the step is in. */
static weft_out schedule_cycles(weft_graph *g, weft_out step, term steps) {
  weft_out zero = weft__named_binary(g, "Equal", "Equal", OUT(step), NUM(0));
  weft_out times = weft__named_binary(g, "RealDiv", "truediv", OUT(step), steps);
  times = weft__named_unary(g, "Ceil", "Ceil", times);
  weft__b_push_name(g, "SelectV2");
  weft_out in[] = {zero, weft__n_scalar(g, "t", weft__type_of(g, times), 1), times};
  weft_out o = weft__n_scope_node(g, "SelectV2", 3, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

weft_out weft__polynomial_decay(weft_graph *g, const decay *d, term end, term power, bool cycle) {
  weft__named_push(g, d->name, "PolynomialDecay");
  weft_out rate = rate_of(g, d);
  weft_out last = schedule_cast(g, end, rate), exponent = schedule_cast(g, power, rate);
  weft_out step = schedule_cast(g, d->step, rate), steps = steps_of(g, d, rate);
  if (cycle)
    steps = weft__named_binary_of(g, "Mul", "Mul", steps, schedule_cycles(g, step, d->steps));
  else
    step = weft__named_binary_of(g, "Minimum", "Minimum", step, steps);
  weft_out p = weft__named_binary_of(g, "RealDiv", "truediv", step, steps);
  weft_out range = weft__named_binary_of(g, "Sub", "sub", rate, last);
  weft_out left = weft__named_binary(g, "Sub", "sub", NUM(1), OUT(p));
  weft_out scaled =
      weft__named_binary_of(g, "Mul", "Mul", range, weft__named_binary_of(g, "Pow", "Pow", left, exponent));
  return schedule_op(g, "AddV2", scaled, last);
}

/* Returns (1 + cos(pi * turns)) times a height, which is a number or an output. */
static weft_out schedule_cosine(weft_graph *g, term height, weft_out turns) {
  weft_out angle =
      weft__named_binary_of(g, "Mul", "mul", weft__n_scalar(g, "Const", weft__type_of(g, turns), PI), turns);
  weft_out up = weft__named_binary(g, "AddV2", "add", NUM(1), OUT(weft__named_unary(g, "Cos", "Cos", angle)));
  return weft__named_binary(g, "Mul", "mul", height, OUT(up));
}

/* Returns 1 - x: a number if x is one, as in Python. */
static term less_than_one(weft_graph *g, term x) {
  double v;
  return weft__term_known(x, &v) ? NUM(1 - v) : OUT(weft__named_binary(g, "Sub", "sub", NUM(1), x));
}

weft_out weft__cosine_decay(weft_graph *g, const decay *d, term alpha) {
  weft__named_push(g, d->name, "CosineDecay");
  weft_out rate = rate_of(g, d), steps = steps_of(g, d, rate);
  weft_out step = schedule_cast(g, d->step, rate);
  weft_out p = weft__named_binary_of(g, "RealDiv", "truediv",
                                     weft__named_binary_of(g, "Minimum", "Minimum", step, steps), steps);
  weft_out curve = schedule_cosine(g, NUM(.5), p);
  weft_out w = weft__named_binary(g, "Mul", "mul", less_than_one(g, alpha), OUT(curve));
  w = weft__named_binary(g, "AddV2", "add", OUT(w), alpha);
  weft_out o = weft__named_binary_of(g, "Mul", "Mul", rate, w);
  weft__b_pop(g);
  return o;
}

/* Cycles of equal length: splits p into the number of the cycle and the fraction of it that is done. */
static weft_out equal_cycle(weft_graph *g, weft_out p, weft_out *done) {
  weft_out i = weft__named_unary(g, "Floor", "Floor", p);
  *done = weft__named_binary_of(g, "Sub", "sub", p, i);
  return i;
}

/* Cycle i has length t_mul ^ i, so it begins at (1 - t_mul ^ i) / (1 - t_mul). */
static weft_out unequal_cycle(weft_graph *g, weft_out p, term t_mul, weft_out *done) {
  term shrink = less_than_one(g, t_mul);
  weft_out sum = weft__named_binary(g, "Mul", "mul", OUT(p), shrink);
  weft_out log = weft__named_unary(g, "Log", "Log", weft__named_binary(g, "Sub", "sub", NUM(1), OUT(sum)));
  weft_out base = weft__named_term(g, "t_mul", t_mul, weft__type_of(g, p));
  weft_out log_base = weft__named_unary(g, "Log", "Log", base);
  weft_out i = weft__named_unary(g, "Floor", "Floor", weft__named_binary_of(g, "RealDiv", "truediv", log, log_base));
  weft_out length = weft__named_binary_of(g, "Pow", "pow", base, i);
  weft_out begin = weft__named_binary(g, "Sub", "sub", NUM(1), OUT(length));
  begin = weft__named_binary(g, "RealDiv", "truediv", OUT(begin), shrink);
  *done = weft__named_binary_of(g, "RealDiv", "truediv", weft__named_binary_of(g, "Sub", "sub", p, begin), length);
  return i;
}

/* If t_mul is a number, the kind of cycle is decided while building.  TensorFlow builds a cond. */
static weft_out cycle_of(weft_graph *g, weft_out p, term t_mul, weft_out *done) {
  double known = 0;
  const bool is_known = weft__term_known(t_mul, &known);
  if (is_known) return known == 1 ? equal_cycle(g, p, done) : unequal_cycle(g, p, t_mul, done);
  weft_out same_done, other_done, same = equal_cycle(g, p, &same_done);
  weft_out other = unequal_cycle(g, p, t_mul, &other_done);
  weft_out one = weft__named_binary(g, "Equal", "Equal", t_mul, NUM(1));
  *done = weft__b_node(g, "SelectV2", NULL, 3, (weft_out[]){one, same_done, other_done}, 0, NULL);
  return weft__b_node(g, "SelectV2", NULL, 3, (weft_out[]){one, same, other}, 0, NULL);
}

/* Returns a term of the type of the rate.  A number stays a number; an output is cast to the type of the rate. */
static term like_rate(weft_graph *g, term x, weft_out rate) {
  double known = 0;
  const bool is_known = weft__term_known(x, &known);
  return is_known ? NUM(known) : OUT(schedule_cast(g, x, rate));
}

weft_out weft__cosine_decay_restarts(weft_graph *g, const decay *d, term t_mul, term m_mul, term alpha) {
  weft__named_push(g, d->name, "SGDRDecay");
  weft_out rate = rate_of(g, d), steps = steps_of(g, d, rate), done = WEFT_NONE;
  alpha = like_rate(g, alpha, rate), t_mul = like_rate(g, t_mul, rate), m_mul = like_rate(g, m_mul, rate);
  weft_out step = schedule_cast(g, d->step, rate);
  weft_out i = cycle_of(g, weft__named_binary_of(g, "RealDiv", "truediv", step, steps), t_mul, &done);
  weft_out height = weft__named_binary(g, "Pow", "pow", m_mul, OUT(i));
  height = weft__named_binary(g, "Mul", "mul", NUM(.5), OUT(height));
  weft_out curve = schedule_cosine(g, OUT(height), done);
  weft_out w = weft__named_binary(g, "Mul", "mul", less_than_one(g, alpha), OUT(curve));
  w = weft__named_binary(g, "AddV2", "add", OUT(w), alpha);
  return schedule_op(g, "Mul", rate, w);
}

/* Returns a normal random number whose variance decreases with the step. */
static weft_out schedule_noise(weft_graph *g, weft_out step, weft_out variance, weft_out power, const int64_t *seed) {
  int64_t seed1, seed2;
  weft_out age = weft__named_binary(g, "AddV2", "add", NUM(1), OUT(step));
  weft_out v =
      weft__named_binary_of(g, "RealDiv", "truediv", variance, weft__named_binary_of(g, "Pow", "Pow", age, power));
  weft_out spread = weft__named_unary(g, "Sqrt", "Sqrt", v);
  weft__b_push_name(g, "random_normal");
  weft_out scalar = weft__named_ints(g, "shape", NULL, 0), mean = weft__n_scalar(g, "mean", weft__type_of(g, step), 0);
  weft__graph_seeds(g, seed != NULL, seed ? *seed : 0, &seed1, &seed2);
  weft_out o =
      weft__b_node(g, "RandomStandardNormal", NULL, 1, &scalar, 3,
                   (attr[]){A_TYPE("dtype", weft__type_of(g, step)), A_INT("seed", seed1), A_INT("seed2", seed2)});
  return schedule_op(g, "AddV2", weft__named_binary_of(g, "Mul", "mul", o, spread), mean);
}

weft_out weft__linear_cosine_decay(weft_graph *g, const decay *d, const wave *w) {
  weft_out variance = WEFT_NONE, power = WEFT_NONE;
  weft__named_push(g, d->name, w->noisy ? "NoisyLinearCosineDecay" : "LinearCosineDecay");
  weft_out rate = rate_of(g, d), steps = steps_of(g, d, rate);
  if (w->noisy) variance = schedule_cast(g, w->variance, rate), power = schedule_cast(g, w->variance_decay, rate);
  weft_out periods = schedule_cast(g, w->periods, rate), alpha = schedule_cast(g, w->alpha, rate),
           beta = schedule_cast(g, w->beta, rate);
  weft_out step = schedule_cast(g, d->step, rate);
  step = weft__named_binary_of(g, "Minimum", "Minimum", step, steps);
  weft_out line =
      weft__named_binary_of(g, "RealDiv", "truediv", weft__named_binary_of(g, "Sub", "sub", steps, step), steps);
  if (w->noisy)
    line = weft__named_binary_of(g, "AddV2", "add", line, schedule_noise(g, step, variance, power, w->seed));
  weft_out p = weft__named_binary_of(g, "RealDiv", "truediv", step, steps);
  weft_out twice = weft__named_binary(g, "Mul", "mul", NUM(2), OUT(periods));
  weft_out up = schedule_cosine(g, NUM(.5), weft__named_binary_of(g, "Mul", "mul", twice, p));
  weft_out o = weft__named_binary_of(g, "Mul", "mul", weft__named_binary_of(g, "AddV2", "add", alpha, line), up);
  return schedule_op(g, "Mul", rate, weft__named_binary_of(g, "AddV2", "add", o, beta));
}

weft_out weft__piecewise_constant(weft_graph *g, const char *name, term step, int n, const term *boundaries,
                                  const term *values) {
  weft__named_push(g, name, "PiecewiseConstant");
  weft_out x = weft__variable_or_value(g, weft__named_term(g, "Const", step, 0));
  weft_out o = weft__named_term(g, "Const", values[n], 0);
  for (int i = n - 1; i >= 0 && !g->sticky.code; i--) {
    weft_out before = weft__named_binary(g, "LessEqual", "LessEqual", OUT(x), boundaries[i]);
    weft_out value = weft__named_term(g, "Const", values[i], 0);
    o = weft__b_node(g, "SelectV2", NULL, 3, (weft_out[]){before, value, o}, 0, NULL);
  }
  weft__b_pop(g);
  return o;
}
