/* clients.h - the sessions of a master's clients: found by handle, and freed when nobody uses them.
 *
 * A client that dies closes nothing.  So a session whose client has no connection any more gives up what can be made again
 * (plans, their memory, parts registered on other tasks) after IDLE_SECS (60); its graph and handle stay, so that a client
 * that only idled, and whose gRPC closed the connection meanwhile, goes on as if nothing had happened.  WEFT_SESSION_TTL
 * seconds (3600) later the session goes entirely.  Beyond 1,000 sessions, or when their graphs take more than a quarter of the
 * machine's memory, the one that was used longest ago goes at once, those without a connection first.  A session with a
 * call in progress never goes.
 *
 * The connection is that of the session's last call, looked up in the system's socket table; where that is not possible,
 * the connection counts as closed when the last call ended.  For tests, WEFT_SESSION_IDLE_SECS and WEFT_SESSION_MEMORY_MB
 * stand in for the 60 s and the quarter. */
#ifndef WEFT_CLUSTER_MASTER_CLIENTS_H
#define WEFT_CLUSTER_MASTER_CLIENTS_H

#include "base/timer.h"
#include "cluster/master/client_session.h"

typedef struct clients clients;

typedef struct clients_count {
  int open, idle; /* idle: of those, the ones without plans */
} clients_count;

weft_err weft__clients_create(clients **out, errands *e, timers *t); /* both outlive it */
/* Takes no more sessions, and begins no more to free any; what it has begun, it ends as an errand. */
void weft__clients_stop(clients *t);
void weft__clients_destroy(clients *t); /* after stop; it is empty */

/* The session passes to the table, unless this fails.  c: the call it came with. */
weft_err weft__clients_add(clients *t, client_session *s, call *c);
/* A reference to the session of this handle, in use until weft__clients_end.  ABORTED: there is none. */
weft_err weft__clients_begin(clients *t, const char *handle, call *c, client_session **out);
void weft__clients_end(clients *t, client_session *s);                /* and the reference */
void weft__clients_grow(clients *t, client_session *s, size_t size);  /* its graph, by a message of this size */
client_session *weft__clients_remove(clients *t, const char *handle); /* the table's reference; NULL: there is none */
client_session *weft__clients_remove_any(clients *t);
/* All of them, with a reference each; to be weft__freed.  NULL: there is none, or no memory. */
client_session **weft__clients_list(clients *t, int *n);
clients_count weft__clients_count(clients *t);

#endif
