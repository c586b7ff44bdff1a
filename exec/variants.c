/* variants.c - remembers which feed shapes and deciding values came, and the plans that were made for them. */
#include "exec/variants.h"

#include "base/alloc.h"
#include "exec/compile.h"
#include <string.h>

enum {
  MAX_SHAPES = 4, /* sets of feed shapes that have plans: those of a batch and of the last one, in training and tests */
  MAX_ENTRIES = 512 /* sets of shapes and values that are remembered */
};

typedef struct variant {
  shape *feed_shape;
  int64_t *value;
  bool seen; /* these came before */
  plan *made;
  struct variant *next;
} variant;

struct plan_variants {
  decisions *of; /* NULL: none */
  int n_feed, n_value;
  int64_t *now; /* the values that the last weft__variants_find computed */
  variant *list;
  variant *asked; /* the entry for which the last weft__variants_find asked for a plan */
  int n, n_plan, most;
  bool useless; /* no more plans are asked for */
};

weft_err weft__variants_create(plan_variants **out, int n_feed, decisions *d, int most) {
  plan_variants *v = weft__alloc_zero(1, sizeof *v);
  const int n_value = d ? weft__decisions_count(d) : 0;
  int64_t *now = weft__alloc_zero((size_t)n_value + 1, sizeof *now);
  if (!v || !now) {
    weft__free(v);
    weft__free(now);
    return WEFT_OOM;
  }
  *v = (plan_variants){.of = d, .n_feed = n_feed, .n_value = n_value, .now = now, .most = most};
  *out = v;
  return WEFT_OK;
}

static void variant_destroy(variant *e) {
  if (!e) return;
  weft__plan_destroy(e->made);
  weft__free(e->feed_shape);
  weft__free(e->value);
  weft__free(e);
}

void weft__variants_destroy(plan_variants *v) {
  if (!v) return;
  while (v->list) {
    variant *first = v->list;
    v->list = first->next;
    variant_destroy(first);
  }
  weft__decisions_destroy(v->of);
  weft__free(v->now);
  weft__free(v);
}

static bool has_shapes(const plan_variants *v, const variant *e, const weft_tensor *const *feed) {
  for (int i = 0; i < v->n_feed; i++)
    if (!weft__shape_equal(&e->feed_shape[i], &feed[i]->shape)) return false;
  return true;
}

static bool have_same_shapes(const plan_variants *v, const variant *a, const variant *b) {
  for (int i = 0; i < v->n_feed; i++)
    if (!weft__shape_equal(&a->feed_shape[i], &b->feed_shape[i])) return false;
  return true;
}

static bool has_values(const plan_variants *v, const variant *e) {
  return v->n_value == 0 || memcmp(e->value, v->now, (size_t)v->n_value * sizeof *v->now) == 0;
}

/* Returns the entry of the feeds' shapes and the values in v->now; NULL if there is no room for another one. */
static variant *variant_of(plan_variants *v, const weft_tensor *const *feed) {
  for (variant *e = v->list; e; e = e->next)
    if (has_values(v, e) && has_shapes(v, e, feed)) return e;
  variant *e = v->n < MAX_ENTRIES ? weft__alloc_zero(1, sizeof *e) : NULL;
  if (!e) return NULL;
  e->feed_shape = weft__alloc(((size_t)v->n_feed + 1) * sizeof *e->feed_shape);
  e->value = weft__alloc(((size_t)v->n_value + 1) * sizeof *e->value);
  if (!e->feed_shape || !e->value) {
    variant_destroy(e);
    return NULL;
  }
  for (int i = 0; i < v->n_feed; i++) e->feed_shape[i] = feed[i]->shape;
  memcpy(e->value, v->now, (size_t)v->n_value * sizeof *v->now);
  e->next = v->list;
  v->list = e;
  v->n++;
  return e;
}

/* Returns true if there is room for a plan for these shapes: others have it, or few shapes have plans. */
static bool has_room(const plan_variants *v, const weft_tensor *const *feed) {
  int shapes = 0;
  if (v->n_plan >= v->most) return false;
  for (const variant *e = v->list; e; e = e->next) {
    if (!e->made) continue;
    if (has_shapes(v, e, feed)) return true;
    bool first = true;
    for (const variant *before = v->list; before != e; before = before->next)
      first = first && !(before->made && have_same_shapes(v, before, e));
    shapes += first;
  }
  return shapes < MAX_SHAPES;
}

plan *weft__variants_find(plan_variants *v, const weft_tensor *const *feed, assumptions *assumed) {
  *assumed = (assumptions){.feed_shape = NULL};
  if (v->useless && v->n_plan == 0) return NULL;
  if (v->of && weft__decisions_compute(v->of, feed, v->now) != WEFT_OK) return NULL;
  variant *e = variant_of(v, feed);
  if (!e) return NULL;
  if (!e->made && e->seen && !v->useless && has_room(v, feed)) {
    *assumed = (assumptions){e->feed_shape, v->of, e->value};
    v->asked = e;
  }
  e->seen = true;
  return e->made;
}

void weft__variants_add(plan_variants *v, plan *made) {
  v->asked->made = made;
  v->n_plan += made != NULL;
  v->useless = !made;
}
