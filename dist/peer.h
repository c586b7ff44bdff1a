/* peer.h - the other tasks of the cluster, as this one reaches them.
 *
 * A peer is found by task name and connected when first used.  Everything sent to it goes through
 * weft__peer_call, which chooses the transport and notices its death: calls in flight to a peer that
 * died, restarted or fell silent end with UNAVAILABLE (or ABORTED: another incarnation) within 2 s. */
#ifndef WEFT_DIST_PEER_H
#define WEFT_DIST_PEER_H

#include "dist/cluster.h"
#include "net/rpc.h"

typedef struct peers peers;
typedef struct peer peer;

/* self: "/job:worker/replica:0/task:1".  The cluster is copied. */
weft_err weft__peers_create(peers **out, const cluster *c, const char *self, const security *s);
void weft__peers_destroy(peers *p);
/* By the name of a task or of a device on it ("/job:ps/replica:0/task:0/device:CPU:0").  Borrowed; NOT_FOUND if the
 * cluster has no such task.  Finding oneself is allowed (a loopback connection). */
weft_err weft__peers_find(peers *p, const char *task_or_device, peer **out);
int weft__peers_count(const peers *p); /* every task, this one included */
peer *weft__peers_at(const peers *p, int i);
const char *weft__peer_task(const peer *p);    /* "/job:ps/replica:0/task:0" */
const char *weft__peer_address(const peer *p); /* "host:port" */
bool weft__peer_is_self(const peer *p);
/* As weft__channel_call. */
void weft__peer_call(peer *p, const char *method, message *request, const call_opts *opts, rpc_reply *fn, void *arg);

#endif
