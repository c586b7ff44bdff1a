/* accept.c - the reserve of descriptors.
 *
 * The kernel gives out the lowest free number, so a descriptor at or above `limit - reserve` means that no more than
 * the reserve is left.  Should even the reserve be used up, a spare descriptor is closed to accept and close the
 * connection: otherwise it would stay in the backlog, and the listener would be woken forever.
 *
 * The state is process-wide; net/transport.h says why.  Lock: accept_lock, under which a connection is accepted and
 * closed. */
#include "net/accept.h"

#include "base/cast.h"
#include "base/clock.h"
#include "base/log.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  RESERVE_MAX = 64,
  LIMIT_MAX = 1 << 20,
  UNAUTH_MIN = 8,
  UNAUTH_MAX = 1024,
  REFUSALS_MAX = 64,
  LOG_INTERVAL_S = 10
};

static pthread_mutex_t accept_lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static int accept_users, spare_fd = -1;
static accept_log refusal_log;

static int descriptor_limit(void) {
  struct rlimit r;
  if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur > LIMIT_MAX) return LIMIT_MAX;
  return weft__int_sat(r.rlim_cur);
}

/* Returns the first number of the reserve, which is an eighth of the limit, at most RESERVE_MAX descriptors. */
static int reserve_begin(void) {
  int all = descriptor_limit();
  return all - (all / 8 < RESERVE_MAX ? all / 8 : RESERVE_MAX);
}

int weft__accept_max_unauthenticated(void) {
  int half = reserve_begin() / 2;
  return half < UNAUTH_MIN ? UNAUTH_MIN : half > UNAUTH_MAX ? UNAUTH_MAX : half;
}

int weft__accept_log_add(accept_log *l, int n) {
  int64_t now = weft__clock_now_ns();
  l->count += n;
  if (!l->count || (l->logged_ns && now - l->logged_ns < LOG_INTERVAL_S * NS_PER_S)) return 0;
  int n_log = l->count;
  l->logged_ns = now;
  l->count = 0;
  return n_log;
}

static int spare_fd_open(void) { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

void weft__accept_retain(void) {
  pthread_mutex_lock(&accept_lock);
  if (accept_users++ == 0) spare_fd = spare_fd_open();
  pthread_mutex_unlock(&accept_lock);
}

void weft__accept_release(void) {
  pthread_mutex_lock(&accept_lock);
  if (--accept_users == 0 && spare_fd >= 0) {
    close(spare_fd);
    spare_fd = -1;
  }
  pthread_mutex_unlock(&accept_lock);
}

static void refusal_log_add(void) {
  pthread_mutex_lock(&accept_lock);
  int n = weft__accept_log_add(&refusal_log, 1);
  pthread_mutex_unlock(&accept_lock);
  if (!n) return;
  int all = descriptor_limit();
  weft__log(LOG_WARNING,
            "refused %d connection%s: nearly all of the %d descriptors that this process may open are in use "
            "(%d are kept for files; ulimit -n raises the limit)",
            n, n > 1 ? "s" : "", all, all - reserve_begin());
}

static int accept_one(int listen_fd) {
  int fd;
  do fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
  return fd;
}

/* Refuses the first connection in the backlog, with the spare descriptor.  Returns 0 or an errno: EAGAIN if there is
 * none, which accept4 does not find out without a descriptor. */
static int refuse_with_spare(int listen_fd) {
  pthread_mutex_lock(&accept_lock);
  bool had = spare_fd >= 0;
  if (had) close(spare_fd);
  int fd = had ? accept_one(listen_fd) : -1, why = fd >= 0 ? 0 : had ? errno : EMFILE;
  if (fd >= 0) close(fd);
  spare_fd = spare_fd_open();
  pthread_mutex_unlock(&accept_lock);
  return why;
}

int weft__accept(int listen_fd) {
  for (int i = 0; i < REFUSALS_MAX; i++) {
    int fd = accept_one(listen_fd), why = 0;
    if (fd >= 0 && fd < reserve_begin()) return fd;
    if (fd >= 0)
      close(fd);
    else if (errno != EMFILE && errno != ENFILE)
      return -1;
    else if ((why = refuse_with_spare(listen_fd)) == EAGAIN || why == EWOULDBLOCK)
      return errno = why, -1;
    refusal_log_add();
    if (why) return errno = why, -1;
  }
  errno = EBUSY;
  return -1;
}

int weft__accept_port(int listen_fd) {
  struct sockaddr_storage a;
  socklen_t size = sizeof a;
  if (getsockname(listen_fd, (struct sockaddr *)&a, &size) != 0) return 0;
  return ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port : ((struct sockaddr_in *)&a)->sin_port);
}
