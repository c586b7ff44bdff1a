/* accept.c - the reserve of descriptors.
 *
 * The kernel gives out the lowest free number, so a descriptor at or above `limit - reserve` means that no more than
 * the reserve is left.  Should even the reserve be gone, one descriptor that is held for this purpose is closed to
 * accept and close the connection: otherwise it would stay in the queue, and the listener would be woken for ever. */
#include "net/accept.h"

#include "base/cast.h"
#include "base/clock.h"
#include "base/log.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RESERVE = 64, LIMIT_MOST = 1 << 20, CAP_LEAST = 8, CAP_MOST = 1024, REFUSALS = 64, LOG_EVERY_S = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static int users, spare = -1;
static accept_log refusals;

static int limit(void) {
  struct rlimit r;
  if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur > LIMIT_MOST) return LIMIT_MOST;
  return weft__int_sat(r.rlim_cur);
}

/* The first number that belongs to the reserve: an eighth of the limit, at most RESERVE descriptors. */
static int reserve_begin(void) {
  int all = limit();
  return all - (all / 8 < RESERVE ? all / 8 : RESERVE);
}

int weft__accept_cap(void) {
  int half = reserve_begin() / 2;
  return half < CAP_LEAST ? CAP_LEAST : half > CAP_MOST ? CAP_MOST : half;
}

int weft__accept_log_add(accept_log *l, int n) {
  int64_t now = weft__now_ns();
  l->count += n;
  if (!l->count || (l->told_ns && now - l->told_ns < LOG_EVERY_S * INT64_C(1000000000))) return 0;
  int told = l->count;
  l->told_ns = now;
  l->count = 0;
  return told;
}

static int open_spare(void) { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

void weft__accept_retain(void) {
  pthread_mutex_lock(&lock);
  if (users++ == 0) spare = open_spare();
  pthread_mutex_unlock(&lock);
}

void weft__accept_release(void) {
  pthread_mutex_lock(&lock);
  if (--users == 0 && spare >= 0) {
    close(spare);
    spare = -1;
  }
  pthread_mutex_unlock(&lock);
}

static void log_refusal(void) {
  pthread_mutex_lock(&lock);
  int n = weft__accept_log_add(&refusals, 1);
  pthread_mutex_unlock(&lock);
  if (!n) return;
  int all = limit();
  weft__log(LOG_WARNING,
            "refused %d connection%s: nearly all of the %d descriptors that this process may open are in use "
            "(%d are kept for files; ulimit -n raises the limit)",
            n, n > 1 ? "s" : "", all, all - reserve_begin());
}

static int accept_next(int listening) {
  int fd;
  do fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
  return fd;
}

/* Closes the first connection that waits, by means of the spare descriptor.  0, or why not: EAGAIN if none waits, which
 * accept4 does not find out without a descriptor. */
static int refuse_with_spare(int listening) {
  pthread_mutex_lock(&lock);
  bool had = spare >= 0;
  if (had) close(spare);
  int fd = had ? accept_next(listening) : -1, why = fd >= 0 ? 0 : had ? errno : EMFILE;
  if (fd >= 0) close(fd);
  spare = open_spare();
  pthread_mutex_unlock(&lock);
  return why;
}

int weft__accept(int listening) {
  for (int i = 0; i < REFUSALS; i++) {
    int fd = accept_next(listening), why = 0;
    if (fd >= 0 && fd < reserve_begin()) return fd;
    if (fd >= 0)
      close(fd);
    else if (errno != EMFILE && errno != ENFILE)
      return -1;
    else if ((why = refuse_with_spare(listening)) == EAGAIN || why == EWOULDBLOCK)
      return errno = why, -1;
    log_refusal();
    if (why) return errno = why, -1;
  }
  errno = EBUSY;
  return -1;
}
