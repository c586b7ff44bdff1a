/* socket_table.h - which connections to this host are open, by the system's socket table.
 *
 * gRPC has no callback for a connection that was closed.  Linux lists every TCP socket of the host in /proc/net/tcp and
 * tcp6. */
#ifndef WEFT_NET_SOCKET_TABLE_H
#define WEFT_NET_SOCKET_TABLE_H

#include <stdbool.h>

typedef enum connection_state { CONNECTION_UNKNOWN, CONNECTION_OPEN, CONNECTION_CLOSED } connection_state;

/* Sets the state of n peers, named as by weft__call_peer ("ipv4:10.0.0.7:40312", "ipv6:%5B::1%5D:40312"): is a
 * connection from there established?  UNKNOWN: the name has another form, or the table cannot be read.  Any thread;
 * reads two files. */
void weft__socket_table_find(int n, const char *const *peer, connection_state *state);

#endif
