/* loop.c - one epoll, one thread and at most one guest, for all connections of the process.
 *
 * The guest waits for the epoll of the sources.  So does the loop's thread, until the first guest has come; from then on
 * it waits for an outer epoll, which watches that one while nobody is seated.  To sit down and to leave is a word to the
 * kernel, and wakes no thread.
 *
 * Who is woken lists what is ready and takes the wheel, if it is free; else whoever has it will see to the list.  So
 * nobody waits for a callback.  An event names its source by a key, since the source may be gone when the event is read.
 * Who opens the guest's gate elsewhere calls it by the bell, a descriptor among the sources.  Events are told by
 * edges, or two threads would be told of each.  Output is waited for only while a socket is full, since a unix socket would
 * otherwise wake a thread each time its peer reads. */
#include "net/fast/loop.h"
#include "base/alloc.h"
#include "base/clock.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define BELL UINT64_MAX

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards starting and stopping */
static struct {
  int users;
  atomic_bool stopping;
  pid_t pid;
  int epoll, outer;
  pthread_t thread;
} loop;

static pthread_mutex_t wheel = PTHREAD_MUTEX_INITIALIZER;

static atomic_bool seat;             /* taken by a guest */
static _Thread_local bool is_seated; /* it is this thread */
static atomic_bool hosted;           /* a guest has been here */

static pthread_mutex_t ticks = PTHREAD_MUTEX_INITIALIZER; /* guards what follows; not held while a tick runs */
static ticker *ticking;
static ticker tickers = {NULL, &tickers, &tickers};
static pthread_cond_t ended /* a tick */ = PTHREAD_COND_INITIALIZER;

/* ---- the bell ---- */

static pthread_mutex_t bell_lock = PTHREAD_MUTEX_INITIALIZER;
static int bell = -1; /* who rings may be the last to know that the loop was stopped */

static void ring(void) {
  uint64_t one = 1;
  pthread_mutex_lock(&bell_lock);
  if (bell >= 0) (void)!write(bell, &one, sizeof one);
  pthread_mutex_unlock(&bell_lock);
}

static weft_err hang_bell(void) {
  struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.u64 = BELL};
  int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0 || epoll_ctl(loop.epoll, EPOLL_CTL_ADD, fd, &e) != 0) {
    int failed = errno;
    if (fd >= 0) close(fd);
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "The fast transport cannot wake its thread: %s", strerror(failed));
  }
  pthread_mutex_lock(&bell_lock);
  bell = fd;
  pthread_mutex_unlock(&bell_lock);
  return WEFT_OK;
}

static void take_bell_down(void) {
  pthread_mutex_lock(&bell_lock);
  close(bell);
  bell = -1;
  pthread_mutex_unlock(&bell_lock);
}

/* ---- sources ---- */

static pthread_mutex_t names = PTHREAD_MUTEX_INITIALIZER; /* guards the table, and the list */
static struct {
  source **slot; /* a key's low half is its place here, the high half makes it new */
  uint32_t n, turn;
  source *first, *last; /* those that are ready */
} table;

static weft_err name(source *s) {
  uint32_t at = 0;
  pthread_mutex_lock(&names);
  while (at < table.n && table.slot[at]) at++;
  if (at == table.n) {
    uint32_t n = table.n ? 2 * table.n : 16;
    source **more = weft__realloc(table.slot, n * sizeof *more);
    if (more) memset(more + table.n, 0, (n - table.n) * sizeof *more);
    if (more) table.slot = more, table.n = n;
  }
  bool found = at < table.n;
  if (found) {
    s->key = (uint64_t)(++table.turn & INT32_MAX) << 32 | at;
    table.slot[at] = s;
  }
  pthread_mutex_unlock(&names);
  return found ? WEFT_OK : WEFT_OOM;
}

static void unname(source *s) {
  pthread_mutex_lock(&names);
  table.slot[(uint32_t)s->key] = NULL;
  source *before = NULL;
  for (source *i = s->events ? table.first : NULL; i != s && i; i = i->next) before = i;
  if (s->events && before) before->next = s->next;
  if (s->events && !before) table.first = s->next;
  if (table.last == s) table.last = before;
  pthread_mutex_unlock(&names);
}

static void note(const struct epoll_event *e) {
  pthread_mutex_lock(&names);
  source *s = table.slot[(uint32_t)e->data.u64];
  if (s && s->key == e->data.u64) { /* else it is gone */
    if (!s->events) {
      s->next = NULL;
      *(table.last ? &table.last->next : &table.first) = s;
      table.last = s;
    }
    s->events |= e->events;
  }
  pthread_mutex_unlock(&names);
}

/* The next that is ready, taken off the list; NULL: none. */
static source *next_ready(uint32_t *events) {
  pthread_mutex_lock(&names);
  source *s = table.first;
  if (s) {
    table.first = s->next;
    if (!table.first) table.last = NULL;
    *events = s->events;
    s->events = 0;
  }
  pthread_mutex_unlock(&names);
  return s;
}

static bool any_ready(void) {
  pthread_mutex_lock(&names);
  bool any = table.first;
  pthread_mutex_unlock(&names);
  return any;
}

weft_err weft__loop_add(source *s) {
  s->events = 0;
  WEFT_TRY(name(s));
  struct epoll_event e = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.u64 = s->key};
  if (epoll_ctl(loop.epoll, EPOLL_CTL_ADD, s->fd, &e) == 0) return WEFT_OK;
  weft_err err = weft__fail(WEFT_RESOURCE_EXHAUSTED, "A socket cannot be waited for: %s", strerror(errno));
  unname(s);
  return err;
}

void weft__loop_again(source *s, bool output) {
  struct epoll_event e = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET | (output ? EPOLLOUT : 0), .data.u64 = s->key};
  epoll_ctl(loop.epoll, EPOLL_CTL_MOD, s->fd, &e);
}

void weft__loop_remove(source *s) {
  epoll_ctl(loop.epoll, EPOLL_CTL_DEL, s->fd, NULL);
  unname(s);
}

void weft__loop_drop(source *s) {
  if (s->fd < 0) return;
  pthread_mutex_lock(&wheel);
  weft__loop_remove(s);
  pthread_mutex_unlock(&wheel);
  ring(); /* something may have become ready meanwhile */
  close(s->fd);
  s->fd = -1;
}

/* ---- turning ---- */

/* At the wheel, if it is free.  A guest leaves when its gate opens, and the rest to the loop's thread. */
static void call_ready(gate *until) {
  bool leaves = false;
  while (!leaves && any_ready() && pthread_mutex_trylock(&wheel) == 0) {
    uint32_t events;
    for (source *s; !leaves && (s = next_ready(&events)); leaves = until && weft__gate_watch(until, true))
      s->ready(s, events);
    pthread_mutex_unlock(&wheel);
  }
  if (leaves && any_ready()) ring();
}

typedef enum heard { NOTHING, EVENTS, BELL_TOO } heard;

/* Waits once, and has called what is ready.  A signal is nothing too. */
static heard turn(int wait_ms, gate *until) {
  enum { BATCH = 64 };
  struct epoll_event events[BATCH];
  int n = epoll_wait(loop.epoll, events, BATCH, wait_ms);
  heard what = n > 0 ? EVENTS : NOTHING;
  for (int i = 0; i < n; i++)
    if (events[i].data.u64 == BELL)
      what = BELL_TOO;
    else
      note(&events[i]);
  if (n > 0) call_ready(until);
  return what;
}

/* Whether the outer epoll watches the inner one, until it is told of it. */
static void watch(bool on) {
  struct epoll_event e = {.events = on ? EPOLLIN | EPOLLONESHOT : 0};
  epoll_ctl(loop.outer, EPOLL_CTL_MOD, loop.epoll, &e);
}

/* The thread's turn, when nobody is seated. */
static heard own_turn(void) {
  struct epoll_event e;
  if (!atomic_load(&hosted)) return turn(LOOP_TICK_MS, NULL);
  if (epoll_wait(loop.outer, &e, 1, LOOP_TICK_MS) <= 0) return NOTHING;
  heard what = turn(0, NULL);
  if (!atomic_load(&seat)) watch(true); /* else the guest sees to it when it leaves */
  return what;
}

static void tick_all(int64_t now) {
  pthread_mutex_lock(&wheel);
  pthread_mutex_lock(&ticks);
  for (ticker *t = tickers.next; t != &tickers; t = t->next) {
    ticking = t; /* and so stays in the list */
    pthread_mutex_unlock(&ticks);
    t->tick(t, now);
    pthread_mutex_lock(&ticks);
    ticking = NULL;
    pthread_cond_broadcast(&ended);
  }
  pthread_mutex_unlock(&ticks);
  pthread_mutex_unlock(&wheel);
  call_ready(NULL);
}

static void *run(void *arg) {
  (void)arg;
  int64_t next_tick = 0;
  while (!atomic_load(&loop.stopping)) {
    int64_t now = weft__now_ns();
    if (now >= next_tick) {
      next_tick = now + (int64_t)LOOP_TICK_MS * 1000000;
      tick_all(now);
    }
    if (own_turn() == BELL_TOO && atomic_load(&seat)) ring(); /* it was not for us */
  }
  return NULL;
}

/* ---- life ---- */

static void close_both(void) {
  if (loop.epoll >= 0) close(loop.epoll);
  if (loop.outer >= 0) close(loop.outer);
}

static weft_err open_both(void) {
  struct epoll_event e = {.events = EPOLLIN | EPOLLONESHOT};
  loop.epoll = epoll_create1(EPOLL_CLOEXEC);
  loop.outer = epoll_create1(EPOLL_CLOEXEC);
  if (loop.epoll >= 0 && loop.outer >= 0 && epoll_ctl(loop.outer, EPOLL_CTL_ADD, loop.epoll, &e) == 0) return WEFT_OK;
  weft_err err = weft__fail(WEFT_RESOURCE_EXHAUSTED, "The fast transport cannot wait for sockets: %s", strerror(errno));
  close_both();
  return err;
}

static weft_err start(void) {
  loop.pid = getpid();
  atomic_store(&loop.stopping, false);
  atomic_store(&hosted, false);
  WEFT_TRY(open_both());
  weft_err err = hang_bell();
  int failed = err ? 0 : pthread_create(&loop.thread, NULL, run, NULL);
  if (failed) {
    take_bell_down();
    err = weft__fail(WEFT_RESOURCE_EXHAUSTED, "The fast transport's thread could not be started: %s", strerror(failed));
  }
  if (err) close_both();
  return err;
}

static void stop(void) {
  atomic_store(&loop.stopping, true);
  ring();
  pthread_join(loop.thread, NULL);
  take_bell_down();
  close_both();
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
  if (--loop.users == 0) stop();
  pthread_mutex_unlock(&lock);
}

/* ---- guests ---- */

/* The seat, and a use of the loop with it. */
static bool sit_down(void) {
  bool taken = false;
  if (!atomic_compare_exchange_strong(&seat, &taken, true)) return false;
  pthread_mutex_lock(&lock);
  is_seated = loop.users > 0 && loop.pid == getpid();
  loop.users += is_seated;
  pthread_mutex_unlock(&lock);
  atomic_store(&hosted, true);
  if (is_seated)
    watch(false);
  else
    atomic_store(&seat, false);
  return is_seated;
}

static void stand_up(void) {
  is_seated = false;
  atomic_store(&seat, false);
  watch(true);
  weft__loop_release();
}

bool weft__loop_wait(gate *g, int64_t for_ns) {
  int64_t until = weft__now_ns() + for_ns, left = for_ns;
  if (!sit_down()) return weft__gate_wait(g, for_ns);
  while (!weft__gate_watch(g, true) && left > 0) {
    int64_t ms = (left + 999999) / 1000000;
    heard what = turn(ms < LOOP_TICK_MS ? (int)ms : LOOP_TICK_MS, g);
    left = what == NOTHING ? 0 : until - weft__now_ns();
  }
  bool open = weft__gate_watch(g, false);
  stand_up();
  return open;
}

void weft__loop_open(gate *g) {
  if (weft__gate_open(g) && !is_seated) ring();
}

/* ---- ticks ---- */

void weft__loop_tick_on(ticker *t) {
  pthread_mutex_lock(&ticks);
  t->next = &tickers, t->prev = tickers.prev;
  t->prev->next = t->next->prev = t;
  pthread_mutex_unlock(&ticks);
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
