/* candidate_learned.c - LearnedUnigramCandidateSampler and ThreadUnsafeUnigramCandidateSampler: they draw classes by
 * how often they were true classes before.
 *
 * Every class starts with weight 1.  Each true class of a run adds 1 after the run has drawn.  The weights and the
 * generator of a node belong to the session, independent of the fetches.  A binary indexed tree holds sums of
 * weights, so that a draw and an update take logarithmic time.  TensorFlow's second op takes no lock; here both take
 * one. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/philox.h"
#include "graph/op.h"
#include "kernels/work/long_work.h"
#include "state/resource.h"
#include "kernels/random/candidate.h"
#include <math.h>
#include <pthread.h>
#include <sys/random.h>

typedef struct learned {
  resource base;
  pthread_mutex_t lock; /* guards the rest */
  int64_t range, top;   /* top: the largest power of two <= range */
  uint32_t total;
  uint32_t *sum; /* [range + 1]; element i is the sum of the weights of the classes in (i - (i & -i), i] */
  philox next;
} learned;

static void learned_destroy(object *o) {
  learned *l = (learned *)o;
  pthread_mutex_destroy(&l->lock);
  weft__free(l->sum);
  weft__free(l);
}

static weft_err seed_generator(learned *l, const weft_node *n) {
  uint64_t seed[2] = {(uint64_t)weft__node_int(n, "seed", 0), (uint64_t)weft__node_int(n, "seed2", 0)};
  if (!seed[0] && !seed[1] && getrandom(seed, sizeof seed, 0) != (ssize_t)sizeof seed)
    return weft__fail(WEFT_INTERNAL, "the system gave no random seed");
  l->next = weft__philox(seed[0], seed[1]);
  return WEFT_OK;
}

static weft_err learned_make(resource **out, void *arg) {
  const weft_node *n = ((const resource_maker *)arg)->node;
  const int64_t range = weft__node_int(n, "range_max", 0);
  if (range < 1 || range >= INT32_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "range_max must be from 1 to %d, got %lld", INT32_MAX - 1,
                      (long long)range);
  learned *l = weft__alloc_zero(1, sizeof *l);
  if (!l) return WEFT_OOM;
  atomic_init(&l->base.base.refs, 1);
  l->base.base.destroy = learned_destroy;
  l->base.type = "learned unigram sampler";
  pthread_mutex_init(&l->lock, NULL);
  l->range = range;
  l->total = (uint32_t)range;
  for (l->top = 1; l->top * 2 <= range;) l->top *= 2;
  l->sum = weft__alloc_zero((size_t)range + 1, sizeof *l->sum);
  weft_err err = l->sum ? seed_generator(l, n) : WEFT_OOM;
  for (int64_t i = 1; !err && i <= range; i++) l->sum[i] = (uint32_t)(i & -i);
  if (err) learned_destroy(&l->base.base);
  *out = err ? NULL : &l->base;
  return err;
}

static const resource_kind learned_kind = {"learned unigram sampler", true, learned_make};

/* ---- the tree; the caller holds the lock ---- */

static uint32_t sum_below(const learned *l, int64_t class) {
  uint32_t sum = 0;
  for (int64_t i = class; i > 0; i -= i & -i) sum += l->sum[i];
  return sum;
}

static double candidate_probability(const learned *l, int64_t class) {
  return (double)(sum_below(l, class + 1) - sum_below(l, class)) / (double)l->total;
}

static int64_t learned_draw(const learned *l, philox_reader *r) {
  uint32_t left = weft__philox_below(r, l->total);
  int64_t at = 0;
  for (int64_t jump = l->top; jump; jump /= 2)
    if (at + jump <= l->range && l->sum[at + jump] <= left) left -= l->sum[at += jump];
  return at;
}

/* If the total has reached 2^32 - 1, the weight is not added; it would change almost nothing. */
static void learned_add(learned *l, int64_t class) {
  if (class < 0 || class >= l->range || l->total == UINT32_MAX) return;
  l->total++;
  for (int64_t i = class + 1; i <= l->range; i += i & -i) l->sum[i]++;
}

enum { DRAW_COST = 32 }; /* in the operations of kernels/work/long_work.h */

static weft_err candidate_learned_draw_all(learned *l, bool unique, int64_t n, int64_t *out, int64_t *tries,
                                           long_work *work) {
  philox_reader r = weft__philox_reader(l->next);
  uint8_t *seen = unique ? weft__alloc_zero((size_t)l->range / 8 + 1, 1) : NULL;
  if (unique && !seen) return WEFT_OOM;
  weft__philox_skip(&l->next, (uint64_t)n * 512);
  *tries = 0;
  for (int64_t i = 0, spent = 0; i < n && !weft__long_work_spent(work, &spent, DRAW_COST);) {
    const int64_t c = learned_draw(l, &r);
    ++*tries;
    if (unique && (seen[c / 8] >> c % 8 & 1)) continue;
    if (unique) seen[c / 8] |= (uint8_t)(1 << c % 8);
    out[i++] = c;
  }
  weft__free(seen);
  return weft__long_work_end(work);
}

static void expect_all(const learned *l, const weft_tensor *classes, int64_t n, int64_t tries, float *out) {
  for (int64_t i = 0, count = weft__tensor_count(classes); i < count; i++) {
    const double p = candidate_probability(l, TENSOR_DATA(classes, int64_t)[i]);
    out[i] = (float)(tries == n ? p * (double)n : -expm1((double)tries * log1p(-p)));
  }
}

/* ---- kernel ---- */

static weft_err check_classes(const kernel *k, int64_t range, int64_t n) {
  WEFT_TRY(weft__candidate_check(k, range));
  if (weft__node_bool(k->node, "unique", false) && n > range)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Sampler's range is too small: %lld classes without repetition out of %lld", (long long)n,
                             (long long)range);
  return WEFT_OK;
}

static weft_err learned_cpu(kernel *k) {
  learned *l = NULL;
  const weft_tensor *classes = k->in[0];
  const int64_t n = weft__node_int(k->node, "num_sampled", 0);
  WEFT_TRY(weft__kernel_in(k, weft__resource_of_node(k, &learned_kind, (resource **)&l, NULL)));
  WEFT_TRY(check_classes(k, l->range, n));
  weft_tensor *drawn = weft__out(k, 0, &SHAPE1(n)), *of_true = weft__out(k, 1, &classes->shape);
  weft_tensor *of_drawn = weft__out(k, 2, &SHAPE1(n));
  if (!drawn || !of_true || !of_drawn) return weft__out_refused(&SHAPE1(n));
  int64_t tries;
  long_work work = weft__long_work(k);
  pthread_mutex_lock(&l->lock);
  const weft_err err =
      candidate_learned_draw_all(l, weft__node_bool(k->node, "unique", false), n, drawn->data, &tries, &work);
  if (!err) {
    expect_all(l, classes, n, tries, of_true->data);
    expect_all(l, drawn, n, tries, of_drawn->data);
    for (int64_t i = 0; i < weft__tensor_count(classes); i++) learned_add(l, TENSOR_DATA(classes, int64_t)[i]);
  }
  pthread_mutex_unlock(&l->lock);
  return err;
}

static const op_case learned_cases[] = {
    {"i64[2,1] 1 2", NULL, "num_true=1 num_sampled=6 unique=false range_max=8 seed=1 seed2=2", CASE_RANDOM},
    {"i64[2,2] 1 2 3 0", NULL, "num_true=2 num_sampled=5 unique=true range_max=11 seed=1 seed2=2", CASE_RANDOM},
    {"i64[2,1] 1 2", "error INVALID_ARGUMENT", "num_true=1 num_sampled=6 unique=true range_max=5 seed=1 seed2=2",
     CASE_RANDOM},
    {0},
};

#define LEARNED(NAME, DOC)                                                                                             \
  {                                                                                                                    \
    NAME "(true_classes:int64) -> (sampled_candidates:int64, true_expected_count:float, "                              \
         "sampled_expected_count:float) | num_true:int>=1 num_sampled:int>=1 unique:bool range_max:int>=1 seed:int=0 " \
         "seed2:int=0 ; stateful",                                                                                     \
        DOC, OP_SEED, .infer = weft__candidate_infer, .cpu = learned_cpu, .prepare = weft__resource_prepare,           \
                      .unprepare = weft__resource_unprepare, .cases = learned_cases                                    \
  }

OPS(candidate_learned) = {
    LEARNED("LearnedUnigramCandidateSampler",
            "Classes drawn by how often they were true, and how often each is expected."),
    LEARNED("ThreadUnsafeUnigramCandidateSampler", "LearnedUnigramCandidateSampler by its older name."),
    {0},
};
