/* client_session.h - a client's session as its master keeps it: the graph it sent, the session on the cluster, callables.
 *
 * Reference counted: a call in flight holds one while another closes it. */
#ifndef WEFT_CLUSTER_MASTER_CLIENT_SESSION_H
#define WEFT_CLUSTER_MASTER_CLIENT_SESSION_H

#include "cluster/blocking_pool.h"
#include "cluster/master/master.h"
#include "cluster/master/session.h"
#include "rpc.pb-c.h"

typedef struct client_session client_session;

typedef struct client_use { /* by its client: kept by the table of clients.h, whose lock guards it */
  int calls;                /* in progress */
  int64_t last_ns;          /* when the last one ended (monotonic) */
  int64_t closed_ns;        /* since when its connection has been closed, as far as was seen; 0: it is not */
  bool idle;                /* without plans */
  size_t received, bytes;   /* of messages with its graph; that the graph takes, about */
  char peer[80];            /* who called last */
} client_use;

/* master.c: where a session may run what blocks, and what sessions run on. */
errands *weft__master_errands(master *m, session_world *w);

weft_err weft__client_session_create(client_session **out, master *m, const Tensorflow__CreateSessionRequest *r);
void weft__client_session_retain(client_session *s);
void weft__client_session_release(client_session *s);
weft_err weft__client_session_close(client_session *s, cancel *c); /* waits for its runs, until c (or NULL) fires */
void weft__client_session_refuse(client_session *s, weft_err code, const char *why); /* runs, from now on and now */
/* Frees what the next run makes again: plans, parts on other tasks, request ids.  False: a step runs. */
bool weft__client_session_trim(client_session *s);
client_use *weft__client_session_use(client_session *s);
int weft__client_session_nodes(const client_session *s); /* about: it may be growing */
const char *weft__client_session_handle(const client_session *s);

/* Each takes the request of its method, unpacked, and fills in the answer.  The feeds of a step are read from the call
 * itself. */
enum { WEFT_STEP_FEEDS = 2 };
weft_err weft__client_session_extend(client_session *s, call *c, const ProtobufCMessage *q, message *answer);
weft_err weft__client_session_step(client_session *s, call *c, const ProtobufCMessage *q, message *answer);
weft_err weft__client_session_partial(client_session *s, call *c, const ProtobufCMessage *q, message *answer);
weft_err weft__client_session_devices(client_session *s, call *c, const ProtobufCMessage *q, message *answer);
weft_err weft__client_session_make_callable(client_session *s, call *c, const ProtobufCMessage *q, message *answer);
weft_err weft__client_session_run_callable(client_session *s, call *c, const ProtobufCMessage *q, message *answer);
weft_err weft__client_session_release_callable(client_session *s, call *c, const ProtobufCMessage *q, message *answer);

#endif
