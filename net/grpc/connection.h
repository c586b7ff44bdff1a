/* connection.h - a line over gRPC to addresses in numbers, as the line to a name uses it. */
#ifndef WEFT_NET_GRPC_CONNECTION_H
#define WEFT_NET_GRPC_CONNECTION_H

#include "net/grpc/core.h"

#ifdef WEFT_HAVE_GRPC
/* target: gRPC's ("ipv4:10.0.0.1:2222").  address: "host:port", for messages and as the authority.  host: the name that
 * a certificate must have; NULL: what the target says. */
weft_err weft__grpc_line_open(line **out, const char *target, const char *address, const char *host,
                              const channel_opts *opts);
typedef enum line_state { LINE_CONNECTING, LINE_READY, LINE_FAILED } line_state;
line_state weft__grpc_line_state(line *l, bool connect); /* connect: begin to, if it has not */
bool weft__grpc_line_is_idle(line *l);                   /* no call is under way */

/* named.c: a line to a host name, which is looked up whenever a connection has to be made. */
weft_err weft__named_line_open(line **out, const char *address, const char *host, int number, const channel_opts *opts);
#endif

#endif
