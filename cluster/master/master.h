/* master.h - turns a session's runs into steps of the cluster: prune, place, cut, register, run.
 *
 * Each server has one.  It serves sessions of its own process directly and others over
 * tensorflow.MasterService; both are weft_sessions, so a server's sessions are run by one code. */
#ifndef WEFT_CLUSTER_MASTER_MASTER_H
#define WEFT_CLUSTER_MASTER_MASTER_H

#include "cluster/worker/worker.h"
#include "exec/session.h"

typedef struct master master;

weft_err weft__master_create(master **out, task *t, worker *w, peers *p); /* all outlive it */
/* Cancels what clients run, refuses what they ask for, and waits for nothing. */
void weft__master_stop(master *m);
bool weft__master_is_busy(master *m); /* is a client's call being answered? */
void weft__master_destroy(master *m); /* closes every session */
/* Answers every method of tensorflow.MasterService. */
void weft__master_handle(master *m, call *c);
/* A session of this process on the whole cluster: Session(server.target).  Waits for the tasks it needs when it first
 * runs. */
weft_err weft__master_open(weft_session **out, master *m, weft_graph *g, const session_opts *opts);
/* How many sessions of other processes there are, and how many of them nobody uses and have no plans (clients.h). */
void weft__master_clients(master *m, int *open, int *idle);
/* How many sessions are open, and when the last run of any ended (monotonic ns; now while one
 * runs; 0: never): for `join`. */
int weft__master_sessions(master *m, int64_t *last_run_ns);

#endif
