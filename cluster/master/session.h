/* session.h - a session on a cluster: the tasks it knows, the devices of its nodes, and the steps made so far.
 *
 * Several threads may run it at a time.  Its creator destroys it, with the functions of exec/session.h. */
#ifndef WEFT_CLUSTER_MASTER_SESSION_H
#define WEFT_CLUSTER_MASTER_SESSION_H

#include "cluster/blocking_pool.h"
#include "cluster/master/step.h"

typedef enum session_event { SESSION_RUN_BEGAN, SESSION_RUN_ENDED, SESSION_CLOSED } session_event;

typedef struct session_env { /* what a session runs on; everything outlives the session */
  task *task;
  worker *worker;
  peers *peers;
  blocking_pool *blocking_pool; /* for the steps of partial runs */
  /* Called when a run begins and ends, and once when the session is closed.  No lock of the session is held.  May be
   * NULL. */
  void (*on_event)(void *arg, weft_session *s, session_event e);
  void *arg;
} session_env;

/* Creates a session.  The graph outlives it; the options are copied.  No other task is called before the first run. */
weft_err weft__cluster_session_create(weft_session **out, weft_graph *g, const session_opts *opts,
                                      const session_env *env);
/* Runs a request as step `id`.  Its feeds and fetches pass through the step's rendezvous under
 * weft__partition_client_key: this is a partial run.  Waits until the whole step has ended or c has fired. */
weft_err weft__cluster_session_run_by_name(weft_session *s, const plan_request *r, int64_t id, cancel *c);
const char *weft__cluster_session_handle(const weft_session *s);
/* Lists the devices of every task that the filters allow, also of tasks that the graph does not need.  Waits for the
 * tasks until c (or NULL) fires.  The caller frees the list with weft__place_infos_free. */
weft_err weft__cluster_session_devices(weft_session *s, cancel *c, device_info **out, int *n);
/* Frees the steps made so far, here and on the other tasks; the next run makes its step again.  Returns false, and
 * does nothing, if something runs. */
bool weft__cluster_session_trim(weft_session *s);
/* Cancels the runs, and rejects new ones as a master that has restarted does.  Does not wait. */
void weft__cluster_session_forget(weft_session *s);
/* Cancels the runs with this error and rejects new ones.  Does not wait. */
void weft__cluster_session_refuse(weft_session *s, weft_err code, const char *why);
/* Cancels the runs, rejects new ones and waits for the runs until c fires.  The session has still to be closed. */
weft_err weft__cluster_session_stop(weft_session *s, cancel *c);

#endif
