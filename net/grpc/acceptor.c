/* acceptor.c - accepts connections for gRPC and closes those that make no call.
 *
 * A connection is a stranger until one of its calls is let in.  Strangers are limited in number, the oldest goes first,
 * and in time.  The descriptor belongs to gRPC from the start, which may close it at any time: a stranger is known by
 * the socket's inode, and is shut down through a duplicate whose inode was compared. */
#include "net/grpc/acceptor.h"

#ifdef WEFT_HAVE_GRPC
#include "base/alloc.h"
#include "base/cast.h"
#include "base/clock.h"
#include "base/log.h"
#include "net/accept.h"
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

enum { SOCKETS_MAX = 8, STRANGER_MS = 30000, LOOK_MS = 100, CALLER_GONE_MS = 20000, AT_ONCE = 64 };

typedef struct stranger {
  int fd; /* gRPC's */
  uint64_t inode;
  int64_t came_ns;
} stranger;

struct acceptor {
  grpc_server *server;
  grpc_server_credentials *plain;
  char where[300];
  int listening[SOCKETS_MAX], n_listening;
  int wake; /* eventfd */
  bool started;
  pthread_t thread;
  accept_log closed, failed; /* the thread's */
  int cap;
  atomic_int n_stranger;
  pthread_mutex_t lock; /* guards what follows, and writing n_stranger */
  stranger *strangers;  /* in the order in which they came; room for cap */
};

/* ---- strangers ---- */

/* Returns the inode of the socket fd, or 0.  gRPC may close fd meanwhile and the number may be another socket's: the
 * kernel answers for one of the two, and callers compare.  statx, since ThreadSanitizer takes fstat for a use of the
 * descriptor that races with its close. */
static uint64_t inode_of(int fd) {
  struct statx s;
  return statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO, &s) == 0 && S_ISSOCK(s.stx_mode) ? s.stx_ino : 0;
}

/* With the lock held. */
static void drop_stranger(acceptor *a, int i) {
  int n = atomic_load(&a->n_stranger) - 1;
  memmove(&a->strangers[i], &a->strangers[i + 1], (size_t)(n - i) * sizeof *a->strangers);
  atomic_store(&a->n_stranger, n);
}

/* Ends the connection, if it is still there.  False: no descriptor is left to do it with. */
static bool shut_down(const stranger *s) {
  int fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return errno == EBADF;
  if (inode_of(fd) == s->inode) shutdown(fd, SHUT_RDWR);
  close(fd);
  return true;
}

/* Forgets the strangers that left and closes those that are here for too long; returns how many were closed. */
static int close_late(acceptor *a) {
  int64_t now = weft__now_ns();
  int closed = 0;
  pthread_mutex_lock(&a->lock);
  for (int i = 0; i < atomic_load(&a->n_stranger);) {
    const stranger *s = &a->strangers[i];
    bool gone = inode_of(s->fd) != s->inode, late = now - s->came_ns > STRANGER_MS * INT64_C(1000000);
    bool closes = !gone && late && shut_down(s);
    closed += closes;
    if (gone || closes)
      drop_stranger(a, i);
    else
      i++;
  }
  pthread_mutex_unlock(&a->lock);
  return closed;
}

/* Makes room for one more, at the cost of the oldest; returns how many were closed, or -1: there is no room. */
static int add_stranger(acceptor *a, int fd) {
  int closed = 0;
  pthread_mutex_lock(&a->lock);
  if (atomic_load(&a->n_stranger) == a->cap) {
    closed = inode_of(a->strangers[0].fd) == a->strangers[0].inode;
    if (closed && !shut_down(&a->strangers[0]))
      closed = -1;
    else
      drop_stranger(a, 0);
  }
  if (closed >= 0) {
    a->strangers[atomic_load(&a->n_stranger)] = (stranger){fd, inode_of(fd), weft__now_ns()};
    atomic_fetch_add(&a->n_stranger, 1);
  }
  pthread_mutex_unlock(&a->lock);
  return closed;
}

static int number_of(const char *peer) { return strncmp(peer, "fd:", 3) == 0 ? atoi(peer + 3) : -1; }

void weft__acceptor_trust(acceptor *a, const char *peer) {
  int fd = number_of(peer);
  pthread_mutex_lock(&a->lock);
  for (int i = 0; i < atomic_load(&a->n_stranger); i++)
    if (a->strangers[i].fd == fd) {
      drop_stranger(a, i);
      break;
    }
  pthread_mutex_unlock(&a->lock);
}

bool weft__acceptor_has_strangers(acceptor *a) { return atomic_load(&a->n_stranger) > 0; }

void weft__acceptor_peer(char *buf, size_t room, const char *peer) {
  struct sockaddr_storage from;
  socklen_t size = sizeof from;
  char host[64], service[16];
  int fd = number_of(peer);
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

/* ---- accepting ---- */

static void tell_closed(acceptor *a, int n) {
  n = weft__accept_log_add(&a->closed, n);
  if (n)
    weft__log(LOG_WARNING, "%s closed %d connection%s that did not make a call (at most %d at once, for %d s)",
              a->where, n, n > 1 ? "s" : "", a->cap, STRANGER_MS / 1000);
}

static void set_up(int fd) { /* as gRPC's listeners do */
  static const int yes = 1, gone_ms = CALLER_GONE_MS;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &gone_ms, sizeof gone_ms);
}

/* Accepts what waits, at most AT_ONCE of them.  False: accepting fails, and should be tried again after a pause. */
static bool accept_some(acceptor *a, int listening) {
  for (int i = 0; i < AT_ONCE; i++) {
    int fd = weft__accept(listening);
    if (fd < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EBUSY;
    int closed = add_stranger(a, fd);
    if (closed < 0) {
      close(fd);
      continue;
    }
    if (closed) tell_closed(a, closed);
    set_up(fd);
    grpc_server_add_channel_from_fd(a->server, fd, a->plain);
  }
  return true;
}

static void pause_after(acceptor *a, int error) {
  int n = weft__accept_log_add(&a->failed, 1);
  if (n) weft__log(LOG_WARNING, "%s: a connection could not be accepted: %s; trying again", a->where, strerror(error));
  nanosleep(&(struct timespec){0, LOOK_MS * 1000000}, NULL);
}

static void *run_acceptor(void *arg) {
  acceptor *a = arg;
  int64_t looked_ns = 0;
  for (;;) {
    struct pollfd p[SOCKETS_MAX + 1] = {{.fd = a->wake, .events = POLLIN}};
    for (int i = 0; i < a->n_listening; i++) p[i + 1] = (struct pollfd){.fd = a->listening[i], .events = POLLIN};
    poll(p, (nfds_t)a->n_listening + 1, weft__acceptor_has_strangers(a) ? LOOK_MS : -1);
    if (p[0].revents) return NULL;
    for (int i = 0; i < a->n_listening; i++)
      if (p[i + 1].revents && !accept_some(a, a->listening[i])) pause_after(a, errno);
    int64_t now = weft__now_ns();
    if (now - looked_ns < LOOK_MS * INT64_C(1000000)) continue;
    looked_ns = now;
    tell_closed(a, close_late(a));
  }
}

/* ---- listening ---- */

static bool is_any(const struct addrinfo *a) {
  if (a->ai_family == AF_INET) return ((const struct sockaddr_in *)a->ai_addr)->sin_addr.s_addr == htonl(INADDR_ANY);
  return a->ai_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)a->ai_addr)->sin6_addr);
}

static void set_port(struct sockaddr *a, int number) {
  if (a->sa_family == AF_INET6)
    ((struct sockaddr_in6 *)a)->sin6_port = htons((uint16_t)number);
  else
    ((struct sockaddr_in *)a)->sin_port = htons((uint16_t)number);
}

static int bound_port(int fd) {
  struct sockaddr_storage a;
  socklen_t size = sizeof a;
  if (getsockname(fd, (struct sockaddr *)&a, &size) != 0) return 0;
  return ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port : ((struct sockaddr_in *)&a)->sin_port);
}

/* A socket that listens there, or -1 with errno set. */
static int listen_at(const struct sockaddr *at, socklen_t size, bool both) {
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

/* Every interface, of IPv6 too where the host has it. */
static int listen_at_all(int number) {
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)number)};
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)number)};
  int fd = listen_at((struct sockaddr *)&six, sizeof six, true);
  if (fd >= 0 || errno == EADDRINUSE || errno == EACCES) return fd;
  return listen_at((struct sockaddr *)&four, sizeof four, false);
}

/* Adds a socket for each address; one that this host does not have is passed over.  0, or why it failed. */
static int listen_at_each(acceptor *a, const struct addrinfo *found, int *number) {
  int why = EADDRNOTAVAIL;
  for (const struct addrinfo *at = found; at && a->n_listening < SOCKETS_MAX; at = at->ai_next) {
    set_port(at->ai_addr, *number);
    int fd = is_any(at) ? listen_at_all(*number) : listen_at(at->ai_addr, at->ai_addrlen, false);
    if (fd < 0) {
      why = errno;
      if (why == EADDRNOTAVAIL || why == EAFNOSUPPORT) continue;
      return why;
    }
    a->listening[a->n_listening++] = fd;
    if (!*number) *number = bound_port(fd);
    if (is_any(at)) break;
  }
  return a->n_listening ? 0 : why;
}

static weft_err bind_all(acceptor *a, const char *host, int *number) {
  char name[256];
  size_t size = strlen(host);
  bool bracketed = size > 2 && host[0] == '[' && host[size - 1] == ']';
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
  snprintf(name, sizeof name, "%.*s", weft__int_sat(bracketed ? size - 2 : size), host + bracketed);
  int failed = getaddrinfo(name, NULL, &hints, &found);
  if (failed) return weft__fail(WEFT_UNKNOWN, "Could not listen on %s:%d: %s", host, *number, gai_strerror(failed));
  int why = listen_at_each(a, found, number);
  freeaddrinfo(found);
  return why ? weft__fail(WEFT_UNKNOWN, "Could not listen on %s:%d: %s", host, *number, strerror(why)) : WEFT_OK;
}

weft_err weft__acceptor_listen(acceptor **out, const char *host, int *number) {
  *out = NULL;
  acceptor *a = weft__alloc_zero(1, sizeof *a);
  if (!a) return WEFT_OOM;
  pthread_mutex_init(&a->lock, NULL);
  weft__accept_retain();
  a->cap = weft__accept_cap();
  a->plain = grpc_insecure_server_credentials_create();
  a->strangers = weft__alloc((size_t)a->cap * sizeof *a->strangers);
  a->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  weft_err err = a->strangers ? WEFT_OK : WEFT_OOM;
  if (!err && a->wake < 0)
    err = weft__fail(WEFT_RESOURCE_EXHAUSTED, "Could not listen on %s: %s", host, strerror(errno));
  if (!err) err = bind_all(a, host, number);
  snprintf(a->where, sizeof a->where, "%s:%d", host, *number);
  if (!err)
    *out = a;
  else
    weft__acceptor_close(a);
  return err;
}

weft_err weft__acceptor_start(acceptor *a, grpc_server *server) {
  a->server = server;
  int failed = pthread_create(&a->thread, NULL, run_acceptor, a);
  a->started = !failed;
  if (!failed) return WEFT_OK;
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "%s: no thread to accept connections: %s", a->where, strerror(failed));
}

void weft__acceptor_stop(acceptor *a) {
  uint64_t one = 1;
  if (!a) return;
  if (a->started && write(a->wake, &one, sizeof one) == sizeof one) pthread_join(a->thread, NULL);
  a->started = false;
  for (int i = 0; i < a->n_listening; i++) close(a->listening[i]);
  a->n_listening = 0;
}

void weft__acceptor_close(acceptor *a) {
  if (!a) return;
  weft__acceptor_stop(a);
  if (a->wake >= 0) close(a->wake);
  grpc_server_credentials_release(a->plain);
  weft__accept_release();
  weft__free(a->strangers);
  pthread_mutex_destroy(&a->lock);
  weft__free(a);
}
#endif
