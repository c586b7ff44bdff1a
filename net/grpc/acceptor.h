/* acceptor.h - the listening sockets of a gRPC server without TLS.
 *
 * gRPC's own listener stops for ever when accept4 fails once, and cannot limit who comes.  This one accepts on a thread
 * of its own and hands each connection to the server. */
#ifndef WEFT_NET_GRPC_ACCEPTOR_H
#define WEFT_NET_GRPC_ACCEPTOR_H

#include "net/grpc/core.h"

#ifdef WEFT_HAVE_GRPC
typedef struct acceptor acceptor;
/* Listens on every address of the host ("127.0.0.1", "[::1]", a name); *number 0 becomes the one that was bound. */
weft_err weft__acceptor_listen(acceptor **out, const char *host, int *number);
weft_err weft__acceptor_start(acceptor *a, grpc_server *server); /* accepts from now on */
/* A call came by the connection of this name of gRPC's ("fd:12") and was let in: the connection may stay. */
void weft__acceptor_trust(acceptor *a, const char *peer);
bool weft__acceptor_has_strangers(acceptor *a); /* are there connections without such a call? */
void weft__acceptor_stop(acceptor *a);          /* accepts no more: before the server is shut down; NULL is fine */
void weft__acceptor_close(acceptor *a);         /* frees it: once no call can come any more; NULL is fine */
/* The address behind a connection's name, as gRPC's listeners say it ("ipv4:127.0.0.1:40312"). */
void weft__acceptor_peer(char *buf, size_t room, const char *peer);
#endif

#endif
