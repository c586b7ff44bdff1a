/* variants.h - plans of one request for particular values that decide its loops and branches.
 *
 * A step on a GPU whose loops depend on feeds (the longest text of a batch, is_training) runs node by node from the
 * host.  With the deciding values known, it is a straight plan that is captured as a cuda graph.  So when the same
 * values come a second time, a plan is made for them, and used whenever they come again.
 *
 * The session's lock guards the variants of its plans.  A plan owns them, and destroys them with itself. */
#ifndef WEFT_EXEC_VARIANTS_H
#define WEFT_EXEC_VARIANTS_H

#include "exec/passes/decisions.h"

typedef struct plan_variants plan_variants;

/* What a variant's plan may take for granted (plan_devices.assumed). */
typedef struct assumptions {
  const decisions *of;
  const int64_t *value;
} assumptions;

/* Takes the decisions over.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__variants_create(plan_variants **out, decisions *d);
void weft__variants_destroy(plan_variants *v); /* NULL is allowed */
/* Returns the plan for the values that these feeds give, or NULL if there is none.  If one should be made, *assumed is
 * what it takes for granted, else {NULL}; the caller then calls weft__variants_add. */
plan *weft__variants_find(plan_variants *v, const weft_tensor *const *feed, assumptions *assumed);
/* Adds the plan that was made for the values of the last weft__variants_find.  NULL: it could not be made without loops
 * and branches, and none will be asked for again. */
void weft__variants_add(plan_variants *v, plan *made);

#endif
