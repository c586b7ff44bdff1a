/* tls_probe.c - sends a ClientHello and looks at the first bytes of the response.
 *
 * A server with TLS closes a connection that begins as HTTP/2 without a message, which may mean anything.  To a
 * ClientHello it responds with a TLS record, even if that is only an alert.
 *
 * Owner: reference-counted; the connection holds one reference and the thread that probes another.  No locks: atomics.
 */
#include "net/grpc/tls_probe.h"

#ifdef WEFT_HAVE_GRPC
#include "base/alloc.h"
#include "base/cast.h"
#include "base/clock.h"
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STEP_TIMEOUT_MS = 1000, MIN_INTERVAL_MS = 2000 };

struct tls_probe {
  atomic_int refs;
  atomic_bool running, saw_tls;
  int64_t started_ns; /* owned, with host and service, by the thread that set `running` */
  char host[128], service[16];
};

/* ---- probing ---- */

static bool socket_wait(int fd, short events) {
  struct pollfd p = {.fd = fd, .events = events};
  return poll(&p, 1, STEP_TIMEOUT_MS) > 0;
}

static int tls_probe_connect(const tls_probe *p) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV}, *found;
  if (getaddrinfo(p->host, p->service, &hints, &found) != 0) return -1;
  int fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error = 0;
  socklen_t size = sizeof error;
  bool ok = fd >= 0 && (connect(fd, found->ai_addr, found->ai_addrlen) == 0 || errno == EINPROGRESS) &&
            socket_wait(fd, POLLOUT) && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && !error;
  freeaddrinfo(found);
  if (ok || fd < 0) return fd;
  close(fd);
  return -1;
}

/* Sends a ClientHello of TLS 1.2 that every server accepts: the usual ciphers (ECDHE with AES-GCM or ChaCha20), curves
 * P-256 and X25519, the usual signatures.  It must be acceptable, since gRPC's servers send no alert. */
static bool socket_speaks_tls(int fd) {
  static const uint8_t hello[] = {
      0x16, 0x03, 0x01, 0x00, 0x5f, 0x01, 0x00, 0x00, 0x5b, 0x03, 0x03, /* 32 random bytes: none */[43] = 0x00,
      0x00, 0x0c, 0xc0, 0x2b, 0xc0, 0x2f, 0xc0, 0x2c, 0xc0, 0x30, 0xcc, 0xa9,
      0xcc, 0xa8, 0x01, 0x00, 0x00, 0x26, 0x00, 0x0a, 0x00, 0x06, 0x00, 0x04,
      0x00, 0x17, 0x00, 0x1d, 0x00, 0x0b, 0x00, 0x02, 0x01, 0x00, 0x00, 0x0d,
      0x00, 0x12, 0x00, 0x10, 0x04, 0x03, 0x08, 0x04, 0x04, 0x01, 0x05, 0x03,
      0x08, 0x05, 0x05, 0x01, 0x08, 0x06, 0x06, 0x01};
  uint8_t got[2];
  if (send(fd, hello, sizeof hello, MSG_NOSIGNAL) != (ssize_t)sizeof hello || !socket_wait(fd, POLLIN)) return false;
  return recv(fd, got, sizeof got, 0) == 2 && (got[0] == 0x15 || got[0] == 0x16) && got[1] == 3;
}

static void *tls_probe_thread(void *arg) {
  tls_probe *p = arg;
  int fd = tls_probe_connect(p);
  if (fd >= 0) {
    atomic_store(&p->saw_tls, socket_speaks_tls(fd));
    close(fd);
  }
  atomic_store(&p->running, false);
  weft__tls_probe_release(p);
  return NULL;
}

/* ---- probes ---- */

tls_probe *weft__tls_probe_create(void) {
  tls_probe *p = weft__alloc_zero(1, sizeof *p);
  if (p) atomic_init(&p->refs, 1);
  return p;
}

void weft__tls_probe_release(tls_probe *p) {
  if (p && atomic_fetch_sub(&p->refs, 1) == 1) weft__free(p);
}

bool weft__tls_probe_saw_tls(tls_probe *p) { return atomic_load(&p->saw_tls); }

/* Takes the first address of "ipv4:1.2.3.4:5,6.7.8.9:5" or "ipv6:[::1]:5". */
static bool tls_probe_parse_target(tls_probe *p, const char *target) {
  char first[160];
  const char *begin = strchr(target, ':');
  if (!begin) return false;
  snprintf(first, sizeof first, "%.*s", weft__int_sat(strcspn(begin + 1, ",")), begin + 1);
  char *colon = strrchr(first, ':');
  if (!colon) return false;
  *colon = 0;
  size_t n = strlen(first);
  bool bracketed = n > 2 && first[0] == '[' && first[n - 1] == ']';
  snprintf(p->host, sizeof p->host, "%.*s", weft__int_sat(bracketed ? n - 2 : n), first + bracketed);
  snprintf(p->service, sizeof p->service, "%s", colon + 1);
  return true;
}

void weft__tls_probe_start(tls_probe *p, const char *target) {
  pthread_t thread;
  int64_t now = weft__clock_now_ns();
  if (atomic_exchange(&p->running, true)) return;
  if (p->started_ns && now - p->started_ns < MIN_INTERVAL_MS * NS_PER_MS) {
    atomic_store(&p->running, false);
    return;
  }
  p->started_ns = now;
  atomic_fetch_add(&p->refs, 1);
  if (tls_probe_parse_target(p, target) && pthread_create(&thread, NULL, tls_probe_thread, p) == 0) {
    pthread_detach(thread);
    return;
  }
  atomic_store(&p->running, false);
  weft__tls_probe_release(p);
}
#endif
