/* tree_grow.c - ops that change an ensemble of boosted trees: a layer of splits, or the bias of the first tree. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/op.h"
#include "kernels/training/tree_args.h"
#include <math.h>
#include <string.h>

/* ---- BoostedTreesCenterBias ---- */

static weft_err center_cpu(kernel *k) {
  double l1 = 0, l2 = 0;
  WEFT_TRY(weft__tree_float(k, 3, "l1", 0, &l1));
  WEFT_TRY(weft__tree_float(k, 4, "l2", 0, &l2));
  const int64_t n = weft__tensor_count(k->in[1]);
  if (n < 1 || n != weft__tensor_count(k->in[2]))
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "mean_gradients and mean_hessians must have one element per logit, but their shapes are %s "
        "and %s",
        weft__shape_text(&k->in[1]->shape), weft__shape_text(&k->in[2]->shape));
  float *change = weft__alloc((size_t)n * sizeof *change);
  if (!change) return WEFT_OOM;
  for (int64_t i = 0; i < n; i++) {
    const double g = (double)TENSOR_DATA(k->in[1], float)[i], h = (double)TENSOR_DATA(k->in[2], float)[i] + l2;
    const double left = g > l1 ? g - l1 : g < -l1 ? g + l1 : 0;
    change[i] = h > 0 && isfinite(left / h) ? (float)(-left / h) : 0;
  }
  tree_ensemble *e = NULL;
  bool far = false;
  weft_err err = weft__tree_ensemble_of(k, &e);
  if (!err) err = weft__kernel_in(k, weft__tree_ensemble_center(e, change, n, &far));
  weft__object_release((object *)e);
  weft__free(change);
  if (err) return err;
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  *TENSOR_DATA(out, bool) = far;
  return WEFT_OK;
}

/* ---- BoostedTreesUpdateEnsemble and V2 ---- */

/* Where the lists of candidates are among the inputs; a list that the op does not have begins at -1. */
typedef struct growth_inputs {
  int lists, ids, id_lists, dimensions, nodes, gains, thresholds, left, right, types;
} growth_inputs;

static weft_err growth_lists(const kernel *k, bool v2, growth_inputs *g) {
  *g = (growth_inputs){.dimensions = -1, .types = -1};
  int n = 0;
  WEFT_TRY(weft__tree_list(k, "feature_ids", &g->ids, &g->id_lists));
  WEFT_TRY(weft__tree_list(k, "node_ids", &g->nodes, &g->lists));
  WEFT_TRY(weft__tree_list(k, "gains", &g->gains, &n));
  WEFT_TRY(weft__tree_list(k, "thresholds", &g->thresholds, &n));
  WEFT_TRY(weft__tree_list(k, "left_node_contribs", &g->left, &n));
  WEFT_TRY(weft__tree_list(k, "right_node_contribs", &g->right, &n));
  if (!v2) return WEFT_OK;
  WEFT_TRY(weft__tree_list(k, "dimension_ids", &g->dimensions, &n));
  return weft__tree_list(k, "split_types", &g->types, &n);
}

/* Checks list i, adds its length to *n, and stores the number of logits. */
static weft_err growth_check(const kernel *k, const growth_inputs *g, int i, int64_t *n, int64_t *width) {
  WEFT_TRY(weft__tree_vector(k, g->nodes + i, "node_ids", -1));
  const int64_t splits = k->in[g->nodes + i]->shape.dim[0];
  WEFT_TRY(weft__tree_vector(k, g->gains + i, "gains", splits));
  WEFT_TRY(weft__tree_vector(k, g->thresholds + i, "thresholds", splits));
  if (g->dimensions >= 0) WEFT_TRY(weft__tree_vector(k, g->dimensions + i, "dimension_ids", splits));
  if (g->types >= 0) WEFT_TRY(weft__tree_vector(k, g->types + i, "split_types", splits));
  const shape *left = &k->in[g->left + i]->shape, *right = &k->in[g->right + i]->shape;
  if (left->rank != 2 || left->dim[0] != splits || left->dim[1] < 1 || !weft__shape_equal(left, right) ||
      (*width && *width != left->dim[1]))
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "left_node_contribs and right_node_contribs must be matrices of %lld rows and a column per "
        "logit, but the shapes of feature %d are %s and %s",
        (long long)splits, i, weft__shape_text(left), weft__shape_text(right));
  *width = left->dim[1];
  *n += splits;
  return WEFT_OK;
}

static weft_err split_type(const kernel *k, const str *type, tree_node *split) {
  static const struct {
    const char *name;
    tree_node_kind kind;
    bool right;
  } types[] = {{"inequality_default_left", TREE_BUCKET, false},
               {"inequality_default_right", TREE_BUCKET, true},
               {"equality_default_right", TREE_CATEGORY, false},
               {"inequality", TREE_BUCKET, false},
               {"equality", TREE_CATEGORY, false}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (type->size == strlen(types[i].name) && !memcmp(type->data, types[i].name, type->size)) {
      split->kind = types[i].kind, split->missing_right = types[i].right;
      return WEFT_OK;
    }
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "split type '%.*s' must be inequality_default_left, inequality_default_right or "
                           "equality_default_right",
                           weft__int_sat(type->size), type->size ? type->data : "");
}

/* Reads the id of the feature of split j of list i: there is one id per split, or one per list. */
static weft_err feature_id(const kernel *k, const growth_inputs *g, int i, int64_t j, int32_t *id) {
  const int64_t splits = k->in[g->nodes + i]->shape.dim[0];
  const bool own = g->types >= 0 && g->id_lists == g->lists;
  const weft_tensor *ids = k->in[own ? g->ids + i : g->ids];
  const int64_t n = ids->shape.rank == 1 ? ids->shape.dim[0] : -1;
  if (own && n == splits)
    *id = TENSOR_DATA(ids, int32_t)[j];
  else if (n == g->lists)
    *id = TENSOR_DATA(ids, int32_t)[i];
  else
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "feature_ids must have an id for each of the %d lists or each of the %lld splits of list %d, "
        "but the shape is %s",
        g->lists, (long long)splits, i, weft__shape_text(&ids->shape));
  return WEFT_OK;
}

static weft_err candidate_read(const kernel *k, const growth_inputs *g, int i, int64_t j, tree_candidate *c) {
  const int64_t width = k->in[g->left + i]->shape.dim[1];
  *c = (tree_candidate){.at = TENSOR_DATA(k->in[g->nodes + i], int32_t)[j], .split = {.kind = TREE_BUCKET}};
  c->split.gain = TENSOR_DATA(k->in[g->gains + i], float)[j];
  c->split.threshold = TENSOR_DATA(k->in[g->thresholds + i], int32_t)[j];
  if (g->dimensions >= 0) c->split.dimension = TENSOR_DATA(k->in[g->dimensions + i], int32_t)[j];
  if (g->types >= 0) WEFT_TRY(split_type(k, &TENSOR_DATA(k->in[g->types + i], str)[j], &c->split));
  c->left = TENSOR_DATA(k->in[g->left + i], float) + j * width;
  c->right = TENSOR_DATA(k->in[g->right + i], float) + j * width;
  WEFT_TRY(feature_id(k, g, i, j, &c->split.feature));
  if (c->split.feature >= 0 && c->split.dimension >= 0 && !isnan(c->split.gain)) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "a split of dimension %d of feature %d with the gain %g",
                           c->split.dimension, c->split.feature, (double)c->split.gain);
}

/* Reads the inputs behind the lists: max_depth, learning_rate and, of V2, pruning_mode. */
static weft_err growth_settings(const kernel *k, bool v2, tree_growth *growth) {
  int at = 0, n = 0;
  double rate = 0;
  WEFT_TRY(weft__tree_list(k, "max_depth", &at, &n));
  WEFT_TRY(weft__kernel_scalar(k, at, "max_depth"));
  WEFT_TRY(weft__tree_float(k, at + 1, "learning_rate", 0, &rate));
  if (v2) WEFT_TRY(weft__kernel_scalar(k, at + 2, "pruning_mode"));
  const int64_t pruning = v2 ? *TENSOR_DATA(k->in[at + 2], int32_t) : weft__node_int(k->node, "pruning_mode", 0);
  growth->max_depth = *TENSOR_DATA(k->in[at], int32_t);
  growth->rate = (float)rate;
  if (growth->max_depth < 1 || pruning < TREE_PRUNE_NEVER || pruning > TREE_PRUNE_AFTER)
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "max_depth is %d, but must be positive; pruning_mode is %lld, but must be 0 (none), 1 (pre) "
        "or 2 (post)",
        growth->max_depth, (long long)pruning);
  growth->pruning = (tree_pruning)pruning;
  return WEFT_OK;
}

static weft_err update_ensemble(kernel *k, bool v2) {
  growth_inputs g;
  tree_growth growth = {0};
  WEFT_TRY(growth_lists(k, v2, &g));
  WEFT_TRY(growth_settings(k, v2, &growth));
  for (int i = 0; i < g.lists; i++) WEFT_TRY(growth_check(k, &g, i, &growth.n, &growth.width));
  if (!growth.width) growth.width = weft__node_int(k->node, "logits_dimension", 1);
  tree_candidate *candidate = weft__alloc((size_t)(growth.n + 1) * sizeof *candidate);
  if (!candidate) return WEFT_OOM;
  growth.candidate = candidate;
  weft_err err = WEFT_OK;
  int64_t n = 0;
  for (int i = 0; i < g.lists && !err; i++)
    for (int64_t j = 0; j < k->in[g.nodes + i]->shape.dim[0] && !err; j++)
      err = candidate_read(k, &g, i, j, &candidate[n++]);
  tree_ensemble *e = NULL;
  if (!err) err = weft__tree_ensemble_of(k, &e);
  if (!err) err = weft__kernel_in(k, weft__tree_ensemble_grow(e, &growth));
  weft__object_release((object *)e);
  weft__free(candidate);
  return err;
}

static weft_err update_cpu(kernel *k) { return update_ensemble(k, false); }
static weft_err update_v2_cpu(kernel *k) { return update_ensemble(k, true); }

OPS(tree_grow) = {
    {"BoostedTreesCenterBias(tree_ensemble_handle:resource, mean_gradients:float, mean_hessians:float, "
     "l1:float, l2:float) -> (continue_centering:bool) ; stateful",
     "Moves the root of the first tree to the best constant.", .infer = weft__infer_scalar, .cpu = center_cpu},
    {"BoostedTreesUpdateEnsemble(tree_ensemble_handle:resource, feature_ids:int32, "
     "node_ids:num_features*int32, gains:num_features*float, thresholds:num_features*int32, "
     "left_node_contribs:num_features*float, right_node_contribs:num_features*float, max_depth:int32, "
     "learning_rate:float) -> () | pruning_mode:int>=0 num_features:int>=0 ; stateful",
     "Adds a layer of splits to an ensemble.", .infer = weft__infer_scalar, .cpu = update_cpu},
    {"BoostedTreesUpdateEnsembleV2(tree_ensemble_handle:resource, feature_ids:num_groups*int32, "
     "dimension_ids:num_features*int32, node_ids:num_features*int32, gains:num_features*float, "
     "thresholds:num_features*int32, left_node_contribs:num_features*float, "
     "right_node_contribs:num_features*float, split_types:num_features*string, max_depth:int32, "
     "learning_rate:float, pruning_mode:int32) -> () | num_features:int>=0 logits_dimension:int=1 "
     "num_groups:int>=1=1 ; stateful",
     "Adds a layer of splits to an ensemble.", .infer = weft__infer_scalar, .cpu = update_v2_cpu},
    {.scenario = "tests/python/test_boosted_trees_ops.py"},
};
