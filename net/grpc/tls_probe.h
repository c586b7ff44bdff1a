/* tls_probe.h - finds out whether a server that closes our connections speaks TLS.
 *
 * A probe is reference-counted.  Functions may be called on any thread and do not wait. */
#ifndef WEFT_NET_GRPC_TLS_PROBE_H
#define WEFT_NET_GRPC_TLS_PROBE_H

#include "net/grpc/core.h"

#ifdef WEFT_HAVE_GRPC
typedef struct tls_probe tls_probe;
tls_probe *weft__tls_probe_create(void); /* NULL: no memory */
/* Starts a thread that probes the first address of the target, in gRPC's form ("ipv4:10.0.0.1:2222").  Does nothing
 * if one runs, or ran less than 2 s ago, or cannot be started. */
void weft__tls_probe_start(tls_probe *p, const char *target);
bool weft__tls_probe_saw_tls(tls_probe *p); /* the last response was TLS */
void weft__tls_probe_release(tls_probe *p); /* NULL is fine */
#endif

#endif
