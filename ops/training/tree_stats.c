/* tree_stats.c - sums of gradients and hessians by node, feature dimension and bucket, from which trees choose their
 * splits. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/op.h"
#include "kernels/training/tree_args.h"
#include "kernels/work/long_work.h"
#include <stdlib.h>
#include <string.h>

/* A batch of examples, checked but for node ids and buckets: each of these is read once, when it is used, because the
 * tensor may lie in memory that another process writes to. */
typedef struct stats_batch {
  const volatile int32_t *node;
  const float *gradient, *hessian;
  int64_t examples, logits, hessians, splits;
} stats_batch;

static int64_t stats_of(const stats_batch *b) { return b->logits + b->hessians; }

/* Reads node_ids, gradients and hessians, and the attributes max_splits and num_buckets. */
static weft_err stats_read(const kernel *k, stats_batch *b, int64_t *buckets) {
  const shape *g = &k->in[1]->shape, *h = &k->in[2]->shape;
  WEFT_TRY(weft__tree_vector(k, 0, "node_ids", -1));
  *b = (stats_batch){k->in[0]->data, k->in[1]->data, k->in[2]->data, k->in[0]->shape.dim[0]};
  b->splits = weft__node_int(k->node, "max_splits", 1);
  *buckets = weft__node_int(k->node, "num_buckets", 1);
  if (b->splits < 1 || b->splits > INT32_MAX || *buckets < 1 || *buckets >= INT32_MAX)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "max_splits is %lld and num_buckets is %lld, but they must be positive and below 2^31",
                             (long long)b->splits, (long long)*buckets);
  if (g->rank != 2 || h->rank != 2 || g->dim[0] != b->examples || h->dim[0] != b->examples || g->dim[1] < 1 ||
      h->dim[1] < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "gradients and hessians must be matrices with a row for each of %lld node_ids, but their "
                             "shapes are %s and %s",
                             (long long)b->examples, weft__shape_text(g), weft__shape_text(h));
  b->logits = g->dim[1], b->hessians = h->dim[1];
  return WEFT_OK;
}

static void stats_add(const stats_batch *b, float *to, int64_t example) {
  const float *g = b->gradient + example * b->logits, *h = b->hessian + example * b->hessians;
  for (int64_t d = 0; d < b->logits; d++) to[d] += g[d];
  for (int64_t d = 0; d < b->hessians; d++) to[b->logits + d] += h[d];
}

/* ---- dense ---- */

/* The sums have the shape [splits, dims, buckets, stats], or with `feature_first` [dims, splits, buckets, stats].  A
 * thread has some of the dimensions to itself. */
typedef struct dense_job {
  stats_batch batch;
  tree_features features; /* dimension d of the sums is a dimension of one of these */
  int64_t dims, buckets;  /* with the bucket for missing values, if there is one */
  bool some_missing, feature_first;
  float *sums;
  atomic_llong bad; /* 1 + an example with a node or a bucket that is out of range; 0: none */
} dense_job;

static void dense_dims(void *arg, int64_t begin, int64_t end) {
  dense_job *j = arg;
  const stats_batch *b = &j->batch;
  const int64_t values = j->some_missing ? j->buckets - 1 : j->buckets, stats = stats_of(b);
  for (int64_t d = begin; d < end; d++) {
    const int64_t feature = j->feature_first ? d : 0, dim = j->feature_first ? 0 : d, dims = j->features.dims[feature];
    const volatile int32_t *bucket = j->features.bucket[feature];
    for (int64_t i = 0; i < b->examples; i++) {
      const int64_t node = b->node[i], found = bucket[i * dims + dim];
      if (node < 0 || node >= b->splits || found >= values || (found < 0 && !j->some_missing)) {
        atomic_store(&j->bad, i + 1);
        continue;
      }
      const int64_t at = found < 0 ? values : found;
      const int64_t row = j->feature_first ? d * b->splits + node : node * j->dims + d;
      stats_add(b, j->sums + (row * j->buckets + at) * stats, i);
    }
  }
}

static weft_err dense_run(kernel *k, dense_job *j, const shape *s) {
  weft_tensor *out = weft__out(k, 0, s);
  if (!out) return weft__out_refused(s);
  memset(out->data, 0, weft__tensor_bytes(out));
  j->sums = out->data;
  WEFT_TRY(weft__long_loop(k, j->dims, 1 + j->batch.examples * (2 + stats_of(&j->batch)), dense_dims, j));
  const int64_t bad = atomic_load(&j->bad) - 1;
  if (bad < 0) return WEFT_OK;
  return weft__kernel_fail(
      k, WEFT_INVALID_ARGUMENT,
      "example %lld is in node %d, which must be in [0, %lld), or has a bucket outside of [%d, %lld)", (long long)bad,
      j->batch.node[bad], (long long)j->batch.splits, j->some_missing ? -1 : 0,
      (long long)(j->some_missing ? j->buckets - 1 : j->buckets));
}

static weft_err aggregate_cpu(kernel *k) {
  dense_job j = {.some_missing = true};
  WEFT_TRY(stats_read(k, &j.batch, &j.buckets));
  const shape *f = &k->in[3]->shape;
  if (f->rank != 2 || f->dim[0] != j.batch.examples)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "feature must be a matrix with a row for each of %lld examples, but its shape is %s",
                             (long long)j.batch.examples, weft__shape_text(f));
  const int32_t *bucket = k->in[3]->data;
  j.buckets++;
  j.dims = f->dim[1];
  j.features = (tree_features){1, &bucket, &j.dims};
  return dense_run(k, &j, &SHAPE4(j.batch.splits, j.dims, j.buckets, stats_of(&j.batch)));
}

static weft_err make_stats_cpu(kernel *k) {
  dense_job j = {.feature_first = true};
  int first = 0, count = 0;
  WEFT_TRY(stats_read(k, &j.batch, &j.buckets));
  WEFT_TRY(weft__tree_list(k, "bucketized_features_list", &first, &count));
  if (j.batch.logits != 1 || j.batch.hessians != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "gradients and hessians must have one column, but have %lld and %lld (use "
                             "BoostedTreesAggregateStats)",
                             (long long)j.batch.logits, (long long)j.batch.hessians);
  for (int i = 0; i < count; i++)
    if (weft__tensor_count(k->in[first + i]) != j.batch.examples)
      return weft__kernel_fail(
          k, WEFT_INVALID_ARGUMENT,
          "bucketized_features_list[%d] must have a bucket for each of %lld examples, but its shape "
          "is %s",
          i, (long long)j.batch.examples, weft__shape_text(&k->in[first + i]->shape));
  const int32_t **bucket = weft__alloc((size_t)(count + 1) * sizeof *bucket);
  int64_t *dims = weft__alloc((size_t)(count + 1) * sizeof *dims);
  weft_err err = bucket && dims ? WEFT_OK : WEFT_OOM;
  for (int i = 0; i < count && !err; i++) bucket[i] = k->in[first + i]->data, dims[i] = 1;
  j.dims = count;
  j.features = (tree_features){count, bucket, dims};
  if (!err) err = dense_run(k, &j, &SHAPE4(count, j.batch.splits, j.buckets, 2));
  weft__free(bucket), weft__free(dims);
  return err;
}

/* ---- sparse ---- */

/* The sums of one (node, dimension, bucket), made from the entries of a batch in the order of that key. */
typedef struct sparse_key {
  int32_t node, dim, bucket;
  int64_t example;
} sparse_key;

static int compare_keys(const void *a, const void *b) {
  const sparse_key *x = a, *y = b;
  if (x->node != y->node) return x->node < y->node ? -1 : 1;
  if (x->dim != y->dim) return x->dim < y->dim ? -1 : 1;
  if (x->bucket != y->bucket) return x->bucket < y->bucket ? -1 : 1;
  return (x->example > y->example) - (x->example < y->example);
}

typedef struct sparse_job {
  stats_batch batch;
  int64_t dims, buckets; /* buckets: without that for missing values */
  sparse_key *key;
  int64_t keys;
  int32_t *node;      /* a copy of the node ids, checked */
  double *total;      /* [splits that have examples, stats], at slot[node] */
  int32_t *slot;      /* [splits], -1: no example */
  double *sum, *rest; /* [stats]: of a bucket; of the examples of a node without the dimension */
  /* Two passes write the sums: the first counts them.  A peer may change gradients in between, so that the second would
   * have more. */
  int64_t n, room;
  int32_t *index;
  float *value;
} sparse_job;

static weft_err sparse_read_keys(const kernel *k, sparse_job *j) {
  const volatile int32_t *index = k->in[3]->data, *buckets = k->in[4]->data;
  for (int64_t i = 0; i < j->keys; i++) {
    const sparse_key e = {.dim = index[2 * i + 1], .bucket = buckets[i], .example = index[2 * i]};
    if (e.example < 0 || e.example >= j->batch.examples || e.dim < 0 || e.dim >= j->dims || e.bucket < 0 ||
        e.bucket >= j->buckets)
      return weft__kernel_fail(
          k, WEFT_INVALID_ARGUMENT,
          "entry %lld has the bucket %d at [%lld, %d], but must have one in [0, %lld) within [%lld, "
          "%lld]",
          (long long)i, e.bucket, (long long)e.example, e.dim, (long long)j->buckets, (long long)j->batch.examples,
          (long long)j->dims);
    j->key[i] = e;
    j->key[i].node = j->node[e.example];
  }
  qsort(j->key, (size_t)j->keys, sizeof *j->key, compare_keys);
  return WEFT_OK;
}

static weft_err sparse_read_nodes(const kernel *k, sparse_job *j) {
  const int64_t stats = stats_of(&j->batch);
  int32_t used = 0;
  for (int64_t i = 0; i < j->batch.splits; i++) j->slot[i] = -1;
  for (int64_t i = 0; i < j->batch.examples; i++) {
    const int32_t node = j->batch.node[i];
    if (node < 0 || node >= j->batch.splits)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "node_ids[%lld] is %d, but must be in [0, %lld)", (long long)i,
                               node, (long long)j->batch.splits);
    j->node[i] = node;
    if (j->slot[node] < 0) j->slot[node] = used++;
  }
  j->total = weft__alloc_zero((size_t)(used + 1) * (size_t)stats, sizeof *j->total);
  if (!j->total) return WEFT_OOM;
  for (int64_t i = 0; i < j->batch.examples; i++) {
    double *to = j->total + j->slot[j->node[i]] * stats;
    for (int64_t d = 0; d < j->batch.logits; d++) to[d] += (double)j->batch.gradient[i * j->batch.logits + d];
    for (int64_t d = 0; d < j->batch.hessians; d++)
      to[j->batch.logits + d] += (double)j->batch.hessian[i * j->batch.hessians + d];
  }
  return WEFT_OK;
}

/* Writes, or counts, the elements of sums that are not 0. */
static void sparse_emit(sparse_job *j, const int32_t *at, const double *sum) {
  for (int64_t d = 0; d < stats_of(&j->batch); d++) {
    if ((float)sum[d] == 0) continue;
    if (j->index) {
      if (j->n == j->room) return;
      const int32_t row[4] = {at[0], at[1], at[2], weft__int_sat(d)};
      memcpy(j->index + 4 * j->n, row, sizeof row);
      j->value[j->n] = (float)sum[d];
    }
    j->n++;
  }
}

/* Emits the buckets of a node's dimension, whose keys begin at `i`, and then its missing values.  Returns the end of
 * its keys. */
static int64_t sparse_dim(sparse_job *j, int64_t i, int32_t node, int32_t dim) {
  const int64_t stats = stats_of(&j->batch), logits = j->batch.logits;
  int64_t present = 0;
  memcpy(j->rest, j->total + j->slot[node] * stats, (size_t)stats * sizeof *j->rest);
  while (i < j->keys && j->key[i].node == node && j->key[i].dim == dim) {
    const int32_t bucket = j->key[i].bucket;
    memset(j->sum, 0, (size_t)stats * sizeof *j->sum);
    for (; i < j->keys && j->key[i].node == node && j->key[i].dim == dim && j->key[i].bucket == bucket;
         i++, present++) {
      const int64_t e = j->key[i].example;
      for (int64_t d = 0; d < logits; d++) j->sum[d] += (double)j->batch.gradient[e * logits + d];
      for (int64_t d = logits; d < stats; d++)
        j->sum[d] += (double)j->batch.hessian[e * j->batch.hessians + d - logits];
    }
    for (int64_t d = 0; d < stats; d++) j->rest[d] -= j->sum[d];
    sparse_emit(j, (const int32_t[]){node, dim, bucket}, j->sum);
  }
  sparse_emit(j, (const int32_t[]){node, dim, weft__int_sat(j->buckets)}, j->rest);
  return i;
}

static weft_err sparse_pass(kernel *k, sparse_job *j) {
  long_work work = weft__long_work(k);
  int64_t spent = 0, i = 0;
  j->n = 0;
  for (int64_t node = 0; node < j->batch.splits; node++) {
    if (j->slot[node] < 0) continue;
    for (int64_t dim = 0; dim < j->dims; dim++) {
      const int64_t before = i;
      i = sparse_dim(j, i, weft__int_sat(node), weft__int_sat(dim));
      if (weft__long_work_spent(&work, &spent, 4 * (1 + i - before) * stats_of(&j->batch))) break;
    }
  }
  return weft__kernel_in(k, weft__long_work_end(&work));
}

static weft_err sparse_outputs(kernel *k, sparse_job *j) {
  const int64_t n = j->n;
  weft_tensor *index = weft__out(k, 0, &SHAPE2(n, 4)), *sums = index ? weft__out(k, 1, &SHAPE1(n)) : NULL;
  weft_tensor *dims = sums ? weft__out(k, 2, &SHAPE1(4)) : NULL;
  if (!dims) return weft__out_refused(&SHAPE2(n, 4));
  const int32_t d[4] = {weft__int_sat(j->batch.splits), weft__int_sat(j->dims), weft__int_sat(j->buckets + 1),
                        weft__int_sat(stats_of(&j->batch))};
  memcpy(dims->data, d, sizeof d);
  j->index = index->data, j->value = sums->data, j->room = n;
  WEFT_TRY(sparse_pass(k, j));
  memset(j->index + 4 * j->n, 0, (size_t)(n - j->n) * 4 * sizeof *j->index);
  memset(j->value + j->n, 0, (size_t)(n - j->n) * sizeof *j->value);
  return WEFT_OK;
}

static weft_err sparse_check(const kernel *k, sparse_job *j) {
  const shape *index = &k->in[3]->shape;
  WEFT_TRY(stats_read(k, &j->batch, &j->buckets));
  if (index->rank != 2 || index->dim[1] != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "feature_indices must be a matrix of two columns, but its shape is %s",
                             weft__shape_text(index));
  j->keys = index->dim[0];
  WEFT_TRY(weft__tree_vector(k, 4, "feature_values", j->keys));
  WEFT_TRY(weft__tree_vector(k, 5, "feature_shape", 2));
  j->dims = TENSOR_DATA(k->in[5], int32_t)[1];
  if (TENSOR_DATA(k->in[5], int32_t)[0] == j->batch.examples && j->dims >= 0) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "feature_shape is [%d, %lld], but there are %lld examples",
                           TENSOR_DATA(k->in[5], int32_t)[0], (long long)j->dims, (long long)j->batch.examples);
}

static weft_err sparse_aggregate_cpu(kernel *k) {
  sparse_job j = {0};
  WEFT_TRY(sparse_check(k, &j));
  const int64_t stats = stats_of(&j.batch);
  j.key = weft__alloc((size_t)(j.keys + 1) * sizeof *j.key);
  j.node = weft__alloc((size_t)(j.batch.examples + 1) * sizeof *j.node);
  j.slot = weft__alloc((size_t)j.batch.splits * sizeof *j.slot);
  j.sum = weft__alloc((size_t)stats * sizeof *j.sum), j.rest = weft__alloc((size_t)stats * sizeof *j.rest);
  weft_err err = j.key && j.node && j.slot && j.sum && j.rest ? WEFT_OK : WEFT_OOM;
  if (!err) err = sparse_read_nodes(k, &j);
  if (!err) err = sparse_read_keys(k, &j);
  if (!err) err = sparse_pass(k, &j);
  if (!err) err = sparse_outputs(k, &j);
  weft__free(j.key), weft__free(j.node), weft__free(j.slot);
  weft__free(j.sum), weft__free(j.rest), weft__free(j.total);
  return err;
}

static weft_err make_stats_infer(infer *s) { return weft__tree_infer_dims(s, (const char *const[]){"FSB2"}); }
static weft_err aggregate_infer(infer *s) { return weft__tree_infer_dims(s, (const char *const[]){"S?C?"}); }
static weft_err sparse_aggregate_infer(infer *s) {
  return weft__tree_infer_dims(s, (const char *const[]){"?4", "?", "4"});
}

/* ---- cases ---- */

enum { OURS = CASE_NO_GRAD | CASE_NO_PARITY | CASE_FIXED_TYPE };
#define STATS_BATCH "i32[3] 0 1 1; f32[3,1] .5 .25 1; f32[3,1] 2 3 4"

static const op_case make_stats_cases[] = {
    {STATS_BATCH "; i32[3] 0 1 1; i32[3] 1 0 1", "f32[2,2,2,2] .5 2 0 0 0 0 1.25 7  0 0 .5 2 .25 3 1 4",
     "max_splits=2 num_buckets=2 num_features=2", OURS},
    {STATS_BATCH "; i32[3] 0 1 2", "error INVALID_ARGUMENT", "max_splits=2 num_buckets=2 num_features=1", OURS},
    {STATS_BATCH "; i32[3] 0 1 1", "error INVALID_ARGUMENT", "max_splits=1 num_buckets=2 num_features=1", OURS},
    {STATS_BATCH "; i32[3] 0 -1 1", "error INVALID_ARGUMENT", "max_splits=2 num_buckets=2 num_features=1", OURS},
    {STATS_BATCH "; i32[2] 0 1", "error INVALID_ARGUMENT", "max_splits=2 num_buckets=2 num_features=1", OURS},
    {"i32[1] 0; f32[1,2] 0; f32[1,2] 0; i32[1] 0", "error INVALID_ARGUMENT",
     "max_splits=2 num_buckets=2 num_features=1", OURS},
    {0},
};
static const op_case aggregate_cases[] = {
    {STATS_BATCH "; i32[3,2] 0 1 -1 0 1 1", "f32[2,2,3,2] .5 2 0 0 0 0  0 0 .5 2 0 0  0 0 1 4 .25 3  .25 3 1 4 0 0",
     "max_splits=2 num_buckets=2", OURS},
    {"i32[1] 0; f32[1,2] 1 2; f32[1,4] 3 4 5 6; i32[1,1] 0", "f32[1,1,2,6] 1 2 3 4 5 6 0", "max_splits=1 num_buckets=1",
     OURS},
    {STATS_BATCH "; i32[3,1] 0 1 2", "error INVALID_ARGUMENT", "max_splits=2 num_buckets=2", OURS},
    {STATS_BATCH "; i32[3,1] 0 1 1", "error INVALID_ARGUMENT", "max_splits=1 num_buckets=2", OURS},
    {STATS_BATCH "; i32[3] 0 1 1", "error INVALID_ARGUMENT", "max_splits=1 num_buckets=2", OURS},
    {"i32[1] 0; f32[1,1] 0; f32[1,1] 0; i32[1,1] 0", "error INVALID_ARGUMENT",
     "max_splits=1 num_buckets=9223372036854775807", OURS},
    {0},
};
static const op_case sparse_aggregate_cases[] = {
    {STATS_BATCH "; i32[3,2] 0 0 1 1 2 1; i32[3] 1 0 0; i32[2] 3 2",
     "i32[8,4] 0 0 1 0 0 0 1 1 0 1 2 0 0 1 2 1 1 0 2 0 1 0 2 1 1 1 0 0 1 1 0 1; f32[8] .5 2 .5 2 1.25 7 1.25 7; "
     "i32[4] 2 2 3 2",
     "max_splits=2 num_buckets=2", OURS},
    {STATS_BATCH "; i32[0,2]; i32[0]; i32[2] 3 0", "i32[0,4]; f32[0]; i32[4] 2 0 3 2", "max_splits=2 num_buckets=2",
     OURS},
    {STATS_BATCH "; i32[1,2] 3 0; i32[1] 0; i32[2] 3 2", "error INVALID_ARGUMENT", "max_splits=2 num_buckets=2", OURS},
    {STATS_BATCH "; i32[1,2] 0 2; i32[1] 0; i32[2] 3 2", "error INVALID_ARGUMENT", "max_splits=2 num_buckets=2", OURS},
    {STATS_BATCH "; i32[1,2] 0 0; i32[1] 2; i32[2] 3 2", "error INVALID_ARGUMENT", "max_splits=2 num_buckets=2", OURS},
    {STATS_BATCH "; i32[1,2] 0 0; i32[1] 0; i32[2] 4 2", "error INVALID_ARGUMENT", "max_splits=2 num_buckets=2", OURS},
    {STATS_BATCH "; i32[1,2] 0 0; i32[1] 0; i32[2] 3 2", "error INVALID_ARGUMENT", "max_splits=1 num_buckets=2", OURS},
    {0},
};

OPS(tree_stats) = {
    {"BoostedTreesMakeStatsSummary(node_ids:int32, gradients:float, hessians:float, "
     "bucketized_features_list:num_features*int32) -> (stats_summary:float) | max_splits:int>=1 "
     "num_buckets:int>=1 num_features:int>=1",
     "Sums of gradients per feature, node and bucket.", .infer = make_stats_infer, .cpu = make_stats_cpu,
     .cases = make_stats_cases},
    {"BoostedTreesAggregateStats(node_ids:int32, gradients:float, hessians:float, feature:int32) -> "
     "(stats_summary:float) | max_splits:int>=1 num_buckets:int>=1",
     "Sums of gradients per node, feature and bucket.", .infer = aggregate_infer, .cpu = aggregate_cpu,
     .cases = aggregate_cases},
    {"BoostedTreesSparseAggregateStats(node_ids:int32, gradients:float, hessians:float, "
     "feature_indices:int32, feature_values:int32, feature_shape:int32) -> (stats_summary_indices:int32, "
     "stats_summary_values:float, stats_summary_shape:int32) | max_splits:int>=1 num_buckets:int>=1",
     "Sums of gradients of a sparse feature; the last bucket has the examples without a value.",
     .infer = sparse_aggregate_infer, .cpu = sparse_aggregate_cpu, .cases = sparse_aggregate_cases},
    {0},
};
