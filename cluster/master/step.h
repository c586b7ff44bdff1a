/* step.h - a request of a session as parts that are registered on its tasks, and the steps that run them.
 *
 * The part of the master's own task runs in this process and gets feeds and fetches as tensors.  The other parts are
 * registered on their tasks, which run them on a call.  The first error cancels the other parts.
 *
 * A cluster_step does not change once it is made, so several threads may run it at a time.  The session owns it. */
#ifndef WEFT_CLUSTER_MASTER_STEP_H
#define WEFT_CLUSTER_MASTER_STEP_H

#include "cluster/status/progress.h"
#include "cluster/worker/worker.h"
#include "exec/passes/partition.h"
#include "exec/session.h"

typedef struct cluster_step cluster_step;

typedef struct step_context { /* what a step is made from; used only while it is made, unless it says otherwise */
  weft_graph *graph;          /* the session's graph, whose nodes the request names */
  worker *worker;             /* of this task, which has the number 0; outlives the step */
  peer *const *task;          /* by number of the task */
  const char *session;        /* its handle */
  const char *device;         /* the client's; outlives the step */
  bool by_name;               /* the request was partitioned by name, for a partial run */
  bool mixed_precision;       /* each task rewrites its part (exec/passes/mixed_precision.h) */
} step_context;

/* Compiles the local part and registers the others.  Waits until the deadline (0: none) or until c fires. */
weft_err weft__cluster_step_create(cluster_step **out, const parts *p, const plan_request *r, const step_context *ctx,
                                   int64_t deadline_ns, cancel *c);
const progress *weft__cluster_step_progress(const cluster_step *s); /* lives as long as the step */
/* Frees the local part.  The other tasks free theirs with the session.  NULL is allowed. */
void weft__cluster_step_destroy(cluster_step *s);
/* Tells the other tasks to free their parts, without waiting for them, and destroys the step.  NULL is allowed. */
void weft__cluster_step_deregister(cluster_step *s);
/* Runs all parts and waits for them.  Fires c itself when the deadline passes or the program is interrupted.  The
 * caller destroys the fetched tensors; after an error there are none.  Runs of one graph_key have the same id on all
 * masters; 0: the collective ops of the graph decide.  stats, if it is not NULL, gets a serialized
 * RunMetadata with the step stats of all parts. */
weft_err weft__cluster_step_run(cluster_step *s, const weft_tensor *const *feed, weft_tensor **fetched, cancel *c,
                                int64_t deadline_ns, int64_t graph_key, struct text *stats);
/* Runs a step that was partitioned by name under the given id.  What it leaves for its client stays in the rendezvous
 * of this task until weft__worker_cleanup_step. */
weft_err weft__cluster_step_run_by_name(cluster_step *s, int64_t id, cancel *c, int64_t deadline_ns);
int64_t weft__cluster_step_new_id(void); /* a random id for a step or a request; never 0 */

#endif
