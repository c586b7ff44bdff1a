/* tls_probe.h - does a server that closes our connections speak TLS? */
#ifndef WEFT_NET_GRPC_TLS_PROBE_H
#define WEFT_NET_GRPC_TLS_PROBE_H

#include "net/grpc/core.h"

#ifdef WEFT_HAVE_GRPC
typedef struct probe probe;
probe *weft__probe_create(void); /* NULL: no memory */
/* Begins to ask, on a thread of its own, unless that was done a moment ago.  target: gRPC's ("ipv4:10.0.0.1:2222"). */
void weft__probe_start(probe *p, const char *target);
bool weft__probe_saw_tls(probe *p); /* the last answer was one of TLS */
void weft__probe_release(probe *p); /* does not wait; NULL is fine */
#endif

#endif
