/* tree_ensemble.h - the resource of a boosted ensemble: trees that grow layer by layer, and predict.
 *
 * The ensemble exists once it was set.  Its stamp grows with every change, so that statistics of an earlier state can
 * be told from new ones.  A view holds the trees as they are: predictions take no lock.  Any thread may call these
 * functions; an ensemble is a reference-counted resource. */
#ifndef WEFT_STATE_TREES_TREE_ENSEMBLE_H
#define WEFT_STATE_TREES_TREE_ENSEMBLE_H

#include "state/trees/boosted_tree.h"
#include "state/resource.h"

#define TREE_ENSEMBLE_TYPE "tree ensemble"

typedef struct tree_ensemble tree_ensemble;

/* The caller owns the one reference; fails only if memory is short. */
weft_err weft__tree_ensemble_create(tree_ensemble **out);
bool weft__tree_ensemble_is_set(tree_ensemble *e);
/* Sets the stamp, and the trees from the bytes of a boosted_trees.TreeEnsemble; with `keep` an ensemble that is set
 * stays as it is.  Returns INVALID_ARGUMENT for other bytes, and changes nothing. */
weft_err weft__tree_ensemble_set(tree_ensemble *e, int64_t stamp, const void *bytes, size_t size, bool keep);

/* Stores the trees as they are now; the caller clears the view with weft__tree_list_clear.  `stamp` may be NULL.  So do
 * all functions below: they return FAILED_PRECONDITION if the ensemble is not set. */
weft_err weft__tree_ensemble_view(tree_ensemble *e, tree_list *view, int64_t *stamp);

/* Adds `change` [width] to the root of the first tree, which is made if there is none.  *far says whether some logit
 * moved by more than a hundredth of itself. */
weft_err weft__tree_ensemble_center(tree_ensemble *e, const float *change, int64_t width, bool *far);

/* A split that a node may have.  Its children get the value of the node plus the rate times these. */
typedef struct tree_candidate {
  int32_t at;      /* the node */
  tree_node split; /* its kind, feature, dimension, threshold, missing_right and gain */
  const float *left, *right;
} tree_candidate;
typedef enum tree_pruning { TREE_PRUNE_NEVER, TREE_PRUNE_BEFORE, TREE_PRUNE_AFTER } tree_pruning;
typedef struct tree_growth {
  const tree_candidate *candidate;
  int64_t n, width;
  int32_t max_depth;
  float rate;
  tree_pruning pruning; /* BEFORE: splits need a gain; AFTER: a tree loses those without when it is complete */
} tree_growth;
/* Splits each node by its best candidate, which adds a layer to the last tree, or to a new one if that is complete.
 * Returns INVALID_ARGUMENT, and changes nothing, if a candidate's node is no leaf of that tree. */
weft_err weft__tree_ensemble_grow(tree_ensemble *e, const tree_growth *g);

/* ---- predictions from a view ---- */

/* The buckets of a batch of examples: for each feature [examples, dims]; a negative bucket is a missing value. */
typedef struct tree_features {
  int64_t n;
  const int32_t *const *bucket;
  const int64_t *dims;
} tree_features;
/* Returns the child of split node `at` where the example goes, or -1 if the features lack what the node looks at. */
int32_t weft__tree_step(const tree_node *at, const tree_features *f, int64_t example);
/* Returns the leaf below node `at` where the example ends, or -1. */
int32_t weft__tree_leaf(const boosted_tree *t, int32_t at, const tree_features *f, int64_t example);

#endif
