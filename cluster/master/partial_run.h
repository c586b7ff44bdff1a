/* partial_run.h - a step that its client feeds and fetches in several calls.
 *
 * The whole step starts at once on a thread of the blocking pool.  A feed is left in the step's rendezvous, where a
 * receive of the step takes it.  A fetch waits in the rendezvous until the step sends it.
 *
 * One call uses a partial run at a time; client_session.c sees to that and owns it. */
#ifndef WEFT_CLUSTER_MASTER_PARTIAL_RUN_H
#define WEFT_CLUSTER_MASTER_PARTIAL_RUN_H

#include "cluster/blocking_pool.h"
#include "cluster/master/session.h"

typedef struct partial_run partial_run;

typedef struct partial_run_names { /* the names of feeds and fetches, as the client gives them */
  size_t n_feed, n_fetch;
  char *const *feed, *const *fetch;
} partial_run_names;

/* Starts the step.  The request and the names are copied; the session and the pool outlive the partial run. */
weft_err weft__partial_run_create(partial_run **out, weft_session *s, const session_env *env, blocking_pool *pool,
                                  const plan_request *r, const partial_run_names *n);
/* Cancels the step if it still runs, waits for it and frees the partial run.  NULL is allowed. */
void weft__partial_run_destroy(partial_run *p);
/* Executes one call: stores the feeds, then waits for the fetches until c fires.  INVALID_ARGUMENT for a name that was
 * not set up or was used before, or for a fetch that needs a missing feed.  *done: every feed and fetch was used, and
 * the step has ended.  The caller destroys the fetched tensors, also after an error. */
weft_err weft__partial_run_call(partial_run *p, const partial_run_names *n, weft_tensor *const *fed,
                                weft_tensor **fetched, cancel *c, bool *done);

#endif
