/* candidate.c - samples classes for losses that use only some of many classes: LogUniformCandidateSampler,
 * UniformCandidateSampler, ComputeAccidentalHits.
 *
 * Classes are numbered by descending frequency.  The log-uniform sampler draws class c with probability log((c + 2)
 * / (c + 1)) / log(range + 1), which approximates the frequencies of words.  With unique=true, a class that was
 * already drawn is drawn again; the expected count of a class is then 1 - (1 - p)^tries. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/work/long_work.h"
#include "kernels/random/philox.h"
#include "kernels/random/candidate.h"
#include <math.h>
#include <string.h>

typedef struct sampler {
  int64_t (*draw)(philox_reader *r, int64_t range);
  double (*probability)(int64_t class, int64_t range);
} sampler;

static int64_t log_uniform_draw(philox_reader *r, int64_t range) {
  const double past = exp(weft__philox_double(r) * log1p((double)range));
  return past < 0x1p63 ? ((int64_t)past - 1) % range : 0; /* rounding may give range itself */
}

static double log_uniform_probability(int64_t c, int64_t range) {
  return log(((double)c + 2.0) / ((double)c + 1.0)) / log1p((double)range);
}

static int64_t uniform_draw(philox_reader *r, int64_t range) {
  const uint64_t n = (uint64_t)range, uneven = UINT64_MAX % n + 1;
  for (;;) {
    const uint64_t low = weft__philox_word(r), word = low | (uint64_t)weft__philox_word(r) << 32;
    if ((n & (n - 1)) == 0 || word >= uneven) return (int64_t)(word % n);
  }
}

static double uniform_probability(int64_t c, int64_t range) {
  (void)c;
  return 1.0 / (double)range;
}

static const sampler log_uniform = {log_uniform_draw, log_uniform_probability};
static const sampler uniform = {uniform_draw, uniform_probability};

enum { DRAW_COST = 32 }; /* in the operations of kernels/work/long_work.h */

/* Draws n classes. *tries is the number of draws: if they are unique, it may be far above n. */
static weft_err candidate_draw_all(const sampler *s, philox_reader *r, int64_t range, bool unique, int64_t n,
                                   int64_t *out, int64_t *tries, long_work *work) {
  uint8_t *seen = unique ? weft__alloc_zero((size_t)range / 8 + 1, 1) : NULL;
  if (unique && !seen) return WEFT_OOM;
  *tries = 0;
  for (int64_t i = 0, spent = 0; i < n && !weft__long_work_spent(work, &spent, DRAW_COST);) {
    const int64_t c = s->draw(r, range);
    ++*tries;
    if (unique && (seen[c / 8] >> c % 8 & 1)) continue;
    if (unique) seen[c / 8] |= (uint8_t)(1 << c % 8);
    out[i++] = c;
  }
  weft__free(seen);
  return weft__long_work_end(work);
}

static float candidate_expected(double p, int64_t n, int64_t tries) {
  return (float)(tries == n ? p * (double)n : -expm1((double)tries * log1p(-p)));
}

/* Computes the expected count of each class in the sample. */
static void expect_all(const sampler *s, const int64_t *classes, int64_t count, int64_t range, int64_t n, int64_t tries,
                       float *out) {
  for (int64_t i = 0; i < count; i++) out[i] = candidate_expected(s->probability(classes[i], range), n, tries);
}

static weft_err candidate_check(kernel *k, int64_t range, int64_t n, bool unique) {
  if (range <= 0 || n < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "range_max must be above 0 and num_sampled not below, got %lld, %lld", (long long)range,
                             (long long)n);
  if (unique && n > range)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Sampler's range is too small: %lld classes without repetition out of %lld", (long long)n,
                             (long long)range);
  return weft__candidate_check(k, range);
}

static weft_err candidate_sample(kernel *k, const sampler *s) {
  const int64_t range = weft__node_int(k->node, "range_max", 0), n = weft__node_int(k->node, "num_sampled", 0);
  const bool unique = weft__node_bool(k->node, "unique", false);
  WEFT_TRY(candidate_check(k, range, n, unique));
  const weft_tensor *classes = k->in[0];
  weft_tensor *drawn = weft__out(k, 0, &SHAPE1(n)), *of_true = weft__out(k, 1, &classes->shape);
  weft_tensor *of_drawn = weft__out(k, 2, &SHAPE1(n));
  philox gen;
  int64_t tries;
  if (!drawn || !of_true || !of_drawn) return WEFT_OOM;
  WEFT_TRY(weft__random_take(k, (uint64_t)n * 512, &gen));
  philox_reader r = weft__philox_reader(gen);
  long_work work = weft__long_work(k);
  WEFT_TRY(candidate_draw_all(s, &r, range, unique, n, TENSOR_DATA(drawn, int64_t), &tries, &work));
  expect_all(s, TENSOR_DATA(classes, int64_t), classes->shape.dim[0] * classes->shape.dim[1], range, n, tries,
             TENSOR_DATA(of_true, float));
  expect_all(s, TENSOR_DATA(drawn, int64_t), n, range, n, tries, TENSOR_DATA(of_drawn, float));
  return WEFT_OK;
}

static weft_err log_uniform_cpu(kernel *k) { return candidate_sample(k, &log_uniform); }
static weft_err candidate_uniform_cpu(kernel *k) { return candidate_sample(k, &uniform); }

/* ---- hits ---- */

static weft_err hits_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 2, NULL));
  WEFT_TRY(weft__infer_rank(s, 1, 1, NULL));
  s->out[0] = s->out[1] = s->out[2] = SHAPE1(-1);
  return WEFT_OK;
}

/* Returns the last position at which a true class was sampled, or -1. */
static int64_t last_place(const weft_tensor *drawn, int64_t class) {
  int64_t i = drawn->shape.dim[0] - 1;
  while (i >= 0 && TENSOR_DATA(drawn, int64_t)[i] != class) i--;
  return i;
}

/* Finds the sampled classes that are true classes of a row.  If the outputs are NULL, they are only counted. */
static int64_t find_hits(const weft_tensor *classes, const weft_tensor *drawn, int32_t *rows, int64_t *places,
                         long_work *work) {
  const int64_t width = classes->shape.dim[1], cost = drawn->shape.dim[0] + 1;
  int64_t found = 0, spent = 0;
  for (int64_t i = 0; i < classes->shape.dim[0] * width && !weft__long_work_spent(work, &spent, cost); i++) {
    const int64_t place = last_place(drawn, TENSOR_DATA(classes, int64_t)[i]);
    if (place < 0) continue;
    if (rows) rows[found] = weft__int_sat(i / width), places[found] = place;
    found++;
  }
  return found;
}

static weft_err hits_cpu(kernel *k) {
  const weft_tensor *classes = k->in[0], *drawn = k->in[1];
  if (classes->shape.rank != 2 || classes->shape.dim[1] != weft__node_int(k->node, "num_true", 1))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "true_candidates must be a batch_size * num_true matrix, got shape %s",
                             weft__shape_text(&classes->shape));
  if (drawn->shape.rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "sampled_candidates must be a vector, which is typically an output "
                             "from CandidateSampler, got shape %s",
                             weft__shape_text(&drawn->shape));
  long_work work = weft__long_work(k);
  const int64_t n = find_hits(classes, drawn, NULL, NULL, &work);
  WEFT_TRY(weft__long_work_end(&work));
  weft_tensor *rows = weft__out(k, 0, &SHAPE1(n)), *at = weft__out(k, 1, &SHAPE1(n)),
              *low = weft__out(k, 2, &SHAPE1(n));
  if (!rows || !at || !low) return WEFT_OOM;
  find_hits(classes, drawn, TENSOR_DATA(rows, int32_t), TENSOR_DATA(at, int64_t), &work);
  for (int64_t i = 0; i < n; i++) TENSOR_DATA(low, float)[i] = -3.4028234663852886e38f;
  return weft__long_work_end(&work);
}

static const op_case sample_cases[] = {
    {"i64[2,1] 3 0", NULL, "num_true=1 num_sampled=6 unique=false range_max=20 seed=5 seed2=9", CASE_RANDOM},
    {"i64[2,2] 3 0 1 19", NULL, "num_true=2 num_sampled=5 unique=true range_max=20 seed=5 seed2=9", CASE_RANDOM},
    {"i64[1,1] 2", NULL, "num_true=1 num_sampled=7 unique=true range_max=7 seed=1 seed2=2", CASE_RANDOM},
    {"i64[1,1] 2", "error INVALID_ARGUMENT", "num_true=1 num_sampled=8 unique=true range_max=7 seed=1 seed2=2",
     CASE_RANDOM},
    {"i64[1,1] 7", "error INVALID_ARGUMENT", "num_true=1 num_sampled=2 unique=true range_max=7 seed=1 seed2=2",
     CASE_RANDOM},
    {"i64[1,1] -1", "error INVALID_ARGUMENT", "num_true=1 num_sampled=2 unique=true range_max=7 seed=1 seed2=2",
     CASE_RANDOM},
    {"i64[1,2] 2 3", "error INVALID_ARGUMENT", "num_true=1 num_sampled=2 unique=true range_max=7 seed=1 seed2=2",
     CASE_RANDOM},
    {0},
};

static const op_case hits_cases[] = {
    {"i64[3,2] 1 2 3 4 5 1; i64[4] 5 1 7 1", "i32[3] 0 2 2; i64[3] 3 0 3; f32[3] -3.4028234663852886e38", "num_true=2",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i64[2,1] 1 2; i64[2] 5 6", NULL, "num_true=1", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

#define SAMPLER(name)                                                                                                  \
  name                                                                                                                 \
      "(true_classes:int64) -> (sampled_candidates:int64, true_expected_count:float, sampled_expected_count:float) | " \
      "num_true:int>=1 num_sampled:int>=1 unique:bool range_max:int>=1 seed:int=0 seed2:int=0 ; stateful"

OPS(candidate) = {
    {SAMPLER("LogUniformCandidateSampler"),
     "Classes drawn by a log-uniform distribution, and how often each is expected.", OP_SEED,
     .infer = weft__candidate_infer, .cpu = log_uniform_cpu, .prepare = weft__random_prepare,
     .unprepare = weft__random_unprepare, .cases = sample_cases},
    {SAMPLER("UniformCandidateSampler"), "Classes drawn evenly, and how often each is expected.", OP_SEED,
     .infer = weft__candidate_infer, .cpu = candidate_uniform_cpu, .prepare = weft__random_prepare,
     .unprepare = weft__random_unprepare, .cases = sample_cases},
    {"ComputeAccidentalHits(true_classes:int64, sampled_candidates:int64) -> (indices:int32, ids:int64, weights:float) "
     "| "
     "num_true:int seed:int=0 seed2:int=0",
     "Where sampled classes are true ones.", .infer = hits_infer, .cpu = hits_cpu, .cases = hits_cases},
    {0},
};
