/* boosted_tree.c - making, copying and pruning one tree. */
#include "state/trees/boosted_tree.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include <string.h>

static void boosted_tree_destroy(object *o) {
  boosted_tree *t = (boosted_tree *)o;
  weft__free(t->node), weft__free(t->value);
  weft__free(t->pruned_to), weft__free(t->pruned_change);
  weft__free(t);
}

static weft_err boosted_tree_empty(boosted_tree **out) {
  boosted_tree *t = weft__alloc_zero(1, sizeof *t);
  if (!t) return WEFT_OOM;
  atomic_init(&t->base.refs, 1);
  t->base.destroy = boosted_tree_destroy;
  t->weight = 1;
  *out = t;
  return WEFT_OK;
}

weft_err weft__boosted_tree_reserve(boosted_tree *t, int64_t more, int64_t stride) {
  const int64_t wanted = t->n + more;
  if (wanted <= t->capacity) return WEFT_OK;
  if (wanted > TREE_NODES_MAX)
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "a tree would have %lld nodes, more than %d", (long long)wanted,
                      TREE_NODES_MAX);
  int64_t capacity = weft__array_next_capacity(t->capacity, wanted, 3);
  tree_node *node = weft__realloc(t->node, (size_t)capacity * sizeof *node);
  if (!node) return WEFT_OOM;
  t->node = node;
  float *value = weft__realloc(t->value, (size_t)capacity * (size_t)stride * sizeof *value);
  if (!value) return WEFT_OOM;
  t->value = value;
  t->capacity = capacity;
  return WEFT_OK;
}

weft_err weft__boosted_tree_create(boosted_tree **out, int64_t stride) {
  boosted_tree *t = NULL;
  WEFT_TRY(boosted_tree_empty(&t));
  const weft_err err = weft__boosted_tree_reserve(t, 1, stride);
  if (err) {
    weft__object_release(&t->base);
    return err;
  }
  t->n = 1;
  t->node[0] = (tree_node){.kind = TREE_LEAF};
  memset(t->value, 0, (size_t)stride * sizeof *t->value);
  *out = t;
  return WEFT_OK;
}

/* Copies n rows of values, or clears them if the strides differ. */
static void values_copy(float *to, const float *from, int64_t n, int64_t old_stride, int64_t stride) {
  if (n == 0) return;
  if (old_stride == stride)
    memcpy(to, from, (size_t)(n * stride) * sizeof *to);
  else
    memset(to, 0, (size_t)(n * stride) * sizeof *to);
}

weft_err weft__boosted_tree_copy(boosted_tree **out, const boosted_tree *t, int64_t old_stride, int64_t stride) {
  boosted_tree *made = NULL;
  WEFT_TRY(boosted_tree_empty(&made));
  weft_err err = weft__boosted_tree_reserve(made, t->n, stride);
  if (!err && t->n_pruned) {
    made->pruned_to = weft__alloc((size_t)t->n_pruned * sizeof *made->pruned_to);
    made->pruned_change = weft__alloc((size_t)(t->n_pruned * stride) * sizeof *made->pruned_change);
    if (!made->pruned_to || !made->pruned_change) err = WEFT_OOM;
  }
  if (err) {
    weft__object_release(&made->base);
    return err;
  }
  made->n = t->n, made->n_pruned = t->n_pruned;
  made->weight = t->weight, made->layers = t->layers, made->finalized = t->finalized;
  memcpy(made->node, t->node, (size_t)t->n * sizeof *t->node);
  values_copy(made->value, t->value, t->n, old_stride, stride);
  if (t->n_pruned) memcpy(made->pruned_to, t->pruned_to, (size_t)t->n_pruned * sizeof *t->pruned_to);
  values_copy(made->pruned_change, t->pruned_change, t->n_pruned, old_stride, stride);
  *out = made;
  return WEFT_OK;
}

/* ---- pruning ---- */

/* Marks nodes that go: to[i] becomes -1 for the descendants of a node that is a leaf from now on.  Returns how many
 * go. */
static int64_t prune_mark(const boosted_tree *t, int32_t *to, bool *leaf) {
  int64_t gone = 0;
  for (int64_t i = t->n - 1; i >= 0; i--) { /* children before their parent */
    const tree_node *n = &t->node[i];
    to[i] = 0;
    leaf[i] = n->kind == TREE_LEAF || (n->gain <= 0 && leaf[n->left] && leaf[n->right]);
  }
  for (int64_t i = 0; i < t->n; i++) {
    if (t->node[i].kind == TREE_LEAF || !(leaf[i] || to[i] < 0)) continue;
    to[t->node[i].left] = to[t->node[i].right] = -1;
    gone += 2;
  }
  return gone;
}

/* Numbers the nodes that stay.  A node that goes becomes the node that its parent becomes. */
static void prune_number(const boosted_tree *t, int32_t *to) {
  int32_t next = 0;
  for (int64_t i = 0; i < t->n; i++) {
    if (to[i] >= 0) to[i] = next++;
  }
  for (int64_t i = 0; i < t->n; i++) {
    const tree_node *n = &t->node[i];
    if (n->kind == TREE_LEAF) continue;
    if (to[n->left] < 0) to[n->left] = to[i];
    if (to[n->right] < 0) to[n->right] = to[i];
  }
}

static void prune_apply(boosted_tree *t, const bool *leaf, int64_t stride) {
  const int64_t before = t->n;
  int64_t kept = 0;
  for (int64_t i = 0; i < before; i++) {
    if (t->pruned_to[i] != kept) continue; /* a node that goes has the number of an earlier one */
    tree_node n = t->node[i];
    if (leaf[i]) {
      n = (tree_node){.kind = TREE_LEAF};
    } else {
      n.left = t->pruned_to[n.left];
      n.right = t->pruned_to[n.right];
    }
    t->node[kept] = n;
    memmove(t->value + kept * stride, t->value + i * stride, (size_t)stride * sizeof *t->value);
    kept++;
  }
  t->n = kept;
}

weft_err weft__boosted_tree_prune(boosted_tree *t, int64_t stride) {
  int32_t *to = weft__alloc((size_t)t->n * sizeof *to);
  bool *leaf = weft__alloc((size_t)t->n * sizeof *leaf);
  float *change = weft__alloc((size_t)(t->n * stride) * sizeof *change);
  if (!to || !leaf || !change || !prune_mark(t, to, leaf)) {
    const weft_err err = to && leaf && change ? WEFT_OK : WEFT_OOM;
    weft__free(to), weft__free(leaf), weft__free(change);
    return err;
  }
  prune_number(t, to);
  memcpy(change, t->value, (size_t)(t->n * stride) * sizeof *change);
  weft__free(t->pruned_to), weft__free(t->pruned_change);
  t->pruned_to = to, t->pruned_change = change, t->n_pruned = t->n;
  prune_apply(t, leaf, stride);
  weft__free(leaf);
  for (int64_t i = 0; i < t->n_pruned; i++)
    for (int64_t d = 0; d < stride; d++) change[i * stride + d] = t->value[to[i] * stride + d] - change[i * stride + d];
  return WEFT_OK;
}

/* ---- lists ---- */

void weft__tree_list_clear(tree_list *l) {
  for (int64_t i = 0; i < l->n; i++) weft__object_release(&l->tree[i]->base);
  weft__free(l->tree);
  *l = (tree_list){0};
}

weft_err weft__tree_list_add(tree_list *l, boosted_tree *t) {
  const weft_err err = WEFT_ARRAY_RESERVE(l->tree, l->capacity, l->n + 1);
  if (err)
    weft__object_release(&t->base);
  else
    l->tree[l->n++] = t;
  return err;
}
