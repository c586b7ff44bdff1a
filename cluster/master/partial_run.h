/* partial_run.h - a step that its client feeds and fetches from in several calls.
 *
 * The whole step runs on a thread of its own from the start; a feed is left in its rendezvous, where the step finds
 * it, and a fetch waits there until the step brings it. */
#ifndef WEFT_CLUSTER_MASTER_PARTIAL_RUN_H
#define WEFT_CLUSTER_MASTER_PARTIAL_RUN_H

#include "cluster/blocking_pool.h"
#include "cluster/master/session.h"

typedef struct partial_step partial_step;

typedef struct partial_names { /* of feeds and fetches, as the client says them and as outputs of its graph */
  size_t n_feed, n_fetch;
  char *const *feed, *const *fetch;
} partial_names;

/* The request and the names are copied. */
weft_err weft__partial_create(partial_step **out, weft_session *s, const session_world *w, errands *e,
                              const plan_request *r, const partial_names *n);
/* Cancels what still runs and waits for it. */
void weft__partial_destroy(partial_step *p);
/* One call: feeds some, fetches some.  INVALID_ARGUMENT for a name that was not set up or was used before, or a fetch that
 * needs a feed still to come.  *over: nothing is left to fetch and the step has ended. */
weft_err weft__partial_run(partial_step *p, const partial_names *n, weft_tensor *const *fed, weft_tensor **fetched,
                           cancel *c, bool *over);

#endif
