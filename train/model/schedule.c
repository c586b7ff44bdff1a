/* schedule.c - the schedules of tf.train, with its nodes: each is a scope, and its last node has the scope's name. */
#include "train/model/schedule.h"

#include "graph/scope.h"
#include <math.h>

#define PI 3.14159265358979323846

static weft_out rate_const(weft_graph *g, const decay *d) {
  return weft__n_scalar(g, "initial_learning_rate", WEFT_FLOAT, d->rate);
}

/* A Python int stays one until it is cast. */
static weft_out steps_const(weft_graph *g, double steps) {
  return weft__named_number(g, steps, steps == floor(steps) && fabs(steps) < 2e9 ? WEFT_INT32 : WEFT_FLOAT, WEFT_FLOAT);
}

static weft_out schedule_binary(weft_graph *g, const char *type, const char *name, weft_out x, weft_out y) {
  return weft__named_binary(g, type, name, OUT(x), OUT(y));
}

static weft_out schedule_op(weft_graph *g, const char *type, weft_out x, weft_out y) {
  weft_out o = weft__n_scope_node(g, type, 2, (weft_out[]){x, y}, 0, NULL);
  weft__b_pop(g);
  return o;
}

/* A resource is read inside of the cast's scope, as tf.cast reads it. */
static weft_out step_as_float(weft_graph *g, weft_out step) {
  if (!weft__variable_is(g, step) || !weft__variable_is_resource(g, step) || weft__variable_type(g, step) == WEFT_FLOAT)
    return weft__b_cast(g, weft__variable_or_value(g, step), WEFT_FLOAT);
  weft__b_push_name(g, "Cast");
  weft_out x = weft__variable_value(g, step);
  weft_out o = weft__n_scope_node(g, "Cast", 1, &x, 1, &A_TYPE("DstT", WEFT_FLOAT));
  weft__b_pop(g);
  return o;
}

/* step / steps, cut down to whole numbers if asked for. */
static weft_out schedule_progress(weft_graph *g, const decay *d, weft_out step, weft_out steps) {
  weft_out p = schedule_binary(g, "RealDiv", "truediv", step, steps);
  return d->staircase ? weft__named_unary(g, "Floor", "Floor", p) : p;
}

/* rate * factor ^ progress; factor is a constant of this scope or an output made outside. */
static weft_out schedule_exponential(weft_graph *g, const decay *d, weft_out factor) {
  weft__named_push(g, d->name, "ExponentialDecay");
  weft_out rate = rate_const(g, d), steps = steps_const(g, d->steps);
  if (factor.node < 0) factor = weft__named_number(g, d->factor, WEFT_FLOAT, WEFT_FLOAT);
  weft_out step = step_as_float(g, d->step);
  weft_out power = schedule_binary(g, "Pow", "Pow", factor, schedule_progress(g, d, step, steps));
  return schedule_op(g, "Mul", rate, power);
}

weft_out weft__exponential_decay(weft_graph *g, const decay *d) { return schedule_exponential(g, d, WEFT_NONE); }

weft_out weft__natural_exp_decay(weft_graph *g, const decay *d) {
  weft__b_push_name(g, "Neg");
  weft_out x = weft__n_scalar(g, "x", WEFT_FLOAT, d->factor);
  weft_out minus = weft__n_scope_node(g, "Neg", 1, &x, 0, NULL);
  weft__b_pop(g);
  return schedule_exponential(g, d, weft__named_unary(g, "Exp", "Exp", minus));
}

weft_out weft__inverse_time_decay(weft_graph *g, const decay *d) {
  weft__named_push(g, d->name, "InverseTimeDecay");
  weft_out rate = rate_const(g, d), steps = steps_const(g, d->steps);
  weft_out factor = weft__named_number(g, d->factor, WEFT_FLOAT, WEFT_FLOAT);
  weft_out step = step_as_float(g, d->step), p = schedule_progress(g, d, step, steps);
  weft_out one = weft__b_cast(g, weft__n_scalar(g, "Const", WEFT_INT32, 1), WEFT_FLOAT);
  weft_out below = schedule_binary(g, "AddV2", "Add", one, schedule_binary(g, "Mul", "Mul", factor, p));
  return schedule_op(g, "RealDiv", rate, below);
}

/* How many times `steps` fit, rounded up, at least once: where a cycle ends. */
static weft_out schedule_cycles(weft_graph *g, weft_out step, double steps) {
  weft_out zero = weft__named_binary(g, "Equal", "Equal", OUT(step), NUM(0));
  weft_out times = weft__named_binary(g, "RealDiv", "truediv", OUT(step), NUM(steps));
  times = weft__named_unary(g, "Ceil", "Ceil", times);
  weft__b_push_name(g, "SelectV2");
  weft_out in[] = {zero, weft__n_scalar(g, "t", WEFT_FLOAT, 1), times};
  weft_out o = weft__n_scope_node(g, "SelectV2", 3, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

weft_out weft__polynomial_decay(weft_graph *g, const decay *d, double end, double power, bool cycle) {
  weft__named_push(g, d->name, "PolynomialDecay");
  weft_out rate = rate_const(g, d);
  weft_out last = weft__named_number(g, end, WEFT_FLOAT, WEFT_FLOAT);
  weft_out exponent = weft__named_number(g, power, WEFT_FLOAT, WEFT_FLOAT);
  weft_out step = step_as_float(g, d->step), steps = steps_const(g, d->steps);
  if (cycle)
    steps = schedule_binary(g, "Mul", "Mul", steps, schedule_cycles(g, step, d->steps));
  else
    step = schedule_binary(g, "Minimum", "Minimum", step, steps);
  weft_out p = schedule_binary(g, "RealDiv", "truediv", step, steps);
  weft_out range = schedule_binary(g, "Sub", "sub", rate, last);
  weft_out left = weft__named_binary(g, "Sub", "sub", NUM(1), OUT(p));
  weft_out scaled = schedule_binary(g, "Mul", "Mul", range, schedule_binary(g, "Pow", "Pow", left, exponent));
  return schedule_op(g, "AddV2", scaled, last);
}

/* (1 + cos(pi * turns)) times a height, a number or an output. */
static weft_out schedule_cosine(weft_graph *g, term height, weft_out turns) {
  weft_out angle = schedule_binary(g, "Mul", "mul", weft__n_scalar(g, "Const", WEFT_FLOAT, PI), turns);
  weft_out up = weft__named_binary(g, "AddV2", "add", NUM(1), OUT(weft__named_unary(g, "Cos", "Cos", angle)));
  return weft__named_binary(g, "Mul", "mul", height, OUT(up));
}

weft_out weft__cosine_decay(weft_graph *g, const decay *d, double alpha) {
  weft__named_push(g, d->name, "CosineDecay");
  weft_out rate = rate_const(g, d), steps = steps_const(g, d->steps);
  weft_out step = step_as_float(g, d->step);
  weft_out p = schedule_binary(g, "RealDiv", "truediv", schedule_binary(g, "Minimum", "Minimum", step, steps), steps);
  weft_out w = weft__named_binary(g, "Mul", "mul", NUM(1 - alpha), OUT(schedule_cosine(g, NUM(.5), p)));
  w = weft__named_binary(g, "AddV2", "add", OUT(w), NUM(alpha));
  weft_out o = schedule_binary(g, "Mul", "Mul", rate, w);
  weft__b_pop(g);
  return o;
}

/* Cycle i is t_mul ^ i long, so i begin at (1 - t_mul ^ i) / (1 - t_mul).  Splits p into i and what of it is done. */
static weft_out cycle_of(weft_graph *g, weft_out p, double t_mul, weft_out *done) {
  if (t_mul == 1) {
    weft_out i = weft__named_unary(g, "Floor", "Floor", p);
    *done = schedule_binary(g, "Sub", "sub", p, i);
    return i;
  }
  weft_out sum = weft__named_binary(g, "Mul", "mul", OUT(p), NUM(1 - t_mul));
  weft_out log = weft__named_unary(g, "Log", "Log", weft__named_binary(g, "Sub", "sub", NUM(1), OUT(sum)));
  weft_out base = weft__n_scalar(g, "t_mul", WEFT_FLOAT, t_mul), log_base = weft__named_unary(g, "Log", "Log", base);
  weft_out i = weft__named_unary(g, "Floor", "Floor", schedule_binary(g, "RealDiv", "truediv", log, log_base));
  weft_out length = schedule_binary(g, "Pow", "pow", base, i);
  weft_out begin = weft__named_binary(g, "Sub", "sub", NUM(1), OUT(length));
  begin = weft__named_binary(g, "RealDiv", "truediv", OUT(begin), NUM(1 - t_mul));
  *done = schedule_binary(g, "RealDiv", "truediv", schedule_binary(g, "Sub", "sub", p, begin), length);
  return i;
}

weft_out weft__cosine_decay_restarts(weft_graph *g, const decay *d, double t_mul, double m_mul, double alpha) {
  weft__named_push(g, d->name, "SGDRDecay");
  weft_out rate = rate_const(g, d), steps = steps_const(g, d->steps), done;
  weft_out step = step_as_float(g, d->step);
  weft_out i = cycle_of(g, schedule_binary(g, "RealDiv", "truediv", step, steps), t_mul, &done);
  weft_out height = weft__named_binary(g, "Pow", "pow", NUM(m_mul), OUT(i));
  height = weft__named_binary(g, "Mul", "mul", NUM(.5), OUT(height));
  weft_out w = weft__named_binary(g, "Mul", "mul", NUM(1 - alpha), OUT(schedule_cosine(g, OUT(height), done)));
  w = weft__named_binary(g, "AddV2", "add", OUT(w), NUM(alpha));
  return schedule_op(g, "Mul", rate, w);
}

static weft_out schedule_number(weft_graph *g, double v) { return weft__named_number(g, v, WEFT_FLOAT, WEFT_FLOAT); }

/* A normal number whose variance falls with the step. */
static weft_out schedule_noise(weft_graph *g, weft_out step, weft_out variance, weft_out power) {
  int64_t seed1, seed2;
  weft_out age = weft__named_binary(g, "AddV2", "add", NUM(1), OUT(step));
  weft_out v = schedule_binary(g, "RealDiv", "truediv", variance, schedule_binary(g, "Pow", "Pow", age, power));
  weft_out spread = weft__named_unary(g, "Sqrt", "Sqrt", v);
  weft__b_push_name(g, "random_normal");
  weft_out scalar = weft__named_ints(g, "shape", NULL, 0), mean = weft__n_scalar(g, "mean", WEFT_FLOAT, 0);
  weft__graph_seeds(g, false, 0, &seed1, &seed2);
  weft_out o = weft__b_node(g, "RandomStandardNormal", NULL, 1, &scalar, 3,
                            (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_INT("seed", seed1), A_INT("seed2", seed2)});
  return schedule_op(g, "AddV2", schedule_binary(g, "Mul", "mul", o, spread), mean);
}

weft_out weft__linear_cosine_decay(weft_graph *g, const decay *d, const wave *w) {
  weft_out variance = WEFT_NONE, power = WEFT_NONE;
  weft__named_push(g, d->name, w->noisy ? "NoisyLinearCosineDecay" : "LinearCosineDecay");
  weft_out rate = rate_const(g, d), steps = steps_const(g, d->steps);
  if (w->noisy) variance = schedule_number(g, w->variance), power = schedule_number(g, w->variance_decay);
  weft_out periods = schedule_number(g, w->periods), alpha = schedule_number(g, w->alpha),
           beta = schedule_number(g, w->beta);
  weft_out step = step_as_float(g, d->step);
  step = schedule_binary(g, "Minimum", "Minimum", step, steps);
  weft_out line = schedule_binary(g, "RealDiv", "truediv", schedule_binary(g, "Sub", "sub", steps, step), steps);
  if (w->noisy) line = schedule_binary(g, "AddV2", "add", line, schedule_noise(g, step, variance, power));
  weft_out p = schedule_binary(g, "RealDiv", "truediv", step, steps);
  weft_out twice = weft__named_binary(g, "Mul", "mul", NUM(2), OUT(periods));
  weft_out up = schedule_cosine(g, NUM(.5), schedule_binary(g, "Mul", "mul", twice, p));
  weft_out o = schedule_binary(g, "Mul", "mul", schedule_binary(g, "AddV2", "add", alpha, line), up);
  return schedule_op(g, "Mul", rate, schedule_binary(g, "AddV2", "add", o, beta));
}

weft_out weft__piecewise_constant(weft_graph *g, const char *name, weft_out step, int n, const double *boundaries,
                                  const double *values) {
  weft__named_push(g, name, "PiecewiseConstant");
  weft_out x = weft__variable_or_value(g, step);
  weft_out o = weft__n_scalar(g, "Const", WEFT_FLOAT, values[n]);
  for (int i = n - 1; i >= 0 && !g->sticky.code; i--) {
    weft_out before = weft__named_binary(g, "LessEqual", "LessEqual", OUT(x), NUM(boundaries[i]));
    weft_out value = weft__n_scalar(g, "Const", WEFT_FLOAT, values[i]);
    o = weft__b_node(g, "SelectV2", NULL, 3, (weft_out[]){before, value, o}, 0, NULL);
  }
  weft__b_pop(g);
  return o;
}
