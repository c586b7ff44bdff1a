/* accumulator.h - gradient accumulators: sum the gradients of several workers until there are enough.
 *
 * A gradient that was computed at an older step than the accumulator's is dropped.  Taking the mean (or the sum)
 * empties the accumulator and increments its step.  Sparse gradients are rows with their indices; each row is divided
 * by the number of gradients that had it.
 *
 * Takes are served in the order in which they came.  Each one ends in exactly one call of its function, on any thread,
 * without the lock, possibly before weft__accumulator_take returns.  Any thread may call these functions.  An
 * accumulator is a reference-counted resource. */
#ifndef WEFT_STATE_ACCUMULATOR_H
#define WEFT_STATE_ACCUMULATOR_H

#include "state/resource.h"

#define ACCUMULATOR_TYPE "accumulator"

typedef struct accumulator_spec {
  weft_dtype dtype; /* any type that can be added and divided */
  shape declared;   /* may have unknown dimensions */
  bool sparse, sum; /* sum: no division */
} accumulator_spec;

typedef struct accumulator accumulator;

/* The caller owns the one reference.  Returns INVALID_ARGUMENT for a type that cannot be summed, or RESOURCE_EXHAUSTED.
 */
weft_err weft__accumulator_create(accumulator **out, const accumulator_spec *spec, const char *name);
const accumulator_spec *weft__accumulator_spec(const accumulator *a);
/* Returns INVALID_ARGUMENT if a node with this spec may not share the accumulator. */
weft_err weft__accumulator_matches(const accumulator *a, const accumulator_spec *spec);

/* Adds a gradient, which is not kept, unless it is stale; then serves the takes.  Returns INVALID_ARGUMENT if type or
 * shape do not fit. */
weft_err weft__accumulator_apply(accumulator *a, int64_t local_step, const weft_tensor *gradient);
/* The same for rows.  declared (may be NULL) is the full shape of the gradient, an int64 vector. */
weft_err weft__accumulator_apply_sparse(accumulator *a, int64_t local_step, const weft_tensor *indices,
                                        const weft_tensor *rows, const weft_tensor *declared);
void weft__accumulator_set_step(accumulator *a, int64_t step_number);
int64_t weft__accumulator_count(accumulator *a);

typedef struct accumulated {
  weft_tensor gradient; /* dense: the value; sparse: the rows */
  weft_tensor indices;  /* sparse: int64 */
  shape full;           /* sparse: of the whole; unknown dimensions are -1 */
} accumulated;
/* got is borrowed for the call; on an error it is NULL and this thread's message is set. */
typedef void accumulator_fn(void *arg, weft_err err, const accumulated *got);
/* Waits for `required` gradients and takes their mean or sum.  The token c (may be NULL) cancels the wait. */
void weft__accumulator_take(accumulator *a, int64_t required, cancel *c, accumulator_fn *fn, void *arg);

#endif
