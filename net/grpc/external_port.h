/* external_port.h - hands connections that Weft accepted to a gRPC server that speaks TLS on them.
 *
 * gRPC's own listener stops for good when accept4 fails once, and cannot limit its connections.  Its public function
 * for accepted connections (grpc_server_add_channel_from_fd) refuses TLS.  The port "external:NAME" takes both.  gRPC's
 * C++ library uses it for ExternalConnectionAcceptor, in every release since 1.24.
 *
 * Owner: the listener (server.c).  weft__external_port_hand_over may be called on any thread. */
#ifndef WEFT_NET_GRPC_EXTERNAL_PORT_H
#define WEFT_NET_GRPC_EXTERNAL_PORT_H

#include "net/grpc/core.h"

#ifdef WEFT_HAVE_GRPC
typedef struct external_port external_port; /* gRPC's; it is valid until the server is shut down */

/* Adds the argument through which the server returns its port; *out must live as long as the server. */
void weft__external_port_args(core_args *a, external_port **out);
/* Adds the port to a server that was created with these arguments and is not started.  Returns false, and *out stays
 * NULL, if gRPC cannot use the credentials. */
bool weft__external_port_add(grpc_server *server, grpc_server_credentials *creds, external_port *const *out);
/* Hands the connection fd, which becomes gRPC's, to the started server.  gRPC closes it if the peer is gone already. */
void weft__external_port_hand_over(external_port *p, int listen_fd, int fd);
#endif

#endif
