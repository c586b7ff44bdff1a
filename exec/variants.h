/* variants.h - plans of one request for particular feeds: their shapes and the values that decide loops and branches.
 *
 * Programs declare batches of unknown size ([None, 784]).  Then the shapes computed from them are unknown too, and
 * kernels whose shapes are unknown are not fused.  And a step whose loops depend on feeds (the longest text of a batch,
 * is_training) runs node by node.  With the shapes and the deciding values known, the step is a straight plan that is
 * fused and, on a GPU, captured as a CUDA graph.  So when the same ones come a second time, a plan is made for them,
 * and used whenever they come again.  Without a GPU this is so for every request with loops or with sums of many
 * matrices: a request that runs once need not wait until its loops are unrolled.  All plans of a request share one
 * generator of random numbers per node: it is a resource of the session that is found by the node's name
 * (kernels/random/philox.c).
 *
 * At most 32 plans are made for a request, without a GPU 8, for at most 4 sets of shapes; none is dropped for another.
 * Sessions of a cluster and mixed precision have none.  WEFT_GPU_FED_LENGTHS=0 or WEFT_GPU_NO_REPLAY=1 turns all of
 * this off.
 *
 * The session's lock guards the variants of its plans.  A plan owns them, and destroys them with itself. */
#ifndef WEFT_EXEC_VARIANTS_H
#define WEFT_EXEC_VARIANTS_H

#include "exec/passes/decisions.h"

typedef struct plan_variants plan_variants;

enum { MOST_VARIANTS = 32, MOST_HOST_VARIANTS = 8 }; /* plans per request: each has its own memory */

/* What a variant's plan assumes (plan_devices.assumed). */
typedef struct assumptions {
  const shape *feed_shape; /* of each feed; NULL: nothing is asked for */
  const decisions *of;     /* NULL: no value decides */
  const int64_t *value;
} assumptions;

/* Takes the decisions over; NULL: there are none.  At most `most` plans will be made.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__variants_create(plan_variants **out, int n_feed, decisions *d, int most);
void weft__variants_destroy(plan_variants *v); /* NULL is allowed */
/* Returns the plan for the shapes of these feeds and the values that they give, or NULL if there is none.  If one
 * should be made, *assumed is what it assumes and the caller calls weft__variants_add; else
 * assumed->feed_shape is NULL. */
plan *weft__variants_find(plan_variants *v, const weft_tensor *const *feed, assumptions *assumed);
/* Adds the plan that was made for the feeds of the last weft__variants_find.  NULL: it could not be made without loops
 * and branches.  No other is asked for then, and those that were made are used on. */
void weft__variants_add(plan_variants *v, plan *made);

#endif
