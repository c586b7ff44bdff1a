/* step.h - a request of a session, cut into parts that its tasks know, and how all of them run as one step.
 *
 * The part of the master's own task runs in this process with feeds and fetches as they are; the others were
 * registered over the wire and are told to run.  The first failure cancels the rest. */
#ifndef WEFT_CLUSTER_MASTER_STEP_H
#define WEFT_CLUSTER_MASTER_STEP_H

#include "cluster/worker/worker.h"
#include "exec/passes/partition.h"
#include "exec/session.h"

typedef struct cluster_step cluster_step;

typedef struct step_place { /* where a step is made */
  weft_graph *graph;        /* the whole one, whose nodes the request names */
  worker *worker;           /* of this task, whose number is 0 */
  peer *const *task;        /* per number of a task */
  const char *session;
  const char *device; /* the client's; outlives the step */
  bool by_name;       /* as it was cut */
} step_place;

/* Registers every part; waits, until the deadline (0: none) or until c fires. */
weft_err weft__step_create(cluster_step **out, const parts *p, const plan_request *r, const step_place *at,
                           int64_t deadline_ns, cancel *c);
/* Forgets the parts here; the other tasks forget theirs with the session. */
void weft__step_destroy(cluster_step *s);
/* As destroy, and tells the other tasks to forget theirs now; waits for nothing. */
void weft__step_forget(cluster_step *s);
/* A step cut by_name; what it leaves for its client stays in this task's rendezvous until weft__worker_cleanup. */
weft_err weft__step_run_as(cluster_step *s, int64_t id, cancel *c, int64_t deadline_ns);
int64_t weft__step_id(void); /* a new one */
/* Runs all parts and waits for them.  c is fired from here when the deadline passes or the program is interrupted. */
weft_err weft__step_run(cluster_step *s, const weft_tensor *const *feed, weft_tensor **fetched, cancel *c,
                        int64_t deadline_ns, const run_opts *opts);

#endif
