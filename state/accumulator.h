/* accumulator.h - gradients of several workers added up until enough have come.
 *
 * A gradient computed at a step older than the accumulator's is dropped.  Taking the mean (or the sum)
 * empties it and moves its step on.  Sparse gradients are rows with their indices; each row is divided
 * by how many gradients had it.  Takes are served first come first served; each ends in exactly one call of its
 * function, on any thread, without the lock.  Thread safe. */
#ifndef WEFT_STATE_ACCUMULATOR_H
#define WEFT_STATE_ACCUMULATOR_H

#include "state/resource.h"

#define ACCUMULATOR_TYPE "accumulator"

typedef struct accumulator_spec {
  weft_dtype dtype; /* half, float, double and whatever else can be added and divided */
  shape declared;   /* as far as it is known */
  bool sparse, sum; /* sum: no division */
} accumulator_spec;

typedef struct accumulator accumulator;

weft_err weft__accumulator_create(accumulator **out, const accumulator_spec *spec, const char *name);
const accumulator_spec *weft__accumulator_spec(const accumulator *a);
/* INVALID_ARGUMENT if a node with this spec may not share it. */
weft_err weft__accumulator_matches(const accumulator *a, const accumulator_spec *spec);

weft_err weft__accumulator_apply(accumulator *a, int64_t local_step, const weft_tensor *gradient);
/* declared (may be NULL): the full shape the caller says the gradient has, an int64 vector. */
weft_err weft__accumulator_apply_sparse(accumulator *a, int64_t local_step, const weft_tensor *indices,
                                        const weft_tensor *rows, const weft_tensor *declared);
void weft__accumulator_set_step(accumulator *a, int64_t step_number);
int64_t weft__accumulator_count(accumulator *a);

typedef struct accumulated {
  weft_tensor gradient; /* dense: the value; sparse: the rows */
  weft_tensor indices;  /* sparse: int64 */
  shape full;           /* sparse: of the whole; unknown dimensions are -1 */
} accumulated;
/* got is borrowed for the call; on error it is NULL and the thread's message says why. */
typedef void accumulator_fn(void *arg, weft_err err, const accumulated *got);
void weft__accumulator_take(accumulator *a, int64_t required, cancel *c, accumulator_fn *fn, void *arg);

#endif
