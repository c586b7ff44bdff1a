/* boosted_tree_proto_fuzz.c - reads the bytes as an ensemble, predicts with it, prunes a copy, and writes it.
 *
 * What was read can be walked and written, and the bytes written can be read and are written alike. */
#include "base/alloc.h"
#include "state/trees/tree_ensemble.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FEATURES = 3, DIMS = 2 };

/* Walks from every node to a leaf, by low buckets, by high ones and without values. */
static void tree_walk(const boosted_tree *t) {
  static const int32_t rows[3][DIMS] = {{0, 0}, {1 << 20, 1 << 20}, {-1, -1}};
  const int64_t dims[FEATURES] = {DIMS, DIMS, DIMS};
  for (int r = 0; r < 3; r++) {
    const int32_t *bucket[FEATURES] = {rows[r], rows[r], rows[r]};
    const tree_features f = {.n = FEATURES, .bucket = bucket, .dims = dims};
    for (int64_t i = 0; i < t->n && i < 64; i++) {
      const int32_t leaf = weft__tree_leaf(t, (int32_t)i, &f, 0);
      if (leaf >= t->n || (leaf >= 0 && t->node[leaf].kind != TREE_LEAF)) abort();
    }
  }
  for (int64_t i = 0; i < t->n_pruned; i++)
    if (t->pruned_to[i] < 0 || t->pruned_to[i] >= t->n) abort();
}

static void tree_prune(const boosted_tree *t, int64_t stride) {
  boosted_tree *copy = NULL;
  if (weft__boosted_tree_copy(&copy, t, stride, stride) != WEFT_OK) return;
  if (weft__boosted_tree_prune(copy, stride) == WEFT_OK) tree_walk(copy);
  weft__object_release(&copy->base);
}

/* While the number of logits is not known, all values are 0. */
static void list_check_width(const tree_list *l) {
  if (l->width) return;
  for (int64_t t = 0; t < l->n; t++) {
    for (int64_t i = 0; i < l->tree[t]->n; i++)
      if (l->tree[t]->value[i] != 0) abort();
    for (int64_t i = 0; i < l->tree[t]->n_pruned; i++)
      if (l->tree[t]->pruned_change[i] != 0) abort();
  }
}

static void list_write_twice(const tree_list *l) {
  text once = {0}, twice = {0};
  tree_list again;
  weft__tree_list_write(&once, l);
  if (!once.failed) {
    if (weft__tree_list_parse(&again, once.data, once.size) != WEFT_OK) abort();
    weft__tree_list_write(&twice, &again);
    if (!twice.failed && (once.size != twice.size || memcmp(once.data, twice.data, once.size) != 0)) abort();
    weft__tree_list_clear(&again);
  }
  weft__free(once.data), weft__free(twice.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tree_list l;
  if (weft__tree_list_parse(&l, data, size) != WEFT_OK) return 0;
  list_check_width(&l);
  for (int64_t i = 0; i < l.n; i++) tree_walk(l.tree[i]), tree_prune(l.tree[i], weft__tree_stride(&l));
  list_write_twice(&l);
  weft__tree_list_clear(&l);
  return 0;
}
