/* boosted_tree_proto.c - reads and writes the message boosted_trees.TreeEnsemble.
 *
 * What is read may come from anyone.  A tree is accepted only if every number in it is in range and each node but the
 * root has one parent, with a smaller number: then every walk through it ends at a leaf. */
#include "state/trees/boosted_tree.h"

#include "base/alloc.h"
#include "base/cast.h"
#include "boosted_trees.pb-c.h"
#include "proto/put.h"
#include "proto/scan.h"
#include <math.h>
#include <string.h>

typedef Tensorflow__BoostedTrees__TreeEnsemble ensemble_message;
typedef Tensorflow__BoostedTrees__Tree tree_message;
typedef Tensorflow__BoostedTrees__TreeMetadata metadata_message;
typedef Tensorflow__BoostedTrees__Node node_message;
typedef Tensorflow__BoostedTrees__Leaf leaf_message;

#define IS_VECTOR TENSORFLOW__BOOSTED_TREES__LEAF__LEAF_VECTOR
#define IS_SPARSE TENSORFLOW__BOOSTED_TREES__LEAF__LEAF_SPARSE_VECTOR
#define IS_LEAF TENSORFLOW__BOOSTED_TREES__NODE__NODE_LEAF
#define IS_BUCKETIZED TENSORFLOW__BOOSTED_TREES__NODE__NODE_BUCKETIZED_SPLIT
#define IS_CATEGORICAL TENSORFLOW__BOOSTED_TREES__NODE__NODE_CATEGORICAL_SPLIT

/* ---- reading ---- */

static const leaf_message *node_leaf(const node_message *n) {
  if (n->node_case == IS_LEAF) return n->leaf;
  return n->metadata ? n->metadata->original_leaf : NULL;
}

/* Widens *width to hold the leaf.  A scalar of 0 fits every width: that is how a leaf without a value is stored. */
static weft_err leaf_width(const leaf_message *l, int64_t *width) {
  int64_t own = 0;
  if (!l) return WEFT_OK;
  if (l->leaf_case == IS_VECTOR) {
    own = (int64_t)l->vector->n_value;
  } else if (l->leaf_case == IS_SPARSE) {
    if (l->sparse_vector->n_index != l->sparse_vector->n_value)
      return weft__fail(WEFT_INVALID_ARGUMENT, "a leaf has %zu indices but %zu values", l->sparse_vector->n_index,
                        l->sparse_vector->n_value);
    return WEFT_OK; /* its indices are compared with the width of the others */
  } else if (l->scalar != 0) {
    own = 1;
  }
  if (own > TREE_WIDTH_MAX || (own && *width && own != *width))
    return weft__fail(WEFT_INVALID_ARGUMENT, "a leaf has %lld logits, another has %lld (at most %d, all alike)",
                      (long long)own, (long long)*width, TREE_WIDTH_MAX);
  if (own) *width = own;
  return WEFT_OK;
}

/* Returns how many logits the indices of a sparse leaf show that there are, or 0. */
static int64_t sparse_width(const leaf_message *l) {
  int64_t least = 0;
  if (!l || l->leaf_case != IS_SPARSE) return 0;
  for (size_t i = 0; i < l->sparse_vector->n_index; i++)
    if (l->sparse_vector->index[i] >= least) least = (int64_t)l->sparse_vector->index[i] + 1;
  return least;
}

/* Returns how many logits the sparse leaves and the changes by pruning show: the width if no other leaf tells it. */
static int64_t ensemble_least_width(const ensemble_message *m) {
  int64_t least = 0;
  for (size_t t = 0; t < m->n_trees; t++)
    for (size_t i = 0; i < m->trees[t]->n_nodes; i++) {
      const int64_t shown = sparse_width(node_leaf(m->trees[t]->nodes[i]));
      if (shown > least) least = shown;
    }
  for (size_t t = 0; t < m->n_tree_metadata; t++)
    for (size_t i = 0; i < m->tree_metadata[t]->n_post_pruned_nodes_meta; i++) {
      const int64_t shown = (int64_t)m->tree_metadata[t]->post_pruned_nodes_meta[i]->n_logit_change;
      if (shown > least) least = shown;
    }
  return least;
}

static weft_err ensemble_width(const ensemble_message *m, int64_t *width) {
  for (size_t t = 0; t < m->n_trees; t++)
    for (size_t i = 0; i < m->trees[t]->n_nodes; i++) WEFT_TRY(leaf_width(node_leaf(m->trees[t]->nodes[i]), width));
  if (*width) return WEFT_OK;
  *width = ensemble_least_width(m);
  return *width <= TREE_WIDTH_MAX
             ? WEFT_OK
             : weft__fail(WEFT_INVALID_ARGUMENT, "the leaves of an ensemble have %lld logits, more than %d",
                          (long long)*width, TREE_WIDTH_MAX);
}

static weft_err leaf_read(const leaf_message *l, float *to, int64_t stride) {
  memset(to, 0, (size_t)stride * sizeof *to);
  if (!l) return WEFT_OK;
  if (l->leaf_case == IS_VECTOR) {
    for (size_t i = 0; i < l->vector->n_value; i++) to[i] = l->vector->value[i];
  } else if (l->leaf_case == IS_SPARSE) {
    for (size_t i = 0; i < l->sparse_vector->n_index; i++) {
      const int32_t at = l->sparse_vector->index[i];
      if (at < 0 || at >= stride)
        return weft__fail(WEFT_INVALID_ARGUMENT, "a leaf has a value at %d, outside of %lld logits", at,
                          (long long)stride);
      to[at] = l->sparse_vector->value[i];
    }
  } else {
    to[0] = l->scalar;
  }
  return WEFT_OK;
}

static weft_err node_read(const node_message *m, tree_node *n) {
  *n = (tree_node){.kind = TREE_LEAF, .gain = m->metadata ? m->metadata->gain : 0};
  if (m->node_case == IS_BUCKETIZED) {
    const Tensorflow__BoostedTrees__BucketizedSplit *s = m->bucketized_split;
    n->kind = TREE_BUCKET, n->feature = s->feature_id, n->dimension = s->dimension_id;
    n->left = s->left_id, n->right = s->right_id, n->threshold = s->threshold;
    n->missing_right = s->default_direction == TENSORFLOW__BOOSTED_TREES__DEFAULT_DIRECTION__DEFAULT_RIGHT;
  } else if (m->node_case == IS_CATEGORICAL) {
    const Tensorflow__BoostedTrees__CategoricalSplit *s = m->categorical_split;
    n->kind = TREE_CATEGORY, n->feature = s->feature_id, n->dimension = s->dimension_id;
    n->left = s->left_id, n->right = s->right_id, n->threshold = s->value;
  } else if (m->node_case != IS_LEAF) {
    return weft__fail(WEFT_INVALID_ARGUMENT, "a node is neither a leaf nor a split by buckets or categories");
  }
  return n->feature < 0 || n->dimension < 0
             ? weft__fail(WEFT_INVALID_ARGUMENT, "a node splits on dimension %d of feature %d", n->dimension,
                          n->feature)
             : WEFT_OK;
}

/* Checks that every node but the root is the child of one earlier node. */
static weft_err tree_check_links(const boosted_tree *t) {
  bool *child = weft__alloc_zero((size_t)t->n, sizeof *child);
  if (!child) return WEFT_OOM;
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < t->n && !err; i++) {
    const tree_node *n = &t->node[i];
    if (i > 0 && !child[i])
      err = weft__fail(WEFT_INVALID_ARGUMENT, "node %lld of a tree has no earlier parent", (long long)i);
    if (err || n->kind == TREE_LEAF) continue;
    if (n->left <= i || n->right <= i || n->left >= t->n || n->right >= t->n || n->left == n->right || child[n->left] ||
        child[n->right])
      err = weft__fail(WEFT_INVALID_ARGUMENT, "node %lld of a tree of %lld nodes has the children %d and %d",
                       (long long)i, (long long)t->n, n->left, n->right);
    else
      child[n->left] = child[n->right] = true;
  }
  weft__free(child);
  return err;
}

static weft_err pruned_read(boosted_tree *t, const metadata_message *m, int64_t stride) {
  const int64_t n = (int64_t)m->n_post_pruned_nodes_meta;
  if (n == 0) return WEFT_OK;
  t->pruned_to = weft__alloc((size_t)n * sizeof *t->pruned_to);
  t->pruned_change = weft__alloc_zero((size_t)n * (size_t)stride, sizeof *t->pruned_change);
  if (!t->pruned_to || !t->pruned_change) return WEFT_OOM;
  t->n_pruned = n;
  for (int64_t i = 0; i < n; i++) {
    const Tensorflow__BoostedTrees__TreeMetadata__PostPruneNodeUpdate *u = m->post_pruned_nodes_meta[i];
    if (u->new_node_id < 0 || u->new_node_id >= t->n || (int64_t)u->n_logit_change > stride)
      return weft__fail(WEFT_INVALID_ARGUMENT, "a pruned node became node %d of %lld, with %zu changes of %lld logits",
                        u->new_node_id, (long long)t->n, u->n_logit_change, (long long)stride);
    t->pruned_to[i] = u->new_node_id;
    for (size_t d = 0; d < u->n_logit_change; d++) t->pruned_change[i * stride + (int64_t)d] = u->logit_change[d];
  }
  return WEFT_OK;
}

static weft_err tree_read(boosted_tree *t, const tree_message *m, int64_t stride) {
  t->n = 0;
  if (m->n_nodes == 0) return weft__fail(WEFT_INVALID_ARGUMENT, "a tree has no node");
  if (m->n_nodes > TREE_NODES_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a tree has %zu nodes, more than %d", m->n_nodes, TREE_NODES_MAX);
  WEFT_TRY(weft__boosted_tree_reserve(t, (int64_t)m->n_nodes, stride));
  t->n = (int64_t)m->n_nodes;
  for (int64_t i = 0; i < t->n; i++) {
    WEFT_TRY(node_read(m->nodes[i], &t->node[i]));
    WEFT_TRY(leaf_read(node_leaf(m->nodes[i]), t->value + i * stride, stride));
  }
  return tree_check_links(t);
}

/* A node without a leaf takes two bytes in the message, but a row of values in memory: refuses messages that would grow
 * out of proportion. */
static weft_err ensemble_check_size(const ensemble_message *m, int64_t stride, size_t size) {
  enum { FREE_VALUES = 1 << 22, VALUES_PER_BYTE = 16 };
  size_t nodes = 0;
  for (size_t i = 0; i < m->n_trees; i++) nodes += m->trees[i]->n_nodes + m->trees[i]->n_nodes / 2 + 3;
  if (nodes <= (FREE_VALUES + VALUES_PER_BYTE * size) / (size_t)stride) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "an ensemble of %zu bytes has %zu nodes of %lld logits", size, nodes,
                    (long long)stride);
}

static weft_err ensemble_read(tree_list *l, const ensemble_message *m, size_t size) {
  if ((m->n_tree_weights && m->n_tree_weights != m->n_trees) ||
      (m->n_tree_metadata && m->n_tree_metadata != m->n_trees))
    return weft__fail(WEFT_INVALID_ARGUMENT, "an ensemble of %zu trees has %zu weights and metadata of %zu trees",
                      m->n_trees, m->n_tree_weights, m->n_tree_metadata);
  WEFT_TRY(ensemble_width(m, &l->width));
  const int64_t stride = weft__tree_stride(l);
  WEFT_TRY(ensemble_check_size(m, stride, size));
  for (size_t i = 0; i < m->n_trees; i++) {
    boosted_tree *t = NULL;
    WEFT_TRY(weft__boosted_tree_create(&t, stride));
    WEFT_TRY(weft__tree_list_add(l, t));
    WEFT_TRY(tree_read(t, m->trees[i], stride));
    if (m->n_tree_weights) t->weight = m->tree_weights[i];
    if (!m->n_tree_metadata) continue;
    t->finalized = m->tree_metadata[i]->is_finalized;
    t->layers = m->tree_metadata[i]->num_layers_grown;
    WEFT_TRY(pruned_read(t, m->tree_metadata[i], stride));
  }
  l->end_node = 1; /* the root of a tree that is not there yet */
  if (!m->growing_metadata) return WEFT_OK;
  l->trees_attempted = m->growing_metadata->num_trees_attempted;
  l->layers_attempted = m->growing_metadata->num_layers_attempted;
  l->first_node = m->growing_metadata->last_layer_node_start;
  l->end_node = m->growing_metadata->last_layer_node_end;
  if (l->first_node >= 0 && l->end_node >= l->first_node) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "the last layer has the nodes from %d to %d", l->first_node, l->end_node);
}

weft_err weft__tree_list_parse(tree_list *out, const void *bytes, size_t size) {
  ProtobufCMessage *m = NULL;
  *out = (tree_list){0};
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__boosted_trees__tree_ensemble__descriptor, bytes, size));
  const weft_err err = ensemble_read(out, (const ensemble_message *)m, size);
  if (err) weft__tree_list_clear(out);
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

/* ---- writing ---- */

static void put_float(text *t, int field, float v) {
  if (v == 0) return;
  weft__put_varint(t, (uint64_t)field << 3 | 5);
  weft__text_add(t, (const char *)&v, sizeof v);
}

void weft__tree_put_floats(text *t, int field, const float *v, int64_t n) {
  if (n) weft__put_bytes(t, field, (const char *)v, (size_t)n * sizeof *v);
}

static void put_nonzero(text *t, int field, int64_t v) {
  if (v) weft__put_int(t, field, v);
}

static void put_leaf(text *t, int field, const float *value, const tree_list *l) {
  text leaf = {0}, vector = {0};
  if (l->width > 1) {
    weft__tree_put_floats(&vector, 1, value, l->width);
    weft__put_message(&leaf, 1, &vector);
  } else {
    put_float(&leaf, 3, *value);
  }
  weft__put_message(t, field, &leaf);
}

static void put_split(text *t, const tree_node *n) {
  text split = {0};
  put_nonzero(&split, 1, n->feature);
  put_nonzero(&split, 2, n->threshold);
  put_nonzero(&split, 3, n->left);
  put_nonzero(&split, 4, n->right);
  put_nonzero(&split, 5, n->dimension);
  if (n->kind == TREE_BUCKET) put_nonzero(&split, 6, n->missing_right);
  weft__put_message(t, n->kind == TREE_BUCKET ? 2 : 3, &split);
}

static void put_tree(text *to, const boosted_tree *t, const tree_list *l) {
  text tree = {0};
  const int64_t stride = weft__tree_stride(l);
  for (int64_t i = 0; i < t->n; i++) {
    text node = {0}, metadata = {0};
    const tree_node *n = &t->node[i];
    if (n->kind == TREE_LEAF) {
      put_leaf(&node, 1, t->value + i * stride, l);
    } else {
      put_split(&node, n);
      put_float(&metadata, 1, n->gain);
      put_leaf(&metadata, 2, t->value + i * stride, l);
      weft__put_message(&node, 777, &metadata);
    }
    weft__put_message(&tree, 1, &node);
  }
  weft__put_message(to, 1, &tree);
}

static void put_metadata(text *to, const boosted_tree *t, const tree_list *l) {
  text metadata = {0};
  const int64_t stride = weft__tree_stride(l);
  put_nonzero(&metadata, 2, t->layers);
  put_nonzero(&metadata, 3, t->finalized);
  for (int64_t i = 0; i < t->n_pruned; i++) {
    text update = {0};
    put_nonzero(&update, 1, t->pruned_to[i]);
    weft__tree_put_floats(&update, 2, t->pruned_change + i * stride, stride);
    weft__put_message(&metadata, 4, &update);
  }
  weft__put_message(to, 3, &metadata);
}

void weft__tree_list_write(text *t, const tree_list *l) {
  text weights = {0}, growing = {0};
  for (int64_t i = 0; i < l->n; i++) put_tree(t, l->tree[i], l);
  for (int64_t i = 0; i < l->n; i++) weft__text_add(&weights, (const char *)&l->tree[i]->weight, sizeof(float));
  if (l->n) weft__put_message(t, 2, &weights);
  for (int64_t i = 0; i < l->n; i++) put_metadata(t, l->tree[i], l);
  put_nonzero(&growing, 1, l->trees_attempted);
  put_nonzero(&growing, 2, l->layers_attempted);
  put_nonzero(&growing, 3, l->first_node);
  put_nonzero(&growing, 4, l->end_node);
  weft__put_message(t, 4, &growing);
}
