/* loop.c - one epoll, one thread, for all connections of the process.
 *
 * Input is level-triggered; output is waited for only while a socket is full, since a unix socket would
 * otherwise wake the thread each time its peer reads. */
#include "net/fast/loop.h"
#include "base/clock.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  int users;
  pid_t pid;
  int epoll, wake;
  pthread_t thread;
} loop;

static pthread_mutex_t ticks = PTHREAD_MUTEX_INITIALIZER; /* guards what follows; not held while a tick runs */
static ticker *ticking;
static ticker tickers = {NULL, &tickers, &tickers};
static uint64_t rounds; /* of the loop */
static pthread_cond_t ended /* a round, or a tick */ = PTHREAD_COND_INITIALIZER;

/* Ends a round: ticks if it is time.  Returns how long the next may wait. */
static int end_round(int64_t *next_ns) {
  int64_t now = weft__now_ns();
  pthread_mutex_lock(&ticks);
  rounds++;
  pthread_cond_broadcast(&ended);
  bool any = tickers.next != &tickers, due = now >= *next_ns;
  if (due) *next_ns = now + (int64_t)LOOP_TICK_MS * 1000000;
  for (ticker *t = tickers.next; due && t != &tickers; t = t->next) {
    ticking = t; /* and so stays in the list */
    pthread_mutex_unlock(&ticks);
    t->tick(t, now);
    pthread_mutex_lock(&ticks);
    ticking = NULL;
    pthread_cond_broadcast(&ended);
  }
  pthread_mutex_unlock(&ticks);
  return any ? LOOP_TICK_MS : -1;
}

static void *run(void *arg) {
  (void)arg;
  enum { BATCH = 64 };
  struct epoll_event events[BATCH];
  int64_t next_tick = 0;
  for (;;) {
    int n = epoll_wait(loop.epoll, events, BATCH, end_round(&next_tick));
    for (int i = 0; i < n; i++) {
      source *s = events[i].data.ptr;
      if (!s) {
        uint64_t count;
        if (read(loop.wake, &count, sizeof count) == sizeof count && count >= UINT32_MAX) return NULL;
        continue;
      }
      s->ready(s, events[i].events);
    }
  }
}

static void wake(uint64_t count) { (void)!write(loop.wake, &count, sizeof count); }

static void close_both(void) {
  if (loop.epoll >= 0) close(loop.epoll);
  if (loop.wake >= 0) close(loop.wake);
}

static weft_err start(void) {
  loop.pid = getpid();
  loop.epoll = epoll_create1(EPOLL_CLOEXEC);
  loop.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct epoll_event e = {.events = EPOLLIN};
  int failed = loop.epoll < 0 || loop.wake < 0 || epoll_ctl(loop.epoll, EPOLL_CTL_ADD, loop.wake, &e) ? errno : 0;
  if (!failed) failed = pthread_create(&loop.thread, NULL, run, NULL);
  if (!failed) return WEFT_OK;
  close_both();
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "The fast transport's thread could not be started: %s", strerror(failed));
}

weft_err weft__loop_retain(void) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&lock);
  if (loop.users == 0) err = start();
  if (!err && loop.pid != getpid())
    err = weft__fail(WEFT_FAILED_PRECONDITION, "The network was started before this process was forked");
  if (!err) loop.users++;
  pthread_mutex_unlock(&lock);
  return err;
}

void weft__loop_release(void) {
  pthread_mutex_lock(&lock);
  if (--loop.users == 0) {
    wake(UINT32_MAX);
    pthread_join(loop.thread, NULL);
    close_both();
  }
  pthread_mutex_unlock(&lock);
}

weft_err weft__loop_add(source *s) {
  struct epoll_event e = {.events = EPOLLIN, .data.ptr = s};
  if (epoll_ctl(loop.epoll, EPOLL_CTL_ADD, s->fd, &e) == 0) return WEFT_OK;
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "A socket cannot be waited for: %s", strerror(errno));
}

void weft__loop_want_output(source *s, bool wanted) {
  struct epoll_event e = {.events = EPOLLIN | (wanted ? EPOLLOUT : 0), .data.ptr = s};
  epoll_ctl(loop.epoll, EPOLL_CTL_MOD, s->fd, &e);
}

void weft__loop_remove(source *s) { epoll_ctl(loop.epoll, EPOLL_CTL_DEL, s->fd, NULL); }

void weft__loop_drop(source *s) {
  if (s->fd < 0) return;
  weft__loop_remove(s);
  pthread_mutex_lock(&ticks);
  uint64_t now = rounds;
  wake(1);
  while (rounds == now) pthread_cond_wait(&ended, &ticks);
  pthread_mutex_unlock(&ticks);
  close(s->fd);
  s->fd = -1;
}

void weft__loop_tick_on(ticker *t) {
  pthread_mutex_lock(&ticks);
  t->next = &tickers, t->prev = tickers.prev;
  t->prev->next = t->next->prev = t;
  pthread_mutex_unlock(&ticks);
  wake(1);
}

void weft__loop_tick_off(ticker *t) {
  pthread_mutex_lock(&ticks);
  while (ticking == t) pthread_cond_wait(&ended, &ticks);
  if (t->next) {
    t->next->prev = t->prev;
    t->prev->next = t->next;
    t->next = t->prev = NULL;
  }
  pthread_mutex_unlock(&ticks);
}
