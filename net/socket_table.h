/* socket_table.h - which connections to this host are open, as the system's socket table says.
 *
 * gRPC tells nobody that a connection has closed.  Linux lists every TCP socket of the host in /proc/net/tcp and tcp6. */
#ifndef WEFT_NET_SOCKET_TABLE_H
#define WEFT_NET_SOCKET_TABLE_H

#include <stdbool.h>

typedef enum connection_state { CONNECTION_UNKNOWN, CONNECTION_OPEN, CONNECTION_CLOSED } connection_state;

/* For n peers as weft__call_peer names them ("ipv4:10.0.0.7:40312", "ipv6:%5B::1%5D:40312"): is a connection from there
 * established?  UNKNOWN: it is no such name, or the table cannot be read. */
void weft__socket_table_find(int n, const char *const *peer, connection_state *state);

#endif
