/* listener_watchdog.h - notices that gRPC's own listener (needed for TLS) stopped accepting, and has it reopened.
 *
 * Owner: the listener (server.c), which starts and stops it on the thread that creates or destroys it. */
#ifndef WEFT_NET_GRPC_LISTENER_WATCHDOG_H
#define WEFT_NET_GRPC_LISTENER_WATCHDOG_H

#include "net/grpc/core.h"

#ifdef WEFT_HAVE_GRPC
typedef struct watchdog watchdog;
typedef weft_err watchdog_reopen(void *arg); /* on the watchdog's thread; retried if it fails */
/* Watches the sockets of this process that listen on the port.  When connections wait there for a second and none is
 * accepted, the sockets stop listening, so that the port is free, and reopen is called.  RESOURCE_EXHAUSTED: no
 * thread. */
weft_err weft__watchdog_start(watchdog **out, int port, watchdog_reopen *reopen, void *arg);
void weft__watchdog_stop(watchdog *w); /* waits for the thread and frees w; NULL is fine */
#endif

#endif
