/* socket_table.h - which connections to this host are open, by the system's socket table.
 *
 * gRPC has no callback for a connection that was closed.  Linux lists every TCP socket of the host in /proc/net/tcp and
 * tcp6. */
#ifndef WEFT_NET_SOCKET_TABLE_H
#define WEFT_NET_SOCKET_TABLE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum connection_state { CONNECTION_UNKNOWN, CONNECTION_OPEN, CONNECTION_CLOSED } connection_state;

typedef struct peer_address {
  uint32_t word[4]; /* as in an in6_addr; an IPv4 address is kept as ::ffff:a.b.c.d */
  unsigned port;
  bool valid;
} peer_address;

/* Parses the name of a peer, as gRPC and weft__call_peer write it ("ipv4:10.0.0.7:40312", "ipv6:%5B::1%5D:40312",
 * "ipv6:[::1]:40312"), without its zone.  Not valid: the name has another form. */
peer_address weft__peer_address_parse(const char *peer);
bool weft__peer_address_equals(const peer_address *a, const peer_address *b); /* both valid, and equal */

/* Sets the state of n peers, named as by weft__call_peer ("ipv4:10.0.0.7:40312", "ipv6:%5B::1%5D:40312"): is a
 * connection from there established?  UNKNOWN: the name has another form, or the table cannot be read.  Any thread;
 * reads two files. */
void weft__socket_table_find(int n, const char *const *peer, connection_state *state);

#endif
