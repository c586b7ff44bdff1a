/* step_objects.h - objects that live for one step, such as tensor arrays and stacks.
 *
 * They are found by name and released when the step ends.  An empty set allocates nothing.  The executor owns the set;
 * kernels may use it on any thread. */
#ifndef WEFT_STATE_STEP_OBJECTS_H
#define WEFT_STATE_STEP_OBJECTS_H

#include "state/resource.h"

typedef struct step_object step_object;

struct step_objects {
  pthread_mutex_t lock;
  step_object *first;
  int64_t count; /* how many were ever added; makes names unique */
};

/* init cannot fail.  finish releases the objects, when no kernel of the step runs any more. */
void weft__step_objects_init(step_objects *s);
void weft__step_objects_finish(step_objects *s);
/* The functions below return FAILED_PRECONDITION if the kernel runs outside of a step (constant folding). */

/* Adds r under the name "base_N", which is stored in *name, borrowed from the step, unless `name` is NULL.  The
 * caller's reference to r passes to the step, and is released on failure. */
weft_err weft__step_object_add(const kernel *k, const char *base, resource *r, const char **name);
/* Adds r under exactly this name.  If the name exists already, releases r and keeps the object that is there. */
weft_err weft__step_object_share(const kernel *k, const char *name, resource *r);
/* Calls end(o) when the step ends: for objects that may hold a handle of themselves, whose reference count would never
 * reach zero.  Retains o. */
weft_err weft__step_object_on_end(const kernel *k, object *o, void (*end)(object *o));
/* Stores the object of that name and type, borrowed from the step.  Returns NOT_FOUND if there is none or its type
 * differs: names come from tensors, which a client may have written. */
weft_err weft__step_object_find(const kernel *k, const char *type, const char *name, resource **out);

#endif
