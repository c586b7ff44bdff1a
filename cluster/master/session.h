/* session.h - a session on a cluster: which tasks it knows, where its nodes are, and the steps made so far. */
#ifndef WEFT_CLUSTER_MASTER_SESSION_H
#define WEFT_CLUSTER_MASTER_SESSION_H

#include "cluster/master/step.h"

typedef enum session_event { SESSION_RUN, SESSION_RAN, SESSION_CLOSED } session_event;

typedef struct session_world { /* what a session runs on; all outlives it */
  task *task;
  worker *worker;
  peers *peers;
  /* Told of every run's begin and end, and once of the end of all; holds no lock of the session; may be NULL. */
  void (*tell)(void *arg, session_event e);
  void *arg;
} session_world;

/* The graph must outlive the session; the options are copied.  No task is asked before the first run. */
weft_err weft__cluster_session_create(weft_session **out, weft_graph *g, const session_opts *opts,
                                      const session_world *w);
/* Runs a request as step `id` with its feeds and fetches passing through the step's rendezvous (weft__client_key): a
 * partial run.  Blocks until the whole step has ended. */
weft_err weft__cluster_session_run_by_name(weft_session *s, const plan_request *r, int64_t id, cancel *c);
const char *weft__cluster_session_handle(const weft_session *s);
/* The devices of every task that the filters allow, whether the graph needs it or not.  Waits; c (or NULL) ends the wait. */
weft_err weft__cluster_session_devices(weft_session *s, cancel *c, device_info **out, int *n);
/* Frees the steps made so far, here and on the other tasks; the next run makes its step anew.  False: something runs. */
bool weft__cluster_session_trim(weft_session *s);
/* Refuses new runs and cancels those under way, for this reason; waits for nothing. */
void weft__cluster_session_refuse(weft_session *s, weft_err code, const char *why);
/* Refuses new runs, cancels those under way and waits for them until c fires; closing it is still to be done. */
weft_err weft__cluster_session_stop(weft_session *s, cancel *c);

#endif
