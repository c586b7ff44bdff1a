/* clients.h - the sessions of a master's clients: found by handle, and freed when their client is gone.
 *
 * A client that dies does not close its sessions.  So unused sessions are freed in two stages:
 *
 * - 60 s after the client's connection was closed, the session frees what can be created again: plans, their memory,
 * parts registered on other tasks.  Its graph and handle stay.  So a client that was only idle, and whose gRPC closed
 * the connection meanwhile, can go on as before. - WEFT_SESSION_TTL seconds (3600) later the session is closed and
 * freed.
 *
 * When there are more than 1,000 sessions, or their graphs take more than a quarter of the machine's memory, the least
 * recently used one is evicted at once; those without a connection go first.  A session with a call in progress is
 * never freed.
 *
 * The connection is that of the session's last call, looked up in the system's socket table.  Where that is not
 * possible, the connection counts as closed when the last call ended.  Tests set WEFT_SESSION_IDLE_SECS and
 * WEFT_SESSION_MEMORY_MB to replace the 60 s and the quarter.
 *
 * Functions may be called from any thread.  The master owns the table. */
#ifndef WEFT_CLUSTER_MASTER_CLIENTS_H
#define WEFT_CLUSTER_MASTER_CLIENTS_H

#include "base/timer.h"
#include "cluster/master/client_session.h"

typedef struct clients clients;

typedef struct clients_count {
  int open, idle; /* idle: the open ones whose plans have been freed */
} clients_count;

weft_err weft__clients_create(clients **out, blocking_pool *p, timers *t); /* both outlive it */
/* Accepts no more sessions and starts no more sweeps.  A sweep that runs goes on in the blocking pool. */
void weft__clients_stop(clients *t);
void weft__clients_destroy(clients *t); /* after stop, and after the last session was removed; NULL is allowed */

/* Adds the session, whose reference passes to the table unless this fails.  c is the call that created it.
 * UNAVAILABLE after stop. */
weft_err weft__clients_add(clients *t, client_session *s, call *c);
/* Finds the session and marks it as used until weft__clients_release.  ABORTED if there is none. */
weft_err weft__clients_acquire(clients *t, const char *handle, call *c, client_session **out);
void weft__clients_release(clients *t, client_session *s);            /* also drops the reference */
void weft__clients_grow(clients *t, client_session *s, size_t size);  /* its graph grew by a message of this size */
client_session *weft__clients_remove(clients *t, const char *handle); /* returns the table's reference, or NULL */
client_session *weft__clients_remove_any(clients *t);                 /* the same for an arbitrary session */
/* Returns all sessions with a reference each; the caller frees the array with weft__free.  NULL if there are none, or
 * for lack of memory. */
client_session **weft__clients_list(clients *t, int *n);
clients_count weft__clients_count(clients *t);

#endif
