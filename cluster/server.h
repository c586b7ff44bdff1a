/* server.h - one task of a cluster that listens: master, worker and membership behind one port.
 *
 * If all addresses of the cluster are loopback addresses, the server listens on loopback only.  Otherwise it listens
 * on its own address in the cluster, or where `bind` says.  A process may have several servers.
 *
 * The creator owns a server and starts, joins and destroys it on one thread at a time.  Sessions may be opened on any
 * thread. */
#ifndef WEFT_CLUSTER_SERVER_H
#define WEFT_CLUSTER_SERVER_H

#include "cluster/master/master.h"
#include "cluster/membership/member.h"

typedef struct weft_server weft_server;

typedef struct server_opts {
  const char *job;
  int task;
  const char *bind; /* "host:port" to listen on when the address in the cluster cannot be bound; NULL: that address */
  security security;
  bool require_auth;      /* do not start without a token or TLS */
  const char *allow_dirs; /* directories that file ops may use; NULL: all, or none if the port needs a token or TLS */
  session_opts session;   /* thread counts and GPU options of the task */
  bool serve;             /* a bare server, without a program of its own: join returns only when interrupted */
  int status_port;        /* 0: no status page */
} server_opts;

/* Copies the cluster and the options.  INVALID_ARGUMENT if the cluster has no such task. */
weft_err weft__server_create(weft_server **out, const cluster *c, const server_opts *opts);
/* Listens and creates the components.  Does nothing if the server has been started.  After an error nothing listens. */
weft_err weft__server_start(weft_server *s);
/* Waits until the job is over; member.h gives the rule.  When it is interrupted, it waits for the steps that run here
 * (at most 5 s, or until a second interrupt) and returns CANCELLED. */
weft_err weft__server_join(weft_server *s);
/* Says goodbye to the other tasks, cancels what runs, closes the sessions of clients and frees the port.  NULL is
 * allowed.  Returns after 5 s at the latest, or at a second interrupt.  A kernel that still runs then keeps the
 * server's memory and port until the process ends. */
void weft__server_destroy(weft_server *s);
bool weft__server_left_kernel(void);                   /* true if destroying a server of this process left a kernel */
const char *weft__server_target(const weft_server *s); /* "grpc://localhost:2222"; a port of 0 is known once started */
const cluster *weft__server_cluster(const weft_server *s);
const char *weft__server_job(const weft_server *s);
int weft__server_task(const weft_server *s);
/* Opens a session of this program on the cluster.  FAILED_PRECONDITION before the server is started. */
weft_err weft__server_open_session(weft_session **out, weft_server *s, weft_graph *g, const session_opts *opts);
/* Returns the server of this process with this target, or NULL.  Its sessions need no connection.  Borrowed. */
weft_server *weft__server_find(const char *target);
/* Marks the server of this process with this target, if there is one, as that of the chief of a supervised job. */
void weft__server_set_chief(const char *target);
void weft__server_set_failed(weft_server *s); /* its goodbye will say that the task may be started again */

/* master/client.c: opens a session on a server of another process.  Does not connect before the first run. */
weft_err weft__client_open(weft_session **out, const char *target, weft_graph *g, const session_opts *opts,
                           const security *s);

/* master/client.c: empties resource containers (n 0: the default one) of the cluster behind the target and closes the
 * sessions of its clients.  Waits for the answer, at most timeout_ms (0: without a limit). */
weft_err weft__client_reset(const char *target, int n, const char *const *container, int64_t timeout_ms,
                            const security *s);

#endif
