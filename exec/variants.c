/* variants.c - remembers which deciding values came, and the plans that were made for them. */
#include "exec/variants.h"

#include "base/alloc.h"
#include "exec/compile.h"
#include <string.h>

enum {
  MAX_PLANS = 32,    /* per request: each has its own memory */
  MAX_VALUES = 1024, /* sets of values that are counted */
};

typedef struct variant {
  int64_t *value;
  bool seen; /* these values came before */
  plan *made;
  struct variant *next;
} variant;

struct plan_variants {
  decisions *of;
  int64_t *now; /* of the last call of find */
  variant *list, *asked;
  int n, n_plan;
  bool useless;
};

weft_err weft__variants_create(plan_variants **out, decisions *d) {
  plan_variants *v = weft__alloc_zero(1, sizeof *v);
  int64_t *now = weft__alloc_zero((size_t)weft__decisions_count(d), sizeof *now);
  if (!v || !now) {
    weft__free(v);
    weft__free(now);
    return WEFT_OOM;
  }
  v->of = d;
  v->now = now;
  *out = v;
  return WEFT_OK;
}

void weft__variants_destroy(plan_variants *v) {
  if (!v) return;
  while (v->list) {
    variant *first = v->list;
    v->list = first->next;
    weft__plan_destroy(first->made);
    weft__free(first->value);
    weft__free(first);
  }
  weft__decisions_destroy(v->of);
  weft__free(v->now);
  weft__free(v);
}

/* Returns the entry of the values in v->now; NULL if there is no room for another one. */
static variant *entry_of_values(plan_variants *v) {
  const size_t size = (size_t)weft__decisions_count(v->of) * sizeof *v->now;
  for (variant *e = v->list; e; e = e->next)
    if (memcmp(e->value, v->now, size) == 0) return e;
  variant *e = v->n < MAX_VALUES ? weft__alloc_zero(1, sizeof *e) : NULL;
  int64_t *kept = e ? weft__alloc(size) : NULL;
  if (!kept) {
    weft__free(e);
    return NULL;
  }
  memcpy(kept, v->now, size);
  *e = (variant){.value = kept, .next = v->list};
  v->list = e;
  v->n++;
  return e;
}

plan *weft__variants_find(plan_variants *v, const weft_tensor *const *feed, assumptions *assumed) {
  *assumed = (assumptions){NULL, NULL};
  if (v->useless || weft__decisions_compute(v->of, feed, v->now) != WEFT_OK) return NULL;
  variant *e = entry_of_values(v);
  if (!e) return NULL;
  if (!e->made && e->seen && v->n_plan < MAX_PLANS) {
    *assumed = (assumptions){v->of, e->value};
    v->asked = e;
  }
  e->seen = true;
  return e->made;
}

void weft__variants_add(plan_variants *v, plan *made) {
  v->asked->made = made;
  v->n_plan++;
  v->useless = !made;
}
