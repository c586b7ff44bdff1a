/* master.h - turns the runs of sessions into steps of the cluster: prune, place, partition, register, run.
 *
 * Each server has one master.  It serves the sessions of its own process directly, and those of other processes over
 * tensorflow.MasterService.  Both kinds are weft_sessions and share all code below that.
 *
 * Functions may be called from any thread.  The server owns the master. */
#ifndef WEFT_CLUSTER_MASTER_MASTER_H
#define WEFT_CLUSTER_MASTER_MASTER_H

#include "cluster/worker/worker.h"
#include "exec/session.h"

typedef struct master master;

weft_err weft__master_create(master **out, task *t, worker *w, peers *p); /* all three outlive it */
/* Cancels the runs of clients and rejects their calls with UNAVAILABLE.  Does not wait. */
void weft__master_stop(master *m);
bool weft__master_is_busy(master *m); /* true while a client's call is being answered */
/* Closes the sessions of all clients, waits for their calls and frees the master.  NULL is allowed. */
void weft__master_destroy(master *m);
/* Answers a call of tensorflow.MasterService on the blocking pool.  Does not block. */
void weft__master_handle(master *m, call *c);
/* Opens a session of this process on the cluster: Session(server.target).  The first run waits for the tasks that the
 * graph needs.  The caller destroys the session; the graph outlives it. */
weft_err weft__master_open(weft_session **out, master *m, weft_graph *g, const session_opts *opts);
/* Counts the sessions of other processes, and those of them whose plans were freed since their client is away. */
void weft__master_clients(master *m, int *open, int *idle);
/* Returns the number of open sessions of any process.  *last_run_ns is when the last run ended (monotonic; now while
 * one runs; 0: nothing has run).  For `join`. */
int weft__master_sessions(master *m, int64_t *last_run_ns);

#endif
