/* socket.h - the sockets of the fast transport: abstract unix ones on one host, TCP between hosts. */
#ifndef WEFT_NET_FAST_SOCKET_H
#define WEFT_NET_FAST_SOCKET_H

#include "base/status.h"

enum { FAST_KEY_SIZE = 16 };

/* Each gives a non-blocking descriptor; a TCP connection may still be being made when it returns. */
weft_err weft__socket_local(int *out, const char *name);         /* fails if another user listens there */
weft_err weft__socket_tcp(int *out, const char *host, int port); /* a number, not a name: nothing is looked up */
weft_err weft__socket_listen_local(int *out, const char *name);
weft_err weft__socket_listen_tcp(int *out, const char *host, int *port); /* any free one */
/* As weft__accept; errno EACCES: a process of another user came to a unix socket and was sent away. */
int weft__socket_accept(int listening);
bool weft__socket_is_own(int fd); /* is the peer of this unix socket a process of the same user? */

/* A key as text, in buf, which has room for two characters a byte and the end. */
const char *weft__socket_key_text(char *buf, const uint8_t *key);

#endif
