/* server.h - one task of a cluster, listening: the master, the worker and the membership behind one port.
 *
 * A cluster whose addresses are all loopback is listened for on loopback alone; any other on the task's own
 * listed address, or where `bind` says.  Several servers may live in one process. */
#ifndef WEFT_CLUSTER_SERVER_H
#define WEFT_CLUSTER_SERVER_H

#include "cluster/master/master.h"
#include "cluster/membership/member.h"

typedef struct weft_server weft_server;

typedef struct server_opts {
  const char *job;
  int task;
  const char *bind; /* "host:port" to listen on when the listed address cannot be bound; NULL: from the cluster */
  security security;
  bool require_auth;      /* refuse to start without a token or TLS */
  const char *allow_dirs; /* what file ops may touch; NULL: everything, or nothing once the port is guarded */
  session_opts session;   /* default for sessions of other processes */
  bool serve;             /* a bare task: join never returns by itself */
  int status_port;        /* 0: no status page */
} server_opts;

/* Everything is copied.  INVALID_ARGUMENT if the cluster has no such task. */
weft_err weft__server_create(weft_server **out, const cluster *c, const server_opts *opts);
weft_err weft__server_start(weft_server *s); /* listens; fine if it does already */
/* By the rule of member.h.  Interrupted, it lets the steps that run here end (5 s, or a second interrupt), then
 * returns CANCELLED. */
weft_err weft__server_join(weft_server *s);
/* Says goodbye, cancels what runs, closes the sessions of clients, frees the port.  Returns after 5 s at the latest, or at
 * a second interrupt: a kernel that still computes then keeps the server's memory and port for the rest of the process. */
void weft__server_destroy(weft_server *s);
bool weft__server_left_kernel(void);                   /* has a server of this process been left so? */
const char *weft__server_target(const weft_server *s); /* "grpc://localhost:2222"; port 0 is known once started */
const cluster *weft__server_cluster(const weft_server *s);
const char *weft__server_job(const weft_server *s);
int weft__server_task(const weft_server *s);
/* A session of this program on the cluster; FAILED_PRECONDITION before start. */
weft_err weft__server_open(weft_session **out, weft_server *s, weft_graph *g, const session_opts *opts);
/* A server of this process that has this target, or NULL: its sessions need no wire. */
weft_server *weft__server_at(const char *target);
/* The server of this process with this target, if there is one, is the chief's of a supervised job. */
void weft__server_set_chief(const char *target);
void weft__server_set_failed(weft_server *s); /* its goodbye will say that the task may be started again */

/* client.c: a session on a server of another process. */
weft_err weft__client_open(weft_session **out, const char *target, weft_graph *g, const session_opts *opts,
                           const security *s);

/* Empties resource containers (n 0: the default one) of the cluster behind the target, and closes its sessions. */
weft_err weft__client_reset(const char *target, int n, const char *const *container, int64_t timeout_ms,
                            const security *s);

#endif
