/* sdca.c - SdcaOptimizer and SdcaOptimizerV2: one pass of stochastic dual coordinate ascent over a batch.
 *
 * Each example has a dual variable.  A step takes one example, finds the dual variable that is best while the others
 * stay, and changes the weights to match: w += x * change * example weight / l2.  The weights act after soft
 * thresholding by l1 / l2.  With num_loss_partitions > 1 other tasks train on other examples at the same time, so a
 * step assumes that all changes are that many times as large ("Adding vs. Averaging in Distributed Primal-Dual
 * Optimization").
 *
 * Without `adaptive` every example is taken once, in random order.  With it as many are drawn as there are, by how far
 * each is from its best ("Stochastic Dual Coordinate Ascent with Adaptive Probabilities").  The op returns the changes
 * and leaves the weights as they are.  In TensorFlow num_inner_iterations has no effect, so it has none here. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/random/philox.h"
#include "kernels/training/sdca_batch.h"
#include "kernels/training/sdca_loss.h"
#include "kernels/work/long_work.h"
#include <math.h>

enum { STATE_DUAL, STATE_PRIMAL_LOSS, STATE_DUAL_LOSS, STATE_WEIGHT, STATE_WIDTH };
/* An example that was drawn c times before is taken again with probability 1 / REPEAT^c. */
enum { REPEAT = 10, EXAMPLES_PER_CHECK = 64 };

typedef struct solver {
  sdca_batch batch;
  const sdca_loss *loss;
  double l2, shrink, partitions;
  double *labels;
  int64_t *order; /* the examples, as they are taken */
} solver;

/* ---- the order of the examples ---- */

static void shuffle_examples(philox_reader *r, int64_t *order, int64_t n) {
  for (int64_t i = 0; i < n; i++) order[i] = i;
  for (int64_t i = n - 1; i > 0; i--) {
    const int64_t j = (int64_t)(weft__philox_double(r) * (double)(i + 1)), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}

/* Fills sums[i] with the sum of the scores of examples 0 .. i.  A score is the example's weight times the distance of
 * its dual variable from the best for the present weights, scaled for the length of its features. */
static void sum_scores(const solver *s, double *sums) {
  double sum = 0;
  for (int64_t i = 0; i < s->batch.n; i++) {
    const sdca_margin m = weft__sdca_margin(&s->batch, i, s->shrink, s->partitions);
    const double dual = (double)s->batch.state[STATE_WIDTH * i + STATE_DUAL];
    const double residue = fabs(dual + s->loss->slope(m.before, s->labels[i]));
    const double score = (double)s->batch.weights[i] * residue * sqrt(s->loss->smoothness + m.norm / s->l2);
    if (isfinite(score) && score > 0) sum += score;
    sums[i] = sum;
  }
  if (sum > 0 && isfinite(sum)) return;
  for (int64_t i = 0; i < s->batch.n; i++) sums[i] = (double)(i + 1); /* all alike */
}

static int64_t draw_example(philox_reader *r, const double *sums, int64_t n) {
  const double at = weft__philox_double(r) * sums[n - 1];
  int64_t low = 0, high = n - 1; /* the first sum above `at` is in low .. high */
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (sums[middle] > at)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* An example that was drawn before is drawn again now and then; otherwise the draw is rejected.  After n rejections the
 * rest of the order is example 0, as TensorFlow's results show. */
static weft_err draw_order(const solver *s, philox_reader *r) {
  const int64_t n = s->batch.n;
  double *sums = weft__alloc_zero((size_t)n + 1, sizeof *sums);
  double *chance = weft__alloc_zero((size_t)n + 1, sizeof *chance); /* of being taken when drawn */
  const weft_err err = sums && chance ? WEFT_OK : WEFT_OOM;
  if (!err) {
    sum_scores(s, sums);
    for (int64_t i = 0; i < n; i++) chance[i] = 1;
    for (int64_t i = 0, rejected = 0; i < n; i++) {
      s->order[i] = 0;
      for (bool taken = false; !taken && rejected < n; rejected += !taken) {
        const int64_t drawn = draw_example(r, sums, n);
        taken = chance[drawn] == 1 || weft__philox_double(r) < chance[drawn];
        if (!taken) continue;
        s->order[i] = drawn;
        chance[drawn] /= REPEAT;
      }
    }
  }
  weft__free(sums);
  weft__free(chance);
  return err;
}

static weft_err choose_order(const kernel *k, solver *s) {
  const int64_t n = s->batch.n;
  s->order = weft__alloc_zero((size_t)n + 1, sizeof *s->order);
  if (!s->order) return WEFT_OOM;
  if (n < 2) return WEFT_OK;
  philox gen;
  WEFT_TRY(weft__random_take(k, (uint64_t)n * 3, &gen)); /* at most 4 n numbers of two words each */
  philox_reader reader = weft__philox_reader(gen);
  const bool adaptive = weft__node_bool(k->node, "adaptive", false) || weft__node_bool(k->node, "adaptative", false);
  if (adaptive) return draw_order(s, &reader);
  shuffle_examples(&reader, s->order, n);
  return WEFT_OK;
}

/* ---- steps ---- */

static void step_example(const solver *s, int64_t i) {
  const sdca_margin m = weft__sdca_margin(&s->batch, i, s->shrink, s->partitions);
  float *state = s->batch.out_state + STATE_WIDTH * i;
  const double weight = (double)s->batch.weights[i], label = s->labels[i], dual = (double)state[STATE_DUAL];
  const sdca_point p = {
      .label = label, .dual = dual, .margin = m.now, .slope = s->partitions * weight * m.norm / s->l2};
  const double best = s->loss->update(&p);
  weft__sdca_add(&s->batch, i, (best - dual) * weight / s->l2);
  state[STATE_DUAL] = (float)best;
  state[STATE_PRIMAL_LOSS] = (float)(weight * s->loss->primal(m.before, label));
  state[STATE_DUAL_LOSS] = (float)(weight * s->loss->dual(dual, label));
  state[STATE_WEIGHT] = (float)weight;
}

static weft_err sdca_read_labels(const kernel *k, solver *s) {
  s->labels = weft__alloc_zero((size_t)s->batch.n + 1, sizeof *s->labels);
  if (!s->labels) return WEFT_OOM;
  for (int64_t i = 0; i < s->batch.n; i++) {
    s->labels[i] = (double)s->batch.labels[i];
    const char *wrong = s->loss->label(&s->labels[i]);
    if (wrong) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s%g", wrong, s->labels[i]);
  }
  return WEFT_OK;
}

static weft_err solve(kernel *k, solver *s) {
  int partitions = 0, inner = 0;
  WEFT_TRY(weft__kernel_in(
      k, weft__int_of(&partitions, weft__node_int(k->node, "num_loss_partitions", 1), "num_loss_partitions")));
  WEFT_TRY(weft__kernel_in(
      k, weft__int_of(&inner, weft__node_int(k->node, "num_inner_iterations", 1), "num_inner_iterations")));
  s->loss = weft__sdca_loss(weft__node_str(k->node, "loss_type").data);
  if (!s->loss)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Unsupported loss type: %s",
                             weft__node_str(k->node, "loss_type").data);
  s->l2 = (double)weft__node_float(k->node, "l2", 0);
  s->shrink = (double)weft__node_float(k->node, "l1", 0) / s->l2;
  s->partitions = partitions;
  WEFT_TRY(weft__sdca_batch_init(&s->batch, k));
  WEFT_TRY(sdca_read_labels(k, s));
  WEFT_TRY(choose_order(k, s));
  long_work work = weft__long_work(k);
  const int64_t cost = LONG_WORK_PIECE / EXAMPLES_PER_CHECK;
  for (int64_t i = 0, spent = 0; i < s->batch.n && !weft__long_work_spent(&work, &spent, cost); i++)
    step_example(s, s->order[i]);
  return weft__long_work_end(&work);
}

static weft_err sdca_cpu(kernel *k) {
  solver s = {0};
  const weft_err err = solve(k, &s);
  weft__sdca_batch_finish(&s.batch);
  weft__free(s.labels);
  weft__free(s.order);
  return err;
}

static weft_err sdca_infer(infer *s) {
  s->out[0] = SHAPE2(-1, STATE_WIDTH);
  int weights = 0, sparse = 0, dense = 0;
  WEFT_TRY(weft__node_in_range(s->node, "sparse_weights", &weights, &sparse));
  for (int i = 0; i < sparse; i++) s->out[1 + i] = s->in[weights + i];
  WEFT_TRY(weft__node_in_range(s->node, "dense_weights", &weights, &dense));
  for (int i = 0; i < dense; i++) s->out[1 + sparse + i] = s->in[weights + i];
  return WEFT_OK;
}

/* ---- cases ----
 * Examples without a common feature do not depend on one another, so their order does not show. */

#define ATTRS(loss, more)                                                                                              \
  "loss_type='" loss "' num_sparse_features=1 num_sparse_features_with_values=1 num_dense_features=1 "                 \
  "num_inner_iterations=2 " more
#define PLAIN(loss) ATTRS(loss, "l1=0.0 l2=.5 num_loss_partitions=1")
#define BATCH(labels) "i64[2] 0 1; i64[2] 7 3; f32[2] .5 2; f32[2,2] 1 0 0 3; f32[2] 1.5 .5; f32[2] " labels
#define WEIGHTS "; i64[3] 3 5 7; f32[3] .3 .1 -.2; f32[2] .4 -.1; "
#define CASE(labels, state, attrs)                                                                                     \
  { BATCH(labels) WEIGHTS state, NULL, attrs, CASE_FIXED_TYPE }
#define BAD(labels, state, attrs)                                                                                      \
  { BATCH(labels) WEIGHTS state, "error INVALID_ARGUMENT", attrs, CASE_FIXED_TYPE }
#define FRESH "f32[2,4] 0"
#define BINARY "f32[2,4] .3 1 2 3 -.6 0 0 0"

static const op_case sdca_cases[] = {
    CASE("0 1", FRESH, PLAIN("logistic_loss")),
    CASE("1 0", BINARY, PLAIN("logistic_loss")),
    CASE("1.5 -2", FRESH, PLAIN("squared_loss")),
    CASE("1.5 -2", BINARY, ATTRS("squared_loss", "l1=.1 l2=2.0 num_loss_partitions=3")),
    CASE("0 1", FRESH, PLAIN("hinge_loss")),
    CASE("1 0", BINARY, ATTRS("hinge_loss", "l1=.1 l2=2.0 num_loss_partitions=3")),
    CASE("0 1", FRESH, PLAIN("smooth_hinge_loss")),
    CASE("1 0", BINARY, ATTRS("smooth_hinge_loss", "l1=.1 l2=2.0 num_loss_partitions=3")),
    CASE("0 3", FRESH, PLAIN("poisson_loss")),
    CASE("2 .5", BINARY, ATTRS("poisson_loss", "l1=.1 l2=2.0 num_loss_partitions=3")),
    {"i64[0]; i64[0]; f32[0]; f32[0,2]; f32[0]; f32[0]; i64[0]; f32[1]; f32[2]; f32[0,4]", NULL, PLAIN("squared_loss"),
     CASE_FIXED_TYPE},
    BAD("0 2", FRESH, PLAIN("logistic_loss")),
    BAD("0 -1", FRESH, PLAIN("poisson_loss")),
    BAD("0 1", "f32[2,3] 0", PLAIN("squared_loss")),
    BAD("0 1", "f32[8] 0", PLAIN("squared_loss")),
    {0},
};

#define DEF(name, adaptive)                                                                                            \
  name "(sparse_example_indices:num_sparse_features*int64, sparse_feature_indices:num_sparse_features*int64, "         \
       "sparse_feature_values:num_sparse_features_with_values*float, dense_features:num_dense_features*float, "        \
       "example_weights:float, example_labels:float, sparse_indices:num_sparse_features*int64, "                       \
       "sparse_weights:num_sparse_features*float, dense_weights:num_dense_features*float, example_state_data:float) "  \
       "-> (out_example_state_data:float, out_delta_sparse_weights:num_sparse_features*float, "                        \
       "out_delta_dense_weights:num_dense_features*float) | loss_type:string{'logistic_loss','squared_loss',"          \
       "'hinge_loss','smooth_hinge_loss','poisson_loss'} " adaptive                                                    \
       ":bool=false num_sparse_features:int>=0 num_sparse_features_with_values:int>=0 num_dense_features:int>=0 "      \
       "l1:float l2:float num_loss_partitions:int>=1 num_inner_iterations:int>=1"
#define ROW(name, adaptive, doc_)                                                                                      \
  {                                                                                                                    \
    DEF(name, adaptive), doc_, .flags = OP_NO_FOLD, .infer = sdca_infer, .cpu = sdca_cpu,                              \
                               .prepare = weft__random_prepare, .unprepare = weft__random_unprepare, .no_grad = true,  \
                               .cases = sdca_cases                                                                     \
  }

OPS(sdca) = {
    ROW("SdcaOptimizer", "adaptative", "The changes that one pass of dual coordinate ascent makes to a linear model."),
    ROW("SdcaOptimizerV2", "adaptive", "The changes that one pass of dual coordinate ascent makes to a linear model."),
    {0},
};
