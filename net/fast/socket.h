/* socket.h - opens the sockets of the fast transport: abstract unix sockets on one host, TCP between hosts.
 *
 * Functions have no state and may be called on any thread.  Each gives a non-blocking descriptor, which is the
 * caller's. */
#ifndef WEFT_NET_FAST_SOCKET_H
#define WEFT_NET_FAST_SOCKET_H

#include "base/status.h"

enum { FAST_KEY_SIZE = 16 };
/* The version of the frames and of the calls in them.  A change of either must raise it: tasks with unequal versions
 * talk by TensorFlow's gRPC calls only. */
enum { FAST_PROTOCOL = 1 };

/* UNAVAILABLE: nobody listens there, or a process of another user does. */
weft_err weft__socket_connect_unix(int *out, const char *name);
/* host: a numeric address; no name is looked up.  The connection may still be in progress when this returns. */
weft_err weft__socket_connect_tcp(int *out, const char *host, int port);
weft_err weft__socket_listen_unix(int *out, const char *name);
weft_err weft__socket_listen_tcp(int *out, const char *host, int *port); /* *port: one that the system chose */
/* As weft__accept.  errno EACCES: the process of another user connected to a unix socket, and its connection was
 * closed. */
int weft__socket_accept(int listen_fd);
/* Returns true if the peer of this unix socket runs as the same user.  If not, errno is EACCES. */
bool weft__socket_is_same_user(int fd);

/* Writes a key as hexadecimal text to buf, which has room for 2 * FAST_KEY_SIZE + 1 characters; returns buf. */
const char *weft__socket_key_text(char *buf, const uint8_t *key);

#endif
