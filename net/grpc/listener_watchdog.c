/* listener_watchdog.c - a listener is dead when connections stay in its queue.
 *
 * After one failed accept4 (no descriptor was left) gRPC does not look at the socket any more, but keeps it open.  The
 * kernel tells the length of the queue of a listening socket.  The socket leaves the state LISTEN by shutdown() on a
 * duplicate: then another can listen on the same port while the connections of the first live on. */
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

enum { SOCKETS_MAX = 8, LOOK_MS = 250, LOOKS = 4 };

struct watch {
  int number, fd[SOCKETS_MAX], n;
  int waited; /* looks in a row at which connections waited */
  watch_reopen *reopen;
  void *arg;
  pthread_t thread;
  bool started;
  pthread_mutex_t lock;
  pthread_cond_t stopped;
  bool stop; /* guarded by the lock */
};

/* ---- sockets ---- */

static bool listens_on(int fd, int number) {
  struct sockaddr_storage a = {0};
  socklen_t size = sizeof a, n = sizeof(int);
  int listens = 0;
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n) != 0 || !listens) return false;
  if (getsockname(fd, (struct sockaddr *)&a, &size) != 0) return false;
  if (a.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&a)->sin6_port) == number;
  return a.ss_family == AF_INET && ntohs(((struct sockaddr_in *)&a)->sin_port) == number;
}

/* Duplicates of the sockets that listen on the port. */
static void find_sockets(watch *w) {
  DIR *all = opendir("/proc/self/fd");
  w->n = w->waited = 0;
  for (struct dirent *e; all && w->n < SOCKETS_MAX && (e = readdir(all));) {
    int fd = atoi(e->d_name);
    if (e->d_name[0] == '.' || fd == dirfd(all) || !listens_on(fd, w->number)) continue;
    int held = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (held < 0) continue;
    if (listens_on(held, w->number))
      w->fd[w->n++] = held;
    else
      close(held);
  }
  if (all) closedir(all);
}

static void close_sockets(watch *w, bool end) {
  for (int i = 0; i < w->n; i++) {
    if (end) shutdown(w->fd[i], SHUT_RDWR);
    close(w->fd[i]);
  }
  w->n = 0;
}

static int queued(int fd) {
  struct tcp_info info = {0};
  socklen_t size = sizeof info;
  return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? weft__int_sat(info.tcpi_unacked) : 0;
}

/* ---- the thread ---- */

static bool stopped_within(watch *w, int64_t ms) {
  struct timespec until = weft__deadline(ms * 1000000);
  pthread_mutex_lock(&w->lock);
  while (!w->stop && pthread_cond_clockwait(&w->stopped, &w->lock, CLOCK_MONOTONIC, &until) == 0) continue;
  bool stop = w->stop;
  pthread_mutex_unlock(&w->lock);
  return stop;
}

static bool is_dead(watch *w) {
  int longest = 0;
  for (int i = 0; i < w->n; i++)
    if (queued(w->fd[i]) > longest) longest = queued(w->fd[i]);
  w->waited = longest > 0 ? w->waited + 1 : 0;
  return w->waited >= LOOKS;
}

static void open_again(watch *w) {
  weft__log(LOG_WARNING,
            "port %d does not accept connections any more (this process may have run out of descriptors: ulimit -n "
            "raises the limit); opening it again",
            w->number);
  close_sockets(w, true);
  bool told = false;
  while (w->reopen(w->arg) != WEFT_OK) {
    if (!told) weft__log(LOG_ERROR, "port %d cannot be opened again yet: %s", w->number, weft__error_message());
    told = true;
    if (stopped_within(w, LOOK_MS)) return;
  }
  find_sockets(w);
  weft__log(LOG_WARNING, "port %d accepts connections again", w->number);
}

static void *run_watch(void *arg) {
  watch *w = arg;
  while (!stopped_within(w, LOOK_MS)) {
    if (w->n == 0) find_sockets(w); /* no descriptor was left for it */
    if (is_dead(w)) open_again(w);
  }
  return NULL;
}

weft_err weft__watch_start(watch **out, int number, watch_reopen *reopen, void *arg) {
  *out = NULL;
  watch *w = weft__alloc_zero(1, sizeof *w);
  if (!w) return WEFT_OOM;
  w->number = number, w->reopen = reopen, w->arg = arg;
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->stopped, NULL);
  find_sockets(w);
  int failed = pthread_create(&w->thread, NULL, run_watch, w);
  w->started = !failed;
  if (!failed) return *out = w, WEFT_OK;
  weft__watch_stop(w);
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "No thread to watch port %d: %s", number, strerror(failed));
}

void weft__watch_stop(watch *w) {
  if (!w) return;
  pthread_mutex_lock(&w->lock);
  w->stop = true;
  pthread_cond_signal(&w->stopped);
  pthread_mutex_unlock(&w->lock);
  if (w->started) pthread_join(w->thread, NULL);
  close_sockets(w, false);
  pthread_cond_destroy(&w->stopped);
  pthread_mutex_destroy(&w->lock);
  weft__free(w);
}
#endif
