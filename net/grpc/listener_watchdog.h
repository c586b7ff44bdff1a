/* listener_watchdog.h - notices that gRPC's own listener (needed for TLS) stopped accepting, and has it opened again. */
#ifndef WEFT_NET_GRPC_LISTENER_WATCHDOG_H
#define WEFT_NET_GRPC_LISTENER_WATCHDOG_H

#include "net/grpc/core.h"

#ifdef WEFT_HAVE_GRPC
typedef struct watch watch;
typedef weft_err watch_reopen(void *arg); /* on the watch's thread; tried again if it fails */
/* Watches the sockets of this process that listen on the port.  When connections wait there for a second and none is
 * accepted, they stop listening, so that the port is free, and reopen is called. */
weft_err weft__watch_start(watch **out, int number, watch_reopen *reopen, void *arg);
void weft__watch_stop(watch *w); /* NULL is fine */
#endif

#endif
