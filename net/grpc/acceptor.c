/* acceptor.c - accepts connections for gRPC and closes those that make no call.
 *
 * A connection is unauthenticated until one of its calls is allowed.  Unauthenticated connections are limited in
 * number (the oldest is evicted) and in time.  The descriptor belongs to gRPC from the start, which may close it at
 * any time.  So a connection is identified by the socket's inode, and is shut down through a duplicate whose inode
 * was compared.
 *
 * Lock: the acceptor's, over the list of unauthenticated connections; under it connections are shut down, which does
 * not wait.  Owner: the listener (server.c). */
#include "net/grpc/acceptor.h"

#ifdef WEFT_HAVE_GRPC
#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "base/clock.h"
#include "base/log.h"
#include "net/accept.h"
#include "net/socket_table.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grpc/grpc_posix.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  LISTEN_SOCKETS_MAX = 8,
  UNAUTH_TIMEOUT_MS = 30000,
  UNAUTH_CHECK_MS = 1000,
  RETRY_MS = 100, /* after a connection that could not be accepted */
  CALLER_TIMEOUT_MS = 20000,
  ACCEPT_BATCH = 64
};

typedef struct unauth_conn {
  int fd; /* gRPC's */
  uint64_t inode;
  int64_t accepted_ns;
  peer_address from; /* under TLS, where gRPC does not tell the descriptor */
} unauth_conn;

struct acceptor {
  grpc_server *server;
  grpc_server_credentials *insecure;
  external_port *tls; /* NULL: no TLS */
  char where[300];
  int listen_fd[LISTEN_SOCKETS_MAX], n_listen_fd;
  int wakeup_fd; /* eventfd */
  bool started;
  pthread_t thread;
  accept_log evicted, failed; /* of the thread alone */
  int max_unauth;
  atomic_int n_unauth;
  pthread_mutex_t lock; /* guards what follows, and writing n_unauth */
  unauth_conn *unauth;  /* the oldest first; room for max_unauth */
};

/* ---- names of connections ---- */

static int peer_fd(const char *peer) { return strncmp(peer, "fd:", 3) == 0 ? atoi(peer + 3) : -1; }

void weft__acceptor_peer(char *buf, size_t room, const char *peer) {
  struct sockaddr_storage from;
  socklen_t size = sizeof from;
  char host[64], service[16];
  int fd = peer_fd(peer);
  bool known = fd >= 0 && getpeername(fd, (struct sockaddr *)&from, &size) == 0 &&
               getnameinfo((struct sockaddr *)&from, size, host, sizeof host, service, sizeof service,
                           NI_NUMERICHOST | NI_NUMERICSERV) == 0;
  if (!known)
    snprintf(buf, room, "%s", fd >= 0 ? "a connection that is closed" : peer);
  else if (from.ss_family == AF_INET6 && strncmp(host, "::ffff:", 7) != 0)
    snprintf(buf, room, "ipv6:[%s]:%s", host, service);
  else
    snprintf(buf, room, "ipv4:%s:%s", strncmp(host, "::ffff:", 7) == 0 ? host + 7 : host, service);
}

static peer_address socket_peer_address(int fd) {
  char grpc_name[32], name[100];
  snprintf(grpc_name, sizeof grpc_name, "fd:%d", fd);
  weft__acceptor_peer(name, sizeof name, grpc_name);
  return weft__peer_address_parse(name);
}

/* ---- unauthenticated connections ---- */

/* Returns the inode of the socket fd, or 0.  gRPC may close fd meanwhile, and the number may be another socket's
 * then: the kernel answers for one of the two, and callers compare.  It uses statx, since ThreadSanitizer takes
 * fstat for a use of the descriptor that races with its close. */
static uint64_t socket_inode(int fd) {
  struct statx s;
  return statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO, &s) == 0 && S_ISSOCK(s.stx_mode) ? s.stx_ino : 0;
}

/* The caller holds the lock. */
static void acceptor_forget(acceptor *a, int i) {
  WEFT_ASSERT(weft__lock_is_held(&a->lock));
  int n = atomic_load(&a->n_unauth) - 1;
  memmove(&a->unauth[i], &a->unauth[i + 1], (size_t)(n - i) * sizeof *a->unauth);
  atomic_store(&a->n_unauth, n);
}

/* Shuts the connection down, if it still exists.  Returns false if no descriptor is left for the duplicate. */
static bool unauth_conn_shut_down(const unauth_conn *s) {
  int fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return errno == EBADF;
  if (socket_inode(fd) == s->inode) shutdown(fd, SHUT_RDWR);
  close(fd);
  return true;
}

/* Forgets connections that gRPC has closed, and evicts those that are unauthenticated for too long; returns how
 * many. */
static int acceptor_evict_late(acceptor *a) {
  int64_t now = weft__clock_now_ns();
  int evicted = 0;
  pthread_mutex_lock(&a->lock);
  for (int i = 0; i < atomic_load(&a->n_unauth);) {
    const unauth_conn *s = &a->unauth[i];
    bool gone = socket_inode(s->fd) != s->inode, late = now - s->accepted_ns > UNAUTH_TIMEOUT_MS * NS_PER_MS;
    bool closes = !gone && late && unauth_conn_shut_down(s);
    evicted += closes;
    if (gone || closes)
      acceptor_forget(a, i);
    else
      i++;
  }
  pthread_mutex_unlock(&a->lock);
  return evicted;
}

/* Adds a connection, and evicts the oldest if there are too many.  Returns how many were evicted; -1: there is no
 * room. */
static int acceptor_add_unauth(acceptor *a, int fd) {
  int evicted = 0;
  pthread_mutex_lock(&a->lock);
  if (atomic_load(&a->n_unauth) == a->max_unauth) {
    evicted = socket_inode(a->unauth[0].fd) == a->unauth[0].inode;
    if (evicted && !unauth_conn_shut_down(&a->unauth[0]))
      evicted = -1;
    else
      acceptor_forget(a, 0);
  }
  if (evicted >= 0) {
    unauth_conn *s = &a->unauth[atomic_load(&a->n_unauth)];
    *s = (unauth_conn){.fd = fd, .inode = socket_inode(fd), .accepted_ns = weft__clock_now_ns()};
    if (a->tls) s->from = socket_peer_address(fd);
    atomic_fetch_add(&a->n_unauth, 1);
  }
  pthread_mutex_unlock(&a->lock);
  return evicted;
}

void weft__acceptor_mark_authenticated(acceptor *a, const char *peer) {
  const int fd = peer_fd(peer);
  const peer_address from = weft__peer_address_parse(peer);
  pthread_mutex_lock(&a->lock);
  for (int i = 0; i < atomic_load(&a->n_unauth); i++)
    if (a->unauth[i].fd == fd || weft__peer_address_equals(&a->unauth[i].from, &from)) {
      acceptor_forget(a, i);
      break;
    }
  pthread_mutex_unlock(&a->lock);
}

bool weft__acceptor_has_unauthenticated(acceptor *a) { return atomic_load(&a->n_unauth) > 0; }

/* ---- accepting ---- */

static void acceptor_log_evictions(acceptor *a, int n) {
  n = weft__accept_log_add(&a->evicted, n);
  if (n)
    weft__log(LOG_WARNING, "%s closed %d connection%s that did not make a call (at most %d at once, for %d s)",
              a->where, n, n > 1 ? "s" : "", a->max_unauth, UNAUTH_TIMEOUT_MS / 1000);
}

static void accepted_socket_tune(int fd) { /* as gRPC's listeners do */
  static const int yes = 1, gone_ms = CALLER_TIMEOUT_MS;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &gone_ms, sizeof gone_ms);
}

/* Accepts the connections that wait, at most ACCEPT_BATCH.  Returns false if accepting fails and should be retried
 * later. */
static bool acceptor_accept(acceptor *a, int listen_fd) {
  for (int i = 0; i < ACCEPT_BATCH; i++) {
    int fd = weft__accept(listen_fd);
    if (fd < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EBUSY;
    int evicted = acceptor_add_unauth(a, fd);
    if (evicted < 0) {
      close(fd);
      continue;
    }
    if (evicted) acceptor_log_evictions(a, evicted);
    accepted_socket_tune(fd);
    if (a->tls)
      weft__external_port_hand_over(a->tls, listen_fd, fd);
    else
      grpc_server_add_channel_from_fd(a->server, fd, a->insecure);
  }
  return true;
}

static void acceptor_pause(acceptor *a, int error) {
  int n = weft__accept_log_add(&a->failed, 1);
  if (n) weft__log(LOG_WARNING, "%s: a connection could not be accepted: %s; trying again", a->where, strerror(error));
  nanosleep(&(struct timespec){0, RETRY_MS * NS_PER_MS}, NULL);
}

static void *acceptor_thread(void *arg) {
  acceptor *a = arg;
  int64_t checked_ns = 0;
  for (;;) {
    struct pollfd p[LISTEN_SOCKETS_MAX + 1] = {{.fd = a->wakeup_fd, .events = POLLIN}};
    for (int i = 0; i < a->n_listen_fd; i++) p[i + 1] = (struct pollfd){.fd = a->listen_fd[i], .events = POLLIN};
    poll(p, (nfds_t)a->n_listen_fd + 1, weft__acceptor_has_unauthenticated(a) ? UNAUTH_CHECK_MS : -1);
    if (p[0].revents) return NULL;
    for (int i = 0; i < a->n_listen_fd; i++)
      if (p[i + 1].revents && !acceptor_accept(a, a->listen_fd[i])) acceptor_pause(a, errno);
    int64_t now = weft__clock_now_ns();
    if (now - checked_ns < UNAUTH_CHECK_MS * NS_PER_MS) continue;
    checked_ns = now;
    acceptor_log_evictions(a, acceptor_evict_late(a));
  }
}

/* ---- listening ---- */

static bool address_is_any(const struct addrinfo *a) {
  if (a->ai_family == AF_INET) return ((const struct sockaddr_in *)a->ai_addr)->sin_addr.s_addr == htonl(INADDR_ANY);
  return a->ai_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)a->ai_addr)->sin6_addr);
}

static void address_set_port(struct sockaddr *a, int port) {
  if (a->sa_family == AF_INET6)
    ((struct sockaddr_in6 *)a)->sin6_port = htons((uint16_t)port);
  else
    ((struct sockaddr_in *)a)->sin_port = htons((uint16_t)port);
}

/* Returns a listening socket, or -1 with errno set. */
static int socket_listen(const struct sockaddr *at, socklen_t size, bool both) {
  const int yes = 1, only_v6 = !both;
  int fd = socket(at->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (at->sa_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only_v6, sizeof only_v6);
  if (bind(fd, at, size) == 0 && listen(fd, SOMAXCONN) == 0) return fd;
  int why = errno;
  close(fd);
  errno = why;
  return -1;
}

/* Listens on every interface, with IPv6 where the host has it. */
static int socket_listen_all(int port) {
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  int fd = socket_listen((struct sockaddr *)&six, sizeof six, true);
  if (fd >= 0 || errno == EADDRINUSE || errno == EACCES) return fd;
  return socket_listen((struct sockaddr *)&four, sizeof four, false);
}

/* Adds a socket for each address, except those that this host does not have.  Returns 0, or an errno. */
static int acceptor_listen_each(acceptor *a, const struct addrinfo *found, int *port) {
  int why = EADDRNOTAVAIL;
  for (const struct addrinfo *at = found; at && a->n_listen_fd < LISTEN_SOCKETS_MAX; at = at->ai_next) {
    address_set_port(at->ai_addr, *port);
    int fd = address_is_any(at) ? socket_listen_all(*port) : socket_listen(at->ai_addr, at->ai_addrlen, false);
    if (fd < 0) {
      why = errno;
      if (why == EADDRNOTAVAIL || why == EAFNOSUPPORT) continue;
      return why;
    }
    a->listen_fd[a->n_listen_fd++] = fd;
    if (!*port) *port = weft__accept_port(fd);
    if (address_is_any(at)) break;
  }
  return a->n_listen_fd ? 0 : why;
}

static weft_err acceptor_bind_failed(const char *host, int port, const char *why, const char *advice) {
  return weft__fail(WEFT_UNKNOWN,
                    "cannot listen on %s:%d: %s (%sgive this task another address; WEFT_BIND or weft serve --bind "
                    "HOST:PORT listens elsewhere)",
                    host, port, why, advice);
}

static weft_err acceptor_bind(acceptor *a, const char *host, int *port) {
  char name[256];
  size_t size = strlen(host);
  bool bracketed = size > 2 && host[0] == '[' && host[size - 1] == ']';
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
  snprintf(name, sizeof name, "%.*s", weft__int_sat(bracketed ? size - 2 : size), host + bracketed);
  int failed = getaddrinfo(name, NULL, &hints, &found);
  if (failed) return acceptor_bind_failed(host, *port, gai_strerror(failed), "");
  int why = acceptor_listen_each(a, found, port);
  freeaddrinfo(found);
  if (!why) return WEFT_OK;
  return acceptor_bind_failed(host, *port, strerror(why),
                              why == EADDRINUSE ? "another process holds the port: stop it, or " : "");
}

weft_err weft__acceptor_listen(acceptor **out, const char *host, int *port) {
  *out = NULL;
  acceptor *a = weft__alloc_zero(1, sizeof *a);
  if (!a) return WEFT_OOM;
  pthread_mutex_init(&a->lock, NULL);
  weft__accept_retain();
  a->max_unauth = weft__accept_max_unauthenticated();
  a->insecure = grpc_insecure_server_credentials_create();
  a->unauth = weft__alloc((size_t)a->max_unauth * sizeof *a->unauth);
  a->wakeup_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  weft_err err = a->unauth ? WEFT_OK : WEFT_OOM;
  if (!err && a->wakeup_fd < 0)
    err = weft__fail(WEFT_RESOURCE_EXHAUSTED, "cannot listen on %s: %s", host, strerror(errno));
  if (!err) err = acceptor_bind(a, host, port);
  snprintf(a->where, sizeof a->where, "%s:%d", host, *port);
  if (!err)
    *out = a;
  else
    weft__acceptor_close(a);
  return err;
}

weft_err weft__acceptor_start(acceptor *a, grpc_server *server, external_port *tls) {
  a->server = server, a->tls = tls;
  int failed = pthread_create(&a->thread, NULL, acceptor_thread, a);
  a->started = !failed;
  if (!failed) return WEFT_OK;
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "%s: cannot start a thread to accept connections: %s", a->where,
                    strerror(failed));
}

void weft__acceptor_stop(acceptor *a) {
  uint64_t one = 1;
  if (!a) return;
  if (a->started && write(a->wakeup_fd, &one, sizeof one) == sizeof one) pthread_join(a->thread, NULL);
  a->started = false;
  for (int i = 0; i < a->n_listen_fd; i++) close(a->listen_fd[i]);
  a->n_listen_fd = 0;
}

void weft__acceptor_close(acceptor *a) {
  if (!a) return;
  weft__acceptor_stop(a);
  if (a->wakeup_fd >= 0) close(a->wakeup_fd);
  grpc_server_credentials_release(a->insecure);
  weft__accept_release();
  weft__free(a->unauth);
  pthread_mutex_destroy(&a->lock);
  weft__free(a);
}
#endif
