/* transport.h - the process's one transport object: what all channels and listeners of a process share.
 *
 * It holds the event loops of the fast transport and hands them to listeners and channels, which pass them down to
 * what they create.  This comment is also the one place that justifies the process-wide state of net/:
 *
 *   net/transport.c         the loop group.  A caller that waits for several responses waits on one sync_event and
 *                           polls one loop, whatever channels they come by; with a group for each server or session it
 *                           could not.  Further groups would also be further threads that compete for the same
 *                           processors.
 *   net/grpc/core.c         gRPC's completion queue and its thread.  grpc_init and grpc_shutdown are process-wide, and
 *                           a second queue costs one more thread switch for each call.
 *   net/grpc/connection.c   a thread-local: the call whose callback runs on this thread.  weft__grpc_response_host is
 *                           called deep in the callback, and the callback's arguments are those of both transports.
 *   net/grpc/name_lookup.c  the lookups that run.  getaddrinfo cannot be canceled, so a name that hangs must not get a
 *                           further thread from each connection that wants it.
 *   net/accept.c            the reserve of descriptors.  RLIMIT_NOFILE counts for the whole process.
 *   net/http.c              the functions of libmicrohttpd, which is loaded once and never changes.
 *   net/process.c           the id of the process.
 *
 * Owner: the process.  Functions may be called on any thread. */
#ifndef WEFT_NET_TRANSPORT_H
#define WEFT_NET_TRANSPORT_H

#include "net/fast/loop.h"

/* The loop group, started with the first user and stopped with the last.  Each retain needs a release.
 * FAILED_PRECONDITION: it was started before this process was forked; RESOURCE_EXHAUSTED: no thread or descriptor. */
weft_err weft__transport_retain_loops(loop_group **out);
void weft__transport_release_loops(
    loop_group *g); /* may stop the loops and wait for their threads: not in a callback */

#endif
