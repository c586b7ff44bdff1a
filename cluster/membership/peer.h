/* peer.h - calls to the other tasks of the cluster, and the detection of lost tasks.
 *
 * A peer is found by its task name and connected at the first call.  All calls to other tasks go through
 * weft__peer_call.  When a peer dies or does not answer any more, its calls in progress end with UNAVAILABLE within 2
 * s.  A peer that was restarted answers ABORTED to requests about state that it lost.
 *
 * A peer is greeted ("/weft.Peer/Hello") at the first call, and then every 400 ms while calls to it are in progress or
 * weft__peer_monitor asked for it.  A TensorFlow task does not know that method; GetStatus takes its place there.
 *
 * Functions may be called from any thread and do not block, except weft__peers_destroy.  The server owns the peers. */
#ifndef WEFT_CLUSTER_MEMBERSHIP_PEER_H
#define WEFT_CLUSTER_MEMBERSHIP_PEER_H

#include "cluster/spec.h"
#include "net/rpc.h"

typedef struct peers peers;
typedef struct peer peer;
typedef enum peer_kind { PEER_UNKNOWN, PEER_WEFT, PEER_TF } peer_kind;

/* self is the name of this task: "/job:worker/replica:0/task:1".  The cluster is copied; the texts of the security
 * outlive the peers. */
weft_err weft__peers_create(peers **out, const cluster *c, const char *self, const security *s);
void weft__peers_destroy(peers *p); /* cancels all calls and waits until they have ended; NULL is allowed */
/* Finds a peer by the name of its task or of a device on it ("/job:ps/replica:0/task:0/device:CPU:0").  Borrowed.
 * NOT_FOUND if the cluster has no such task.  This task may be found too (its calls use a loopback connection). */
weft_err weft__peers_find(peers *p, const char *task_or_device, peer **out);
int weft__peers_count(const peers *p); /* every task, this one included */
peer *weft__peers_at(const peers *p, int i);
int weft__peer_number(const peer *p);          /* its i above */
const char *weft__peer_task(const peer *p);    /* "/job:ps/replica:0/task:0" */
const char *weft__peer_address(const peer *p); /* "host:port" */
bool weft__peer_is_self(const peer *p);
/* Returns how often this task gave the peer up as lost.  Greetings carry the number, so that the peer learns of it. */
unsigned weft__peer_given_up(const peer *p);
peer_kind weft__peer_kind(peer *p);
/* Calls a method, as weft__channel_call does.  The method is a literal.  The request is emptied.  fn is called exactly
 * once, perhaps before this returns. */
void weft__peer_call(peer *p, const char *method, message *request, const call_opts *opts, rpc_callback *fn, void *arg);
void weft__peer_flush(peer *p); /* sends the calls that call_opts.more has kept in a buffer */
/* Finds the call that has been in progress for the longest time: when it began (monotonic), and its method, a literal.
 * Returns false if there is none. */
bool weft__peer_oldest_call(peer *p, int64_t *began_ns, const char **method);

/* ---- greetings ---- */

#define WEFT_HELLO_METHOD "/weft.Peer/Hello"

typedef struct peer_hooks { /* called on threads of the transport, without a lock; must not block */
  void *arg;
  weft_err (*write_hello)(void *arg, peer *to, message *hello); /* writes the greeting */
  /* A greeting has ended: WEFT_OK with the answer of a Weft task, UNIMPLEMENTED for a TensorFlow task (answer NULL),
   * or the error. */
  void (*on_reply)(void *arg, peer *from, weft_err err, message *answer);
  /* The peer had answered before and does not answer any more. */
  void (*on_lost)(void *arg, peer *p);
} peer_hooks;
void weft__peers_set_hooks(peers *p, const peer_hooks *hooks); /* before the first call */
/* Greets the peer now, or when the greeting in progress has ended.  timeout_ms 0: the usual timeout of a greeting. */
void weft__peer_greet(peer *p, int64_t timeout_ms);
/* Notes that the peer has greeted this task, so it is Weft.  restarted: drops the connection, which is one to its
 * former process. */
void weft__peer_note_greeting(peer *p, bool restarted);
/* Greets every other task, to learn from any of them which tasks have left. */
void weft__peers_greet_all(peer *of);
enum { WEFT_RETURN_SECS = 5 }; /* a task that comes back this soon after its goodbye was restarted */
/* A task's departure.  The membership sets it; sessions that wait for the task read it. */
typedef struct peer_departure {
  int64_t at_ns; /* when the task said goodbye; 0: it has not, or it has come back */
  bool chief;    /* it was the chief of a supervised job */
} peer_departure;
void weft__peer_set_departure(peer *p, peer_departure d);
peer_departure weft__peer_get_departure(peer *p);
/* Adds (+1) or removes (-1) a reason to greet the peer regularly.  So its loss is noticed even if no call is in
 * progress. */
void weft__peer_monitor(peer *p, int change);

#endif
