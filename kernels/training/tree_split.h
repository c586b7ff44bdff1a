/* tree_split.h - finds the best split of a node of a boosted tree from sums of gradients and hessians.
 *
 * Statistics are `logits` gradients, then as many diagonal elements of the hessian, or all logits * logits of them.  A
 * node's best output is w = -(H + l2)^-1 soft(G, l1), with soft(g, a) = sign(g) max(|g| - a, 0), and its score is
 * -soft(G, l1) w.  The gain of a split is the score of its two sides, minus that of the node, minus the complexity (T.
 * Chen and C. Guestrin, "XGBoost", 2016). */
#ifndef WEFT_KERNELS_TRAINING_TREE_SPLIT_H
#define WEFT_KERNELS_TRAINING_TREE_SPLIT_H

#include "kernels/work/long_work.h"

enum { TREE_STATS_MAX = 1 << 22 }; /* numbers in one bucket's statistics */

typedef struct tree_split_limits {
  double l1, l2, complexity;
  double min_weight; /* the least mean of the hessian's diagonal in either side */
} tree_split_limits;

typedef enum tree_direction { TREE_DEFAULT_LEFT, TREE_DEFAULT_RIGHT, TREE_EQUALITY } tree_direction;

typedef struct tree_split_best {
  bool found;
  int64_t feature, dimension, threshold;
  double gain;
  tree_direction direction;
} tree_split_best;

/* The search for one node.  The sums are doubles: differences of floats would lose small sides. */
typedef struct tree_split_search {
  const tree_split_limits *limits;
  int64_t logits, stats;
  bool full;                                /* the hessian has all elements */
  double *total, *missing, *left, *part[2]; /* [stats] each */
  bool some_missing;
  double root;           /* the score of the node by its total */
  double *output[2];     /* [logits] each: outputs of the sides that were scored last */
  float *best_output[2]; /* [logits] each */
  double *matrix;        /* [logits, logits], if full */
  tree_split_best best;
  int64_t feature, dimension; /* what is looked at now */
  long_work *work;
  int64_t spent;
  double *memory;
} tree_split_search;

/* Returns INVALID_ARGUMENT unless the statistics of so many logits can have that many numbers.  The caller frees the
 * search with weft__tree_search_finish, also after a failure. */
weft_err weft__tree_search_create(tree_split_search *s, const tree_split_limits *limits, int64_t logits, int64_t stats,
                                  long_work *work);
void weft__tree_search_finish(tree_split_search *s);
/* Forgets the best split, for another node. */
static inline void weft__tree_search_node(tree_split_search *s) { s->best = (tree_split_best){0}; }
/* Begins with a dimension of a feature, once `total` and `missing` have its sums: sets `left` to zeros. */
void weft__tree_search_begin(tree_split_search *s, int64_t feature, int64_t dimension);
/* Tries the split into buckets up to the threshold, whose sums are in `left`, and those above. */
void weft__tree_search_below(tree_split_search *s, int64_t threshold);
/* Tries the split into this bucket, whose sums are in `left`, and all others. */
void weft__tree_search_equal(tree_split_search *s, int64_t bucket);

#endif
