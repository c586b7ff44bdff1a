/* step.h - what lives for one step: tensor arrays, stacks.
 *
 * Objects are found by name and released when the step ends.  An empty set costs nothing to make. */
#ifndef WEFT_STATE_STEP_H
#define WEFT_STATE_STEP_H

#include "graph/kernel.h"

typedef struct step_object step_object;

struct step_objects {
  pthread_mutex_t lock;
  step_object *first;
  int64_t count; /* how many were ever added: makes names unique */
};

void weft__step_objects_init(step_objects *s);
void weft__step_objects_finish(step_objects *s);
/* Adds o (its reference passes to the set) under "base_N" and returns that name, borrowed from the set; NULL if out of
 * memory (o is released). */
const char *weft__step_object_add(step_objects *s, const char *base, object *o);
/* Adds under exactly this name unless it is taken: then *o is released and becomes the one that is there (borrowed). */
weft_err weft__step_object_share(step_objects *s, const char *name, object **o);
object *weft__step_object_find(step_objects *s, const char *name); /* borrowed; NULL if none */

#endif
