/* tree_predict.c - predictions of an ensemble of boosted trees, all of them or what is new since an earlier one, and
 * the path of an example through the trees. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "graph/op.h"
#include "kernels/training/tree_args.h"
#include "kernels/work/long_work.h"
#include "proto/put.h"
#include <string.h>

/* A batch of predictions.  Views, features and outputs are constant while threads work on it. */
typedef struct tree_job {
  const kernel *kernel;
  tree_list view;
  tree_batch batch;
  int64_t width;              /* logits of the op; the view's may be unknown */
  const int32_t *tree, *node; /* TrainingPredict: where each example was */
  float *logits;
  int32_t *tree_out, *node_out;
  str *paths;             /* ExampleDebugOutputs */
  atomic_int failed;      /* the code of the first failure; 0: none */
  atomic_llong failed_at; /* its example */
} tree_job;

static void job_fail(tree_job *j, weft_err err, int64_t example) {
  int none = WEFT_OK;
  if (atomic_compare_exchange_strong(&j->failed, &none, (int)err)) atomic_store(&j->failed_at, example);
}

/* Adds factor * (value of a node). */
static void add_value(const tree_job *j, float *to, const boosted_tree *t, int32_t node, float factor) {
  const float *v = t->value + node * weft__tree_stride(&j->view);
  for (int64_t d = 0; d < j->view.width; d++) to[d] += factor * v[d];
}

/* Adds what the trees from `tree` on give, and stores in *leaf the leaf of the last one. */
static bool add_trees(const tree_job *j, int64_t tree, int64_t example, float *to, int32_t *leaf) {
  for (; tree < j->view.n; tree++) {
    const boosted_tree *t = j->view.tree[tree];
    const int32_t at = weft__tree_leaf(t, 0, &j->batch.features, example);
    if (at < 0) return false;
    add_value(j, to, t, at, t->weight);
    *leaf = at;
  }
  return true;
}

static void tree_predict_rows(void *arg, int64_t begin, int64_t end) {
  tree_job *j = arg;
  for (int64_t i = begin; i < end; i++) {
    int32_t leaf = 0;
    if (!add_trees(j, 0, i, j->logits + i * j->width, &leaf)) job_fail(j, WEFT_INVALID_ARGUMENT, i);
  }
}

/* Adds what has changed below a node whose value was counted when the tree was smaller, or before it was pruned.
 * Returns the leaf, or -1 if the tree has no such node or the features lack a dimension. */
static int32_t add_since(const tree_job *j, const boosted_tree *t, int32_t node, int64_t example, float *to) {
  if (t->n_pruned) {
    if (node >= t->n_pruned) return -1;
    const float *change = t->pruned_change + node * weft__tree_stride(&j->view);
    for (int64_t d = 0; d < j->view.width; d++) to[d] += t->weight * change[d];
    node = t->pruned_to[node];
  }
  if (node >= t->n) return -1;
  const int32_t leaf = weft__tree_leaf(t, node, &j->batch.features, example);
  if (leaf < 0 || leaf == node) return leaf;
  add_value(j, to, t, leaf, t->weight);
  add_value(j, to, t, node, -t->weight);
  return leaf;
}

static void training_rows(void *arg, int64_t begin, int64_t end) {
  tree_job *j = arg;
  for (int64_t i = begin; i < end; i++) {
    const int32_t tree = *(const volatile int32_t *)&j->tree[i], node = *(const volatile int32_t *)&j->node[i];
    float *to = j->logits + i * j->width;
    int32_t leaf = 0;
    bool ok = tree >= 0 && (tree < j->view.n || (tree == 0 && node <= 0));
    if (ok && tree < j->view.n) {
      if (node >= 0) leaf = add_since(j, j->view.tree[tree], node, i, to);
      ok = leaf >= 0 && add_trees(j, node >= 0 ? tree + 1 : tree, i, to, &leaf);
    }
    if (!ok) job_fail(j, WEFT_INVALID_ARGUMENT, i);
    j->tree_out[i] = j->view.n ? weft__int_sat(j->view.n - 1) : 0;
    j->node_out[i] = leaf;
  }
}

/* ---- ExampleDebugOutputs ---- */

typedef struct path_texts {
  text features, logits;
} path_texts;

static void path_put(path_texts *p, float v) { weft__text_add(&p->logits, (const char *)&v, sizeof v); }

/* Follows an example through all trees.  Only ensembles of one logit have a path. */
static bool path_follow(const tree_job *j, int64_t example, path_texts *p) {
  float past = 0;
  path_put(p, j->view.n ? j->view.tree[0]->weight * j->view.tree[0]->value[0] : 0);
  for (int64_t i = 0; i < j->view.n; i++) {
    const boosted_tree *t = j->view.tree[i];
    int32_t at = 0;
    while (t->node[at].kind != TREE_LEAF) {
      weft__put_varint(&p->features, (uint64_t)t->node[at].feature);
      at = weft__tree_step(&t->node[at], &j->batch.features, example);
      if (at < 0) return false;
      path_put(p, past + t->weight * t->value[at]);
    }
    past += t->weight * t->value[at];
  }
  return true;
}

static void path_rows(void *arg, int64_t begin, int64_t end) {
  tree_job *j = arg;
  for (int64_t i = begin; i < end; i++) {
    path_texts p = {0};
    text bytes = {0};
    if (!path_follow(j, i, &p)) job_fail(j, WEFT_INVALID_ARGUMENT, i);
    if (p.features.size) weft__put_message(&bytes, 1, &p.features);
    weft__put_message(&bytes, 2, &p.logits);
    if (bytes.failed || weft__str_set(&j->paths[i], weft__text_get(&bytes), bytes.size)) job_fail(j, WEFT_OOM, i);
    weft__text_finish(&p.features), weft__text_finish(&p.logits), weft__text_finish(&bytes);
  }
}

/* ---- the kernels ---- */

static weft_err job_check_width(const tree_job *j) {
  if (j->width >= 1 && j->width <= TREE_WIDTH_MAX && (!j->view.width || j->view.width == j->width)) return WEFT_OK;
  return weft__kernel_fail(j->kernel, WEFT_INVALID_ARGUMENT,
                           "logits_dimension is %lld, but the ensemble has %lld logits (0: unknown, at most %d)",
                           (long long)j->width, (long long)j->view.width, TREE_WIDTH_MAX);
}

static weft_err job_open(const kernel *k, tree_job *j) {
  tree_ensemble *e = NULL;
  *j = (tree_job){.kernel = k, .width = weft__node_int(k->node, "logits_dimension", 1)};
  WEFT_TRY(weft__tree_batch_read(k, &j->batch));
  WEFT_TRY(weft__tree_ensemble_of(k, &e));
  const weft_err err = weft__kernel_in(k, weft__tree_ensemble_view(e, &j->view, NULL));
  weft__object_release((object *)e);
  return err ? err : job_check_width(j);
}

static void job_close(tree_job *j) {
  weft__tree_batch_clear(&j->batch);
  weft__tree_list_clear(&j->view);
}

static weft_err job_run(kernel *k, tree_job *j, pool_loop *rows) {
  WEFT_TRY(weft__long_loop(k, j->batch.examples, 50 + 100 * j->view.n, rows, j));
  const weft_err failed = (weft_err)atomic_load(&j->failed);
  if (failed == WEFT_OK) return WEFT_OK;
  if (failed != WEFT_INVALID_ARGUMENT)
    return weft__fail(failed, "short of memory for %lld examples", (long long)j->batch.examples);
  return weft__kernel_fail(
      k, failed,
      "example %lld: the trees look at a feature or a dimension beyond the %lld "
      "bucketized_features, or its cached tree and node do not exist (the ensemble has %lld trees)",
      (long long)atomic_load(&j->failed_at), (long long)j->batch.features.n, (long long)j->view.n);
}

static weft_err job_logits(kernel *k, tree_job *j) {
  const shape s = SHAPE2(j->batch.examples, j->width);
  weft_tensor *out = weft__out(k, 0, &s);
  if (!out) return weft__out_refused(&s);
  memset(out->data, 0, weft__tensor_bytes(out));
  j->logits = out->data;
  return WEFT_OK;
}

static weft_err tree_predict_cpu(kernel *k) {
  tree_job j;
  weft_err err = job_open(k, &j);
  if (!err) err = job_logits(k, &j);
  if (!err) err = job_run(k, &j, tree_predict_rows);
  job_close(&j);
  return err;
}

static weft_err training_outputs(kernel *k, tree_job *j) {
  WEFT_TRY(weft__tree_vector(k, 1, "cached_tree_ids", j->batch.examples));
  WEFT_TRY(weft__tree_vector(k, 2, "cached_node_ids", j->batch.examples));
  WEFT_TRY(job_logits(k, j));
  const shape per_row = SHAPE1(j->batch.examples);
  weft_tensor *tree = weft__out(k, 1, &per_row), *node = tree ? weft__out(k, 2, &per_row) : NULL;
  if (!node) return WEFT_OOM;
  j->tree = k->in[1]->data, j->node = k->in[2]->data;
  j->tree_out = tree->data, j->node_out = node->data;
  return WEFT_OK;
}

static weft_err training_cpu(kernel *k) {
  tree_job j;
  weft_err err = job_open(k, &j);
  if (!err) err = training_outputs(k, &j);
  if (!err) err = job_run(k, &j, training_rows);
  job_close(&j);
  return err;
}

static weft_err path_outputs(kernel *k, tree_job *j) {
  if (j->width != 1)
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED,
                             "logits_dimension is %lld, but only ensembles of one logit can be explained",
                             (long long)j->width);
  weft_tensor *out = weft__out(k, 0, &SHAPE1(j->batch.examples));
  if (!out) return WEFT_OOM;
  j->paths = out->data;
  return WEFT_OK;
}

static weft_err path_cpu(kernel *k) {
  tree_job j;
  weft_err err = job_open(k, &j);
  if (!err) err = path_outputs(k, &j);
  if (!err) err = job_run(k, &j, path_rows);
  job_close(&j);
  return err;
}

static weft_err tree_predict_infer(infer *s) { return weft__tree_infer_dims(s, (const char *const[]){"?L"}); }
static weft_err training_infer(infer *s) { return weft__tree_infer_dims(s, (const char *const[]){"?L", "?", "?"}); }
static weft_err path_infer(infer *s) { return weft__tree_infer_dims(s, (const char *const[]){"?"}); }

OPS(tree_predict) = {
    {"BoostedTreesPredict(tree_ensemble_handle:resource, bucketized_features:num_bucketized_features*int32) "
     "-> (logits:float) | num_bucketized_features:int>=1 logits_dimension:int ; stateful",
     "The logits of a batch.", .infer = tree_predict_infer, .cpu = tree_predict_cpu},
    {"BoostedTreesTrainingPredict(tree_ensemble_handle:resource, cached_tree_ids:int32, "
     "cached_node_ids:int32, bucketized_features:num_bucketized_features*int32) -> (partial_logits:float, "
     "tree_ids:int32, node_ids:int32) | num_bucketized_features:int>=1 logits_dimension:int ; stateful",
     "What trees and layers that are new add to the logits.", .infer = training_infer, .cpu = training_cpu},
    {"BoostedTreesExampleDebugOutputs(tree_ensemble_handle:resource, "
     "bucketized_features:num_bucketized_features*int32) -> (examples_debug_outputs_serialized:string) | "
     "num_bucketized_features:int>=1 logits_dimension:int ; stateful",
     "The path of every example through the trees.", .infer = path_infer, .cpu = path_cpu},
    {.scenario = "tests/python/test_boosted_trees_ops.py"},
};
