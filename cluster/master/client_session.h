/* client_session.h - a client's session on its master: the graph it sent, the session on the cluster, its callables.
 *
 * Reference counted: a call in progress holds a reference, so that another call may close the session meanwhile.
 * Functions may be called from any thread.  Those that run a step wait for it: call them on the blocking pool. */
#ifndef WEFT_CLUSTER_MASTER_CLIENT_SESSION_H
#define WEFT_CLUSTER_MASTER_CLIENT_SESSION_H

#include "cluster/blocking_pool.h"
#include "cluster/master/master.h"
#include "cluster/master/session.h"
#include "rpc.pb-c.h"

typedef struct client_session client_session;

typedef struct client_usage { /* written and read by clients.c only, under its lock */
  int calls;                  /* in progress */
  int64_t last_ns;            /* when the last call ended (monotonic) */
  int64_t closed_ns;          /* when the client's connection was first seen closed; 0: it is open */
  bool idle;                  /* its plans have been freed */
  size_t received;            /* bytes of the messages that brought its graph */
  size_t bytes;               /* estimated memory of the graph */
  char peer[80];              /* address of the last caller */
} client_usage;

/* Imports the graph of the request and opens a session on the cluster.  The caller gets the first reference. */
weft_err weft__client_session_create(client_session **out, master *m, const Tensorflow__CreateSessionRequest *r);
void weft__client_session_retain(client_session *s);
/* The last release closes and frees the session, which waits for its runs.  NULL is allowed. */
void weft__client_session_release(client_session *s);
/* Cancels the runs and waits for them, until c fires (NULL: without a limit). */
weft_err weft__client_session_close(client_session *s, cancel *c);
/* Cancels the runs and rejects new ones with this error.  Does not wait. */
void weft__client_session_refuse(client_session *s, weft_err code, const char *why);
/* Frees what the next run can create again: plans, parts on other tasks, request ids.  Returns false if a step runs. */
bool weft__client_session_trim(client_session *s);
client_usage *weft__client_session_usage(client_session *s);
int weft__client_session_nodes(const client_session *s); /* may be outdated: another thread may extend the graph */
const char *weft__client_session_handle(const client_session *s);

/* The methods of MasterService on one session.  Each takes the unpacked request and appends to the answer.  The feeds
 * of RunStep (field WEFT_STEP_FEEDS) may be large, so they are read from the call's message and not from q. */
enum { WEFT_STEP_FEEDS = 2 };
weft_err weft__client_session_extend(client_session *s, call *c, const ProtobufCMessage *q, message *answer);
weft_err weft__client_session_run_step(client_session *s, call *c, const ProtobufCMessage *q, message *answer);
weft_err weft__client_session_setup_partial(client_session *s, call *c, const ProtobufCMessage *q, message *answer);
weft_err weft__client_session_devices(client_session *s, call *c, const ProtobufCMessage *q, message *answer);
weft_err weft__client_session_make_callable(client_session *s, call *c, const ProtobufCMessage *q, message *answer);
weft_err weft__client_session_run_callable(client_session *s, call *c, const ProtobufCMessage *q, message *answer);
weft_err weft__client_session_release_callable(client_session *s, call *c, const ProtobufCMessage *q, message *answer);

#endif
