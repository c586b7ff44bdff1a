/* candidate_unigram.c - FixedUnigramCandidateSampler, which draws classes by given frequencies, and
 * AllCandidateSampler, which returns all classes.
 *
 * The alias method draws in constant time: each slot of the table belongs partly to its own class and otherwise to
 * one other class.  The table is built once for each plan, from the attribute `unigrams` or from the last column of
 * a file. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "codec/number.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/work/long_work.h"
#include "io/confine.h"
#include "io/file.h"
#include "kernels/random/philox.h"
#include "kernels/random/candidate.h"
#include <math.h>
#include <string.h>

typedef struct slot {
  float part; /* the fraction of the slot that belongs to its own class */
  int32_t other;
} slot;

typedef struct unigram {
  void *random;     /* state of weft__random_prepare */
  int64_t range, n; /* n: number of weights so far */
  float *weight;
  double total;
  slot *table;
} unigram;

static void unigram_unprepare(void *state) {
  unigram *u = state;
  if (!u) return;
  weft__random_unprepare(u->random);
  weft__free(u->weight);
  weft__free(u->table);
  weft__free(u);
}

/* ---- weights ---- */

/* Adds the weight of class i if it belongs to this shard: i modulo the number of shards is the shard's number. */
static weft_err unigram_add(unigram *u, const weft_node *n, int64_t i, float weight) {
  if (i % weft__node_int(n, "num_shards", 1) != weft__node_int(n, "shard", 0)) return WEFT_OK;
  if (u->n == u->range)
    return weft__fail(WEFT_INVALID_ARGUMENT, "range_max is %lld, but there are more unigrams", (long long)u->range);
  u->weight[u->n++] = weight;
  return WEFT_OK;
}

/* Reads the file: each line ends in a comma and a weight, or is a weight. */
static weft_err unigram_lines(unigram *u, const weft_node *n, const text *file, int64_t reserved) {
  const float distortion = weft__node_float(n, "distortion", 1);
  text room = {0};
  weft_err err = WEFT_OK;
  for (size_t at = 0, line = 0; !err && at < file->size; line++) {
    const char *begin = file->data + at, *end = memchr(begin, '\n', file->size - at);
    const char *stop = end ? end : file->data + file->size, *from = begin;
    for (const char *p = begin; p < stop; p++)
      if (*p == ',') from = p + 1;
    float weight;
    at += (size_t)(stop - begin) + 1;
    if (!weft__number_read(&room, from, (size_t)(stop - from), WEFT_FLOAT, &weight))
      err = weft__fail(WEFT_INVALID_ARGUMENT, "Wrong vocabulary format at line %zu: '%.*s' is no weight", line + 1,
                       weft__int_sat(stop - from), from);
    else
      err = unigram_add(u, n, reserved + (int64_t)line, powf(weight, distortion));
  }
  weft__text_finish(&room);
  return err;
}

static weft_err unigram_file(unigram *u, const weft_node *n, const char *path, int64_t reserved) {
  text file = {0};
  weft_err err = weft__path_allowed(path);
  if (!err) err = weft__file_read(path, &file);
  if (!err) err = unigram_lines(u, n, &file, reserved);
  weft__text_finish(&file);
  return err;
}

static weft_err unigram_weights(unigram *u, const weft_node *n) {
  const attr *list = weft__node_attr(n, "unigrams");
  const attr_str path = weft__node_str(n, "vocab_file");
  const int64_t reserved = weft__node_int(n, "num_reserved_ids", 0), given = list ? list->n : 0;
  if ((path.size == 0) == (given == 0))
    return weft__fail(WEFT_INVALID_ARGUMENT, "Must provide exactly one of vocab_file and unigrams");
  if (reserved < 0 || weft__node_int(n, "shard", 0) >= weft__node_int(n, "num_shards", 1))
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "num_reserved_ids must not be negative, and shard must be below num_shards");
  for (int64_t i = 0; i < reserved; i++) WEFT_TRY(unigram_add(u, n, i, 0));
  if (path.size) WEFT_TRY(unigram_file(u, n, path.data, reserved));
  for (int64_t i = 0; i < given; i++)
    WEFT_TRY(unigram_add(u, n, reserved + i, powf(list->fs[i], weft__node_float(n, "distortion", 1))));
  if (u->n != u->range)
    return weft__fail(WEFT_INVALID_ARGUMENT, "range_max is %lld, but there are %lld unigrams", (long long)u->range,
                      (long long)u->n);
  return WEFT_OK;
}

/* ---- the table ---- */

static weft_err unigram_table(unigram *u) {
  int32_t *stack = weft__alloc_zero((size_t)u->range * 2 + 1, sizeof *stack), *low = stack, *high = stack + u->range;
  double *part = weft__alloc_zero((size_t)u->range + 1, sizeof *part);
  int64_t n_low = 0, n_high = 0;
  weft_err err = stack && part ? WEFT_OK : WEFT_OOM;
  for (int64_t i = 0; !err && i < u->range; i++) u->total += (double)u->weight[i];
  if (!err && !(u->total > 0 && isfinite(u->total)))
    err = weft__fail(WEFT_INVALID_ARGUMENT, "the unigrams sum to %g, but must be positive in all", u->total);
  for (int64_t i = 0; !err && i < u->range; i++) {
    part[i] = (double)u->weight[i] * (double)u->range / u->total;
    u->table[i] = (slot){(float)part[i], weft__int_sat(i)};
    if (part[i] < 1)
      low[n_low++] = weft__int_sat(i);
    else
      high[n_high++] = weft__int_sat(i);
  }
  while (!err && n_low && n_high) {
    const int32_t l = low[--n_low], h = high[n_high - 1];
    u->table[l] = (slot){(float)part[l], h};
    part[h] -= 1 - part[l];
    if (part[h] < 1) n_high--, low[n_low++] = h;
  }
  for (; !err && n_low; n_low--) u->table[low[n_low - 1]].part = 1; /* left over by rounding */
  for (; !err && n_high; n_high--) u->table[high[n_high - 1]].part = 1;
  weft__free(stack);
  weft__free(part);
  return err;
}

static weft_err unigram_prepare(const weft_node *node, void **state) {
  unigram *u = weft__alloc_zero(1, sizeof *u);
  if (!u) return WEFT_OOM;
  u->range = weft__node_int(node, "range_max", 0);
  weft_err err = u->range > 0 && u->range <= INT32_MAX
                     ? weft__random_prepare(node, &u->random)
                     : weft__fail(WEFT_INVALID_ARGUMENT, "range_max must be above 0, got %lld", (long long)u->range);
  if (!err) {
    u->weight = weft__alloc_zero((size_t)u->range + 1, sizeof *u->weight);
    u->table = weft__alloc_zero((size_t)u->range + 1, sizeof *u->table);
    if (!u->weight || !u->table) err = WEFT_OOM;
  }
  if (!err) err = unigram_weights(u, node);
  if (!err) err = unigram_table(u);
  if (err) unigram_unprepare(u);
  *state = err ? NULL : u;
  return err;
}

/* ---- drawing ---- */

static int64_t unigram_draw(const unigram *u, philox_reader *r) {
  const float part = weft__philox_to_float(weft__philox_word(r));
  const uint32_t i = weft__philox_below(r, (uint32_t)u->range);
  return part < u->table[i].part ? (int64_t)i : u->table[i].other;
}

enum { DRAW_COST = 32 }; /* in the operations of kernels/work/long_work.h */

static weft_err unigram_sample(const unigram *u, philox_reader *r, bool unique, int64_t n, int64_t *out, int64_t *tries,
                               long_work *work) {
  uint8_t *seen = unique ? weft__alloc_zero((size_t)u->range / 8 + 1, 1) : NULL;
  if (unique && !seen) return WEFT_OOM;
  *tries = 0;
  for (int64_t i = 0, spent = 0; i < n && !weft__long_work_spent(work, &spent, DRAW_COST);) {
    const int64_t c = unigram_draw(u, r);
    ++*tries;
    if (unique && (seen[c / 8] >> c % 8 & 1)) continue;
    if (unique) seen[c / 8] |= (uint8_t)(1 << c % 8);
    out[i++] = c;
  }
  weft__free(seen);
  return weft__long_work_end(work);
}

static void unigram_expect(const unigram *u, const int64_t *classes, int64_t count, int64_t n, int64_t tries,
                           float *out) {
  for (int64_t i = 0; i < count; i++) {
    const double p = (double)u->weight[classes[i]] / u->total;
    out[i] = (float)(tries == n ? p * (double)n : -expm1((double)tries * log1p(-p)));
  }
}

static weft_err unigram_cpu(kernel *k) {
  const unigram *u = k->state;
  const int64_t n = weft__node_int(k->node, "num_sampled", 0);
  const bool unique = weft__node_bool(k->node, "unique", false);
  WEFT_TRY(weft__candidate_check(k, u->range));
  int64_t possible = 0;
  for (int64_t i = 0; i < u->range; i++) possible += u->weight[i] > 0;
  if (unique && n > possible)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%lld classes without repetition out of %lld", (long long)n,
                             (long long)possible);
  const weft_tensor *classes = k->in[0];
  weft_tensor *drawn = weft__out(k, 0, &SHAPE1(n)), *of_true = weft__out(k, 1, &classes->shape);
  weft_tensor *of_drawn = weft__out(k, 2, &SHAPE1(n));
  if (!drawn || !of_true || !of_drawn) return WEFT_OOM;
  kernel own = *k; /* the generator expects its state there */
  philox gen;
  int64_t tries;
  own.state = u->random;
  WEFT_TRY(weft__random_take(&own, (uint64_t)n * 512, &gen));
  philox_reader r = weft__philox_reader(gen);
  long_work work = weft__long_work(k);
  WEFT_TRY(unigram_sample(u, &r, unique, n, TENSOR_DATA(drawn, int64_t), &tries, &work));
  unigram_expect(u, TENSOR_DATA(classes, int64_t), weft__tensor_count(classes), n, tries, TENSOR_DATA(of_true, float));
  unigram_expect(u, TENSOR_DATA(drawn, int64_t), n, n, tries, TENSOR_DATA(of_drawn, float));
  return WEFT_OK;
}

/* Returns every class once. */
static weft_err all_cpu(kernel *k) {
  const int64_t n = weft__node_int(k->node, "num_sampled", 0);
  WEFT_TRY(weft__candidate_check(k, n));
  weft_tensor *drawn = weft__out(k, 0, &SHAPE1(n)), *of_true = weft__out(k, 1, &k->in[0]->shape);
  weft_tensor *of_drawn = weft__out(k, 2, &SHAPE1(n));
  if (!drawn || !of_true || !of_drawn) return weft__out_refused(&SHAPE1(n));
  for (int64_t i = 0; i < n; i++) TENSOR_DATA(drawn, int64_t)[i] = i, TENSOR_DATA(of_drawn, float)[i] = 1;
  for (int64_t i = 0; i < weft__tensor_count(of_true); i++) TENSOR_DATA(of_true, float)[i] = 1;
  return WEFT_OK;
}

static const op_case unigram_cases[] = {
    {"i64[2,1] 1 2", NULL,
     "num_true=1 num_sampled=6 unique=false range_max=4 unigrams=[1.0,2.0,3.0,4.0] seed=1 seed2=2", CASE_RANDOM},
    {"i64[2,1] 1 2", NULL, "num_true=1 num_sampled=3 unique=true range_max=4 unigrams=[1.0,2.0,3.0,4.0] seed=1 seed2=2",
     CASE_RANDOM},
    {"i64[2,1] 1 2", NULL,
     "num_true=1 num_sampled=20 unique=false range_max=6 unigrams=[1.0,2.0,3.0,4.0] distortion=0.5 num_reserved_ids=2 "
     "seed=3 seed2=4",
     CASE_RANDOM},
    {"i64[2,1] 1 2", "error INVALID_ARGUMENT",
     "num_true=1 num_sampled=6 unique=false range_max=5 unigrams=[1.0,2.0,3.0,4.0] seed=1 seed2=2", CASE_RANDOM},
    {"i64[2,1] 1 4", "error INVALID_ARGUMENT",
     "num_true=1 num_sampled=6 unique=false range_max=4 unigrams=[1.0,2.0,3.0,4.0] seed=1 seed2=2", CASE_RANDOM},
    {"i64[2,1] 1 2", "error INVALID_ARGUMENT", "num_true=1 num_sampled=6 unique=false range_max=5 seed=1 seed2=2",
     CASE_RANDOM},
    {0},
};
static const op_case all_cases[] = {
    {"i64[2,1] 1 2", "i64[5] seq; f32[2,1] 1; f32[5] 1", "num_true=1 num_sampled=5 unique=true", CASE_NO_GRAD},
    {"i64[2,1] 1 2", "error INVALID_ARGUMENT", "num_true=2 num_sampled=5 unique=true", 0},
    {"i64[2,1] 1 5", "error INVALID_ARGUMENT", "num_true=1 num_sampled=5 unique=true", 0},
    {0},
};

#define CANDIDATES                                                                                                     \
  "(true_classes:int64) -> (sampled_candidates:int64, true_expected_count:float, sampled_expected_count:float) | "     \
  "num_true:int>=1 num_sampled:int>=1 unique:bool "

OPS(candidate_unigram) = {
    {"FixedUnigramCandidateSampler" CANDIDATES
     "range_max:int>=1 vocab_file:string='' distortion:float=1 num_reserved_ids:int=0 num_shards:int>=1=1 "
     "shard:int>=0=0 unigrams:list(float)=[] seed:int=0 seed2:int=0 ; stateful",
     "Classes drawn by given frequencies, and how often each is expected.", OP_SEED, .infer = weft__candidate_infer,
     .cpu = unigram_cpu, .prepare = unigram_prepare, .unprepare = unigram_unprepare, .cases = unigram_cases},
    {"AllCandidateSampler" CANDIDATES "seed:int=0 seed2:int=0 ; stateful", "Every class once.", OP_SEED,
     .infer = weft__candidate_infer, .cpu = all_cpu, .cases = all_cases},
    {0},
};
