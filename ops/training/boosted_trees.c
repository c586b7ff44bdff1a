/* boosted_trees.c - the ops of gradient boosted trees, as definitions: graphs that have them can be built, read and
 * written.
 *
 * TensorFlow 2.15 has no kernel for any of them, on no device, and says so when one is run.  Weft does the same. */
#include "graph/node.h"
#include "graph/op.h"
#include <string.h>

/* The dimensions of each output argument, a letter each: a digit is that size, ? is unknown, and the others are
 * attributes.  An output argument that is a list has the same dimensions in every element. */
typedef struct tree_shapes {
  const char *op;
  const char *out[8];
} tree_shapes;

static const tree_shapes shapes_of[] = {
    {"BoostedTreesAggregateStats", {"S?C?"}},
    {"BoostedTreesBucketize", {"?"}},
    {"BoostedTreesCalculateBestFeatureSplit", {"?", "?", "?", "?", "?L", "?L", "?"}},
    {"BoostedTreesCalculateBestFeatureSplitV2", {"?", "?", "?", "?", "?", "?L", "?L", "?"}},
    {"BoostedTreesCalculateBestGainsPerFeature", {"?", "?", "?", "?1", "?1"}},
    {"BoostedTreesExampleDebugOutputs", {"?"}},
    {"BoostedTreesFlushQuantileSummaries", {"?4"}},
    {"BoostedTreesGetEnsembleStates", {"", "", "", "", "2"}},
    {"BoostedTreesMakeQuantileSummaries", {"?4"}},
    {"BoostedTreesMakeStatsSummary", {"FSB2"}},
    {"BoostedTreesPredict", {"?L"}},
    {"BoostedTreesQuantileStreamResourceGetBucketBoundaries", {"?"}},
    {"BoostedTreesSparseAggregateStats", {"?4", "?", "4"}},
    {"BoostedTreesSparseCalculateBestFeatureSplit", {"?", "?", "?", "?", "?L", "?L", "?"}},
    {"BoostedTreesTrainingPredict", {"?L", "?", "?"}},
};

/* Returns one more than an attribute that is a size; as a shape an unknown size stays unknown. */
static int64_t tree_dim_and_one(int64_t v) { return v < 0 || v == INT64_MAX ? -1 : v + 1; }

static int64_t tree_dim(const weft_node *n, char letter) {
  switch (letter) {
  case 'L': return weft__node_int(n, "logits_dimension", -1);
  case 'S': return weft__node_int(n, "max_splits", -1);
  case 'F': return weft__node_int(n, "num_features", -1);
  case 'B': return weft__node_int(n, "num_buckets", -1);
  case 'C': return tree_dim_and_one(weft__node_int(n, "num_buckets", -1)); /* the last bucket is for missing values */
  case '?': return -1;
  default: return letter - '0';
  }
}

static weft_err tree_infer(infer *s) {
  const tree_shapes *row = NULL;
  for (size_t i = 0; i < sizeof shapes_of / sizeof *shapes_of && !row; i++)
    if (!strcmp(shapes_of[i].op, s->node->op_name)) row = &shapes_of[i];
  if (!row) return weft__infer_scalar(s);
  const opdef *d = &s->node->op->opdef;
  for (int arg = 0, at = 0; arg < d->n_out; arg++) {
    const char *count = d->out[arg].number_attr;
    const int64_t end = at + (count ? weft__node_int(s->node, count, 0) : 1);
    for (; at < end && at < s->n_out; at++) {
      s->out[at].rank = 0;
      for (const char *c = row->out[arg]; *c; c++) s->out[at].dim[s->out[at].rank++] = tree_dim(s->node, *c);
    }
  }
  return WEFT_OK;
}

OPS(boosted_trees) = {
    {"BoostedTreesAggregateStats(node_ids:int32, gradients:float, hessians:float, feature:int32) -> "
     "(stats_summary:float) | max_splits:int>=1 num_buckets:int>=1",
     "Sums of gradients per node, feature and bucket.", .infer = tree_infer},
    {"BoostedTreesBucketize(float_values:num_features*float, bucket_boundaries:num_features*float) -> "
     "(buckets:num_features*int32) | num_features:int>=0",
     "The bucket of every value.", .infer = tree_infer},
    {"BoostedTreesCalculateBestFeatureSplit(node_id_range:int32, stats_summary:float, l1:float, l2:float, "
     "tree_complexity:float, min_node_weight:float) -> (node_ids:int32, gains:float, "
     "feature_dimensions:int32, thresholds:int32, left_node_contribs:float, right_node_contribs:float, "
     "split_with_default_directions:string) | logits_dimension:int>=1 "
     "split_type:string{'inequality','equality'}='inequality'",
     "The best split of every node by one feature.", .infer = tree_infer},
    {"BoostedTreesCalculateBestFeatureSplitV2(node_id_range:int32, stats_summaries_list:num_features*float, "
     "split_types:string, candidate_feature_ids:int32, l1:float, l2:float, tree_complexity:float, "
     "min_node_weight:float) -> (node_ids:int32, gains:float, feature_ids:int32, feature_dimensions:int32, "
     "thresholds:int32, left_node_contribs:float, right_node_contribs:float, "
     "split_with_default_directions:string) | num_features:int>=1 logits_dimension:int>=1",
     "The best split of every node by any feature.", .infer = tree_infer},
    {"BoostedTreesCalculateBestGainsPerFeature(node_id_range:int32, stats_summary_list:num_features*float, "
     "l1:float, l2:float, tree_complexity:float, min_node_weight:float) -> (node_ids_list:num_features*int32, "
     "gains_list:num_features*float, thresholds_list:num_features*int32, "
     "left_node_contribs_list:num_features*float, right_node_contribs_list:num_features*float) | "
     "max_splits:int>=1 num_features:int>=1",
     "The best gain of every node per feature.", .infer = tree_infer},
    {"BoostedTreesCenterBias(tree_ensemble_handle:resource, mean_gradients:float, mean_hessians:float, "
     "l1:float, l2:float) -> (continue_centering:bool) ; stateful",
     "Moves the first node to the mean.", .infer = tree_infer},
    {"BoostedTreesCreateEnsemble(tree_ensemble_handle:resource, stamp_token:int64, "
     "tree_ensemble_serialized:string) -> () ; stateful",
     "Creates an ensemble of trees.", .infer = tree_infer},
    {"BoostedTreesCreateQuantileStreamResource(quantile_stream_resource_handle:resource, epsilon:float, "
     "num_streams:int64) -> () | max_elements:int=1099511627776 ; stateful",
     "Creates a stream of quantiles.", .infer = tree_infer},
    {"BoostedTreesDeserializeEnsemble(tree_ensemble_handle:resource, stamp_token:int64, "
     "tree_ensemble_serialized:string) -> () ; stateful",
     "Sets an ensemble from its bytes.", .infer = tree_infer},
    {"BoostedTreesEnsembleResourceHandleOp() -> (resource:resource) | container:string='' "
     "shared_name:string='' ; stateful",
     "The handle of an ensemble.", .infer = tree_infer},
    {"BoostedTreesExampleDebugOutputs(tree_ensemble_handle:resource, "
     "bucketized_features:num_bucketized_features*int32) -> (examples_debug_outputs_serialized:string) | "
     "num_bucketized_features:int>=1 logits_dimension:int ; stateful",
     "The path of every example through the trees.", .infer = tree_infer},
    {"BoostedTreesFlushQuantileSummaries(quantile_stream_resource_handle:resource) -> "
     "(summaries:num_features*float) | num_features:int>=0 ; stateful",
     "Takes the summaries of a stream.", .infer = tree_infer},
    {"BoostedTreesGetEnsembleStates(tree_ensemble_handle:resource) -> (stamp_token:int64, num_trees:int32, "
     "num_finalized_trees:int32, num_attempted_layers:int32, last_layer_nodes_range:int32) ; stateful",
     "The counters of an ensemble.", .infer = tree_infer},
    {"BoostedTreesMakeQuantileSummaries(float_values:num_features*float, example_weights:float, "
     "epsilon:float) -> (summaries:num_features*float) | num_features:int>=0",
     "The summary of a batch's values.", .infer = tree_infer},
    {"BoostedTreesMakeStatsSummary(node_ids:int32, gradients:float, hessians:float, "
     "bucketized_features_list:num_features*int32) -> (stats_summary:float) | max_splits:int>=1 "
     "num_buckets:int>=1 num_features:int>=1",
     "Sums of gradients per feature, node and bucket.", .infer = tree_infer},
    {"BoostedTreesPredict(tree_ensemble_handle:resource, bucketized_features:num_bucketized_features*int32) "
     "-> (logits:float) | num_bucketized_features:int>=1 logits_dimension:int ; stateful",
     "The logits of a batch.", .infer = tree_infer},
    {"BoostedTreesQuantileStreamResourceAddSummaries(quantile_stream_resource_handle:resource, "
     "summaries:num_features*float) -> () | num_features:int>=0 ; stateful",
     "Adds summaries to a stream.", .infer = tree_infer},
    {"BoostedTreesQuantileStreamResourceDeserialize(quantile_stream_resource_handle:resource, "
     "bucket_boundaries:num_streams*float) -> () | num_streams:int>=1 ; stateful",
     "Sets the boundaries of a stream.", .infer = tree_infer},
    {"BoostedTreesQuantileStreamResourceFlush(quantile_stream_resource_handle:resource, num_buckets:int64) -> "
     "() | generate_quantiles:bool=false ; stateful",
     "Computes the boundaries of a stream.", .infer = tree_infer},
    {"BoostedTreesQuantileStreamResourceGetBucketBoundaries(quantile_stream_resource_handle:resource) -> "
     "(bucket_boundaries:num_features*float) | num_features:int>=0 ; stateful",
     "The boundaries of a stream.", .infer = tree_infer},
    {"BoostedTreesQuantileStreamResourceHandleOp() -> (resource:resource) | container:string='' "
     "shared_name:string='' ; stateful",
     "The handle of a stream.", .infer = tree_infer},
    {"BoostedTreesSerializeEnsemble(tree_ensemble_handle:resource) -> (stamp_token:int64, "
     "tree_ensemble_serialized:string) ; stateful",
     "The bytes of an ensemble.", .infer = tree_infer},
    {"BoostedTreesSparseAggregateStats(node_ids:int32, gradients:float, hessians:float, "
     "feature_indices:int32, feature_values:int32, feature_shape:int32) -> (stats_summary_indices:int32, "
     "stats_summary_values:float, stats_summary_shape:int32) | max_splits:int>=1 num_buckets:int>=1",
     "Sums of gradients of a sparse feature.", .infer = tree_infer},
    {"BoostedTreesSparseCalculateBestFeatureSplit(node_id_range:int32, stats_summary_indices:int32, "
     "stats_summary_values:float, stats_summary_shape:int32, l1:float, l2:float, tree_complexity:float, "
     "min_node_weight:float) -> (node_ids:int32, gains:float, feature_dimensions:int32, thresholds:int32, "
     "left_node_contribs:float, right_node_contribs:float, split_with_default_directions:string) | "
     "logits_dimension:int>=1 split_type:string{'inequality'}='inequality'",
     "The best split of every node by a sparse feature.", .infer = tree_infer},
    {"BoostedTreesTrainingPredict(tree_ensemble_handle:resource, cached_tree_ids:int32, "
     "cached_node_ids:int32, bucketized_features:num_bucketized_features*int32) -> (partial_logits:float, "
     "tree_ids:int32, node_ids:int32) | num_bucketized_features:int>=1 logits_dimension:int ; stateful",
     "What the newest trees add to the logits.", .infer = tree_infer},
    {"BoostedTreesUpdateEnsemble(tree_ensemble_handle:resource, feature_ids:int32, "
     "node_ids:num_features*int32, gains:num_features*float, thresholds:num_features*int32, "
     "left_node_contribs:num_features*float, right_node_contribs:num_features*float, max_depth:int32, "
     "learning_rate:float) -> () | pruning_mode:int>=0 num_features:int>=0 ; stateful",
     "Adds a layer of splits to an ensemble.", .infer = tree_infer},
    {"BoostedTreesUpdateEnsembleV2(tree_ensemble_handle:resource, feature_ids:num_groups*int32, "
     "dimension_ids:num_features*int32, node_ids:num_features*int32, gains:num_features*float, "
     "thresholds:num_features*int32, left_node_contribs:num_features*float, "
     "right_node_contribs:num_features*float, split_types:num_features*string, max_depth:int32, "
     "learning_rate:float, pruning_mode:int32) -> () | num_features:int>=0 logits_dimension:int=1 "
     "num_groups:int>=1=1 ; stateful",
     "Adds a layer of splits to an ensemble.", .infer = tree_infer},
    {"IsBoostedTreesEnsembleInitialized(tree_ensemble_handle:resource) -> (is_initialized:bool) ; stateful",
     "Whether an ensemble exists.", .infer = tree_infer},
    {"IsBoostedTreesQuantileStreamResourceInitialized(quantile_stream_resource_handle:resource) -> "
     "(is_initialized:bool) ; stateful",
     "Whether a stream exists.", .infer = tree_infer},
    {.scenario = "tests/parity/test_no_kernel.py"},
};
