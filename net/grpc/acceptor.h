/* acceptor.h - the listening sockets of a gRPC server.
 *
 * gRPC's own listener stops for good when accept4 fails once, and cannot limit its connections.  This one accepts on a
 * thread of its own and hands each connection to the server.
 *
 * Owner: the listener (server.c), which calls everything on the thread that creates or destroys it; mark_authenticated,
 * has_unauthenticated and peer may be called on any thread. */
#ifndef WEFT_NET_GRPC_ACCEPTOR_H
#define WEFT_NET_GRPC_ACCEPTOR_H

#include "net/grpc/core.h"
#include "net/grpc/external_port.h"

#ifdef WEFT_HAVE_GRPC
typedef struct acceptor acceptor;
/* Listens on every address of the host ("127.0.0.1", "[::1]", a name); *port 0 becomes the one that was bound.
 * UNKNOWN, as TF's servers say it: the address cannot be used. */
weft_err weft__acceptor_listen(acceptor **out, const char *host, int *port);
/* Accepts from now on, for a server that is started; tls is its port, or NULL: connections are not encrypted. */
weft_err weft__acceptor_start(acceptor *a, grpc_server *server, external_port *tls);
/* A call on the connection that gRPC calls `peer` was allowed ("fd:12"; under TLS its address): the connection may
 * stay. */
void weft__acceptor_mark_authenticated(acceptor *a, const char *peer);
bool weft__acceptor_has_unauthenticated(acceptor *a); /* are there connections without such a call? */
void weft__acceptor_stop(acceptor *a);                /* accepts no more: before the server shuts down; NULL is fine */
void weft__acceptor_close(acceptor *a); /* frees it, once no call can be received any more; NULL is fine */
/* Writes the address behind gRPC's name of a connection, as gRPC's listeners do ("ipv4:127.0.0.1:40312"). */
void weft__acceptor_peer(char *buf, size_t room, const char *peer);
#endif

#endif
