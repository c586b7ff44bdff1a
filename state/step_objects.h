/* step_objects.h - what lives for one step: tensor arrays, stacks.
 *
 * Objects are found by name and released when the step ends.  An empty set costs nothing to make. */
#ifndef WEFT_STATE_STEP_OBJECTS_H
#define WEFT_STATE_STEP_OBJECTS_H

#include "state/resource.h"

typedef struct step_object step_object;

struct step_objects {
  pthread_mutex_t lock;
  step_object *first;
  int64_t count; /* how many were ever added: makes names unique */
};

void weft__step_objects_init(step_objects *s);
void weft__step_objects_finish(step_objects *s);
/* Of the kernels' functions below: FAILED_PRECONDITION when the kernel runs outside of a step (constant folding). */

/* Adds r (its reference passes to the step, on failure it is released) under "base_N"; *name is that name, borrowed from
 * the step, unless `name` is NULL. */
weft_err weft__step_object_add(const kernel *k, const char *base, resource *r, const char **name);
/* Adds under exactly this name unless it is taken: then r is released, and what is there stays. */
weft_err weft__step_object_share(const kernel *k, const char *name, resource *r);
/* Calls end(o) when the step ends: for what may hold a handle of itself, which no count of references would ever free.
 * Retains o. */
weft_err weft__step_object_on_end(const kernel *k, object *o, void (*end)(object *o));
/* The object of that name and type, borrowed from the step.  NOT_FOUND if there is none of that name, or it is of
 * another type: names come from tensors, which a client may have written. */
weft_err weft__step_object_find(const kernel *k, const char *type, const char *name, resource **out);

#endif
