/* rejection.c - RandomGamma and RandomPoissonV2: draws that throw away what does not fit.
 *
 * The numbers are TensorFlow's for the same seeds.  Every output has 256 blocks of the node's generator to itself,
 * counted along the samples of the first distribution, then of the second, and so on; it takes uniform doubles and
 * normal pairs from them as it needs them, the second of a block before the first.  Gamma: Marsaglia and Tsang's
 * squeeze; shapes below 1 by way of a + 1.  Poisson: Knuth's product below a rate of 10, Hormann's transformed
 * rejection above. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/random/philox.h"
#include "tensor/tensor.h"
#include <math.h>

enum { RESERVED = 256, MOST_TRIES = 100000 };

/* ---- the numbers of one output ---- */
typedef struct source {
  const philox *gen;
  uint64_t block;
  double uniform[2], normal[2];
  int uniforms, normals; /* left over */
} source;

static void next_block(source *s, uint32_t w[4]) { weft__philox_blocks(s->gen, s->block++, 1, 1, w); }

static double uniform(source *s) {
  if (s->uniforms == 0) {
    uint32_t w[4];
    next_block(s, w);
    s->uniform[0] = weft__philox_to_double(w[0], w[1]);
    s->uniform[1] = weft__philox_to_double(w[2], w[3]);
    s->uniforms = 2;
  }
  return s->uniform[--s->uniforms];
}

static double normal(source *s) {
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
  if (alpha == 1) return -log1p(-uniform(s));
  const bool small = alpha < 1;
  const double d = alpha + (small ? 1 : 0) - 1.0 / 3, c = 1 / (3 * sqrt(d));
  for (int tries = 0; tries < MOST_TRIES; tries++) {
    const double x = normal(s);
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = uniform(s);
    if (!(u < 1 - 0.0331 * (x * x) * (x * x)) && !(log(u) < 0.5 * x * x + d * (1 - v + log(v)))) continue;
    return small ? d * v * pow(uniform(s), 1 / alpha) : d * v;
  }
  return NAN;
}

static double draw_few(source *s, double rate) {
  const double end = exp(-rate);
  double product = 1;
  for (int k = 0; k < MOST_TRIES; k++)
    if ((product *= uniform(s)) <= end) return k;
  return NAN;
}

static double draw_many(source *s, double rate, double highest) {
  const double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b, scale = 1.1239 + 1.1328 / (b - 3.4);
  for (int tries = 0; tries < MOST_TRIES; tries++) {
    const double u = uniform(s) - 0.5, v = uniform(s), us = 0.5 - fabs(u);
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

/* ---- the kernels ---- */
typedef struct draw {
  philox gen;
  const weft_tensor *of; /* a distribution each */
  weft_tensor *out;
  int64_t samples, kinds;
  double highest; /* of the output's type */
  bool poisson;
} draw;

static void put(weft_tensor *t, int64_t i, double x) {
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
    const double of = weft__tensor_double(d->of, kind);
    const double x = d->poisson ? draw_poisson(&s, of, d->highest) : draw_gamma(&s, of);
    put(d->out, sample * d->kinds + kind, x);
  }
}

static double highest_of(weft_dtype t) {
  switch (t) {
  case WEFT_HALF: return 65504;
  case WEFT_FLOAT: return 3.4028234663852886e38;
  case WEFT_DOUBLE: return 1.7976931348623157e308;
  case WEFT_INT32: return INT32_MAX;
  default: return 9223372036854774784.0; /* the double below 2^63 */
  }
}

/* The samples' shape, then the distributions'. */
static weft_err out_shape(const kernel *k, shape *out) {
  const shape *of = &k->in[1]->shape;
  WEFT_TRY(weft__kernel_vector(k, 0, "shape"));
  WEFT_TRY(weft__kernel_dims(k, 0, "shape", out));
  if (out->rank + of->rank > WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the output would have %d dimensions", out->rank + of->rank);
  for (int i = 0; i < of->rank; i++) out->dim[out->rank++] = of->dim[i];
  return WEFT_OK;
}

static weft_err run(kernel *k, bool poisson) {
  shape s;
  WEFT_TRY(out_shape(k, &s));
  draw d = {.of = k->in[1], .kinds = weft__tensor_count(k->in[1]), .poisson = poisson};
  if (!(d.out = weft__out(k, 0, &s))) return weft__out_refused(&s);
  const int64_t n = weft__tensor_count(d.out);
  if (n == 0) return WEFT_OK;
  d.samples = n / d.kinds;
  d.highest = highest_of(d.out->dtype);
  WEFT_TRY(weft__random_take(k, (uint64_t)n * RESERVED, &d.gen));
  weft__kernel_loop(k, n, 200, draw_range, &d);
  return WEFT_OK;
}

static weft_err gamma_cpu(kernel *k) { return run(k, false); }
static weft_err poisson_cpu(kernel *k) { return run(k, true); }

static weft_err draw_infer(infer *s) {
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

/* Towards alpha: what each sample moves, summed over the samples. */
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
#define DRAWS(cpu_, cases_)                                                                                            \
  OP_SEED, .infer = draw_infer, .cpu = (cpu_), .prepare = weft__random_prepare, .unprepare = weft__random_unprepare,   \
           .cases = (cases_)

OPS(rejection) = {
    {"RandomGamma(shape:S, alpha:T) -> (output:T) | seed:int=0 seed2:int=0 S:type{int32,int64} "
     "T:type{half,float,double} ; stateful",
     "Gamma numbers of the shapes alpha.", DRAWS(gamma_cpu, gamma_cases), .grad = gamma_grad},
    {"RandomPoissonV2(shape:S, rate:R) -> (output:dtype) | seed:int=0 seed2:int=0 S:type{int32,int64} "
     "R:type{half,float,double,int32,int64}=double dtype:type{half,float,double,int32,int64}=int64 ; stateful",
     "Poisson numbers of the rates given.", DRAWS(poisson_cpu, poisson_cases)},
    {0},
};
