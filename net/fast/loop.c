/* loop.c - threads that wait for sockets: the first loop with its guest, and others beside it where many are served.
 *
 * A process that waits for answers has all its sources in the first loop.  One that only serves gives its connections to
 * as many loops as they are worth and there are processors for; should it ever wait for an answer, they come back to the
 * first as they are heard of.
 *
 * The guest waits for the epoll of the first loop.  So does that loop's thread, until the first guest has come; from then
 * on it waits for an outer epoll, which watches that one while nobody is seated.  To sit down and to leave is a word to
 * the kernel, and wakes no thread.
 *
 * Who is woken lists what is ready and takes the wheel, if it is free; else whoever has it will see to the list.  So
 * nobody waits for a callback.  An event names its source by a key, since the source may be gone when the event is read.
 * Who opens the guest's gate elsewhere calls it by the bell, a descriptor among the sources.  Events are told by
 * edges, or two threads would be told of each.  Output is waited for only while a socket is full, since a unix socket would
 * otherwise wake a thread each time its peer reads. */
#include "net/fast/loop.h"
#include "base/cast.h"
#include "base/clock.h"
#include "base/pool.h"
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define BELL UINT64_MAX
#define ALARM (UINT64_MAX - 1)

enum { LOOPS_MAX = 3, SHARE = 4 /* sources of each loop before there is another */ };
enum { AWAY_MAX_US = 500, STAY_MS = 50 };

typedef struct loop {
  pthread_t thread;
  int epoll, bell;
  atomic_int n_source;
  pthread_mutex_t wheel;
  int64_t stays_until_ns; /* see make_way; at the wheel */
  sources sources;
} loop;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards starting and stopping, and the spreading */
static int users, n_loop;
static pid_t pid;
static atomic_bool stopping;
static loop loops[LOOPS_MAX], *const first = loops; /* n_loop of them run */

static int outer;                    /* the first loop's other epoll */
static atomic_bool seat;             /* taken by a guest */
static _Thread_local bool is_seated; /* it is this thread */
static atomic_bool hosted;           /* a guest has been here */

static int alarm_fd;            /* wakes the first thread, even if a guest waits in its place */
static atomic_bool tick_wanted; /* soon, not when it is time */
static pthread_mutex_t ticks = PTHREAD_MUTEX_INITIALIZER; /* guards what follows; not held while a tick runs */
static ticker *ticking;
static ticker tickers = {NULL, &tickers, &tickers};
static pthread_cond_t ended /* a tick */ = PTHREAD_COND_INITIALIZER;

/* ---- bells ---- */

static pthread_mutex_t bells = PTHREAD_MUTEX_INITIALIZER;
static bool hung; /* the first loop's: who rings may be the last to know that it was stopped */

static void ring(const loop *l) {
  uint64_t one = 1;
  pthread_mutex_lock(&bells);
  if (hung) (void)!write(l->bell, &one, sizeof one);
  pthread_mutex_unlock(&bells);
}

static weft_err hang_bell(loop *l) {
  struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.u64 = BELL};
  l->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (l->bell < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->bell, &e) != 0) {
    int failed = errno;
    if (l->bell >= 0) close(l->bell);
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "The fast transport cannot wake its thread: %s", strerror(failed));
  }
  pthread_mutex_lock(&bells);
  hung = true;
  pthread_mutex_unlock(&bells);
  return WEFT_OK;
}

static void take_bell_down(loop *l) {
  pthread_mutex_lock(&bells);
  close(l->bell);
  if (l == first) hung = false;
  pthread_mutex_unlock(&bells);
}

/* ---- turning ---- */

typedef enum heard { NOTHING, EVENTS, BELL_TOO } heard;

/* Lists what is ready.  A signal is nothing too. */
static heard look(loop *l, int wait_ms) {
  enum { BATCH = 64 };
  struct epoll_event events[BATCH];
  int n = epoll_wait(l->epoll, events, BATCH, wait_ms);
  heard what = n > 0 ? EVENTS : NOTHING;
  int64_t now = n > 0 ? weft__now_ns() : 0;
  for (int i = 0; i < n; i++)
    if (events[i].data.u64 == BELL)
      what = BELL_TOO;
    else if (events[i].data.u64 != ALARM)
      weft__ready_note(&l->sources, events[i].data.u64, events[i].events, now);
  return what;
}

/* The loop's thread has heard a bell that was rung for the guest. */
static void pass_on(heard what) {
  if (what == BELL_TOO && !is_seated && atomic_load(&seat)) ring(first);
}

/* Lets who was answered on this processor run before the next is called: it comes back while its memory is in the
 * caches, and is the next.  If somebody else takes the processor and keeps it, this is left for a while. */
static void make_way(loop *l) {
  int64_t before = weft__now_ns();
  if (before < l->stays_until_ns) return;
  sched_yield();
  int64_t now = weft__now_ns();
  if (now - before > (int64_t)AWAY_MAX_US * 1000) l->stays_until_ns = now + (int64_t)STAY_MS * 1000000;
}

/* At the wheel.  Between two that are called it is seen who has come since, unless a guest of ours is there to see it.
 * Whether who waits for the gate leaves. */
static bool call_listed(loop *l, gate *until) {
  uint32_t events;
  for (source *s; (s = weft__ready_next(&l->sources, weft__now_ns(), &events));) {
    s->ready(s, events);
    if (until && weft__gate_watch(until, true)) return true;
    if (!weft__ready_any(&l->sources)) continue;
    make_way(l);
    if (until || !atomic_load(&seat)) pass_on(look(l, 0));
  }
  return false;
}

/* Takes the wheel, if it is free.  A guest leaves when its gate opens, and the rest to the loop's thread. */
static void call_ready(loop *l, gate *until) {
  bool leaves = false;
  while (!leaves && weft__ready_any(&l->sources) && pthread_mutex_trylock(&l->wheel) == 0) {
    leaves = call_listed(l, until);
    pthread_mutex_unlock(&l->wheel);
  }
  if (leaves && weft__ready_any(&l->sources)) ring(l);
}

/* Waits once, and has called what is ready. */
static heard turn(loop *l, int wait_ms, gate *until) {
  heard what = look(l, wait_ms);
  if (what != NOTHING) call_ready(l, until);
  return what;
}

/* Whether the outer epoll watches the inner one, until it is told of it. */
static void watch(bool on) {
  struct epoll_event e = {.events = on ? EPOLLIN | EPOLLONESHOT : 0};
  epoll_ctl(outer, EPOLL_CTL_MOD, first->epoll, &e);
}

/* The first thread's turn, when nobody is seated. */
static heard own_turn(int wait_ms) {
  struct epoll_event e;
  if (!atomic_load(&hosted)) return turn(first, wait_ms, NULL);
  if (epoll_wait(outer, &e, 1, wait_ms) <= 0 || e.data.u64 == ALARM) return NOTHING;
  heard what = turn(first, 0, NULL);
  if (!atomic_load(&seat)) watch(true); /* else the guest sees to it when it leaves */
  return what;
}

static void tick_all(int64_t now) {
  bool soon = false;
  atomic_store(&tick_wanted, false);
  pthread_mutex_lock(&first->wheel);
  pthread_mutex_lock(&ticks);
  for (ticker *t = tickers.next; t != &tickers; t = t->next) {
    ticking = t; /* and so stays in the list */
    pthread_mutex_unlock(&ticks);
    soon |= t->tick(t, now);
    pthread_mutex_lock(&ticks);
    ticking = NULL;
    pthread_cond_broadcast(&ended);
  }
  pthread_mutex_unlock(&ticks);
  pthread_mutex_unlock(&first->wheel);
  if (soon) atomic_store(&tick_wanted, true);
  call_ready(first, NULL);
}

static int until_tick_ms(void) { return atomic_load(&tick_wanted) ? LOOP_TICK_MS : LOOP_IDLE_MS; }

static void *run_first(void *arg) {
  (void)arg;
  int64_t ticked_ns = 0;
  while (!atomic_load(&stopping)) {
    int64_t now = weft__now_ns();
    if (now - ticked_ns >= (int64_t)until_tick_ms() * 1000000) {
      ticked_ns = now;
      tick_all(now);
    }
    pass_on(own_turn(until_tick_ms()));
  }
  return NULL;
}

static void *run_another(void *arg) {
  while (!atomic_load(&stopping)) turn(arg, -1, NULL);
  return NULL;
}

/* ---- life ---- */

/* Of a loop whose epoll is there. */
static weft_err start_thread(loop *l, void *(*run)(void *)) {
  weft_err err = hang_bell(l);
  pthread_mutex_init(&l->wheel, NULL);
  weft__sources_init(&l->sources);
  atomic_init(&l->n_source, 0);
  int failed = err ? 0 : pthread_create(&l->thread, NULL, run, l);
  if (failed) {
    take_bell_down(l);
    err = weft__fail(WEFT_RESOURCE_EXHAUSTED, "The fast transport's thread could not be started: %s", strerror(failed));
  }
  if (!err) return WEFT_OK;
  weft__sources_finish(&l->sources);
  pthread_mutex_destroy(&l->wheel);
  return err;
}

static weft_err watch_from_outside(void) {
  struct epoll_event inner = {.events = EPOLLIN | EPOLLONESHOT};
  struct epoll_event wake = {.events = EPOLLIN | EPOLLET, .data.u64 = ALARM};
  if (epoll_ctl(outer, EPOLL_CTL_ADD, first->epoll, &inner) == 0 &&
      epoll_ctl(outer, EPOLL_CTL_ADD, alarm_fd, &wake) == 0 &&
      epoll_ctl(first->epoll, EPOLL_CTL_ADD, alarm_fd, &wake) == 0)
    return WEFT_OK;
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "The fast transport cannot wait for itself: %s", strerror(errno));
}

static void close_all(int n, const int *fd) {
  for (int i = 0; i < n; i++)
    if (fd[i] >= 0) close(fd[i]);
}

static weft_err start_first(void) {
  pid = getpid();
  atomic_store(&stopping, false);
  atomic_store(&hosted, false);
  outer = epoll_create1(EPOLL_CLOEXEC), first->epoll = epoll_create1(EPOLL_CLOEXEC);
  alarm_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  weft_err err = watch_from_outside(); /* fails if one of them could not be opened */
  if (!err) err = start_thread(first, run_first);
  if (err) close_all(3, (int[]){outer, first->epoll, alarm_fd});
  n_loop = !err;
  return err;
}

static weft_err start_another(void) {
  loop *l = &loops[n_loop];
  l->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (l->epoll < 0)
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "The fast transport cannot wait for sockets: %s", strerror(errno));
  weft_err err = start_thread(l, run_another);
  if (err) close(l->epoll);
  n_loop += !err;
  return err;
}

static void stop(void) {
  atomic_store(&stopping, true);
  for (int i = n_loop - 1; i >= 0; i--) {
    loop *l = &loops[i];
    ring(l);
    pthread_join(l->thread, NULL);
    take_bell_down(l);
    weft__sources_finish(&l->sources);
    pthread_mutex_destroy(&l->wheel);
    close(l->epoll);
  }
  close_all(2, (int[]){outer, alarm_fd});
}

weft_err weft__loop_retain(void) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&lock);
  if (users == 0) err = start_first();
  if (!err && pid != getpid())
    err = weft__fail(WEFT_FAILED_PRECONDITION, "The network was started before this process was forked");
  if (!err) users++;
  pthread_mutex_unlock(&lock);
  return err;
}

void weft__loop_release(void) {
  pthread_mutex_lock(&lock);
  if (--users == 0) stop();
  pthread_mutex_unlock(&lock);
}

/* ---- sources ---- */

static struct epoll_event wanted(const source *s, bool output) {
  return (struct epoll_event){.events = EPOLLIN | EPOLLRDHUP | EPOLLET | (output ? EPOLLOUT : 0), .data.u64 = s->key};
}

static weft_err add_to(loop *l, source *s, bool output) {
  weft_err err = weft__source_name(&l->sources, s);
  if (err) return err;
  struct epoll_event e = wanted(s, output);
  s->loop = l;
  atomic_fetch_add(&l->n_source, 1);
  if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, s->fd, &e) == 0) return WEFT_OK; /* and the source perhaps gone again */
  err = weft__fail(WEFT_RESOURCE_EXHAUSTED, "A socket cannot be waited for: %s", strerror(errno));
  weft__loop_remove(s);
  return err;
}

weft_err weft__loop_add(source *s) { return add_to(first, s, false); }

/* The loop that has the fewest; another, if all have their share. */
static loop *least_busy(void) {
  int at_most = weft__processors() < LOOPS_MAX ? weft__processors() : LOOPS_MAX;
  pthread_mutex_lock(&lock);
  loop *least = first;
  for (int i = 1; i < n_loop; i++)
    if (atomic_load(&loops[i].n_source) < atomic_load(&least->n_source)) least = &loops[i];
  bool full = atomic_load(&least->n_source) >= SHARE;
  if (full && n_loop < at_most && start_another() == WEFT_OK) least = &loops[n_loop - 1];
  pthread_mutex_unlock(&lock);
  return least;
}

weft_err weft__loop_spread(source *s) { return add_to(atomic_load(&hosted) ? first : least_busy(), s, false); }

bool weft__loop_is_astray(const source *s) { return s->loop != first && atomic_load(&hosted); }

weft_err weft__loop_bring_home(source *s, bool output) {
  weft__loop_remove(s);
  return add_to(first, s, output);
}

void weft__loop_again(source *s, bool output) {
  struct epoll_event e = wanted(s, output);
  if (s->loop) epoll_ctl(s->loop->epoll, EPOLL_CTL_MOD, s->fd, &e);
}

void weft__loop_later(source *s, bool output) {
  if (s->loop) weft__ready_later(&s->loop->sources, s);
  weft__loop_again(s, output);
}

void weft__loop_remove(source *s) {
  loop *l = s->loop;
  if (!l) return;
  epoll_ctl(l->epoll, EPOLL_CTL_DEL, s->fd, NULL);
  weft__source_unname(&l->sources, s);
  atomic_fetch_sub(&l->n_source, 1);
  s->loop = NULL;
}

void weft__loop_drop(source *s) {
  if (s->fd < 0) return;
  pthread_mutex_lock(&first->wheel);
  weft__loop_remove(s);
  pthread_mutex_unlock(&first->wheel);
  ring(first); /* something may have become ready meanwhile */
  close(s->fd);
  s->fd = -1;
}

/* ---- guests ---- */

/* The seat, and a use of the loop with it. */
static bool sit_down(void) {
  bool taken = false;
  if (!atomic_compare_exchange_strong(&seat, &taken, true)) return false;
  pthread_mutex_lock(&lock);
  is_seated = users > 0 && pid == getpid();
  users += is_seated;
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
    heard what = turn(first, ms < LOOP_TICK_MS ? weft__int_sat(ms) : LOOP_TICK_MS, g);
    left = what == NOTHING ? 0 : until - weft__now_ns();
  }
  bool open = weft__gate_watch(g, false);
  stand_up();
  return open;
}

void weft__loop_open(gate *g) {
  if (weft__gate_open(g) && !is_seated) ring(first);
}

/* ---- ticks ---- */

void weft__loop_tick_soon(void) {
  uint64_t one = 1;
  if (!atomic_exchange(&tick_wanted, true)) (void)!write(alarm_fd, &one, sizeof one);
}

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
