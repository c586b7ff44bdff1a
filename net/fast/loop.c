/* loop.c - event loops: threads that poll sockets, and callers that poll in their place.
 *
 *                 first user                        a caller waits, no other polls
 *    +--------+ -------------> +-------------------+ -------------> +--------------------+
 *    |no group|                | loop thread polls |                |    caller polls    |
 *    |        | <------------- |   (poller == 0)   | <------------- | (poller == caller) |
 *    +--------+   last user    +-------------------+ its sync_event +--------------------+
 *                 is released                        is set, time is up, or nothing came
 *
 * net/transport.c creates the group for the first user and destroys it after the last.  A second caller does not poll:
 * weft__loop_poll_until returns false, and the caller sleeps on its own event until the thread that dispatches sets it.
 * When the first caller stops, the loop's thread polls, until a caller polls again.  A long wait consists of several
 * calls of weft__loop_poll_until, since each also ends when a poll finds nothing.
 *
 * Which thread polls.  If the loop's thread and a caller polled the same epoll, each event would wake one of them by
 * chance.  So there are two epolls.  The inner epoll watches the sources of the primary loop; a caller polls it.  The
 * outer epoll watches the inner one, and only while no caller polls; the loop's thread polls it.  A change of the
 * poller is thus one epoll_ctl, and wakes no thread.  Before any caller has polled it is simpler: the loop's thread
 * polls the inner epoll itself, which saves an epoll_wait.  When the first caller starts, that thread may still wait
 * there, for LOOP_SLOW_TICK_MS at most.  This does no harm: the thread dispatches what it gets, and passes a wakeup on
 * to the caller.
 *
 * One race remains, and it is harmless: the outer epoll may be armed while a caller polls.  This happens if a caller
 * starts while another one stops, or while the loop's thread arms the outer epoll again.  The loop's thread then wakes
 * once, dispatches what it finds and leaves the outer epoll disarmed.
 *
 * Which thread dispatches.  A thread that epoll_wait woke pushes the ready sources into the queue and takes the
 * dispatch lock, if it is free.  If the lock is taken, the thread polls again, since the holder also runs the sources
 * that others push.  So a caller that polls never waits for a callback on another thread.  Only two functions wait for
 * the lock: primary_tick, on the primary loop's thread, and weft__loop_remove_and_close.  A callback must return soon,
 * since all sources of its loop wait for it: work that may take long goes to a pool (exec/executors/start.h).
 *
 * Which thread ticks.  The primary loop's thread wakes once per tick period, also while a caller polls, and ticks with
 * the dispatch lock (primary_tick).  If another thread holds that lock because it dispatches on the primary loop, that
 * thread ticks between two callbacks (loop_dispatch_locked).  A caller whose poll finds no events does not tick.
 * tick_fd ends a slow wait of the loop's thread when ticks become frequent.  It is in both epolls, because that thread
 * may wait on either.  A caller that it wakes finds nothing to do and polls again.
 *
 * Edge-triggered events are reported once, when they happen.  A level-triggered event would wake the loop's thread and
 * the caller that polls again and again until a callback has read the source.  The group's eventfds are written and
 * never read: each write is an event of its own (epoll(7)).  Output is watched only while a socket is full, since a
 * unix socket would otherwise wake a thread each time its peer reads.
 *
 * How a caller wakes.  A caller that polls watches its sync_event (weft__sync_event_watch).  The thread that sets a
 * watched event is told so, and calls weft__loop_wake_poller, which writes to the wakeup fd, an eventfd in the inner
 * epoll.  If epoll_wait gives that event to the loop's thread instead, the thread writes again.
 *
 * How many loops.  A process that waits for responses has the sources it uses in the primary loop.  One that only
 * serves spreads its connections over several: one loop per SOURCES_PER_LOOP sources (a listener is one, too), at most
 * LOOPS_MAX and one per processor.  If it ever waits for a response, each connection migrates to the primary loop with
 * its next event and stays there: a process that has waited once is a worker or a master, and will wait in every step.
 * A connection without another event stays on its secondary loop.  The threads of secondary loops go on polling until
 * the group is destroyed.
 *
 * Locks, per group: the dispatch lock of each loop (order 0 in docs/threads.md; taken by trylock, except for ticks and
 * for weft__loop_remove_and_close), `lock` over the number of loops, `tick_lock` over the tickers.  There is no static
 * state: everything is in the group.  A forked child has none of the threads and must not use the group
 * (net/process.h). */
#include "net/fast/loop.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "base/clock.h"
#include "base/pool.h"
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* What epoll returns for the group's own descriptors; keys of sources are smaller. */
#define KEY_WAKEUP UINT64_MAX
#define KEY_TICK (UINT64_MAX - 1)

enum {
  LOOPS_MAX = 3,        /* with more, the threads of loops take processors from those that run ops */
  SOURCES_PER_LOOP = 4, /* Another loop is started when every loop has this many.  With more, sources wait longer for
                         * each other's callbacks; with fewer, threads are started for work that one thread can do. */
  YIELD_MAX_US = 500,   /* A peer answers sooner; a longer yield means that another process kept the processor. */
  NO_YIELD_MS = 50,     /* The time without yields after that.  If it is longer, peers on this processor run later;
                         * if it is shorter, the other process gets the processor more often. */
};

typedef struct loop {
  loop_group *group;
  pthread_t thread;
  int epoll_fd, wakeup_fd;
  atomic_int n_source;
  pthread_mutex_t dispatch_lock; /* held while callbacks run */
  int64_t no_yield_until_ns;     /* see loop_yield; guarded by dispatch_lock */
  ready_queue ready;
} loop;

struct loop_group {
  atomic_bool stopping;
  pthread_mutex_t lock; /* guards n_loop, and starting a secondary loop */
  int n_loop;
  loop loops[LOOPS_MAX]; /* n_loop of them run; the first is the primary one */

  int outer_epoll_fd;            /* the primary thread's: watches the inner epoll and tick_fd */
  _Atomic(pthread_t) poller;     /* the caller that polls; 0, which is no thread on Linux: none */
  atomic_bool caller_has_polled; /* since the group was created; never false again */

  int tick_fd; /* wakes the primary thread; in both epolls, since it may wait on either */
  /* 0: tick every LOOP_SLOW_TICK_MS; else every LOOP_TICK_MS.  It counts the calls of weft__loop_tick_often, so that
   * primary_tick_locked can set it to 0, after a round in which every ticker returned false, only if no call came
   * during the round. */
  atomic_uint_fast64_t tick_requests;
  _Atomic int64_t ticked_ns; /* when the tickers were called last; written with the primary loop's dispatch lock */
  pthread_mutex_t tick_lock; /* guards what follows; not held while a tick runs */
  ticker *ticking;
  linked_list tickers;
  pthread_cond_t tick_ended;
};

static loop *primary_loop(loop_group *g) { return &g->loops[0]; }

static bool thread_is_poller(loop_group *g) { return pthread_equal(atomic_load(&g->poller), pthread_self()); }
static bool caller_polls(loop_group *g) { return atomic_load(&g->poller) != 0; }

static void loop_wake(const loop *l) {
  uint64_t one = 1;
  (void)!write(l->wakeup_fd, &one, sizeof one);
}

/* ---- polling and dispatching ---- */

typedef enum poll_result { POLL_NOTHING, POLL_EVENTS, POLL_WAKEUP } poll_result;

/* Waits for events and pushes the ready sources into the queue.  A signal ends the wait early and counts as nothing. */
static poll_result loop_poll(loop *l, int wait_ms) {
  enum { BATCH = 64 };
  struct epoll_event events[BATCH];
  int n = epoll_wait(l->epoll_fd, events, BATCH, wait_ms);
  poll_result result = n > 0 ? POLL_EVENTS : POLL_NOTHING;
  int64_t now = n > 0 ? weft__clock_now_ns() : 0;
  for (int i = 0; i < n; i++)
    if (events[i].data.u64 == KEY_WAKEUP)
      result = POLL_WAKEUP;
    else if (events[i].data.u64 != KEY_TICK)
      weft__ready_queue_push(&l->ready, events[i].data.u64, events[i].events, now);
  return result;
}

/* A loop's thread read a wakeup that was meant for the caller that polls: the caller is woken again. */
static void loop_forward_wakeup(loop_group *g, poll_result result) {
  if (result == POLL_WAKEUP && caller_polls(g) && !thread_is_poller(g)) loop_wake(primary_loop(g));
}

/* Yields the processor between two callbacks.  A peer on this processor that was just answered may then run and send
 * its next request while the caches still hold its data.  If another process takes the processor and keeps it, this
 * function does nothing for NO_YIELD_MS. */
static void loop_yield(loop *l) {
  WEFT_ASSERT(weft__lock_is_held(&l->dispatch_lock));
  int64_t before = weft__clock_now_ns();
  if (before < l->no_yield_until_ns) return;
  sched_yield();
  int64_t now = weft__clock_now_ns();
  if (now - before > YIELD_MAX_US * NS_PER_US) l->no_yield_until_ns = now + NO_YIELD_MS * NS_PER_MS;
}

static int tick_period_ms(const loop_group *g) {
  return atomic_load(&g->tick_requests) ? LOOP_TICK_MS : LOOP_SLOW_TICK_MS;
}

static bool primary_tick_is_due(const loop_group *g, int64_t now) {
  return now - atomic_load(&g->ticked_ns) >= tick_period_ms(g) * NS_PER_MS;
}

/* Calls the tickers if they are due.  The caller must hold the dispatch lock of the primary loop, and must not use a
 * source afterwards: a tick may remove any.  If all tickers return false, tick_requests becomes 0, unless another
 * request came during the ticks: that one must not be lost. */
static void primary_tick_locked(loop_group *g, int64_t now) {
  WEFT_ASSERT(weft__lock_is_held(&primary_loop(g)->dispatch_lock));
  if (!primary_tick_is_due(g, now)) return;
  bool soon = false;
  uint_fast64_t requests_before = atomic_load(&g->tick_requests);
  atomic_store(&g->ticked_ns, now);
  pthread_mutex_lock(&g->tick_lock);
  WEFT_LIST_FOR_EACH(link, &g->tickers) {
    ticker *t = WEFT_LIST_ITEM(link, ticker, link);
    g->ticking = t; /* weft__loop_remove_ticker waits for it, so its link stays in the list */
    pthread_mutex_unlock(&g->tick_lock);
    soon |= t->tick(t, now);
    pthread_mutex_lock(&g->tick_lock);
    g->ticking = NULL;
    pthread_cond_broadcast(&g->tick_ended);
  }
  pthread_mutex_unlock(&g->tick_lock);
  if (!soon)
    atomic_compare_exchange_strong(&g->tick_requests, &requests_before, 0);
  else if (requests_before == 0)
    weft__loop_tick_often(g);
}

/* Runs callbacks, and ticks that are due, until the queue is empty.  The dispatch lock is held.  Returns true, perhaps
 * with sources left, as soon as `until` is set (NULL: never).
 * - Between two callbacks it polls, unless another thread is the poller.  So under load the queue may never be empty.
 *   Then this thread keeps the lock.  Only weft__loop_remove_and_close and a tick that is due wait for it meanwhile.
 * - While a caller polls the primary loop, the threads of secondary loops skip this poll, too, since the check does not
 *   ask which loop it is.  This does no harm: they poll as soon as their queues are empty. */
static bool loop_dispatch_locked(loop *l, sync_event *until) {
  WEFT_ASSERT(weft__lock_is_held(&l->dispatch_lock) && (!until || thread_is_poller(l->group)));
  uint32_t events;
  int64_t now = weft__clock_now_ns();
  for (source *s; (s = weft__ready_queue_pop(&l->ready, now, &events)); now = weft__clock_now_ns()) {
    s->on_ready(s, events);
    if (until && weft__sync_event_is_set(until)) return true;
    if (l == primary_loop(l->group)) primary_tick_locked(l->group, now);
    if (!weft__ready_queue_has_ready(&l->ready)) continue;
    loop_yield(l);
    if (until || !caller_polls(l->group)) /* with `until` this thread is the poller */
      loop_forward_wakeup(l->group, loop_poll(l, 0));
  }
  return false;
}

/* Dispatches if no other thread does.  No source is lost: the holder of the lock checks the queue again after it
 * unlocks, and a thread pushes before it tries the lock.  A caller whose sync_event is set leaves the remaining sources
 * to another thread: it writes to the wakeup fd.  The write stays pending in the inner epoll: the next caller that
 * polls gets it, or else the loop's thread, once weft__loop_poll_until arms the outer epoll at its end. */
static void loop_dispatch(loop *l, sync_event *until) {
  bool caller_is_done = false;
  while (!caller_is_done && weft__ready_queue_has_ready(&l->ready) && pthread_mutex_trylock(&l->dispatch_lock) == 0) {
    caller_is_done = loop_dispatch_locked(l, until);
    pthread_mutex_unlock(&l->dispatch_lock);
  }
  if (caller_is_done && weft__ready_queue_has_ready(&l->ready)) loop_wake(l);
}

static poll_result loop_poll_and_dispatch(loop *l, int wait_ms, sync_event *until) {
  poll_result result = loop_poll(l, wait_ms);
  if (result != POLL_NOTHING) loop_dispatch(l, until);
  return result;
}

/* ---- the threads ---- */

/* Arms the outer epoll's watch of the inner one for one report, or disarms it.  Arming looks at the inner epoll as it
 * is now, so events that came while it was disarmed are reported too.  It cannot fail: both descriptors stay open as
 * long as the group. */
static void primary_watch_inner(loop_group *g, bool on) {
  struct epoll_event e = {.events = on ? EPOLLIN | EPOLLONESHOT : 0};
  epoll_ctl(g->outer_epoll_fd, EPOLL_CTL_MOD, primary_loop(g)->epoll_fd, &e);
}

/* Polls once, on the primary loop's thread. */
static poll_result primary_poll(loop_group *g, int wait_ms) {
  struct epoll_event e;
  if (!atomic_load(&g->caller_has_polled)) return loop_poll_and_dispatch(primary_loop(g), wait_ms, NULL);
  if (epoll_wait(g->outer_epoll_fd, &e, 1, wait_ms) <= 0 || e.data.u64 == KEY_TICK) return POLL_NOTHING;
  poll_result result = loop_poll_and_dispatch(primary_loop(g), 0, NULL);
  if (!caller_polls(g)) primary_watch_inner(g, true); /* else the caller arms it when it stops polling */
  return result;
}

/* Ticks while no callback runs.  It waits for the dispatch lock; see "Which thread ticks" above. */
static void primary_tick(loop_group *g) {
  if (!primary_tick_is_due(g, weft__clock_now_ns())) return;
  pthread_mutex_lock(&primary_loop(g)->dispatch_lock);
  primary_tick_locked(g, weft__clock_now_ns());
  pthread_mutex_unlock(&primary_loop(g)->dispatch_lock);
  loop_dispatch(primary_loop(g), NULL); /* what was pushed while the lock was held */
}

static void *primary_thread(void *arg) {
  loop_group *g = ((loop *)arg)->group;
  while (!atomic_load(&g->stopping)) {
    primary_tick(g);
    loop_forward_wakeup(g, primary_poll(g, tick_period_ms(g)));
  }
  return NULL;
}

static void *secondary_thread(void *arg) {
  loop *l = arg;
  while (!atomic_load(&l->group->stopping)) loop_poll_and_dispatch(l, -1, NULL);
  return NULL;
}

/* ---- starting and stopping ---- */

static weft_err loop_open_wakeup_fd(loop *l) {
  struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.u64 = KEY_WAKEUP};
  l->wakeup_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (l->wakeup_fd >= 0 && epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, l->wakeup_fd, &e) == 0) return WEFT_OK;
  int why = errno;
  if (l->wakeup_fd >= 0) close(l->wakeup_fd);
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "cannot open the wakeup fd of an event loop: %s", strerror(why));
}

/* Starts a loop whose epoll is open; on failure the epoll stays open. */
static weft_err loop_start(loop *l, loop_group *g, void *(*run)(void *)) {
  WEFT_TRY(loop_open_wakeup_fd(l));
  l->group = g;
  l->no_yield_until_ns = 0;
  pthread_mutex_init(&l->dispatch_lock, NULL);
  weft__ready_queue_init(&l->ready);
  atomic_init(&l->n_source, 0);
  int why = pthread_create(&l->thread, NULL, run, l);
  if (!why) return WEFT_OK;
  close(l->wakeup_fd);
  weft__ready_queue_finish(&l->ready);
  pthread_mutex_destroy(&l->dispatch_lock);
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "cannot start the thread of an event loop: %s", strerror(why));
}

static void loop_stop(loop *l) {
  loop_wake(l);
  pthread_join(l->thread, NULL);
  close(l->wakeup_fd);
  weft__ready_queue_finish(&l->ready);
  pthread_mutex_destroy(&l->dispatch_lock);
  close(l->epoll_fd);
}

/* Opens the outer epoll, the inner one and tick_fd, and connects them.  On failure the caller closes those that are not
 * -1. */
static weft_err primary_open_epolls(loop_group *g) {
  int *inner_fd = &primary_loop(g)->epoll_fd;
  struct epoll_event inner = {.events = EPOLLIN | EPOLLONESHOT};
  struct epoll_event tick = {.events = EPOLLIN | EPOLLET, .data.u64 = KEY_TICK};
  g->outer_epoll_fd = *inner_fd = g->tick_fd = -1;
  if ((g->outer_epoll_fd = epoll_create1(EPOLL_CLOEXEC)) >= 0 && (*inner_fd = epoll_create1(EPOLL_CLOEXEC)) >= 0 &&
      (g->tick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) >= 0 &&
      epoll_ctl(g->outer_epoll_fd, EPOLL_CTL_ADD, *inner_fd, &inner) == 0 &&
      epoll_ctl(g->outer_epoll_fd, EPOLL_CTL_ADD, g->tick_fd, &tick) == 0 &&
      epoll_ctl(*inner_fd, EPOLL_CTL_ADD, g->tick_fd, &tick) == 0)
    return WEFT_OK;
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "cannot open the epolls of the event loop: %s", strerror(errno));
}

static weft_err primary_start(loop_group *g) {
  loop *l = primary_loop(g);
  g->n_loop = 1;
  weft_err err = primary_open_epolls(g);
  if (!err) err = loop_start(l, g, primary_thread);
  if (!err) return WEFT_OK;
  const int opened[] = {g->outer_epoll_fd, l->epoll_fd, g->tick_fd};
  for (int i = 0; i < 3; i++)
    if (opened[i] >= 0) close(opened[i]);
  return err;
}

/* Starts one more loop.  The caller holds the group's lock. */
static weft_err secondary_start(loop_group *g) {
  WEFT_ASSERT(weft__lock_is_held(&g->lock) && g->n_loop > 0 && g->n_loop < LOOPS_MAX);
  loop *l = &g->loops[g->n_loop];
  l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  if (l->epoll_fd < 0)
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "cannot open the epoll of an event loop: %s", strerror(errno));
  weft_err err = loop_start(l, g, secondary_thread);
  if (err) close(l->epoll_fd);
  g->n_loop += !err;
  return err;
}

static void loop_group_free(loop_group *g) {
  pthread_cond_destroy(&g->tick_ended);
  pthread_mutex_destroy(&g->tick_lock);
  pthread_mutex_destroy(&g->lock);
  weft__free(g);
}

weft_err weft__loop_group_create(loop_group **out) {
  *out = NULL;
  loop_group *g = weft__alloc_zero(1, sizeof *g);
  if (!g) return WEFT_OOM;
  pthread_mutex_init(&g->lock, NULL);
  pthread_mutex_init(&g->tick_lock, NULL);
  pthread_cond_init(&g->tick_ended, NULL);
  weft__list_init(&g->tickers);
  weft_err err = primary_start(g);
  if (err)
    loop_group_free(g);
  else
    *out = g;
  return err;
}

void weft__loop_group_destroy(loop_group *g) {
  WEFT_ASSERT(!caller_polls(g) && weft__list_is_empty(&g->tickers));
  atomic_store(&g->stopping, true);
  for (int i = g->n_loop - 1; i >= 0; i--) loop_stop(&g->loops[i]);
  close(g->outer_epoll_fd);
  close(g->tick_fd);
  loop_group_free(g);
}

/* ---- sources ---- */

static struct epoll_event source_epoll_event(const source *s, bool output) {
  return (struct epoll_event){.events = EPOLLIN | EPOLLRDHUP | EPOLLET | (output ? EPOLLOUT : 0), .data.u64 = s->key};
}

static weft_err loop_register(loop *l, source *s, bool output) {
  WEFT_ASSERT(s->fd >= 0 && !s->loop);
  weft_err err = weft__ready_queue_register(&l->ready, s);
  if (err) return err;
  struct epoll_event e = source_epoll_event(s, output);
  s->loop = l;
  atomic_fetch_add(&l->n_source, 1);
  if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, s->fd, &e) == 0)
    return WEFT_OK; /* a callback may already have removed the source: do not touch it */
  err = weft__fail(WEFT_RESOURCE_EXHAUSTED, "cannot add a socket to the event loop: %s", strerror(errno));
  weft__loop_remove(s);
  return err;
}

weft_err weft__loop_add(loop_group *g, source *s) { return loop_register(primary_loop(g), s, false); }

/* Returns the loop with the fewest sources; a new one, if all have SOURCES_PER_LOOP and there is a processor for it.
 * If it cannot be started, the loops that run serve the source: that is slower, not an error. */
static loop *least_busy_loop(loop_group *g) {
  int at_most = weft__pool_processors() < LOOPS_MAX ? weft__pool_processors() : LOOPS_MAX;
  pthread_mutex_lock(&g->lock);
  loop *least = primary_loop(g);
  for (int i = 1; i < g->n_loop; i++)
    if (atomic_load(&g->loops[i].n_source) < atomic_load(&least->n_source)) least = &g->loops[i];
  bool full = atomic_load(&least->n_source) >= SOURCES_PER_LOOP;
  if (full && g->n_loop < at_most && secondary_start(g) == WEFT_OK) least = &g->loops[g->n_loop - 1];
  pthread_mutex_unlock(&g->lock);
  return least;
}

weft_err weft__loop_add_balanced(loop_group *g, source *s) {
  return loop_register(atomic_load(&g->caller_has_polled) ? primary_loop(g) : least_busy_loop(g), s, false);
}

bool weft__loop_must_migrate(const source *s) {
  loop_group *g = s->loop->group;
  return s->loop != primary_loop(g) && atomic_load(&g->caller_has_polled);
}

weft_err weft__loop_migrate(source *s, bool output) {
  loop *to = primary_loop(s->loop->group);
  weft__loop_remove(s);
  return loop_register(to, s, output);
}

void weft__loop_rearm(source *s, bool output) {
  struct epoll_event e = source_epoll_event(s, output);
  if (s->loop) epoll_ctl(s->loop->epoll_fd, EPOLL_CTL_MOD, s->fd, &e);
}

void weft__loop_rearm_deferred(source *s, bool output) {
  if (s->loop) weft__ready_queue_defer(&s->loop->ready, s);
  weft__loop_rearm(s, output);
}

void weft__loop_remove(source *s) {
  loop *l = s->loop;
  if (!l) return;
  epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
  weft__ready_queue_unregister(&l->ready, s);
  const int before = atomic_fetch_sub(&l->n_source, 1);
  WEFT_ASSERT(before > 0);
  (void)before;
  s->loop = NULL;
}

void weft__loop_remove_and_close(loop_group *g, source *s) {
  if (s->fd < 0) return;
  pthread_mutex_lock(&primary_loop(g)->dispatch_lock);
  weft__loop_remove(s);
  pthread_mutex_unlock(&primary_loop(g)->dispatch_lock);
  /* A thread that found the lock taken left the sources that it had pushed to the holder.  This function runs no
   * callbacks, so it wakes a thread that does. */
  loop_wake(primary_loop(g));
  close(s->fd);
  s->fd = -1;
}

/* ---- callers that wait ---- */

/* A signal ends a poll with nothing, so this returns and the caller sees an interrupt.  Callers ask for
 * WEFT_WAIT_SLICE_MS (50 ms) at a time anyway. */
bool weft__loop_poll_until(loop_group *g, sync_event *until, int64_t for_ns, bool *is_set) {
  int64_t deadline = weft__clock_now_ns() + for_ns, remaining_ns = for_ns;
  pthread_t none = 0;
  if (!atomic_compare_exchange_strong(&g->poller, &none, pthread_self())) return false;
  atomic_store(&g->caller_has_polled, true);
  primary_watch_inner(g, false);
  (void)weft__sync_event_watch(until);
  while (!weft__sync_event_is_set(until) && remaining_ns > 0) {
    int64_t ms = (remaining_ns + NS_PER_MS - 1) / NS_PER_MS;
    int wait_ms = ms < LOOP_TICK_MS ? weft__int_sat(ms) : LOOP_TICK_MS;
    poll_result result = loop_poll_and_dispatch(primary_loop(g), wait_ms, until);
    remaining_ns = result == POLL_NOTHING ? 0 : deadline - weft__clock_now_ns();
  }
  *is_set = weft__sync_event_unwatch(until);
  WEFT_ASSERT(thread_is_poller(g));
  atomic_store(&g->poller, 0);
  primary_watch_inner(g, true);
  return true;
}

void weft__loop_wake_poller(loop_group *g) {
  if (!thread_is_poller(g)) loop_wake(primary_loop(g));
}

/* ---- tickers ---- */

void weft__loop_tick_often(loop_group *g) {
  uint64_t one = 1;
  if (atomic_fetch_add(&g->tick_requests, 1) == 0) (void)!write(g->tick_fd, &one, sizeof one);
}

void weft__loop_add_ticker(loop_group *g, ticker *t) {
  WEFT_ASSERT(t->tick);
  pthread_mutex_lock(&g->tick_lock);
  weft__list_append(&g->tickers, &t->link);
  pthread_mutex_unlock(&g->tick_lock);
}

void weft__loop_remove_ticker(loop_group *g, ticker *t) {
  pthread_mutex_lock(&g->tick_lock);
  while (g->ticking == t) pthread_cond_wait(&g->tick_ended, &g->tick_lock);
  if (weft__list_is_linked(&t->link)) weft__list_remove(&t->link);
  pthread_mutex_unlock(&g->tick_lock);
}
