/* socket.c - opens sockets.  No state, no locks.
 *
 * Unix sockets are abstract: they need no file, and are gone with the process.  Anybody on the host may connect to
 * one, so both sides compare the peer's user with their own. */
#include "net/fast/socket.h"
#include "base/cast.h"
#include "net/accept.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { SOCKET_BUFFER = 4 << 20, BACKLOG = 128 };

static int socket_create(int family) {
  int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), size = SOCKET_BUFFER;
  if (fd < 0 || family != AF_UNIX) return fd; /* TCP tunes its buffers itself */
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  return fd;
}

/* Sends small frames at once, and lets the kernel notice a host that is gone.  The peer process itself may stop for
 * long. */
static void socket_tune_tcp(int fd) {
  static const struct {
    int level, option, value;
  } all[] = {{IPPROTO_TCP, TCP_NODELAY, 1},   {SOL_SOCKET, SO_KEEPALIVE, 1}, {IPPROTO_TCP, TCP_KEEPIDLE, 1},
             {IPPROTO_TCP, TCP_KEEPINTVL, 1}, {IPPROTO_TCP, TCP_KEEPCNT, 3}, {IPPROTO_TCP, TCP_USER_TIMEOUT, 5000}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    setsockopt(fd, all[i].level, all[i].option, &all[i].value, sizeof all[i].value);
}

static socklen_t socket_unix_address(struct sockaddr_un *a, const char *name) {
  *a = (struct sockaddr_un){.sun_family = AF_UNIX};
  snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "%s", name); /* a leading NUL makes it abstract */
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(a->sun_path + 1));
}

/* Hands fd out if all went well; else closes it and fails with errno. */
static weft_err socket_finish_open(int *out, int fd, bool ok, const char *what, const char *where) {
  if (fd >= 0 && ok) {
    *out = fd;
    return WEFT_OK;
  }
  int why = errno;
  if (fd >= 0) close(fd);
  return weft__fail(WEFT_UNAVAILABLE, "%s %s: %s", what, where, strerror(why));
}

bool weft__socket_is_same_user(int fd) {
  struct ucred peer = {0};
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid()) return true;
  errno = EACCES;
  return false;
}

weft_err weft__socket_connect_unix(int *out, const char *name) {
  struct sockaddr_un a;
  socklen_t size = socket_unix_address(&a, name);
  int fd = socket_create(AF_UNIX);
  bool connected = fd >= 0 && connect(fd, (struct sockaddr *)&a, size) == 0 && weft__socket_is_same_user(fd);
  return socket_finish_open(out, fd, connected, "cannot connect to", name);
}

weft_err weft__socket_listen_unix(int *out, const char *name) {
  struct sockaddr_un a;
  socklen_t size = socket_unix_address(&a, name);
  int fd = socket_create(AF_UNIX);
  bool bound = fd >= 0 && bind(fd, (struct sockaddr *)&a, size) == 0 && listen(fd, BACKLOG) == 0;
  return socket_finish_open(out, fd, bound, "cannot listen on", name);
}

static weft_err socket_resolve(struct addrinfo **out, const char *host, int port, int flags) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
  char service[16];
  snprintf(service, sizeof service, "%d", port);
  int failed = getaddrinfo(host, service, &hints, out);
  return failed ? weft__fail(WEFT_UNAVAILABLE, "%s: %s", host, gai_strerror(failed)) : WEFT_OK;
}

weft_err weft__socket_connect_tcp(int *out, const char *host, int port) {
  struct addrinfo *found;
  WEFT_TRY(socket_resolve(&found, host, port, AI_NUMERICHOST));
  int fd = socket_create(found->ai_family);
  bool started = fd >= 0 && (connect(fd, found->ai_addr, found->ai_addrlen) == 0 || errno == EINPROGRESS);
  if (started) socket_tune_tcp(fd);
  freeaddrinfo(found);
  return socket_finish_open(out, fd, started, "cannot connect to", host);
}

weft_err weft__socket_listen_tcp(int *out, const char *host, int *port) {
  char plain[256];
  struct addrinfo *found;
  size_t size = strlen(host);
  bool bracketed = size > 2 && host[0] == '[' && host[size - 1] == ']';
  snprintf(plain, sizeof plain, "%.*s", weft__int_sat(bracketed ? size - 2 : size), host + bracketed);
  WEFT_TRY(socket_resolve(&found, plain, 0, AI_PASSIVE));
  int fd = socket_create(found->ai_family);
  bool bound = fd >= 0 && bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0;
  freeaddrinfo(found);
  *port = bound ? weft__accept_port(fd) : 0;
  return socket_finish_open(out, fd, bound, "cannot listen on", host);
}

int weft__socket_accept(int listen_fd) {
  int fd = weft__accept(listen_fd), size = SOCKET_BUFFER, family = 0;
  socklen_t n = sizeof family;
  if (fd < 0) return -1;
  getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &n);
  if (family == AF_UNIX)
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  else
    socket_tune_tcp(fd);
  if (family != AF_UNIX || weft__socket_is_same_user(fd)) return fd;
  close(fd);
  errno = EACCES;
  return -1;
}

const char *weft__socket_key_text(char *buf, const uint8_t *key) {
  for (int i = 0; i < FAST_KEY_SIZE; i++) snprintf(buf + 2 * i, 3, "%02x", key[i]);
  return buf;
}
