/* multinomial.c - Multinomial: draws classes from unnormalized log-probabilities.
 *
 * For each row, the cumulative sum of exp(logit - max) is computed in double.  A uniform double times the total
 * selects the class.  Rows take the generator's doubles one after the other, as TensorFlow does on one thread; on
 * several threads, TensorFlow's draws depend on how it splits the rows.  Logits that are not finite are never drawn. */
#include "base/alloc.h"
#include "graph/op.h"
#include "kernels/random/philox.h"
#include "kernels/work/long_work.h"
#include "ops/random/random.h"
#include "tensor/tensor.h"
#include <math.h>

typedef struct draw {
  const weft_tensor *logits;
  weft_tensor *out;
  philox gen;
  double *sums; /* cumulative sums, one row per distribution */
  int64_t classes, samples;
} draw;

static double running_sum(const weft_tensor *logits, int64_t at, int64_t n, double *sum) {
  double max = -INFINITY, total = 0;
  for (int64_t i = 0; i < n; i++) {
    const double x = weft__tensor_double(logits, at + i);
    if (isfinite(x) && x > max) max = x;
  }
  for (int64_t i = 0; i < n; i++) {
    const double x = weft__tensor_double(logits, at + i);
    if (isfinite(x)) total += exp(x - max);
    sum[i] = total;
  }
  return total;
}

/* Returns the first class whose cumulative sum is above x, or n if there is none. */
static int64_t find_class(const double *sum, int64_t n, double x) {
  int64_t low = 0, high = n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (sum[middle] > x)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static void draw_rows(void *arg, int64_t begin, int64_t end) {
  const draw *d = arg;
  for (int64_t r = begin; r < end; r++) {
    double *sum = d->sums + r * d->classes;
    const double total = running_sum(d->logits, r * d->classes, d->classes, sum);
    for (int64_t s = 0; s < d->samples; s++) {
      const int64_t at = r * d->samples + s; /* a block of the generator gives two doubles */
      uint32_t w[4];
      weft__philox_blocks(&d->gen, (uint64_t)at / 2, 1, 1, w);
      const double u = at % 2 ? weft__philox_to_double(w[2], w[3]) : weft__philox_to_double(w[0], w[1]);
      const int64_t c = find_class(sum, d->classes, u * total);
      if (d->out->dtype == WEFT_INT32)
        TENSOR_DATA(d->out, int32_t)[at] = (int32_t)c;
      else
        TENSOR_DATA(d->out, int64_t)[at] = c;
    }
  }
}

/* If gen is NULL, uses the node's own generator. */
static weft_err draw_classes(kernel *k, const philox *gen) {
  const weft_tensor *logits = k->in[0];
  if (logits->shape.rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "logits should be a matrix, got shape %s",
                             weft__shape_text(&logits->shape));
  if (k->in[1]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "num_samples should be a scalar, got shape %s",
                             weft__shape_text(&k->in[1]->shape));
  draw d = {.logits = logits, .classes = logits->shape.dim[1], .samples = weft__tensor_int(k->in[1], 0)};
  const int64_t rows = logits->shape.dim[0];
  if (d.samples < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "num_samples should be nonnegative, got %lld",
                             (long long)d.samples);
  if (rows > 0 && d.classes <= 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "num_classes should be positive, got %lld",
                             (long long)d.classes);
  if (!(d.out = weft__out(k, 0, &SHAPE2(rows, d.samples)))) return weft__out_refused(&SHAPE2(rows, d.samples));
  if (rows == 0 || d.samples == 0) return WEFT_OK;
  if (gen)
    d.gen = *gen;
  else
    WEFT_TRY(weft__random_take(k, (uint64_t)rows * (uint64_t)((d.samples + 3) / 4 * 4) * 2 * 256, &d.gen));
  if (!(d.sums = weft__alloc((size_t)(rows * d.classes) * sizeof *d.sums))) return WEFT_OOM;
  const weft_err err = weft__long_loop(k, rows, d.classes * 20 + d.samples * 60, draw_rows, &d);
  weft__free(d.sums);
  return err;
}

static weft_err multinomial_cpu(kernel *k) { return draw_classes(k, NULL); }

static weft_err multinomial_stateless_cpu(kernel *k) {
  philox gen;
  WEFT_TRY(weft__random_from_seed(k, 2, &gen));
  return draw_classes(k, &gen);
}

static weft_err multinomial_infer(infer *s) {
  shape logits, unused;
  WEFT_TRY(weft__infer_rank(s, 0, 2, &logits));
  WEFT_TRY(weft__infer_rank(s, 1, 0, &unused));
  const weft_tensor *samples = weft__infer_value(s, 1);
  const int64_t n = samples ? weft__tensor_int(samples, 0) : -1;
  if (samples && n < 0)
    return weft__infer_fail(s, "Dimension size, given by scalar input 1, must be non-negative but is %lld",
                            (long long)n);
  s->out[0] = SHAPE2(logits.dim[0], n);
  return WEFT_OK;
}

static const op_case multinomial_cases[] = {
    {"f32[2,4] 0 1 2 3 3 2 1 0; i32[] 5", NULL, "seed=5 seed2=9", CASE_RANDOM},
    {"f64[3,10] normal; i32[] 8", NULL, "seed=5 seed2=9 output_dtype=int32", CASE_RANDOM},
    {"f32[2,4] 0 -inf nan 1 inf 0 0 0; i32[] 9", NULL, "seed=1 seed2=1", CASE_RANDOM},
    {"f32[3,700] normal; i32[] 11", NULL, "seed=3 seed2=4", CASE_RANDOM | CASE_NO_PARITY},
    {"f32[2,4] 0; i32[] 0", NULL, "seed=1 seed2=1", CASE_RANDOM},
    {"f32[0,4] 0; i32[] 3", NULL, "seed=1 seed2=1", CASE_RANDOM},
    {"f32[4] 0; i32[] 3", "error INVALID_ARGUMENT", "seed=1 seed2=1", CASE_RANDOM},
    {"f32[1,4] 0; i32[] -3", "error INVALID_ARGUMENT", "seed=1 seed2=1", CASE_RANDOM},
    {0},
};

static const op_case stateless_cases[] = {
    {"f32[2,4] 0 1 2 3 3 2 1 0; i32[] 5; i64[2] 1 2", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[1,4] 0 1 2 3; i32[] 7; i32[2] 1 2", NULL, "output_dtype=int32", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

OPS(multinomial) = {
    {"Multinomial(logits:T, num_samples:int32) -> (output:output_dtype) | seed:int=0 seed2:int=0 T:type{real} "
     "output_dtype:type{int32,int64}=int64 ; stateful",
     "Classes drawn from unnormalized log-probabilities, a row each.", OP_SEED, .infer = multinomial_infer,
     .cpu = multinomial_cpu, .prepare = weft__random_prepare, .unprepare = weft__random_unprepare, .no_grad = true,
     .cases = multinomial_cases},
    {"StatelessMultinomial(logits:T, num_samples:int32, seed:Tseed) -> (output:output_dtype) | T:type{real} "
     "Tseed:type{int32,int64}=int64 output_dtype:type{int32,int64}=int64",
     "Classes that a seed alone decides.", .infer = multinomial_infer, .cpu = multinomial_stateless_cpu,
     .no_grad = true, .cases = stateless_cases},
    {0},
};
