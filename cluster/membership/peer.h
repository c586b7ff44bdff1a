/* peer.h - the other tasks of the cluster, as this one reaches them.
 *
 * A peer is found by task name and connected when first used.  Everything sent to it goes through
 * weft__peer_call, which notices its death: calls in flight to a peer that died or fell silent end with
 * UNAVAILABLE within 2 s.  A peer that restarted answers ABORTED to what it no longer knows.
 *
 * Peers are greeted ("/weft.Peer/Hello") when first called and, while anything waits for them, several times
 * in two seconds; a task that is TensorFlow does not know the method and is asked for its status instead. */
#ifndef WEFT_CLUSTER_MEMBERSHIP_PEER_H
#define WEFT_CLUSTER_MEMBERSHIP_PEER_H

#include "cluster/spec.h"
#include "net/rpc.h"

typedef struct peers peers;
typedef struct peer peer;
typedef enum peer_kind { PEER_UNKNOWN, PEER_WEFT, PEER_TF } peer_kind;

/* self: "/job:worker/replica:0/task:1".  The cluster is copied. */
weft_err weft__peers_create(peers **out, const cluster *c, const char *self, const security *s);
void weft__peers_destroy(peers *p);
/* By the name of a task or of a device on it ("/job:ps/replica:0/task:0/device:CPU:0").  Borrowed; NOT_FOUND if the
 * cluster has no such task.  Finding oneself is allowed (a loopback connection). */
weft_err weft__peers_find(peers *p, const char *task_or_device, peer **out);
int weft__peers_count(const peers *p); /* every task, this one included */
peer *weft__peers_at(const peers *p, int i);
int weft__peer_number(const peer *p);          /* its i above */
const char *weft__peer_task(const peer *p);    /* "/job:ps/replica:0/task:0" */
const char *weft__peer_address(const peer *p); /* "host:port" */
bool weft__peer_is_self(const peer *p);
/* How often it was given up because it did not answer any more; greetings tell it. */
unsigned weft__peer_given_up(const peer *p);
peer_kind weft__peer_kind(peer *p);
/* As weft__channel_call; the method is a literal. */
void weft__peer_call(peer *p, const char *method, message *request, const call_opts *opts, rpc_callback *fn, void *arg);
void weft__peer_flush(peer *p); /* sends calls that expect another */
/* The call that has been under way for the longest time; false: there is none. */
bool weft__peer_oldest(peer *p, int64_t *began_ns, const char **method);

/* ---- greetings ---- */

#define WEFT_HELLO_METHOD "/weft.Peer/Hello"

typedef struct peer_hooks { /* called on the transport's threads; must not block */
  void *arg;
  weft_err (*say)(void *arg, peer *to, message *hello); /* fills in what a greeting says */
  /* What came of a greeting: WEFT_OK and the answer of a Weft task, UNIMPLEMENTED of a TensorFlow task (answer NULL),
   * or why there was none. */
  void (*heard)(void *arg, peer *from, weft_err err, message *answer);
  void (*died)(void *arg, peer *p); /* it had answered before, and does not any more; also on our own thread */
} peer_hooks;
void weft__peers_hook(peers *p, const peer_hooks *hooks); /* before anything is called */
/* Greets it now, or once more when the greeting under way is over.  timeout_ms 0: as long as a ping. */
void weft__peer_greet(peer *p, int64_t timeout_ms);
/* The peer has greeted us: it is Weft.  Restarted: our connection, if any, was to its former life. */
void weft__peer_met(peer *p, bool restarted);
/* Greets every other task, to hear from any of them who has left. */
void weft__peers_greet_all(peer *of);
/* What is known of a task's departure; the membership sets it and sessions that wait for the task read it. */
typedef struct peer_departure {
  int64_t at_ns; /* when it said goodbye; 0: it has not, or has come back since */
  bool chief;    /* it was the chief of a supervised job */
} peer_departure;
void weft__peer_set_departure(peer *p, peer_departure d);
peer_departure weft__peer_departed(peer *p);
/* Adds (+1) or takes away (-1) a reason to greet it regularly, so that its death is noticed though nothing is called. */
void weft__peer_watch(peer *p, int change);

#endif
