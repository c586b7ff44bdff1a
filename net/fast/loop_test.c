/* loop_test.c - the loop's thread and callers that poll: which callbacks run, who is woken, and what was removed. */
#include "net/transport.h"
#include "base/clock.h"
#include "base/pool.h"
#include "net/rpc.h"
#include "tests/check.h"
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { FOREVER_S = 60 };

static loop_group *loops; /* while a test has them */

static void retain_loops(void) { EXPECT_OK(weft__transport_retain_loops(&loops)); }
static void release_loops(void) { weft__transport_release_loops(loops); }

typedef struct button { /* pressed by writing to it */
  source source;
  sync_event *opens; /* or NULL */
  atomic_int presses;
  struct button *removes;
} button;

static void pressed(source *s, uint32_t events) {
  button *b = (button *)s;
  uint64_t n;
  (void)events;
  if (read(s->fd, &n, sizeof n) != sizeof n) return;
  if (b->removes) weft__loop_remove(&b->removes->source);
  atomic_fetch_add(&b->presses, 1);
  if (b->opens) weft__rpc_event_set(b->opens);
}

static void put_up(button *b) {
  b->source = (source){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .on_ready = pressed};
  EXPECT_OK(weft__loop_add(loops, &b->source));
}

static void press(button *b) {
  uint64_t one = 1;
  EXPECT_EQ_INT(write(b->source.fd, &one, sizeof one), (int)sizeof one);
}

static bool wait_open(sync_event *g) {
  int64_t until = weft__clock_now_ns() + INT64_C(1000000000) * FOREVER_S;
  while (weft__clock_now_ns() < until)
    if (weft__rpc_event_wait(g, 100000000)) return true;
  return false;
}

TEST(without_a_loop_the_caller_waits_for_the_event_alone) {
  sync_event g = {0};
  EXPECT(!weft__rpc_event_wait(&g, 1000000));
  weft__rpc_event_set(&g);
  EXPECT(weft__rpc_event_wait(&g, 0));
}

TEST_WITHIN(60, a_callback_sets_the_event_of_the_caller_that_polls) {
  button b = {0};
  retain_loops();
  put_up(&b);
  for (int i = 0; i < 200; i++) {
    sync_event g = {0};
    b.opens = &g;
    press(&b);
    EXPECT(wait_open(&g));
  }
  EXPECT_EQ_INT(atomic_load(&b.presses), 200);
  weft__loop_remove_and_close(loops, &b.source);
  release_loops();
}

typedef struct waiter {
  sync_event sync_event;
  atomic_bool done;
  bool open;
  pthread_t thread;
} waiter;

static void *waiter_main(void *arg) {
  waiter *g = arg;
  g->open = wait_open(&g->sync_event);
  atomic_store(&g->done, true);
  return NULL;
}

/* Waits until the thread polls: from then on it watches its event, which therefore is not 0. */
static void wait_until_polling(waiter *g) {
  for (int i = 0; i < FOREVER_S * 10000 && !atomic_load(&g->sync_event.state); i++) usleep(100);
  EXPECT(atomic_load(&g->sync_event.state) != 0);
}

TEST_WITHIN(60, an_event_set_by_another_thread_wakes_the_caller_that_polls) {
  retain_loops();
  for (int i = 0; i < 200; i++) {
    waiter g = {0};
    EXPECT_EQ_INT(pthread_create(&g.thread, NULL, waiter_main, &g), 0);
    if (i % 2) wait_until_polling(&g);
    weft__rpc_event_set(&g.sync_event);
    pthread_join(g.thread, NULL);
    EXPECT(g.open);
  }
  release_loops();
}

TEST_WITHIN(60, of_two_callers_that_wait_both_are_woken) {
  button b[2] = {0};
  retain_loops();
  for (int i = 0; i < 2; i++) put_up(&b[i]);
  for (int i = 0; i < 100; i++) {
    waiter g[2] = {0};
    for (int k = 0; k < 2; k++) {
      b[k].opens = &g[k].sync_event;
      EXPECT_EQ_INT(pthread_create(&g[k].thread, NULL, waiter_main, &g[k]), 0);
    }
    press(&b[i % 2]);
    press(&b[1 - i % 2]);
    for (int k = 0; k < 2; k++) {
      pthread_join(g[k].thread, NULL);
      EXPECT(g[k].open);
    }
  }
  for (int i = 0; i < 2; i++) weft__loop_remove_and_close(loops, &b[i].source);
  release_loops();
}

TEST_WITHIN(60, a_removed_source_is_not_called_any_more) {
  retain_loops();
  for (int i = 0; i < 100; i++) {
    button b[2] = {0};
    sync_event g = {0};
    for (int k = 0; k < 2; k++) put_up(&b[k]);
    b[0].opens = &g, b[0].removes = &b[1];
    press(&b[0]); /* both may come in one batch, and the second then was removed by the first */
    press(&b[1]);
    EXPECT(wait_open(&g));
    int before = atomic_load(&b[1].presses);
    EXPECT(before <= 1);
    sync_event later = {0};
    b[0].opens = &later, b[0].removes = NULL;
    press(&b[1]);
    press(&b[0]); /* comes after it, and is called */
    EXPECT(wait_open(&later));
    EXPECT_EQ_INT(atomic_load(&b[1].presses), before);
    close(b[1].source.fd);
    weft__loop_remove_and_close(loops, &b[0].source);
  }
  release_loops();
}

static pthread_mutex_t migrating = PTHREAD_MUTEX_INITIALIZER;

static void pressed_on_any_loop(source *s, uint32_t events) {
  if (weft__loop_must_migrate(s)) {
    pthread_mutex_lock(&migrating);
    EXPECT_OK(weft__loop_migrate(s, false));
    pthread_mutex_unlock(&migrating);
  } else {
    pressed(s, events);
  }
}

static void put_up_on_any_loop(button *b) {
  b->source = (source){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .on_ready = pressed_on_any_loop};
  EXPECT_OK(weft__loop_add_balanced(loops, &b->source));
}

static bool was_pressed(button *b, int times) {
  for (int i = 0; i < FOREVER_S * 1000 && atomic_load(&b->presses) < times; i++) usleep(1000);
  return atomic_load(&b->presses) == times;
}

enum { MANY = 40, PRESSES = 5 };

static void press_all(button *b, int from) {
  for (int i = 0; i < PRESSES; i++)
    for (int k = 0; k < MANY; k++) {
      press(&b[k]);
      EXPECT(was_pressed(&b[k], from + i + 1));
    }
}

TEST_WITHIN(60, sources_of_several_loops_migrate_once_a_caller_polls) {
  static button b[MANY];
  retain_loops();
  for (int k = 0; k < MANY; k++) put_up_on_any_loop(&b[k]);
  int elsewhere = 0;
  for (int k = 1; k < MANY; k++) elsewhere += b[k].source.loop != b[0].source.loop;
  EXPECT(elsewhere > 0 || weft__pool_processors() == 1);
  press_all(b, 0);

  sync_event g = {0};
  EXPECT(!weft__rpc_event_wait(&g, 1000000)); /* from now on callers poll in this process */
  press_all(b, PRESSES);
  button on_primary = {0};
  put_up_on_any_loop(&on_primary);
  for (int k = 0; k < MANY; k++) EXPECT(b[k].source.loop == on_primary.source.loop);
  for (int k = 0; k < MANY; k++) weft__loop_remove_and_close(loops, &b[k].source);
  weft__loop_remove_and_close(loops, &on_primary.source);
  release_loops();
}

static atomic_int ticks, left;

static bool count_down(ticker *t, int64_t now_ns) {
  (void)t, (void)now_ns;
  atomic_fetch_add(&ticks, 1);
  return atomic_fetch_sub(&left, 1) > 1;
}

TEST_WITHIN(60, ticks_come_often_while_they_are_wanted_and_seldom_else) {
  ticker t = {.tick = count_down};
  retain_loops();
  weft__loop_add_ticker(loops, &t);
  for (int i = 0; i < 3; i++) {
    int before = atomic_load(&ticks); /* a slow tick may come at any time, and count as one of the five */
    atomic_store(&left, 5);
    int64_t began = weft__clock_now_ns();
    weft__loop_tick_often(loops);
    while (atomic_load(&ticks) < before + 5 && weft__clock_now_ns() - began < INT64_C(1000000000) * FOREVER_S)
      usleep(1000);
    EXPECT(atomic_load(&ticks) >= before + 5);
    int after = atomic_load(&ticks);
    int64_t rest = weft__clock_now_ns();
    usleep(6 * LOOP_TICK_MS * 1000);    /* few ticks come in this time */
    rest = weft__clock_now_ns() - rest; /* on a busy machine it may be longer */
    EXPECT(atomic_load(&ticks) <= after + 2 + rest / (LOOP_SLOW_TICK_MS * NS_PER_MS));
  }
  weft__loop_remove_ticker(loops, &t);
  release_loops();
}

static atomic_bool stop_pressing;

/* Leaves the source ready, as a peer does that sends requests without a pause. */
static void press_again(source *s, uint32_t events) {
  uint64_t n = 1;
  (void)events;
  if (read(s->fd, &n, sizeof n) != sizeof n || atomic_load(&stop_pressing)) return;
  n = 1;
  EXPECT_EQ_INT(write(s->fd, &n, sizeof n), (int)sizeof n);
}

static bool count_tick(ticker *t, int64_t now_ns) {
  (void)t, (void)now_ns;
  atomic_fetch_add(&ticks, 1);
  return true;
}

/* Deadlines of calls are checked by ticks, so sources that are always ready must not keep them from running. */
static void expect_ticks_while_sources_are_ready(void) {
  int before = atomic_load(&ticks);
  int64_t until = weft__clock_now_ns() + INT64_C(1000000000) * FOREVER_S;
  while (atomic_load(&ticks) < before + 5 && weft__clock_now_ns() < until) usleep(1000);
  EXPECT(atomic_load(&ticks) >= before + 5);
}

TEST_WITHIN(90, ticks_come_while_sources_are_always_ready) {
  button b[3] = {0};
  ticker t = {.tick = count_tick};
  waiter g = {0};
  retain_loops();
  weft__loop_add_ticker(loops, &t);
  weft__loop_tick_often(loops);
  for (int i = 0; i < 3; i++) {
    b[i].source = (source){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .on_ready = press_again};
    EXPECT_OK(weft__loop_add(loops, &b[i].source));
  }
  for (int i = 0; i < 3; i++) press(&b[i]);
  expect_ticks_while_sources_are_ready(); /* the loop's thread runs the callbacks */
  EXPECT_EQ_INT(pthread_create(&g.thread, NULL, waiter_main, &g), 0);
  wait_until_polling(&g);
  expect_ticks_while_sources_are_ready(); /* so does the caller */
  weft__rpc_event_set(&g.sync_event);
  pthread_join(g.thread, NULL);
  EXPECT(g.open);
  atomic_store(&stop_pressing, true);
  weft__loop_remove_ticker(loops, &t);
  for (int i = 0; i < 3; i++) weft__loop_remove_and_close(loops, &b[i].source);
  release_loops();
}

typedef struct slow_ticker {
  ticker ticker;
  pthread_t caller;
  _Atomic int64_t ended_ns,
      next_ns; /* of the slow tick on the caller's thread; the loop thread's first tick after it */
} slow_ticker;

static bool tick_slowly_on_the_caller(ticker *t, int64_t now_ns) {
  slow_ticker *slow = (slow_ticker *)t;
  const bool on_caller = pthread_equal(pthread_self(), slow->caller), slept = atomic_load(&slow->ended_ns) != 0;
  int64_t none = 0;
  if (slept && !on_caller) {
    atomic_compare_exchange_strong(&slow->next_ns, &none, now_ns);
  } else if (!slept && on_caller) {
    atomic_store(&stop_pressing, true); /* so no callback makes the caller tick again */
    usleep(3 * LOOP_TICK_MS * 1000);    /* meanwhile the loop's thread asks how long it may sleep */
    atomic_store(&slow->ended_ns, weft__clock_now_ns());
  }
  return true;
}

/* Deadlines would be noticed a second late. */
TEST_WITHIN(60, ticks_come_often_after_a_caller_whose_tick_took_long) {
  waiter g = {0};
  slow_ticker slow = {.ticker = {.tick = tick_slowly_on_the_caller}};
  button b = {.source = {.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .on_ready = press_again}};
  atomic_store(&stop_pressing, false);
  retain_loops();
  EXPECT_OK(weft__loop_add(loops, &b.source));
  EXPECT_EQ_INT(pthread_create(&g.thread, NULL, waiter_main, &g), 0);
  slow.caller = g.thread;
  wait_until_polling(&g);
  press(&b); /* from now on its callbacks follow each other, and it ticks between them */
  weft__loop_add_ticker(loops, &slow.ticker);
  weft__loop_tick_often(loops);
  for (int i = 0; i < FOREVER_S * 1000 && !atomic_load(&slow.next_ns); i++) usleep(1000);
  EXPECT(atomic_load(&slow.ended_ns) > 0);
  EXPECT(atomic_load(&slow.next_ns) - atomic_load(&slow.ended_ns) < LOOP_SLOW_TICK_MS / 2 * NS_PER_MS);
  weft__rpc_event_set(&g.sync_event);
  pthread_join(g.thread, NULL);
  weft__loop_remove_ticker(loops, &slow.ticker);
  weft__loop_remove_and_close(loops, &b.source);
  release_loops();
}
