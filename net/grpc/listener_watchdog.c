/* listener_watchdog.c - a listener is dead when connections stay in its backlog.
 *
 * After one failed accept4 (no descriptor was left) gRPC does not look at the socket any more, but keeps it open.
 * The kernel tells the length of the backlog of a listening socket.  shutdown() on a duplicate ends its LISTEN
 * state: then another socket can listen on the same port while the connections of the first live on.
 *
 * Lock: the watchdog's, over is_stopping; it is a leaf.  The rest belongs to its thread.  Owner: the listener
 * (server.c). */
#include "net/grpc/listener_watchdog.h"

#ifdef WEFT_HAVE_GRPC
#include "base/alloc.h"
#include "base/cast.h"
#include "base/clock.h"
#include "base/log.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LISTEN_SOCKETS_MAX = 8, CHECK_INTERVAL_MS = 250, CHECKS_UNTIL_DEAD = 4 };

struct watchdog {
  int port, fd[LISTEN_SOCKETS_MAX], n;
  int checks_with_backlog; /* in a row */
  watchdog_reopen *reopen;
  void *arg;
  pthread_t thread;
  bool started;
  pthread_mutex_t lock;
  pthread_cond_t stop_changed;
  bool is_stopping; /* guarded by the lock */
};

/* ---- sockets ---- */

static bool socket_listens_on(int fd, int port) {
  struct sockaddr_storage a = {0};
  socklen_t size = sizeof a, n = sizeof(int);
  int listens = 0;
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n) != 0 || !listens) return false;
  if (getsockname(fd, (struct sockaddr *)&a, &size) != 0) return false;
  if (a.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&a)->sin6_port) == port;
  return a.ss_family == AF_INET && ntohs(((struct sockaddr_in *)&a)->sin_port) == port;
}

/* Duplicates the sockets of this process that listen on the port. */
static void watchdog_find_sockets(watchdog *w) {
  DIR *all = opendir("/proc/self/fd");
  w->n = w->checks_with_backlog = 0;
  for (struct dirent *e; all && w->n < LISTEN_SOCKETS_MAX && (e = readdir(all));) {
    int fd = atoi(e->d_name);
    if (e->d_name[0] == '.' || fd == dirfd(all) || !socket_listens_on(fd, w->port)) continue;
    int duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (duplicate < 0) continue;
    if (socket_listens_on(duplicate, w->port))
      w->fd[w->n++] = duplicate;
    else
      close(duplicate);
  }
  if (all) closedir(all);
}

static void watchdog_close_sockets(watchdog *w, bool end) {
  for (int i = 0; i < w->n; i++) {
    if (end) shutdown(w->fd[i], SHUT_RDWR);
    close(w->fd[i]);
  }
  w->n = 0;
}

static int socket_backlog(int fd) {
  struct tcp_info info = {0};
  socklen_t size = sizeof info;
  return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? weft__int_sat(info.tcpi_unacked) : 0;
}

/* ---- the thread ---- */

static bool watchdog_stops_within(watchdog *w, int64_t ms) {
  struct timespec until = weft__clock_deadline(ms * NS_PER_MS);
  pthread_mutex_lock(&w->lock);
  while (!w->is_stopping && pthread_cond_clockwait(&w->stop_changed, &w->lock, CLOCK_MONOTONIC, &until) == 0) continue;
  bool is_stopping = w->is_stopping;
  pthread_mutex_unlock(&w->lock);
  return is_stopping;
}

static bool watchdog_listener_is_dead(watchdog *w) {
  int longest = 0;
  for (int i = 0; i < w->n; i++)
    if (socket_backlog(w->fd[i]) > longest) longest = socket_backlog(w->fd[i]);
  w->checks_with_backlog = longest > 0 ? w->checks_with_backlog + 1 : 0;
  return w->checks_with_backlog >= CHECKS_UNTIL_DEAD;
}

static void watchdog_reopen_port(watchdog *w) {
  weft__log(LOG_WARNING,
            "port %d does not accept connections any more (this process may have run out of descriptors: ulimit -n "
            "raises the limit); opening it again",
            w->port);
  watchdog_close_sockets(w, true);
  bool logged = false;
  while (w->reopen(w->arg) != WEFT_OK) {
    if (!logged) weft__log(LOG_ERROR, "port %d cannot be opened again yet: %s", w->port, weft__error_message());
    logged = true;
    if (watchdog_stops_within(w, CHECK_INTERVAL_MS)) return;
  }
  watchdog_find_sockets(w);
  weft__log(LOG_WARNING, "port %d accepts connections again", w->port);
}

static void *watchdog_thread(void *arg) {
  watchdog *w = arg;
  while (!watchdog_stops_within(w, CHECK_INTERVAL_MS)) {
    if (w->n == 0) watchdog_find_sockets(w); /* the last time no descriptor was left for a duplicate */
    if (watchdog_listener_is_dead(w)) watchdog_reopen_port(w);
  }
  return NULL;
}

weft_err weft__watchdog_start(watchdog **out, int port, watchdog_reopen *reopen, void *arg) {
  *out = NULL;
  watchdog *w = weft__alloc_zero(1, sizeof *w);
  if (!w) return WEFT_OOM;
  w->port = port, w->reopen = reopen, w->arg = arg;
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->stop_changed, NULL);
  watchdog_find_sockets(w);
  int failed = pthread_create(&w->thread, NULL, watchdog_thread, w);
  w->started = !failed;
  if (!failed) return *out = w, WEFT_OK;
  weft__watchdog_stop(w);
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "cannot start a thread to watch port %d: %s", port, strerror(failed));
}

void weft__watchdog_stop(watchdog *w) {
  if (!w) return;
  pthread_mutex_lock(&w->lock);
  w->is_stopping = true;
  pthread_cond_signal(&w->stop_changed);
  pthread_mutex_unlock(&w->lock);
  if (w->started) pthread_join(w->thread, NULL);
  watchdog_close_sockets(w, false);
  pthread_cond_destroy(&w->stop_changed);
  pthread_mutex_destroy(&w->lock);
  weft__free(w);
}
#endif
