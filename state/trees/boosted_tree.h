/* boosted_tree.h - one tree of a boosted ensemble, and the bytes of an ensemble.
 *
 * A tree is a reference-counted object.  Its node 0 is the root, and a child has a larger number than its parent.
 * Every node has a value, [width] numbers: the logits of a leaf, or those that a split node had when it was a leaf.  A
 * tree that has more than one reference is not changed. */
#ifndef WEFT_STATE_TREES_BOOSTED_TREE_H
#define WEFT_STATE_TREES_BOOSTED_TREE_H

#include "base/text.h"
#include "tensor/tensor.h"

enum { TREE_NODES_MAX = 1 << 26, TREE_WIDTH_MAX = 1 << 16 };

typedef enum tree_node_kind { TREE_LEAF, TREE_BUCKET, TREE_CATEGORY } tree_node_kind;

typedef struct tree_node {
  tree_node_kind kind;
  int32_t feature, dimension; /* what a split looks at */
  int32_t left, right;
  int64_t threshold;  /* TREE_BUCKET: buckets up to it go left; TREE_CATEGORY: this value goes left, others right */
  bool missing_right; /* TREE_BUCKET: where examples go that have no value (a negative bucket) */
  float gain;         /* of a split */
} tree_node;

typedef struct boosted_tree {
  object base;
  int64_t n, capacity; /* nodes */
  tree_node *node;
  float *value;     /* [capacity, width] */
  int64_t n_pruned; /* 0, or the nodes that the tree had before it was pruned; what became of each follows */
  int32_t *pruned_to;
  float *pruned_change; /* [n_pruned, width]: the value of node pruned_to minus that of the former node */
  float weight;         /* its values are multiplied by it */
  int32_t layers;
  bool finalized; /* no layer will be added */
} boosted_tree;

/* The trees of an ensemble, and how far it has grown. */
typedef struct tree_list {
  boosted_tree **tree; /* a reference to each */
  int64_t n, capacity;
  int64_t width; /* logits; 0: not known yet, and all values are 0 */
  int64_t trees_attempted, layers_attempted;
  int32_t first_node, end_node; /* the nodes of the last layer */
} tree_list;

static inline int64_t weft__tree_stride(const tree_list *l) { return l->width ? l->width : 1; }

/* The caller owns the one reference.  The tree is one leaf of zeros with weight 1. */
weft_err weft__boosted_tree_create(boosted_tree **out, int64_t stride);
/* Makes a copy, in which a value has `stride` numbers; if that differs from `old_stride` the values are zeros. */
weft_err weft__boosted_tree_copy(boosted_tree **out, const boosted_tree *t, int64_t old_stride, int64_t stride);
/* Makes room for `more` nodes. */
weft_err weft__boosted_tree_reserve(boosted_tree *t, int64_t more, int64_t stride);
/* Turns splits without gain into leaves, from the leaves up, if both of their children are leaves. */
weft_err weft__boosted_tree_prune(boosted_tree *t, int64_t stride);

void weft__tree_list_clear(tree_list *l);
/* Appends a tree and takes over the caller's reference, also on failure. */
weft_err weft__tree_list_add(tree_list *l, boosted_tree *t);
/* Reads the bytes of a boosted_trees.TreeEnsemble.  Returns INVALID_ARGUMENT if they are none, or if a number in them
 * is out of range; *out is then empty. */
weft_err weft__tree_list_parse(tree_list *out, const void *bytes, size_t size);
/* Appends the bytes of the list. */
void weft__tree_list_write(text *t, const tree_list *l);
/* Appends a field of packed floats, unless there are none. */
void weft__tree_put_floats(text *t, int field, const float *v, int64_t n);

#endif
