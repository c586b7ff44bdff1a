/* truncated.c - ParameterizedTruncatedNormal and its stateless form: normal numbers between two bounds.
 *
 * Every distribution of the batch has a mean, a deviation and two bounds of its own.  One of three samplers is used,
 * whichever rejects least: normal numbers if the bounds are far apart, uniform ones if they are close, and exponential
 * ones for a tail.  The numbers are TensorFlow's for the same seeds. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/random/philox.h"
#include "kernels/simd/widen.h"
#include "kernels/work/long_work.h"
#include "ops/random/random.h"
#include "tensor/tensor.h"
#include <math.h>

enum { MOST_TRIES = 1000, BLOCKS_PER_SAMPLE = 2 * MOST_TRIES };

typedef struct bounded { /* one distribution, with bounds in deviations from the mean */
  double mean, deviation, low, high;
} bounded;

/* One block of the generator as numbers. */
typedef struct drawn {
  philox gen;
  uint64_t block;
  bool wide; /* doubles, two to a block; otherwise floats, four to a block */
  int n;
  double u[4];
} drawn;

static void draw_uniform(drawn *d) {
  uint32_t w[4];
  weft__philox_blocks(&d->gen, d->block++, 1, 1, w);
  for (int i = 0; i < d->n; i++)
    d->u[i] = d->wide ? weft__philox_to_double(w[2 * i], w[2 * i + 1]) : (double)weft__philox_to_float(w[i]);
}

static void draw_normal(drawn *d) {
  uint32_t w[4];
  weft__philox_blocks(&d->gen, d->block++, 1, 1, w);
  if (d->wide) {
    weft__philox_to_normals(w, d->u);
    return;
  }
  for (int i = 0; i < 4; i += 2) {
    const float u = fmaxf(weft__philox_to_float(w[i]), 1e-7f), r = sqrtf(-2.0f * logf(u));
    const float angle = (float)(2.0 * M_PI * (double)weft__philox_to_float(w[i + 1]));
    d->u[i] = (double)(sinf(angle) * r);
    d->u[i + 1] = (double)(cosf(angle) * r);
  }
}

enum { DRAW_WORK = 32 }; /* of long_work, to draw a few numbers */

/* Writes the samples of one distribution, `stride` elements apart. */
typedef struct target {
  weft_tensor *y;
  int64_t at, stride, end; /* the next element, and the first one that is not written any more */
  long_work *work;
  int64_t spent;
} target;

static void put_sample(target *t, double v) {
  switch (t->y->dtype) {
  case WEFT_HALF: TENSOR_DATA(t->y, uint16_t)[t->at] = weft__half_from_float((float)v); break;
  case WEFT_BFLOAT16: TENSOR_DATA(t->y, uint16_t)[t->at] = weft__bfloat16_from_float((float)v); break;
  default: weft__tensor_set_real(t->y, t->at, v); break;
  }
  t->at += t->stride;
}

static bool truncated_normals(drawn *d, const bounded *b, target *t) {
  for (int tries = 0; t->at < t->end && !weft__long_work_spent(t->work, &t->spent, DRAW_WORK);) {
    draw_normal(d);
    for (int i = 0; i < d->n && t->at < t->end; i++) {
      const bool fits = b->low <= d->u[i] && d->u[i] <= b->high;
      if (fits) put_sample(t, d->u[i] * b->deviation + b->mean);
      tries = fits ? 0 : tries + 1;
      if (tries > MOST_TRIES) return false;
    }
  }
  return true;
}

static bool truncated_uniforms(drawn *d, const bounded *b, target *t) {
  const double offset = b->low < 0 ? 0 : b->low * b->low;
  for (int tries = 0; t->at < t->end && !weft__long_work_spent(t->work, &t->spent, DRAW_WORK);) {
    double z[4];
    draw_uniform(d);
    for (int i = 0; i < d->n; i++) z[i] = d->u[i] * (b->high - b->low) + b->low;
    draw_uniform(d);
    for (int i = 0; i < d->n && t->at < t->end; i++) {
      const bool fits = d->u[i] <= exp((offset - z[i] * z[i]) / 2);
      if (fits || tries + 1 >= MOST_TRIES) put_sample(t, z[i] * b->deviation + b->mean);
      tries = fits ? 0 : tries + 1;
    }
  }
  return true;
}

static bool truncated_tail(drawn *d, const bounded *b, target *t) {
  const double alpha = (b->low + sqrt(b->low * b->low + 4)) / 2;
  for (int tries = 0; t->at < t->end && !weft__long_work_spent(t->work, &t->spent, DRAW_WORK);) {
    draw_uniform(d);
    for (int i = 0; i < d->n && t->at < t->end; i += 2) {
      const double z = -log(d->u[i]) / alpha + b->low, x = b->low < alpha ? alpha - z : b->low - alpha;
      const bool fits = d->u[i + 1] <= exp(-x * x / 2) && z < b->high;
      if (fits || tries + 1 >= MOST_TRIES) put_sample(t, z * b->deviation + b->mean);
      tries = fits ? 0 : tries + 1;
    }
  }
  return true;
}

/* Draws the samples of one distribution. */
static weft_err truncated_draw(const kernel *k, drawn *d, bounded b, target *t) {
  const bool is_valid = b.deviation > 0 && b.low < b.high && (isfinite(b.low) || isfinite(b.high));
  if (!is_valid) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Invalid parameters");
  if ((isinf(b.low) && b.low < 0) || b.high < b.mean) { /* mirrored, so that the lower bound is the one that matters */
    const double low = b.low;
    b.low = b.high;
    b.high = low;
    b.deviation = -b.deviation;
  }
  b.low = (b.low - b.mean) / b.deviation;
  b.high = (b.high - b.mean) / b.deviation;
  const double root = sqrt(b.low * b.low + 4);
  const double cutoff = 2 * exp(0.5 + b.low * (b.low - root) / 4) / (b.low + root);
  bool done;
  if ((b.low < -1.3 && b.high >= 0) || (b.high > 1.3 && b.low <= 0))
    done = truncated_normals(d, &b, t);
  else if (b.high - b.low < cutoff)
    done = truncated_uniforms(d, &b, t);
  else
    done = truncated_tail(d, &b, t);
  WEFT_TRY(weft__kernel_in(k, weft__long_work_end(t->work)));
  return done ? WEFT_OK
              : weft__kernel_fail(k, WEFT_INTERNAL,
                                  "TruncatedNormal randn rejection sampler exceeded maximum iterations for mean %g, "
                                  "deviation %g and bounds %g and %g",
                                  b.mean, b.deviation, b.low, b.high);
}

static double truncated_parameter(const weft_tensor *t, int64_t i) {
  return weft__tensor_double(t, weft__tensor_count(t) == 1 ? 0 : i);
}

static drawn drawn_from(const philox *gen, weft_dtype type) {
  return (drawn){.gen = *gen, .wide = type == WEFT_DOUBLE, .n = type == WEFT_DOUBLE ? 2 : 4};
}

/* ---- ParameterizedTruncatedNormal: a distribution for each index of the first dimension ---- */

static weft_err parameterized_cpu(kernel *k) {
  shape s;
  WEFT_TRY(weft__kernel_vector(k, 0, "shape"));
  WEFT_TRY(weft__kernel_dims(k, 0, "shape", &s));
  if (s.rank < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "shape must have at least one dimension");
  static const char *const names[] = {"means", "stdevs", "minvals", "maxvals"};
  const int64_t n = s.dim[0], each = weft__shape_product(&s, 1, s.rank);
  for (int i = 1; i < 5; i++) {
    const shape *p = &k->in[i]->shape;
    if (p->rank > 1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input %s should be a scalar or a vector, got shape: %s",
                               names[i - 1], weft__shape_text(p));
    if (weft__shape_count(p) != 1 && weft__shape_count(p) != n)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input %s should have length 1 or %lld, got shape: %s",
                               names[i - 1], (long long)n, weft__shape_text(p));
  }
  weft_tensor *y = weft__out(k, 0, &s);
  if (!y) return weft__out_refused(&s);
  philox gen;
  WEFT_TRY(weft__random_take(k, (uint64_t)(n * each) * BLOCKS_PER_SAMPLE, &gen));
  drawn d = drawn_from(&gen, y->dtype);
  long_work work = weft__long_work(k);
  for (int64_t b = 0; b < n; b++) {
    const bounded of = {truncated_parameter(k->in[1], b), truncated_parameter(k->in[2], b),
                        truncated_parameter(k->in[3], b), truncated_parameter(k->in[4], b)};
    WEFT_TRY(truncated_draw(k, &d, of, &(target){y, b * each, 1, (b + 1) * each, &work, 0}));
  }
  return WEFT_OK;
}

static weft_err parameterized_infer(infer *s) {
  for (int i = 1; i < 5; i++)
    if (s->in[i].rank > 1) return weft__infer_fail(s, "Shape must be at most rank 1 but is rank %d", s->in[i].rank);
  return weft__infer_shape_value(s, 0, &s->out[0]);
}

/* ---- StatelessParameterizedTruncatedNormal: the parameters broadcast to the last dimensions ---- */

/* Returns element i of a tensor that is broadcast to `all`. */
static double broadcast_at(const weft_tensor *t, const shape *all, int64_t i) {
  int64_t at = 0, stride = 1;
  for (int a = all->rank - 1, b = t->shape.rank - 1; b >= 0; a--, b--) {
    const int64_t index = i % all->dim[a];
    i /= all->dim[a];
    if (t->shape.dim[b] > 1) at += index * stride;
    stride *= t->shape.dim[b];
  }
  return weft__tensor_double(t, at);
}

static weft_err truncated_stateless_cpu(kernel *k) {
  shape s, all = SHAPE_SCALAR;
  philox gen;
  WEFT_TRY(weft__kernel_vector(k, 0, "shape"));
  WEFT_TRY(weft__kernel_dims(k, 0, "shape", &s));
  WEFT_TRY(weft__random_from_seed(k, 1, &gen));
  for (int i = 2; i < 6; i++)
    if (weft__shape_broadcast(&all, &k->in[i]->shape, &all) != WEFT_OK)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the parameters cannot be broadcast to one shape");
  bool ends = all.rank <= s.rank;
  for (int i = 1; i <= all.rank && ends; i++) ends = all.dim[all.rank - i] == s.dim[s.rank - i];
  if (!ends) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Shape passed in must end with broadcasted shape.");
  weft_tensor *y = weft__out(k, 0, &s);
  if (!y) return weft__out_refused(&s);
  drawn d = drawn_from(&gen, y->dtype);
  long_work work = weft__long_work(k);
  const int64_t n = weft__shape_count(&all), total = weft__tensor_count(y);
  for (int64_t b = 0; b < n && total; b++) {
    const bounded of = {broadcast_at(k->in[2], &all, b), broadcast_at(k->in[3], &all, b),
                        broadcast_at(k->in[4], &all, b), broadcast_at(k->in[5], &all, b)};
    WEFT_TRY(truncated_draw(k, &d, of, &(target){y, b, n, total, &work, 0}));
  }
  return WEFT_OK;
}

static weft_err stateless_infer(infer *s) {
  shape seed;
  WEFT_TRY(weft__infer_rank(s, 1, 1, &seed));
  if (seed.dim[0] >= 0 && seed.dim[0] != 2)
    return weft__infer_fail(s, "seed must have shape [2], not %s", weft__shape_text(&seed));
  return weft__infer_shape_value(s, 0, &s->out[0]);
}

/* ---- the gradient: how a sample moves if its quantile stays and a parameter changes ----
 *
 * As in TensorFlow, the bounds move with the mean and the deviation: the gradients of these two are 1 and y. */

/* Builds twice the probability between a and b, a <= b, without cancellation in either tail. */
static weft_out truncated_between(weft_graph *g, weft_out a, weft_out b) {
  const weft_out root = weft__b_scalar_like(g, a, sqrt(0.5)), zero = weft__b_zeros_like(g, a);
  const weft_out is_right = weft__b_binary(g, "Greater", a, zero);
  const weft_out p = weft__b_mul(g, weft__b_select(g, is_right, a, weft__b_neg(g, b)), root),
                 q = weft__b_mul(g, weft__b_select(g, is_right, b, weft__b_neg(g, a)), root);
  return weft__b_sub(g, weft__b_unary(g, "Erfc", p), weft__b_unary(g, "Erfc", q));
}

/* Builds the density at `a` divided by the density at y. */
static weft_out density_ratio(weft_graph *g, weft_out a, weft_out y) {
  const weft_out half = weft__b_scalar_like(g, y, 0.5);
  const weft_out squares = weft__b_sub(g, weft__b_unary(g, "Square", y), weft__b_unary(g, "Square", a));
  return weft__b_unary(g, "Exp", weft__b_mul(g, half, squares));
}

static weft_err stateless_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out mean = b->in[2], deviation = b->in[3], zeros = weft__b_zeros_like(g, b->out[0]);
  const weft_out y = weft__b_div(g, weft__b_sub(g, b->out[0], mean), deviation);
  const weft_out low = weft__b_add(g, weft__b_div(g, weft__b_sub(g, b->in[4], mean), deviation), zeros),
                 high = weft__b_add(g, weft__b_div(g, weft__b_sub(g, b->in[5], mean), deviation), zeros);
  const weft_out all = truncated_between(g, low, high);
  const weft_out above = weft__b_div(g, truncated_between(g, y, high), all),
                 below = weft__b_div(g, truncated_between(g, low, y), all);
  weft_out d[4];
  d[2] = weft__b_mul(g, density_ratio(g, low, y), above);
  d[3] = weft__b_mul(g, density_ratio(g, high, y), below);
  d[0] = weft__b_ones_like(g, y);
  d[1] = y;
  for (int i = 0; i < 4; i++) {
    weft_out dx = weft__b_mul(g, b->dout[0], d[i]);
    weft__b_unbroadcast(g, b->in[2 + i], b->out[0], &dx, NULL);
    b->din[2 + i] = GRAD_DENSE(dx);
  }
  return weft__b_ok(g);
}

#define FIXED CASE_NO_GRAD | CASE_FIXED_TYPE
static const op_case parameterized_cases[] = {
    {"i32[2] 2 6; f32[2] 0 1; f32[2] 1 2; f32[2] -2 -3; f32[2] 2 9", NULL, "seed=5 seed2=7", CASE_RANDOM},
    {"i32[2] 1 60; f32[] 0; f32[] 1; f32[] .1; f32[] .3", NULL, "seed=5 seed2=7", CASE_RANDOM},
    {"i64[2] 1 60; f64[] 2; f64[] 3; f64[] 12; f64[] 30", NULL, "seed=5 seed2=7", CASE_RANDOM},
    {"i32[2] 1 60; f32[] 0; f32[] 1; f32[] -30; f32[] -3", NULL, "seed=5 seed2=7", CASE_RANDOM},
    {"i32[2] 1 3; f32[] 0; f32[] -1; f32[] -2; f32[] 2", "error INVALID_ARGUMENT", "seed=5", CASE_RANDOM},
    {"i32[2] 2 3; f32[3] 0; f32[] 1; f32[] -2; f32[] 2", "error INVALID_ARGUMENT", "seed=5", CASE_RANDOM},
    {0},
};
static const op_case stateless_cases[] = {
    {"i32[1] 6; i64[2] 5 7; f32[] 0; f32[] 1; f32[] -2; f32[] 2", NULL, NULL, FIXED},
    {"i32[2] 5 2; i32[2] 5 7; f64[2] 0 1; f64[] 2; f64[2] -2 -4; f64[1] 5", NULL, NULL, FIXED},
    {"i64[3] 2 3 2; i32[2] 5 7; f32[3,1] 0 1 2; f32[] 2; f32[2] 3 4; f32[1] 9", NULL, NULL, FIXED},
    {"i32[1] 3; i64[2] 5 7; f32[2] 0; f32[] 1; f32[] -2; f32[] 2", "error INVALID_ARGUMENT", NULL, FIXED},
    {0},
};

OPS(truncated) = {
    {"ParameterizedTruncatedNormal(shape:T, means:dtype, stdevs:dtype, minvals:dtype, maxvals:dtype) -> (output:dtype) "
     "| seed:int=0 seed2:int=0 dtype:type{half,bfloat16,float,double} T:type{int32,int64} ; stateful",
     "Normal numbers between bounds, with parameters for each index of the first dimension.", OP_SEED,
     .infer = parameterized_infer, .cpu = parameterized_cpu, .prepare = weft__random_prepare,
     .unprepare = weft__random_unprepare, .no_grad = true, .cases = parameterized_cases},
    {"StatelessParameterizedTruncatedNormal(shape:S, seed:Tseed, means:dtype, stddevs:dtype, minvals:dtype, "
     "maxvals:dtype) -> (output:dtype) | S:type{int32,int64} Tseed:type{int32,int64}=int64 "
     "dtype:type{half,float,double}",
     "Normal numbers between bounds that depend only on a seed.", .infer = stateless_infer,
     .cpu = truncated_stateless_cpu, .grad = stateless_grad, .cases = stateless_cases},
    {0},
};
