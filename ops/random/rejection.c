/* rejection.c - RandomGamma, RandomPoissonV2 and binomial numbers, by rejection sampling.
 *
 * The numbers are TensorFlow's for the same seeds.  Every output has 256 blocks of the node's generator, numbered
 * along the samples of the first distribution, then of the second, and so on.  It takes uniform doubles and normal
 * pairs from them as needed, the second of a block before the first.  Gamma: the Marsaglia-Tsang method; shapes
 * below 1 use a + 1.  Poisson: Knuth's product for rates below 10, Hoermann's transformed rejection above. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/random/philox.h"
#include "kernels/work/long_work.h"
#include "ops/random/random.h"
#include "tensor/tensor.h"
#include <math.h>

enum { RESERVED = 256, RESERVED_GAPS = 42, MOST_TRIES = 100000 };

/* ---- the numbers of one output ---- */
typedef struct source {
  const philox *gen;
  uint64_t block;
  double uniform[2], normal[2];
  int uniforms, normals; /* numbers of the current block that are not used yet */
} source;

static void next_block(source *s, uint32_t w[4]) { weft__philox_blocks(s->gen, s->block++, 1, 1, w); }

static double rejection_uniform(source *s) {
  if (s->uniforms == 0) {
    uint32_t w[4];
    next_block(s, w);
    s->uniform[0] = weft__philox_to_double(w[0], w[1]);
    s->uniform[1] = weft__philox_to_double(w[2], w[3]);
    s->uniforms = 2;
  }
  return s->uniform[--s->uniforms];
}

static double rejection_normal(source *s) {
  if (s->normals == 0) {
    uint32_t w[4];
    next_block(s, w);
    weft__philox_to_normals(w, s->normal);
    s->normals = 2;
  }
  return s->normal[--s->normals];
}

static double draw_gamma(source *s, double alpha) {
  if (!(alpha >= 0)) return NAN;
  if (alpha == 0 || isinf(alpha)) return alpha;
  if (alpha == 1) return -log1p(-rejection_uniform(s));
  const bool small = alpha < 1;
  const double d = alpha + (small ? 1 : 0) - 1.0 / 3, c = 1 / (3 * sqrt(d));
  for (int tries = 0; tries < MOST_TRIES; tries++) {
    const double x = rejection_normal(s);
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = rejection_uniform(s);
    if (!(u < 1 - 0.0331 * (x * x) * (x * x)) && !(log(u) < 0.5 * x * x + d * (1 - v + log(v)))) continue;
    return small ? d * v * pow(rejection_uniform(s), 1 / alpha) : d * v;
  }
  return NAN;
}

static double draw_few(source *s, double rate) {
  const double end = exp(-rate);
  double product = 1;
  for (int k = 0; k < MOST_TRIES; k++)
    if ((product *= rejection_uniform(s)) <= end) return k;
  return NAN;
}

static double draw_many(source *s, double rate, double highest) {
  if (rate - 40 * sqrt(rate) > highest) return highest; /* 40 standard deviations: no trial would fit the type */
  const double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b, scale = 1.1239 + 1.1328 / (b - 3.4);
  for (int tries = 0; tries < MOST_TRIES; tries++) {
    const double u = rejection_uniform(s) - 0.5, v = rejection_uniform(s), us = 0.5 - fabs(u);
    const double k = floor((2 * a / us + b) * u + rate + 0.43);
    if (k > highest) continue;
    if (us >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const double left = log(v * scale / (a / (us * us) + b));
    if (left <= -rate + k * log(rate) - lgamma_r(k + 1, &(int){0})) return k;
  }
  return highest;
}

static double draw_poisson(source *s, double rate, double highest) {
  if (isnan(rate) || isinf(rate)) return rate;
  return rate < 10 ? draw_few(s, rate) : draw_many(s, rate, highest);
}

/* Counts successes by the gaps between them, which have a geometric distribution.  It is fast if successes are few. */
static double binomial_by_gaps(source *s, double count, double prob) {
  double sum = 0;
  for (int n = 0; n < MOST_TRIES; n++) {
    sum += ceil(log(rejection_uniform(s)) / log1p(-prob));
    if (sum > count) return n;
  }
  return NAN;
}

/* Returns log k! minus Stirling's approximation. */
static double stirling_tail(double k) {
  static const double small[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                                 0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                                 0.00925546218271273, 0.00833056343336287};
  for (int i = 0; i < 10; i++)
    if (k <= i) return small[i];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

/* Hoermann's transformed rejection, for a mean of at least ten successes. */
static double binomial_by_rejection(source *s, double count, double prob) {
  const double deviation = sqrt(count * prob * (1 - prob)), b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * prob, c = count * prob + 0.5, limit = 0.92 - 4.2 / b;
  const double odds = prob / (1 - prob), alpha = (2.83 + 5.1 / b) * deviation, mode = floor((count + 1) * prob);
  for (int tries = 0; tries < MOST_TRIES; tries++) {
    const double u = rejection_uniform(s) - 0.5, v = rejection_uniform(s), us = 0.5 - fabs(u);
    const double k = floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= limit) return k;
    if (k < 0 || k > count) continue;
    const double left = log(v * alpha / (a / (us * us) + b));
    const double right = (mode + 0.5) * log((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * log(odds * (count - k + 1) / (k + 1)) + stirling_tail(mode) +
                         stirling_tail(count - mode) - stirling_tail(k) - stirling_tail(count - k);
    if (left <= right) return k;
  }
  return NAN;
}

static double draw_binomial(source *s, double count, double prob) {
  if (!(prob > 0) || !(count > 0)) return isnan(prob) || isnan(count) ? NAN : 0;
  if (prob >= 1) return floor(count);
  const bool turned = prob > 0.5;
  const double p = turned ? 1 - prob : prob, n = floor(count);
  if (n * p < 10) s->block = s->block / RESERVED * RESERVED_GAPS; /* TensorFlow's spacing in this case */
  const double found = n * p >= 10 ? binomial_by_rejection(s, n, p) : binomial_by_gaps(s, n, p);
  return turned ? n - found : found;
}

/* ---- the kernels ---- */
typedef struct draw {
  philox gen;
  const weft_tensor *of;    /* the parameters, one per distribution */
  const weft_tensor *probs; /* binomial: the probabilities; `of` has the counts */
  const shape *kind_shape;  /* the shape that both broadcast to */
  weft_tensor *out;
  int64_t samples, kinds;
  double highest; /* highest number of the output's type */
  bool poisson;
} draw;

static void rejection_put(weft_tensor *t, int64_t i, double x) {
  switch (t->dtype) {
  case WEFT_HALF: TENSOR_DATA(t, uint16_t)[i] = weft__half_from_float((float)x); break;
  case WEFT_FLOAT: TENSOR_DATA(t, float)[i] = (float)x; break;
  case WEFT_DOUBLE: TENSOR_DATA(t, double)[i] = x; break;
  case WEFT_INT32: TENSOR_DATA(t, int32_t)[i] = isfinite(x) ? (int32_t)x : 0; break; /* fits: a double */
  default: TENSOR_DATA(t, int64_t)[i] = isfinite(x) ? (int64_t)x : 0;
  }
}

static void draw_range(void *arg, int64_t begin, int64_t end) {
  const draw *d = arg;
  for (int64_t i = begin; i < end; i++) {
    const int64_t kind = i / d->samples, sample = i % d->samples;
    source s = {.gen = &d->gen, .block = (uint64_t)i * RESERVED};
    double x;
    if (d->probs) {
      const int64_t count = weft__elementwise_index(d->kind_shape, &d->of->shape, kind);
      const int64_t prob = weft__elementwise_index(d->kind_shape, &d->probs->shape, kind);
      x = draw_binomial(&s, weft__tensor_double(d->of, count), weft__tensor_double(d->probs, prob));
    } else {
      const double of = weft__tensor_double(d->of, kind);
      x = d->poisson ? draw_poisson(&s, of, d->highest) : draw_gamma(&s, of);
    }
    rejection_put(d->out, sample * d->kinds + kind, x);
  }
}

static double highest_of(weft_dtype t) {
  switch (t) {
  case WEFT_HALF: return 65504;
  case WEFT_FLOAT: return 3.4028234663852886e38;
  case WEFT_DOUBLE: return 1.7976931348623157e308;
  case WEFT_INT32: return INT32_MAX;
  default: return 9223372036854774784.0; /* the largest double below 2^63 */
  }
}

/* The shape is that of the samples, followed by that of the distributions. */
static weft_err out_shape(const kernel *k, shape *out) {
  const shape *of = &k->in[1]->shape;
  WEFT_TRY(weft__kernel_vector(k, 0, "shape"));
  WEFT_TRY(weft__kernel_dims(k, 0, "shape", out));
  if (out->rank + of->rank > WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the output would have %d dimensions", out->rank + of->rank);
  for (int i = 0; i < of->rank; i++) out->dim[out->rank++] = of->dim[i];
  return WEFT_OK;
}

/* If gen is NULL, uses the node's own generator. `of` is the input with the distributions. */
static weft_err rejection_run(kernel *k, bool poisson, const philox *gen, int of, const shape *s) {
  draw d = {.of = k->in[of], .kinds = weft__tensor_count(k->in[of]), .poisson = poisson};
  if (!(d.out = weft__out(k, 0, s))) return weft__out_refused(s);
  const int64_t n = weft__tensor_count(d.out);
  if (n == 0) return WEFT_OK;
  d.samples = n / d.kinds;
  d.highest = highest_of(d.out->dtype);
  if (gen)
    d.gen = *gen;
  else
    WEFT_TRY(weft__random_take(k, (uint64_t)n * RESERVED, &d.gen));
  return weft__long_loop(k, n, 200, draw_range, &d);
}

static weft_err gamma_cpu(kernel *k) {
  shape s;
  WEFT_TRY(out_shape(k, &s));
  return rejection_run(k, false, NULL, 1, &s);
}

static weft_err poisson_cpu(kernel *k) {
  shape s;
  WEFT_TRY(out_shape(k, &s));
  return rejection_run(k, true, NULL, 1, &s);
}

static bool ends_with(const shape *s, const shape *last) {
  bool ends = last->rank <= s->rank;
  for (int i = 0; ends && i < last->rank; i++) ends = last->dim[i] == s->dim[s->rank - last->rank + i];
  return ends;
}

/* The stateless ops take the complete shape, which ends with that of the distributions. */
static weft_err stateless_shape(const kernel *k, int of, shape *out) {
  const shape *last = &k->in[of]->shape;
  WEFT_TRY(weft__kernel_vector(k, 0, "shape"));
  WEFT_TRY(weft__kernel_dims(k, 0, "shape", out));
  if (!ends_with(out, last))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Shape passed in must end with broadcasted shape: %s and %s",
                             weft__shape_text(out), weft__shape_text(last));
  return WEFT_OK;
}

static weft_err rejection_stateless_cpu(kernel *k, bool poisson) {
  const bool key = k->n_in == 5;
  const int of = key ? 4 : 2;
  philox gen;
  shape s;
  WEFT_TRY(key ? weft__random_from_key(k, 1, &gen) : weft__random_from_seed(k, 1, &gen));
  WEFT_TRY(stateless_shape(k, of, &s));
  return rejection_run(k, poisson, &gen, of, &s);
}

/* Input `at` is the shape; counts and probs are the two inputs from `of` on. */
static weft_err binomial_run(kernel *k, int at, int of, const philox *gen) {
  shape s, kinds;
  WEFT_TRY(weft__kernel_vector(k, at, "shape"));
  WEFT_TRY(weft__kernel_dims(k, at, "shape", &s));
  const weft_tensor *counts = k->in[of], *probs = k->in[of + 1];
  if (weft__shape_broadcast(&kinds, &counts->shape, &probs->shape) || !ends_with(&s, &kinds))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Shape passed in must end with broadcasted shape: %s; counts are %s and probs %s",
                             weft__shape_text(&s), weft__shape_text(&counts->shape), weft__shape_text(&probs->shape));
  draw d = {.gen = *gen, .of = counts, .probs = probs, .kind_shape = &kinds, .kinds = weft__shape_count(&kinds)};
  if (!(d.out = weft__out(k, 0, &s))) return weft__out_refused(&s);
  const int64_t n = weft__tensor_count(d.out);
  if (n == 0) return WEFT_OK;
  d.samples = n / d.kinds;
  return weft__long_loop(k, n, 400, draw_range, &d);
}

static weft_err binomial_cpu(kernel *k) {
  philox gen;
  WEFT_TRY(weft__random_from_seed(k, 1, &gen));
  return binomial_run(k, 0, 2, &gen);
}

/* Leaves the generator's state as it is: two runs give the same numbers, as in TensorFlow. */
static weft_err stateful_binomial_cpu(kernel *k) {
  philox gen;
  WEFT_TRY(weft__random_from_state(k, &gen));
  return binomial_run(k, 2, 3, &gen);
}

static weft_err stateful_binomial_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 2, 1, NULL));
  return weft__infer_shape_value(s, 2, &s->out[0]);
}

static weft_err stateless_gamma_cpu(kernel *k) { return rejection_stateless_cpu(k, false); }
static weft_err stateless_poisson_cpu(kernel *k) { return rejection_stateless_cpu(k, true); }

static weft_err stateless_infer(infer *s) {
  shape unused;
  for (int i = 0; i < 2; i++) WEFT_TRY(weft__infer_rank(s, i, 1, &unused));
  return weft__infer_shape_value(s, 0, &s->out[0]);
}

static weft_err rejection_draw_infer(infer *s) {
  shape dims, unused;
  WEFT_TRY(weft__infer_rank(s, 0, 1, &unused));
  WEFT_TRY(weft__infer_shape_value(s, 0, &dims));
  if (dims.rank < 0 || s->in[1].rank < 0) return WEFT_OK;
  if (dims.rank + s->in[1].rank > WEFT_MAX_RANK)
    return weft__infer_fail(s, "the output would have %d dimensions", dims.rank + s->in[1].rank);
  s->out[0] = dims;
  for (int i = 0; i < s->in[1].rank; i++) s->out[0].dim[s->out[0].rank++] = s->in[1].dim[i];
  return WEFT_OK;
}

/* The gradient by alpha: the derivative of each sample, summed over the samples. */
static weft_err gamma_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out alpha = b->in[1], dims = weft__b_cast(g, b->in[0], WEFT_INT32);
  const weft_out parts[] = {weft__b_ones_like(g, dims), weft__b_shape(g, alpha)};
  const weft_out wide = weft__b_reshape(g, alpha, weft__b_concat(g, 2, parts, weft__b_scalar(g, WEFT_INT32, 0)));
  const weft_out moved = weft__b_mul(g, b->dout[0], weft__b_binary(g, "RandomGammaGrad", wide, b->out[0]));
  const weft_out range[] = {weft__b_scalar(g, WEFT_INT32, 0), weft__b_size(g, dims), weft__b_scalar(g, WEFT_INT32, 1)};
  b->din[1] = GRAD_DENSE(weft__b_sum(g, moved, weft__b_node(g, "Range", "range", 3, range, 0, NULL), false));
  return WEFT_OK;
}

/* The same for a shape that includes the dimensions of alpha. */
static weft_err stateless_gamma_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out alpha = b->in[b->n_in - 1];
  weft_out moved = weft__b_mul(g, b->dout[0], weft__b_binary(g, "RandomGammaGrad", alpha, b->out[0]));
  weft__b_unbroadcast(g, alpha, b->out[0], &moved, NULL);
  b->din[b->n_in - 1] = GRAD_DENSE(moved);
  return WEFT_OK;
}

/* ---- cases ---- */
static const op_case gamma_cases[] = {
    {"i32[1] 200; f64[] 3", NULL, "seed=5 seed2=9", CASE_RANDOM},
    {"i32[2] 3 7; f32[2,3] .01 .3 1 1.0001 5 700", NULL, "seed=5 seed2=9", CASE_RANDOM},
    {"i64[1] 50; f16[3] .5 1 2", NULL, "seed=1 seed2=-4", CASE_RANDOM},
    {"i32[0]; f64[3] .9 2 3", NULL, "seed=7", CASE_RANDOM},
    {"i32[1] 2; f64[3] 0 -1 nan", NULL, "seed=7", CASE_RANDOM},
    {"i32[1] 0; f64[3] 1", NULL, "seed=7", CASE_RANDOM},
    {"i32[1] 2; f64[0]", NULL, "seed=7", CASE_RANDOM},
    {"i32[1] -2; f64[1] 1", "error INVALID_ARGUMENT", "seed=7", CASE_RANDOM},
    {0},
};
static const op_case poisson_cases[] = {
    {"i32[1] 300; f64[] 3", NULL, "seed=5 seed2=9 dtype=double", CASE_RANDOM},
    {"i32[1] 300; f64[4] 0 .2 9.999 -1", NULL, "seed=5 seed2=9 dtype=float", CASE_RANDOM},
    {"i32[2] 60 5; f32[3] 10 33 1e6", NULL, "seed=3 seed2=1 dtype=int64", CASE_RANDOM},
    {"i64[1] 100; i32[2] 4 40", NULL, "seed=3 seed2=1 dtype=int32", CASE_RANDOM},
    {"i32[1] 100; i64[2] 4 40", NULL, "seed=3 seed2=1 dtype=half", CASE_RANDOM},
    {"i32[1] 2; f64[0]", NULL, "seed=7 dtype=double", CASE_RANDOM},
    {"i32[1] -2; f64[1] 1", "error INVALID_ARGUMENT", "seed=7 dtype=double", CASE_RANDOM},
    {0},
};
static const op_case old_poisson_cases[] = {
    {"i32[1] 300; f64[] 3", NULL, "seed=5 seed2=9", CASE_RANDOM | CASE_NO_PARITY},
    {"i32[2] 60 5; f32[3] 10 33 1e6", NULL, "seed=3 seed2=1", CASE_RANDOM | CASE_NO_PARITY},
    {0},
};
#define FLAGS CASE_NO_GRAD | CASE_FIXED_TYPE
static const op_case stateless_gamma_cases[] = {
    {"i32[2] 30 4; i64[2] 1 2; f32[4] .5 1 3 .3", NULL, NULL, FLAGS},
    {"i32[1] 30; i32[2] 1 2; f64[] 3", NULL, NULL, FLAGS},
    {"i32[1] 3; i32[2] 1 2; f64[2] 3", "error INVALID_ARGUMENT", NULL, FLAGS},
    {0},
};
static const op_case key_gamma_cases[] = {
    {"i32[2] 30 4; u64[1] 5; u64[2] 1 2; i32[] 1; f32[4] .5 1 3 .3", NULL, NULL, FLAGS},
    {"i32[1] 30; u64[1] 5; u64[2] 1 2; i32[] 1; f16[] 3", NULL, NULL, FLAGS},
    {0},
};
static const op_case stateless_poisson_cases[] = {
    {"i32[2] 30 3; i64[2] 1 2; f32[3] .5 12 3", NULL, "dtype=int32", FLAGS},
    {"i32[1] 30; i32[2] 1 2; f64[] 100", NULL, "dtype=float", FLAGS},
    {"i32[1] 3; i32[2] 1 2; f64[2] 3", "error INVALID_ARGUMENT", "dtype=float", FLAGS},
    {0},
};
static const op_case binomial_cases[] = {
    {"i32[2] 30 6; i64[2] 1 2; f64[6] 10 3 50 10 100 5; f64[6] .3 .5 .7 .2 .5 .1", NULL, "dtype=int32", FLAGS},
    {"i32[1] 30; i32[2] 1 2; f32[] 1000; f32[] .9", NULL, "dtype=float", FLAGS},
    {"i32[2] 4 3; i32[2] 1 2; f64[] 10; f64[3] 0 1 .5", NULL, "dtype=int64", FLAGS},
    {"i32[1] 3; i32[2] 1 2; f64[2] 3; f64[] .5", "error INVALID_ARGUMENT", "dtype=float", FLAGS},
    {0},
};
/* The numbers are TensorFlow's.  It cannot run beside these cases: TensorFlow 2.15 aborts on a shape of int64, and its
 * state afterwards depends on what else shares the buffer of the variable. */
static const op_case stateful_binomial_cases[] = {
    {"&i64[3] 1 2 3; i64[] 1; i32[2] 2 6; f64[6] 10 3 50 10 100 5; f64[6] .3 .5 .7 .2 .5 .1",
     "i32[2,6] 6 2 39 2 47 0 2 1 38 3 47 2", "T=double dtype=int32", FLAGS | CASE_NO_PARITY},
    {"&i64[3] -1 5 99; i64[] 1; i64[2] 2 3; f32[2,1] 10 100; f32[3] .5 .1 .999", "f32[2,3] 6 1 9 58 6 100",
     "T=float dtype=float", FLAGS | CASE_NO_PARITY},
    {"&i64[3] 1 2 3; i64[] 7; i32[1] 3; f64[] 3; f64[] .5", "error INVALID_ARGUMENT", "T=double dtype=float", FLAGS},
    {"&i64[2] 1 2; i64[] 1; i32[1] 3; f64[] 3; f64[] .5", "error INVALID_ARGUMENT", "T=double dtype=float", FLAGS},
    {"&i64[3] 1 2 3; i64[] 1; i32[1] 3; f64[2] 3; f64[] .5", "error INVALID_ARGUMENT", "T=double dtype=float", FLAGS},
    {0},
};
#define DRAWS(cpu_, cases_)                                                                                            \
  OP_SEED, .infer = rejection_draw_infer, .cpu = (cpu_), .prepare = weft__random_prepare,                              \
           .unprepare = weft__random_unprepare, .cases = (cases_)

OPS(rejection) = {
    {"RandomGamma(shape:S, alpha:T) -> (output:T) | seed:int=0 seed2:int=0 S:type{int32,int64} "
     "T:type{half,float,double} ; stateful",
     "Gamma numbers of the shapes alpha.", DRAWS(gamma_cpu, gamma_cases), .grad = gamma_grad},
    {"RandomPoissonV2(shape:S, rate:R) -> (output:dtype) | seed:int=0 seed2:int=0 S:type{int32,int64} "
     "R:type{half,float,double,int32,int64}=double dtype:type{half,float,double,int32,int64}=int64 ; stateful",
     "Poisson numbers of the rates given.", DRAWS(poisson_cpu, poisson_cases)},
    {"RandomPoisson(shape:S, rate:dtype) -> (output:dtype) | seed:int=0 seed2:int=0 S:type{int32,int64} "
     "dtype:type{half,float,double} ; stateful",
     "Poisson numbers of the rates given.", DRAWS(poisson_cpu, old_poisson_cases)},
    {"StatelessRandomGammaV2(shape:T, seed:Tseed, alpha:dtype) -> (output:dtype) | dtype:type{half,float,double} "
     "T:type{int32,int64} Tseed:type{int32,int64}=int64",
     "Gamma numbers that a seed alone decides.", .infer = stateless_infer, .cpu = stateless_gamma_cpu,
     .grad = stateless_gamma_grad, .cases = stateless_gamma_cases},
    {"StatelessRandomGammaV3(shape:shape_dtype, key:uint64, counter:uint64, alg:int32, alpha:dtype) -> (output:dtype) "
     "| dtype:type{half,float,double} shape_dtype:type{int32,int64}=int32",
     "Gamma numbers of a generator that is given.", .infer = stateless_infer, .cpu = stateless_gamma_cpu,
     .grad = stateless_gamma_grad, .cases = key_gamma_cases},
    {"StatelessRandomPoisson(shape:T, seed:Tseed, lam:Rtype) -> (output:dtype) | "
     "Rtype:type{half,float,double,int32,int64} dtype:type{half,float,double,int32,int64} T:type{int32,int64} "
     "Tseed:type{int32,int64}=int64",
     "Poisson numbers that a seed alone decides.", .infer = stateless_infer, .cpu = stateless_poisson_cpu,
     .no_grad = true, .cases = stateless_poisson_cases},
    {"StatelessRandomBinomial(shape:S, seed:Tseed, counts:T, probs:T) -> (output:dtype) | S:type{int32,int64} "
     "Tseed:type{int32,int64}=int64 T:type{half,float,double,int32,int64}=double "
     "dtype:type{half,float,double,int32,int64}=int64",
     "Binomial numbers that a seed alone decides.", .infer = stateless_infer, .cpu = binomial_cpu, .no_grad = true,
     .cases = binomial_cases},
    {"StatefulRandomBinomial(resource:resource, algorithm:int64, shape:S, counts:T, probs:T) -> (output:dtype) | "
     "S:type{int32,int64} T:type{half,float,double,int32,int64}=double "
     "dtype:type{half,float,double,int32,int64}=int64 ; stateful",
     "Binomial numbers of a generator whose state is a variable.", .infer = stateful_binomial_infer,
     .cpu = stateful_binomial_cpu, .cases = stateful_binomial_cases},
    {0},
};
