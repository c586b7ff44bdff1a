/* progress.h - which fetches of a request tell how far a training has come: its loss and its global step.
 *
 * They are found once for each request, by their names and types.  A run then only looks at the fetched values. */
#ifndef WEFT_CLUSTER_STATUS_PROGRESS_H
#define WEFT_CLUSTER_STATUS_PROGRESS_H

#include "base/metrics.h"
#include "exec/plan.h"

typedef struct progress {
  int n_fetch;
  unsigned char *role; /* per fetch; NULL: there are none */
} progress;

/* Finds the fetches of a request; free with weft__progress_finish.  Takes the graph's lock. */
weft_err weft__progress_find(progress *out, weft_graph *g, const plan_request *r);
void weft__progress_finish(progress *p);
/* Records that a run of a session has ended: counts it, and keeps its error, or the step and loss that it fetched.
 * u is of the session, which calls weft__metrics_initialized when it ends.  p is NULL if the run failed. */
void weft__progress_note_run(metrics_uninitialized *u, const progress *p, weft_tensor *const *fetched, weft_err err);

#endif
