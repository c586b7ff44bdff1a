/* tree_split.c - scores the sides of splits. */
#include "kernels/training/tree_split.h"

#include "base/alloc.h"
#include <math.h>
#include <string.h>

weft_err weft__tree_search_create(tree_split_search *s, const tree_split_limits *limits, int64_t logits, int64_t stats,
                                  long_work *work) {
  *s = (tree_split_search){.limits = limits, .logits = logits, .stats = stats, .work = work};
  if (logits < 1 || logits > TREE_STATS_MAX || stats > TREE_STATS_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%lld logits with statistics of %lld numbers: at most %d are supported",
                      (long long)logits, (long long)stats, TREE_STATS_MAX);
  s->full = stats != 2 * logits;
  if (s->full && stats != logits + logits * logits)
    return weft__fail(WEFT_INVALID_ARGUMENT, "statistics of %lld logits must have %lld or %lld numbers, but have %lld",
                      (long long)logits, (long long)(2 * logits), (long long)(logits + logits * logits),
                      (long long)stats);
  const int64_t doubles = 5 * stats + 2 * logits + (s->full ? logits * logits : 0);
  s->memory = weft__alloc_zero((size_t)doubles, sizeof(double));
  float *outputs = s->memory ? weft__alloc_zero((size_t)(2 * logits), sizeof(float)) : NULL;
  if (!outputs) return WEFT_OOM;
  double *at = s->memory;
  s->total = at, s->missing = at += stats, s->left = at += stats, s->part[0] = at += stats, s->part[1] = at += stats;
  s->output[0] = at += stats, s->output[1] = at += logits, s->matrix = at + logits;
  s->best_output[0] = outputs, s->best_output[1] = outputs + logits;
  return WEFT_OK;
}

void weft__tree_search_finish(tree_split_search *s) {
  weft__free(s->memory), weft__free(s->best_output[0]);
  s->memory = NULL, s->best_output[0] = NULL;
}

static double soft(double g, double l1) { return g > l1 ? g - l1 : g < -l1 ? g + l1 : 0; }

/* Solves (H + l2) w = -g by Cholesky's method: x has g and becomes w.  Returns false if the matrix is not positive
 * definite, or if the step has ended. */
static bool solve(tree_split_search *s, const double *hessian, double *x) {
  const int64_t n = s->logits;
  double *a = s->matrix;
  for (int64_t i = 0; i < n; i++) {
    if (weft__long_work_spent(s->work, &s->spent, n * (i + 1))) return false;
    for (int64_t j = 0; j <= i; j++) {
      double sum = hessian[i * n + j] + (i == j ? s->limits->l2 : 0);
      for (int64_t p = 0; p < j; p++) sum -= a[i * n + p] * a[j * n + p];
      if (i == j && !(sum > 0)) return false;
      a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
    }
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t p = 0; p < i; p++) x[i] -= a[i * n + p] * x[p];
    x[i] /= a[i * n + i];
  }
  for (int64_t i = n - 1; i >= 0; i--) {
    for (int64_t p = i + 1; p < n; p++) x[i] -= a[p * n + i] * x[p];
    x[i] /= a[i * n + i];
  }
  for (int64_t i = 0; i < n; i++) x[i] = -x[i];
  return true;
}

/* Returns the score of these sums and stores the best output; both are 0 where the hessian gives none. */
static double score(tree_split_search *s, const double *sums, double *output) {
  const double l1 = s->limits->l1, l2 = s->limits->l2;
  const double *hessian = sums + s->logits;
  double result = 0;
  for (int64_t d = 0; d < s->logits; d++) {
    const double g = soft(sums[d], l1);
    if (s->full) {
      output[d] = g;
      continue;
    }
    const double h = hessian[d] + l2;
    output[d] = h > 0 ? -g / h : 0;
    result -= g * output[d];
  }
  if (!s->full) return result;
  if (!solve(s, hessian, output)) return memset(output, 0, (size_t)s->logits * sizeof *output), 0;
  for (int64_t d = 0; d < s->logits; d++) result -= soft(sums[d], l1) * output[d];
  return result;
}

static double mean_weight(const tree_split_search *s, const double *sums) {
  double sum = 0;
  for (int64_t d = 0; d < s->logits; d++) sum += sums[s->logits + (s->full ? d * (s->logits + 1) : d)];
  return sum / (double)s->logits;
}

static bool is_empty(const double *sums, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (sums[i] != 0) return false;
  return true;
}

void weft__tree_search_begin(tree_split_search *s, int64_t feature, int64_t dimension) {
  s->feature = feature, s->dimension = dimension;
  memset(s->left, 0, (size_t)s->stats * sizeof *s->left);
  s->some_missing = !is_empty(s->missing, s->stats);
  s->root = score(s, s->total, s->output[0]);
}

/* Scores the two parts, and keeps them if they are the best. */
static void try_parts(tree_split_search *s, int64_t threshold, tree_direction direction) {
  double gain = -s->root - s->limits->complexity;
  for (int side = 0; side < 2; side++) {
    if (is_empty(s->part[side], s->stats) || mean_weight(s, s->part[side]) < s->limits->min_weight) return;
    gain += score(s, s->part[side], s->output[side]);
  }
  if (!isfinite(gain) || (s->best.found && gain <= s->best.gain)) return;
  s->best = (tree_split_best){true, s->feature, s->dimension, threshold, gain, direction};
  for (int side = 0; side < 2; side++)
    for (int64_t d = 0; d < s->logits; d++) s->best_output[side][d] = (float)s->output[side][d];
}

static void set_parts(tree_split_search *s, bool missing_left) {
  weft__long_work_spent(s->work, &s->spent, 8 * s->stats);
  for (int64_t i = 0; i < s->stats; i++) {
    s->part[0][i] = s->left[i] + (missing_left ? s->missing[i] : 0);
    s->part[1][i] = s->total[i] - s->part[0][i];
  }
}

void weft__tree_search_below(tree_split_search *s, int64_t threshold) {
  set_parts(s, true);
  try_parts(s, threshold, TREE_DEFAULT_LEFT);
  if (!s->some_missing) return;
  set_parts(s, false);
  try_parts(s, threshold, TREE_DEFAULT_RIGHT);
}

void weft__tree_search_equal(tree_split_search *s, int64_t bucket) {
  set_parts(s, false);
  try_parts(s, bucket, TREE_EQUALITY);
}
