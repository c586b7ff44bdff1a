/* tree_ensemble.c - one lock, a leaf, guards the list of trees.  A tree that a view holds too is copied before it
 * changes; only the last tree of an ensemble ever does, besides the bias and the number of logits. */
#include "state/trees/tree_ensemble.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include <math.h>
#include <pthread.h>
#include <string.h>

struct tree_ensemble {
  resource base;
  pthread_mutex_t lock;
  bool set;
  int64_t stamp;
  tree_list list;
};

static void tree_ensemble_destroy(object *o) {
  tree_ensemble *e = (tree_ensemble *)o;
  weft__tree_list_clear(&e->list);
  pthread_mutex_destroy(&e->lock);
  weft__free(e);
}

weft_err weft__tree_ensemble_create(tree_ensemble **out) {
  tree_ensemble *e = weft__alloc_zero(1, sizeof *e);
  if (!e) return WEFT_OOM;
  atomic_init(&e->base.base.refs, 1);
  e->base.base.destroy = tree_ensemble_destroy;
  e->base.type = TREE_ENSEMBLE_TYPE;
  pthread_mutex_init(&e->lock, NULL);
  *out = e;
  return WEFT_OK;
}

bool weft__tree_ensemble_is_set(tree_ensemble *e) {
  pthread_mutex_lock(&e->lock);
  const bool set = e->set;
  pthread_mutex_unlock(&e->lock);
  return set;
}

weft_err weft__tree_ensemble_set(tree_ensemble *e, int64_t stamp, const void *bytes, size_t size, bool keep) {
  tree_list list;
  WEFT_TRY(weft__tree_list_parse(&list, bytes, size));
  pthread_mutex_lock(&e->lock);
  if (!keep || !e->set) {
    const tree_list old = e->list;
    e->list = list, e->stamp = stamp, e->set = true;
    list = old;
  }
  pthread_mutex_unlock(&e->lock);
  weft__tree_list_clear(&list);
  return WEFT_OK;
}

/* Fails unless the ensemble is set.  The lock is held. */
static weft_err ensemble_check(const tree_ensemble *e) {
  WEFT_ASSERT(weft__lock_is_held(&e->lock));
  if (e->set) return WEFT_OK;
  return weft__fail(WEFT_FAILED_PRECONDITION,
                    "the tree ensemble is not initialized (run BoostedTreesCreateEnsemble, or restore a checkpoint)");
}

static weft_err view_locked(const tree_ensemble *e, tree_list *view, int64_t *stamp) {
  WEFT_TRY(ensemble_check(e));
  const tree_list *l = &e->list;
  boosted_tree **tree = weft__alloc((size_t)(l->n + 1) * sizeof(boosted_tree *));
  if (!tree) return WEFT_OOM;
  for (int64_t i = 0; i < l->n; i++) {
    weft__object_retain(&l->tree[i]->base);
    tree[i] = l->tree[i];
  }
  *view = *l;
  view->tree = tree, view->capacity = l->n + 1;
  if (stamp) *stamp = e->stamp;
  return WEFT_OK;
}

weft_err weft__tree_ensemble_view(tree_ensemble *e, tree_list *view, int64_t *stamp) {
  *view = (tree_list){0};
  pthread_mutex_lock(&e->lock);
  const weft_err err = view_locked(e, view, stamp);
  pthread_mutex_unlock(&e->lock);
  return err;
}

/* ---- changing ---- */

/* Makes tree i one that nobody else holds, with values of `stride` numbers. */
static weft_err tree_own(tree_list *l, int64_t i, int64_t stride) {
  boosted_tree *copy = NULL;
  if (stride == weft__tree_stride(l) && atomic_load_explicit(&l->tree[i]->base.refs, memory_order_acquire) == 1)
    return WEFT_OK;
  WEFT_TRY(weft__boosted_tree_copy(&copy, l->tree[i], weft__tree_stride(l), stride));
  weft__object_release(&l->tree[i]->base);
  l->tree[i] = copy;
  return WEFT_OK;
}

/* Sets the number of logits.  While it is not known all values are zeros, and there are few trees. */
static weft_err list_set_width(tree_list *l, int64_t width) {
  if (l->width == width) return WEFT_OK;
  if (l->width || width < 1 || width > TREE_WIDTH_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "the ensemble has %lld logits, not %lld (at most %d)", (long long)l->width,
                      (long long)width, TREE_WIDTH_MAX);
  tree_list wider = {.width = width};
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < l->n && !err; i++) {
    boosted_tree *copy = NULL;
    err = weft__boosted_tree_copy(&copy, l->tree[i], 1, width);
    if (!err) err = weft__tree_list_add(&wider, copy);
  }
  if (err) {
    weft__tree_list_clear(&wider);
    return err;
  }
  for (int64_t i = 0; i < l->n; i++) {
    weft__object_release(&l->tree[i]->base);
    l->tree[i] = wider.tree[i];
  }
  weft__free(wider.tree);
  l->width = width;
  return WEFT_OK;
}

/* Adds a tree of one leaf, the last layer of which is its root. */
static weft_err list_plant(tree_list *l) {
  boosted_tree *t = NULL;
  WEFT_TRY(weft__boosted_tree_create(&t, weft__tree_stride(l)));
  WEFT_TRY(weft__tree_list_add(l, t));
  l->trees_attempted++;
  l->first_node = 0, l->end_node = 1;
  return WEFT_OK;
}

/* Centering ends when each change is below a hundredth of its logit, or of 0.1: of balanced classes the logit is 0. */
static bool center_is_far(float change, float logit) { return fabsf(change) > 0.01f * fmaxf(fabsf(logit), 0.1f); }

static weft_err center_locked(tree_ensemble *e, const float *change, int64_t width, bool *far) {
  tree_list *l = &e->list;
  WEFT_TRY(ensemble_check(e));
  WEFT_TRY(list_set_width(l, width));
  if (l->n == 0) WEFT_TRY(list_plant(l));
  if (l->tree[0]->node[0].kind != TREE_LEAF)
    return weft__fail(WEFT_FAILED_PRECONDITION,
                      "the bias is centered before the first tree grows, but it has %lld nodes",
                      (long long)l->tree[0]->n);
  WEFT_TRY(tree_own(l, 0, width));
  *far = false;
  for (int64_t d = 0; d < width; d++) {
    float *logit = &l->tree[0]->value[d];
    *logit += change[d];
    if (center_is_far(change[d], *logit)) *far = true;
  }
  e->stamp++;
  return WEFT_OK;
}

weft_err weft__tree_ensemble_center(tree_ensemble *e, const float *change, int64_t width, bool *far) {
  pthread_mutex_lock(&e->lock);
  const weft_err err = center_locked(e, change, width, far);
  pthread_mutex_unlock(&e->lock);
  return err;
}

/* Stores for each node of the last layer the best candidate, or NULL. */
static weft_err growth_choose(const boosted_tree *t, const tree_growth *g, const tree_candidate **best) {
  for (int64_t i = 0; i < g->n; i++) {
    const tree_candidate *c = &g->candidate[i];
    if (c->at < 0 || c->at >= t->n || t->node[c->at].kind != TREE_LEAF)
      return weft__fail(WEFT_INVALID_ARGUMENT, "a split of node %d, which is no leaf of the last tree (%lld nodes)",
                        c->at, (long long)t->n);
    if (g->pruning == TREE_PRUNE_BEFORE && !(c->split.gain > 0)) continue;
    if (!best[c->at] || c->split.gain > best[c->at]->split.gain) best[c->at] = c;
  }
  return WEFT_OK;
}

/* Splits a leaf; there is room for its children. */
static void tree_split(boosted_tree *t, const tree_candidate *c, const tree_growth *g) {
  tree_node *n = &t->node[c->at];
  const float *from = t->value + c->at * g->width;
  *n = c->split;
  n->left = weft__int_sat(t->n), n->right = n->left + 1;
  for (int side = 0; side < 2; side++, t->n++) {
    const float *change = side ? c->right : c->left;
    t->node[t->n] = (tree_node){.kind = TREE_LEAF};
    for (int64_t d = 0; d < g->width; d++) t->value[t->n * g->width + d] = from[d] + g->rate * change[d];
  }
}

/* Adds the layer to the last tree, which nobody else holds.  Only memory that is short can fail, before any change. */
static weft_err growth_apply(tree_list *l, const tree_growth *g, const tree_candidate **best) {
  boosted_tree *t = l->tree[l->n - 1];
  const int64_t before = t->n;
  int64_t splits = 0;
  WEFT_TRY(growth_choose(t, g, best));
  for (int64_t i = 0; i < before; i++) splits += best[i] != NULL;
  WEFT_TRY(weft__boosted_tree_reserve(t, 2 * splits, g->width));
  for (int64_t i = 0; i < before; i++)
    if (best[i]) tree_split(t, best[i], g);
  l->layers_attempted++;
  if (splits) {
    t->layers++;
    l->first_node = weft__int_sat(before), l->end_node = weft__int_sat(t->n);
  }
  return WEFT_OK;
}

static weft_err grow_locked(tree_ensemble *e, const tree_growth *g) {
  tree_list *l = &e->list;
  WEFT_TRY(ensemble_check(e));
  WEFT_TRY(list_set_width(l, g->width));
  if (l->n == 0 || l->tree[l->n - 1]->finalized) WEFT_TRY(list_plant(l));
  WEFT_TRY(tree_own(l, l->n - 1, g->width));
  boosted_tree *t = l->tree[l->n - 1];
  const int64_t before = t->n;
  const tree_candidate **best = weft__alloc_zero((size_t)before, sizeof *best);
  const weft_err err = best ? growth_apply(l, g, best) : WEFT_OOM;
  weft__free(best);
  if (err) return err;
  e->stamp++;
  /* A tree that could not even split its root is tried again with the next statistics. */
  if (t->layers < g->max_depth && (t->n > before || t->n == 1)) return WEFT_OK;
  if (g->pruning == TREE_PRUNE_AFTER) WEFT_TRY(weft__boosted_tree_prune(t, g->width));
  t->finalized = true;
  return list_plant(l);
}

weft_err weft__tree_ensemble_grow(tree_ensemble *e, const tree_growth *g) {
  pthread_mutex_lock(&e->lock);
  const weft_err err = grow_locked(e, g);
  pthread_mutex_unlock(&e->lock);
  return err;
}

/* ---- predictions ---- */

int32_t weft__tree_step(const tree_node *at, const tree_features *f, int64_t example) {
  if (at->feature >= f->n || at->dimension >= f->dims[at->feature]) return -1;
  const int32_t bucket = f->bucket[at->feature][example * f->dims[at->feature] + at->dimension];
  const bool right = at->kind == TREE_CATEGORY ? bucket != at->threshold
                     : bucket < 0              ? at->missing_right
                                               : bucket > at->threshold;
  return right ? at->right : at->left;
}

int32_t weft__tree_leaf(const boosted_tree *t, int32_t at, const tree_features *f, int64_t example) {
  while (at >= 0 && t->node[at].kind != TREE_LEAF) at = weft__tree_step(&t->node[at], f, example);
  return at;
}
