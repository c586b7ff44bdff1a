/* connection.h - connections over gRPC: to numeric addresses, and to a host name that has to be resolved.
 *
 * Both are grpc_connections (net/internal.h); the second makes connections of the first kind. */
#ifndef WEFT_NET_GRPC_CONNECTION_H
#define WEFT_NET_GRPC_CONNECTION_H

#include "net/grpc/core.h"

#ifdef WEFT_HAVE_GRPC
/* connection.c: to numeric addresses.  target: in gRPC's form ("ipv4:10.0.0.1:2222"); address: "host:port", for
 * messages and as the authority; host: the name that the peer's certificate must have, NULL: that of the target.
 * Strings are copied.  INVALID_ARGUMENT: the certificate, key or CA cannot be read. */
weft_err weft__direct_connection_create(grpc_connection **out, const char *target, const char *address,
                                        const char *host, const channel_opts *opts);
typedef enum direct_state { DIRECT_CONNECTING, DIRECT_READY, DIRECT_FAILED } direct_state;
direct_state weft__direct_connection_state(grpc_connection *c, bool connect); /* connect: starts to, if it has not */
bool weft__direct_connection_is_idle(grpc_connection *c);                     /* no call is pending */

/* resolving_connection.c: to a host name, which is looked up before each attempt to connect. */
weft_err weft__resolving_connection_create(grpc_connection **out, const char *address, const char *host, int port,
                                           const channel_opts *opts);
#endif

#endif
