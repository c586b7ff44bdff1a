/* tree_splits.c - the best splits of nodes by sums of gradients and hessians (kernels/training/tree_split.h). */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/op.h"
#include "kernels/training/tree_args.h"
#include "kernels/training/tree_split.h"
#include <stdlib.h>
#include <string.h>

/* The splits that were found, in the order of their nodes. */
typedef struct split_list {
  int64_t n, logits;
  int32_t *node;
  tree_split_best *best;
  float *left, *right; /* [n, logits] */
} split_list;

static weft_err split_list_alloc(split_list *l, int64_t nodes, int64_t logits) {
  *l = (split_list){.logits = logits};
  l->node = weft__alloc((size_t)(nodes + 1) * sizeof *l->node);
  l->best = weft__alloc((size_t)(nodes + 1) * sizeof *l->best);
  l->left = weft__alloc_zero((size_t)(nodes + 1) * (size_t)logits, sizeof *l->left);
  l->right = weft__alloc_zero((size_t)(nodes + 1) * (size_t)logits, sizeof *l->right);
  return l->node && l->best && l->left && l->right ? WEFT_OK : WEFT_OOM;
}

static void split_list_clear(split_list *l) {
  weft__free(l->node), weft__free(l->best), weft__free(l->left), weft__free(l->right);
}

/* Adds the best split of a node, if there is one. */
static void split_list_add(split_list *l, int64_t node, const tree_split_search *s) {
  if (!s->best.found) return;
  l->node[l->n] = weft__int_sat(node);
  l->best[l->n] = s->best;
  memcpy(l->left + l->n * l->logits, s->best_output[0], (size_t)l->logits * sizeof *l->left);
  memcpy(l->right + l->n * l->logits, s->best_output[1], (size_t)l->logits * sizeof *l->right);
  l->n++;
}

/* The statistics of a feature: [nodes, dims, buckets, stats].  With some_missing the last bucket has missing values. */
typedef struct feature_stats {
  const float *sums;
  int64_t nodes, dims, buckets, stats;
  bool some_missing, equality;
} feature_stats;

/* ---- arguments ---- */

/* Reads l1, l2, tree_complexity and min_node_weight, which begin at input i. */
static weft_err limits_read(const kernel *k, int i, tree_split_limits *limits) {
  WEFT_TRY(weft__tree_float(k, i, "l1", 0, &limits->l1));
  WEFT_TRY(weft__tree_float(k, i + 1, "l2", 0, &limits->l2));
  WEFT_TRY(weft__tree_float(k, i + 2, "tree_complexity", 0, &limits->complexity));
  return weft__tree_float(k, i + 3, "min_node_weight", 0, &limits->min_weight);
}

/* Reads the range of nodes, which must be within `nodes`. */
static weft_err range_read(const kernel *k, int64_t nodes, int64_t *begin, int64_t *end) {
  WEFT_TRY(weft__tree_vector(k, 0, "node_id_range", 2));
  *begin = TENSOR_DATA(k->in[0], int32_t)[0], *end = TENSOR_DATA(k->in[0], int32_t)[1];
  if (*begin >= 0 && *begin <= *end && *end <= nodes) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "node_id_range is [%lld, %lld), but there are statistics of %lld nodes", (long long)*begin,
                           (long long)*end, (long long)nodes);
}

/* Reads input i as the statistics of a feature. */
static weft_err stats_of_feature(const kernel *k, int i, feature_stats *f) {
  const shape *s = &k->in[i]->shape;
  if (s->rank != 4)
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "the statistics of a feature must have the shape [nodes, dims, buckets, stats], but have %s",
        weft__shape_text(s));
  *f = (feature_stats){k->in[i]->data, s->dim[0], s->dim[1], s->dim[2], s->dim[3], true, false};
  return WEFT_OK;
}

/* ---- searching ---- */

/* Sets total and missing to those of a node's dimension; returns its sums. */
static const float *dense_totals(tree_split_search *s, const feature_stats *f, int64_t node, int64_t dim) {
  const float *from = f->sums + (node * f->dims + dim) * f->buckets * f->stats;
  memset(s->total, 0, (size_t)f->stats * sizeof *s->total);
  memset(s->missing, 0, (size_t)f->stats * sizeof *s->missing);
  for (int64_t b = 0; b < f->buckets; b++)
    for (int64_t d = 0; d < f->stats; d++) {
      const double v = (double)from[b * f->stats + d];
      s->total[d] += v;
      if (f->some_missing && b == f->buckets - 1) s->missing[d] = v;
    }
  return from;
}

/* Tries all splits of a node by a dimension of the feature. */
static void search_dim(tree_split_search *s, const feature_stats *f, int64_t node, int64_t feature, int64_t dim) {
  const float *from = dense_totals(s, f, node, dim);
  weft__tree_search_begin(s, feature, dim);
  const int64_t values = f->some_missing ? f->buckets - 1 : f->buckets;
  for (int64_t b = 0; b < values && !weft__long_work_is_over(s->work); b++) {
    for (int64_t d = 0; d < f->stats; d++) {
      const double v = (double)from[b * f->stats + d];
      s->left[d] = f->equality ? v : s->left[d] + v;
    }
    if (f->equality)
      weft__tree_search_equal(s, b);
    else
      weft__tree_search_below(s, b);
  }
}

/* Finds the best split of each node in [begin, end) by any of the features. */
static weft_err search_nodes(kernel *k, tree_split_search *s, const feature_stats *f, int64_t features, int64_t begin,
                             int64_t end, split_list *found) {
  for (int64_t node = begin; node < end; node++) {
    weft__tree_search_node(s);
    for (int64_t i = 0; i < features; i++)
      for (int64_t dim = 0; dim < f[i].dims && !weft__long_work_is_over(s->work); dim++)
        search_dim(s, &f[i], node, i, dim);
    split_list_add(found, node, s);
  }
  return weft__kernel_in(k, weft__long_work_end(s->work));
}

static weft_err search_dense(kernel *k, const feature_stats *f, int64_t features, const tree_split_limits *limits,
                             int64_t logits, split_list *found) {
  int64_t begin = 0, end = 0;
  tree_split_search s;
  long_work work = weft__long_work(k);
  WEFT_TRY(range_read(k, f->nodes, &begin, &end));
  weft_err err = weft__kernel_in(k, weft__tree_search_create(&s, limits, logits, f->stats, &work));
  if (!err) err = split_list_alloc(found, end - begin, logits);
  if (!err) err = search_nodes(k, &s, f, features, begin, end, found);
  weft__tree_search_finish(&s);
  return err;
}

/* ---- outputs ---- */

static weft_err out_ints(kernel *k, int i, int64_t n, int32_t **to) {
  weft_tensor *out = weft__out(k, i, &SHAPE1(n));
  if (!out) return WEFT_OOM;
  *to = out->data;
  return WEFT_OK;
}

static weft_err out_matrix(kernel *k, int i, const split_list *l, const float *from) {
  weft_tensor *out = weft__out(k, i, &SHAPE2(l->n, l->logits));
  if (!out) return WEFT_OOM;
  if (l->n) memcpy(out->data, from, weft__tensor_bytes(out));
  return WEFT_OK;
}

/* Writes node ids to output `node`, and gains to output `gain`. */
static weft_err out_nodes(kernel *k, int node, int gain, const split_list *l) {
  int32_t *ids = NULL;
  WEFT_TRY(out_ints(k, node, l->n, &ids));
  weft_tensor *gains = weft__out(k, gain, &SHAPE1(l->n));
  if (!gains) return WEFT_OOM;
  for (int64_t i = 0; i < l->n; i++) {
    ids[i] = l->node[i];
    TENSOR_DATA(gains, float)[i] = (float)l->best[i].gain;
  }
  return WEFT_OK;
}

/* Writes dimensions, thresholds, contributions and directions to the outputs from `at` on. */
static weft_err out_splits(kernel *k, int at, const split_list *l) {
  static const char *const names[] = {
      [TREE_DEFAULT_LEFT] = "inequality_default_left",
      [TREE_DEFAULT_RIGHT] = "inequality_default_right",
      [TREE_EQUALITY] = "equality_default_right",
  };
  int32_t *dims = NULL, *thresholds = NULL;
  WEFT_TRY(out_ints(k, at, l->n, &dims));
  WEFT_TRY(out_ints(k, at + 1, l->n, &thresholds));
  WEFT_TRY(out_matrix(k, at + 2, l, l->left));
  WEFT_TRY(out_matrix(k, at + 3, l, l->right));
  weft_tensor *types = weft__out(k, at + 4, &SHAPE1(l->n));
  if (!types) return WEFT_OOM;
  for (int64_t i = 0; i < l->n; i++) {
    const char *name = names[l->best[i].direction];
    dims[i] = weft__int_sat(l->best[i].dimension);
    thresholds[i] = weft__int_sat(l->best[i].threshold);
    WEFT_TRY(weft__str_set(&TENSOR_DATA(types, str)[i], name, strlen(name)));
  }
  return WEFT_OK;
}

/* ---- the kernels ---- */

static weft_err best_split_cpu(kernel *k) {
  feature_stats f;
  tree_split_limits limits;
  split_list found = {0};
  WEFT_TRY(stats_of_feature(k, 1, &f));
  WEFT_TRY(limits_read(k, 2, &limits));
  f.equality = weft__node_str_is(k->node, "split_type", "equality");
  weft_err err = search_dense(k, &f, 1, &limits, weft__node_int(k->node, "logits_dimension", 1), &found);
  if (!err) err = out_nodes(k, 0, 1, &found);
  if (!err) err = out_splits(k, 2, &found);
  split_list_clear(&found);
  return err;
}

static weft_err read_features(const kernel *k, int first, int count, feature_stats *f) {
  WEFT_TRY(weft__tree_vector(k, first + count, "split_types", count));
  WEFT_TRY(weft__tree_vector(k, first + count + 1, "candidate_feature_ids", count));
  const str *type = k->in[first + count]->data;
  for (int i = 0; i < count; i++) {
    WEFT_TRY(stats_of_feature(k, first + i, &f[i]));
    f[i].equality = type[i].size == 8 && !memcmp(type[i].data, "equality", 8);
    if (!f[i].equality && (type[i].size != 10 || memcmp(type[i].data, "inequality", 10) != 0))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "split_types[%d] is '%.*s', but must be inequality or equality", i,
                               weft__int_sat(type[i].size), type[i].size ? type[i].data : "");
    if (f[i].nodes != f->nodes || f[i].stats != f->stats)
      return weft__kernel_fail(
          k, WEFT_INVALID_ARGUMENT,
          "the statistics of all features must have as many nodes and numbers as the first, %s, but "
          "those of feature %d have the shape %s",
          weft__shape_text(&k->in[first]->shape), i, weft__shape_text(&k->in[first + i]->shape));
  }
  return WEFT_OK;
}

static weft_err best_split_v2_cpu(kernel *k) {
  int first = 0, count = 0;
  tree_split_limits limits;
  split_list found = {0};
  WEFT_TRY(weft__tree_list(k, "stats_summaries_list", &first, &count));
  feature_stats *f = weft__alloc((size_t)(count + 1) * sizeof *f);
  if (!f) return WEFT_OOM;
  weft_err err = read_features(k, first, count, f);
  if (!err) err = limits_read(k, first + count + 2, &limits);
  if (!err) err = search_dense(k, f, count, &limits, weft__node_int(k->node, "logits_dimension", 1), &found);
  int32_t *ids = NULL;
  if (!err) err = out_nodes(k, 0, 1, &found);
  if (!err) err = out_ints(k, 2, found.n, &ids);
  for (int64_t i = 0; i < found.n && !err; i++)
    ids[i] = TENSOR_DATA(k->in[first + count + 1], int32_t)[found.best[i].feature];
  if (!err) err = out_splits(k, 3, &found);
  split_list_clear(&found);
  weft__free(f);
  return err;
}

static weft_err gains_of_feature(kernel *k, int i, int count, const tree_split_limits *limits) {
  const shape *s = &k->in[1 + i]->shape;
  split_list found = {0};
  int32_t *thresholds = NULL;
  if (s->rank != 3 || s->dim[2] != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "stats_summary_list[%d] must have the shape [max_splits, buckets, 2], but has %s", i,
                             weft__shape_text(s));
  const feature_stats f = {k->in[1 + i]->data, s->dim[0], 1, s->dim[1], 2, false, false};
  weft_err err = search_dense(k, &f, 1, limits, 1, &found);
  if (!err) err = out_nodes(k, i, count + i, &found);
  if (!err) err = out_ints(k, 2 * count + i, found.n, &thresholds);
  for (int64_t j = 0; j < found.n && !err; j++) thresholds[j] = weft__int_sat(found.best[j].threshold);
  if (!err) err = out_matrix(k, 3 * count + i, &found, found.left);
  if (!err) err = out_matrix(k, 4 * count + i, &found, found.right);
  split_list_clear(&found);
  return err;
}

static weft_err best_gains_cpu(kernel *k) {
  tree_split_limits limits;
  int first = 0, count = 0;
  WEFT_TRY(weft__tree_list(k, "stats_summary_list", &first, &count));
  WEFT_TRY(limits_read(k, first + count, &limits));
  for (int i = 0; i < count; i++) WEFT_TRY(gains_of_feature(k, i, count, &limits));
  return WEFT_OK;
}

/* ---- sparse statistics ---- */

typedef struct sparse_sum {
  int32_t at[4]; /* node, dimension, bucket, number */
  float value;
} sparse_sum;

static int compare_sums(const void *a, const void *b) {
  const sparse_sum *x = a, *y = b;
  for (int i = 0; i < 4; i++)
    if (x->at[i] != y->at[i]) return x->at[i] < y->at[i] ? -1 : 1;
  return 0;
}

/* Reads the sums, checks that they are within dims[4], and sorts them. */
static weft_err sparse_sums_read(const kernel *k, const int32_t *dims, sparse_sum *sum, int64_t n) {
  const volatile int32_t *index = k->in[1]->data;
  for (int64_t i = 0; i < n; i++) {
    for (int d = 0; d < 4; d++) {
      sum[i].at[d] = index[4 * i + d];
      if (sum[i].at[d] < 0 || sum[i].at[d] >= dims[d])
        return weft__kernel_fail(
            k, WEFT_INVALID_ARGUMENT,
            "stats_summary_indices[%lld, %d] is %d, but must be in [0, %d), as stats_summary_shape says", (long long)i,
            d, sum[i].at[d], dims[d]);
    }
    sum[i].value = TENSOR_DATA(k->in[2], float)[i];
  }
  qsort(sum, (size_t)n, sizeof *sum, compare_sums);
  return WEFT_OK;
}

/* Tries all splits by the dimension whose sums are those in [begin, end); only buckets that occur are tried. */
static void search_sparse_dim(tree_split_search *s, const sparse_sum *sum, int64_t begin, int64_t end,
                              int32_t buckets) {
  memset(s->total, 0, (size_t)s->stats * sizeof *s->total);
  memset(s->missing, 0, (size_t)s->stats * sizeof *s->missing);
  for (int64_t i = begin; i < end; i++) {
    s->total[sum[i].at[3]] += (double)sum[i].value;
    if (sum[i].at[2] == buckets - 1) s->missing[sum[i].at[3]] += (double)sum[i].value;
  }
  weft__tree_search_begin(s, 0, sum[begin].at[1]);
  for (int64_t i = begin; i < end && sum[i].at[2] < buckets - 1 && !weft__long_work_is_over(s->work);) {
    const int32_t bucket = sum[i].at[2];
    for (; i < end && sum[i].at[2] == bucket; i++) s->left[sum[i].at[3]] += (double)sum[i].value;
    weft__tree_search_below(s, bucket);
  }
}

static weft_err search_sparse(kernel *k, tree_split_search *s, const sparse_sum *sum, int64_t n, const int64_t *range,
                              split_list *found) {
  const int32_t buckets = TENSOR_DATA(k->in[3], int32_t)[2];
  for (int64_t i = 0; i < n;) {
    const int32_t node = sum[i].at[0];
    weft__tree_search_node(s);
    for (int64_t end; i < n && sum[i].at[0] == node; i = end) {
      for (end = i; end < n && sum[end].at[0] == node && sum[end].at[1] == sum[i].at[1];) end++;
      if (node >= range[0] && node < range[1] && !weft__long_work_is_over(s->work))
        search_sparse_dim(s, sum, i, end, buckets);
    }
    split_list_add(found, node, s);
  }
  return weft__kernel_in(k, weft__long_work_end(s->work));
}

static weft_err sparse_args(const kernel *k, int64_t *n, int32_t *dims, int64_t *range) {
  const shape *index = &k->in[1]->shape;
  if (index->rank != 2 || index->dim[1] != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "stats_summary_indices must be a matrix of four columns, but its shape is %s",
                             weft__shape_text(index));
  *n = index->dim[0];
  WEFT_TRY(weft__tree_vector(k, 2, "stats_summary_values", *n));
  WEFT_TRY(weft__tree_vector(k, 3, "stats_summary_shape", 4));
  memcpy(dims, k->in[3]->data, 4 * sizeof *dims);
  return range_read(k, dims[0], &range[0], &range[1]);
}

static weft_err sparse_best_split_cpu(kernel *k) {
  int64_t n = 0, range[2];
  int32_t dims[4];
  tree_split_limits limits;
  tree_split_search s = {0};
  split_list found = {0};
  long_work work = weft__long_work(k);
  const int64_t logits = weft__node_int(k->node, "logits_dimension", 1);
  WEFT_TRY(sparse_args(k, &n, dims, range));
  WEFT_TRY(limits_read(k, 4, &limits));
  weft_err err = weft__kernel_in(k, weft__tree_search_create(&s, &limits, logits, dims[3], &work));
  sparse_sum *sum = err ? NULL : weft__alloc((size_t)(n + 1) * sizeof *sum);
  if (!err && !sum) err = WEFT_OOM;
  /* A node that has a split has sums, so there are at most as many as sums. */
  if (!err) err = split_list_alloc(&found, range[1] - range[0] < n ? range[1] - range[0] : n, logits);
  if (!err) err = sparse_sums_read(k, dims, sum, n);
  if (!err) err = search_sparse(k, &s, sum, n, range, &found);
  if (!err) err = out_nodes(k, 0, 1, &found);
  if (!err) err = out_splits(k, 2, &found);
  split_list_clear(&found);
  weft__tree_search_finish(&s);
  weft__free(sum);
  return err;
}

static weft_err best_split_infer(infer *s) {
  return weft__tree_infer_dims(s, (const char *const[]){"?", "?", "?", "?", "?L", "?L", "?"});
}
static weft_err best_split_v2_infer(infer *s) {
  return weft__tree_infer_dims(s, (const char *const[]){"?", "?", "?", "?", "?", "?L", "?L", "?"});
}
static weft_err best_gains_infer(infer *s) {
  return weft__tree_infer_dims(s, (const char *const[]){"?", "?", "?", "?1", "?1"});
}

/* ---- cases ---- */

enum { OURS = CASE_NO_GRAD | CASE_NO_PARITY | CASE_FIXED_TYPE };
#define NO_LIMITS "; f32[] 0; f32[] 0; f32[] 0; f32[] 0"

/* Scores are G^2 / H: the node of (-1, 1), (3, 1) has 2, its sides 1 and 9. */
static const op_case best_gains_cases[] = {
    {"i32[2] 0 1; f32[1,2,2] -1 1 3 1" NO_LIMITS, "i32[1] 0; f32[1] 8; i32[1] 0; f32[1,1] 1; f32[1,1] -3",
     "max_splits=1 num_features=1", OURS},
    {"i32[2] 0 1; f32[1,2,2] -1 1 3 1; f32[] .5; f32[] 1; f32[] .25; f32[] 1",
     "i32[1] 0; f32[1] 2.25; i32[1] 0; f32[1,1] .25; f32[1,1] -1.25", "max_splits=1 num_features=1", OURS},
    {"i32[2] 0 1; f32[1,2,2] -1 1 3 1; f32[] 0; f32[] 0; f32[] 0; f32[] 1.5",
     "i32[0]; f32[0]; i32[0]; f32[0,1]; f32[0,1]", "max_splits=1 num_features=1", OURS},
    {"i32[2] 0 2; f32[1,2,2] -1 1 3 1" NO_LIMITS, "error INVALID_ARGUMENT", "max_splits=1 num_features=1", OURS},
    {"i32[2] -1 1; f32[1,2,2] -1 1 3 1" NO_LIMITS, "error INVALID_ARGUMENT", "max_splits=1 num_features=1", OURS},
    {"i32[2] 0 1; f32[1,2,3] -1 1 3 1" NO_LIMITS, "error INVALID_ARGUMENT", "max_splits=1 num_features=1", OURS},
    {"i32[2] 0 1; f32[1,2,2] -1 1 3 1; f32[] 0; f32[] -1; f32[] 0; f32[] 0", "error INVALID_ARGUMENT",
     "max_splits=1 num_features=1", OURS},
    {0},
};
/* The last bucket has the missing values. */
static const op_case best_split_cases[] = {
    {"i32[2] 0 1; f32[1,1,3,2] -1 1 3 1 0 0" NO_LIMITS,
     "i32[1] 0; f32[1] 8; i32[1] 0; i32[1] 0; f32[1,1] 1; f32[1,1] -3; str[1] \"inequality_default_left\"",
     "logits_dimension=1", OURS},
    {"i32[2] 0 1; f32[1,1,3,2] -1 1 3 1 6 2" NO_LIMITS,
     "i32[1] 0; f32[1] 12; i32[1] 0; i32[1] 0; f32[1,1] 1; f32[1,1] -3; str[1] \"inequality_default_right\"",
     "logits_dimension=1", OURS},
    {"i32[2] 0 1; f32[1,1,4,2] 3 1 -1 1 3 1 0 0" NO_LIMITS,
     "i32[1] 0; f32[1] 10.6666667; i32[1] 0; i32[1] 1; f32[1,1] 1; f32[1,1] -3; str[1] \"equality_default_right\"",
     "logits_dimension=1 split_type='equality'", OURS},
    {"i32[2] 0 1; f32[1,1,3,4] -1 0 1 2 3 0 1 2 0" NO_LIMITS,
     "i32[1] 0; f32[1] 8; i32[1] 0; i32[1] 0; f32[1,2] 1 0; f32[1,2] -3 0; str[1] \"inequality_default_left\"",
     "logits_dimension=2", OURS},
    {"i32[2] 0 1; f32[1,1,3,6] -1 0 1 0 0 2 3 0 1 0 0 2 0" NO_LIMITS,
     "i32[1] 0; f32[1] 8; i32[1] 0; i32[1] 0; f32[1,2] 1 0; f32[1,2] -3 0; str[1] \"inequality_default_left\"",
     "logits_dimension=2", OURS},
    {"i32[2] 0 1; f32[1,1,3,3] 0" NO_LIMITS, "error INVALID_ARGUMENT", "logits_dimension=1", OURS},
    {"i32[2] 0 1; f32[1,3,2] 0" NO_LIMITS, "error INVALID_ARGUMENT", "logits_dimension=1", OURS},
    {"i32[2] 0 1; f32[1,1,3,2] 0" NO_LIMITS, "error INVALID_ARGUMENT", "logits_dimension=9223372036854775807", OURS},
    {0},
};
static const op_case best_split_v2_cases[] = {
    {"i32[2] 0 1; f32[1,1,3,2] -1 1 3 1 0 0; f32[1,1,4,2] 1 1 0 .5 1 .5 0 0; str[2] \"inequality\" \"equality\"; "
     "i32[2] 7 9" NO_LIMITS,
     "i32[1] 0; f32[1] 8; i32[1] 7; i32[1] 0; i32[1] 0; f32[1,1] 1; f32[1,1] -3; str[1] \"inequality_default_left\"",
     "logits_dimension=1 num_features=2", OURS},
    {"i32[2] 0 1; f32[1,1,3,2] 0; f32[2,1,3,2] 0; str[2] \"inequality\"; i32[2] 7 9" NO_LIMITS,
     "error INVALID_ARGUMENT", "logits_dimension=1 num_features=2", OURS},
    {"i32[2] 0 1; f32[1,1,3,2] 0; str[1] \"other\"; i32[1] 7" NO_LIMITS, "error INVALID_ARGUMENT",
     "logits_dimension=1 num_features=1", OURS},
    {0},
};
static const op_case sparse_best_split_cases[] = {
    {"i32[2] 0 2; i32[4,4] 1 3 0 0 1 3 0 1 1 3 1 0 1 3 1 1; f32[4] -1 1 3 1; i32[4] 2 4 3 2" NO_LIMITS,
     "i32[1] 1; f32[1] 8; i32[1] 3; i32[1] 0; f32[1,1] 1; f32[1,1] -3; str[1] \"inequality_default_left\"",
     "logits_dimension=1", OURS},
    {"i32[2] 0 1; i32[1,4] 0 4 0 0; f32[1] 1; i32[4] 2 4 3 2" NO_LIMITS, "error INVALID_ARGUMENT", "logits_dimension=1",
     OURS},
    {"i32[2] 0 1; i32[1,4] 0 0 0 0; f32[1] 1; i32[4] 1 1 3 3" NO_LIMITS, "error INVALID_ARGUMENT", "logits_dimension=1",
     OURS},
    {"i32[2] 0 1; i32[1,4] 0 0 0 0; f32[2] 1; i32[4] 1 1 3 2" NO_LIMITS, "error INVALID_ARGUMENT", "logits_dimension=1",
     OURS},
    {0},
};

OPS(tree_splits) = {
    {"BoostedTreesCalculateBestGainsPerFeature(node_id_range:int32, stats_summary_list:num_features*float, "
     "l1:float, l2:float, tree_complexity:float, min_node_weight:float) -> (node_ids_list:num_features*int32, "
     "gains_list:num_features*float, thresholds_list:num_features*int32, "
     "left_node_contribs_list:num_features*float, right_node_contribs_list:num_features*float) | "
     "max_splits:int>=1 num_features:int>=1",
     "The best gain of every node per feature.", .infer = best_gains_infer, .cpu = best_gains_cpu,
     .cases = best_gains_cases},
    {"BoostedTreesCalculateBestFeatureSplit(node_id_range:int32, stats_summary:float, l1:float, l2:float, "
     "tree_complexity:float, min_node_weight:float) -> (node_ids:int32, gains:float, "
     "feature_dimensions:int32, thresholds:int32, left_node_contribs:float, right_node_contribs:float, "
     "split_with_default_directions:string) | logits_dimension:int>=1 "
     "split_type:string{'inequality','equality'}='inequality'",
     "The best split of every node by one feature.", .infer = best_split_infer, .cpu = best_split_cpu,
     .cases = best_split_cases},
    {"BoostedTreesCalculateBestFeatureSplitV2(node_id_range:int32, stats_summaries_list:num_features*float, "
     "split_types:string, candidate_feature_ids:int32, l1:float, l2:float, tree_complexity:float, "
     "min_node_weight:float) -> (node_ids:int32, gains:float, feature_ids:int32, feature_dimensions:int32, "
     "thresholds:int32, left_node_contribs:float, right_node_contribs:float, "
     "split_with_default_directions:string) | num_features:int>=1 logits_dimension:int>=1",
     "The best split of every node by any feature.", .infer = best_split_v2_infer, .cpu = best_split_v2_cpu,
     .cases = best_split_v2_cases},
    {"BoostedTreesSparseCalculateBestFeatureSplit(node_id_range:int32, stats_summary_indices:int32, "
     "stats_summary_values:float, stats_summary_shape:int32, l1:float, l2:float, tree_complexity:float, "
     "min_node_weight:float) -> (node_ids:int32, gains:float, feature_dimensions:int32, thresholds:int32, "
     "left_node_contribs:float, right_node_contribs:float, split_with_default_directions:string) | "
     "logits_dimension:int>=1 split_type:string{'inequality'}='inequality'",
     "The best split of every node by a sparse feature.", .infer = best_split_infer, .cpu = sparse_best_split_cpu,
     .cases = sparse_best_split_cases},
    {0},
};
