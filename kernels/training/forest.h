/* forest.h - one tree of a random forest that grows from examples as they arrive.
 *
 * A tree is three arrays, which are variables of the graph, so that checkpoints have them:
 *
 * nodes: a row per node: 1 + the feature that it splits on (0: it is a leaf), the threshold, the left child (the right
 *   one follows it), 1 + the slot of a leaf that collects examples (0: none), then sums of the examples that came by:
 *   the weight per class, or the weight and the weighted sum of each output.
 * slots: element 0 is the number of nodes; element 1 + i is 1 + the leaf that has slot i, or 0.
 * splits: for each slot two rows of totals and a row per candidate split: feature, threshold, sums of what goes left.
 *   In row 0 of a slot, the first element is the number of its candidates.  Row 1 has the first example's outputs,
 *   which are subtracted from those of all examples: the squares of large numbers would lose the variance.
 *
 * All zeros is a tree with one leaf. */
#ifndef WEFT_KERNELS_TRAINING_FOREST_H
#define WEFT_KERNELS_TRAINING_FOREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FOREST_NODE_HEAD = 4, FOREST_SPLIT_HEAD = 2, FOREST_SLOT_HEAD = 2 };

typedef struct forest_tree {
  float *nodes, *splits;
  int32_t *slots;
  int64_t max_nodes, n_slots, n_splits; /* sizes of the arrays */
  int64_t features, outputs;            /* outputs: classes, or numbers that are predicted */
  bool regression;
  float split_after; /* the weight of the examples after which a leaf is split */
  float check_every; /* with early_bound: how often to look for an early split */
  float early_bound; /* ln(1 / (1 - confidence)) of Hoeffding's bound for an early split; 0: none */
} forest_tree;

typedef struct forest_example {
  const float *x;
  const float *y; /* the outputs, for a regression */
  int64_t label;  /* the class, otherwise */
  float weight;
  int32_t drawn; /* the feature of the candidate split that this example may add */
} forest_example;

/* The sums in a row of nodes, and in a row of splits. */
static inline int64_t forest_node_sums(bool regression, int64_t outputs) { return regression ? 1 + outputs : outputs; }
static inline int64_t forest_split_sums(bool regression, int64_t outputs) {
  return regression ? 1 + 2 * outputs : outputs;
}

/* Returns true if every index in the arrays lies within them; a checkpoint may hold anything.  splits may be NULL. */
bool weft__forest_valid(const forest_tree *t);
/* Returns the leaf of an example.  *kept gets the last node on the way whose weight is at least `least`. */
int64_t weft__forest_leaf(const forest_tree *t, const float *x, float least, int64_t *kept);
/* Adds an example. */
void weft__forest_add(forest_tree *t, const forest_example *e);
/* Writes the prediction of a node: the share of each class, or the mean of each output. */
void weft__forest_predict(const forest_tree *t, int64_t node, float *out);

#endif
