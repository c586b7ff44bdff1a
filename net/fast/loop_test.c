/* loop_test.c - the loop's thread and its guest: who is called, who is woken, and what is gone. */
#include "net/fast/loop.h"
#include "base/clock.h"
#include "base/pool.h"
#include "tests/check.h"
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { FOREVER_S = 60 };

typedef struct button { /* pressed by writing to it */
  source source;
  gate *opens; /* or NULL */
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
  if (b->opens) weft__loop_open(b->opens);
}

static void put_up(button *b) {
  b->source = (source){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .ready = pressed};
  EXPECT_OK(weft__loop_add(&b->source));
}

static void press(button *b) {
  uint64_t one = 1;
  EXPECT_EQ_INT(write(b->source.fd, &one, sizeof one), (int)sizeof one);
}

static bool wait_open(gate *g) {
  int64_t until = weft__now_ns() + INT64_C(1000000000) * FOREVER_S;
  while (weft__now_ns() < until)
    if (weft__loop_wait(g, 100000000)) return true;
  return false;
}

TEST(without_a_loop_a_gate_is_waited_for_alone) {
  gate g = {0};
  EXPECT(!weft__loop_wait(&g, 1000000));
  weft__loop_open(&g);
  EXPECT(weft__loop_wait(&g, 0));
}

TEST_WITHIN(60, what_comes_opens_the_gate_of_who_waits) {
  button b = {0};
  EXPECT_OK(weft__loop_retain());
  put_up(&b);
  for (int i = 0; i < 200; i++) {
    gate g = {0};
    b.opens = &g;
    press(&b);
    EXPECT(wait_open(&g));
  }
  EXPECT_EQ_INT(atomic_load(&b.presses), 200);
  weft__loop_drop(&b.source);
  weft__loop_release();
}

typedef struct guest {
  gate gate;
  atomic_bool done;
  bool open;
  pthread_t thread;
} guest;

static void *be_guest(void *arg) {
  guest *g = arg;
  g->open = wait_open(&g->gate);
  atomic_store(&g->done, true);
  return NULL;
}

TEST_WITHIN(60, a_gate_opened_by_another_thread_wakes_its_guest) {
  EXPECT_OK(weft__loop_retain());
  for (int i = 0; i < 200; i++) {
    guest g = {0};
    EXPECT_EQ_INT(pthread_create(&g.thread, NULL, be_guest, &g), 0);
    if (i % 2) usleep(500); /* it sits by now, and the loop's thread may have come later */
    weft__loop_open(&g.gate);
    pthread_join(g.thread, NULL);
    EXPECT(g.open);
  }
  weft__loop_release();
}

TEST_WITHIN(60, of_two_that_wait_both_are_woken) {
  button b[2] = {0};
  EXPECT_OK(weft__loop_retain());
  for (int i = 0; i < 2; i++) put_up(&b[i]);
  for (int i = 0; i < 100; i++) {
    guest g[2] = {0};
    for (int k = 0; k < 2; k++) {
      b[k].opens = &g[k].gate;
      EXPECT_EQ_INT(pthread_create(&g[k].thread, NULL, be_guest, &g[k]), 0);
    }
    press(&b[i % 2]);
    press(&b[1 - i % 2]);
    for (int k = 0; k < 2; k++) {
      pthread_join(g[k].thread, NULL);
      EXPECT(g[k].open);
    }
  }
  for (int i = 0; i < 2; i++) weft__loop_drop(&b[i].source);
  weft__loop_release();
}

TEST_WITHIN(60, what_was_removed_is_not_called_any_more) {
  EXPECT_OK(weft__loop_retain());
  for (int i = 0; i < 100; i++) {
    button b[2] = {0};
    gate g = {0};
    for (int k = 0; k < 2; k++) put_up(&b[k]);
    b[0].opens = &g, b[0].removes = &b[1];
    press(&b[0]); /* both may come in one batch, and the second then was removed by the first */
    press(&b[1]);
    EXPECT(wait_open(&g));
    int before = atomic_load(&b[1].presses);
    EXPECT(before <= 1);
    gate later = {0};
    b[0].opens = &later, b[0].removes = NULL;
    press(&b[1]);
    press(&b[0]); /* comes after it, and is called */
    EXPECT(wait_open(&later));
    EXPECT_EQ_INT(atomic_load(&b[1].presses), before);
    close(b[1].source.fd);
    weft__loop_drop(&b[0].source);
  }
  weft__loop_release();
}

static pthread_mutex_t moving = PTHREAD_MUTEX_INITIALIZER;

static void pressed_anywhere(source *s, uint32_t events) {
  if (weft__loop_is_astray(s)) {
    pthread_mutex_lock(&moving);
    EXPECT_OK(weft__loop_bring_home(s, false));
    pthread_mutex_unlock(&moving);
  } else {
    pressed(s, events);
  }
}

static void put_up_anywhere(button *b) {
  b->source = (source){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .ready = pressed_anywhere};
  EXPECT_OK(weft__loop_spread(&b->source));
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

TEST_WITHIN(60, what_is_served_by_several_threads_comes_home_to_a_guest) {
  static button b[MANY];
  EXPECT_OK(weft__loop_retain());
  for (int k = 0; k < MANY; k++) put_up_anywhere(&b[k]);
  int elsewhere = 0;
  for (int k = 1; k < MANY; k++) elsewhere += b[k].source.loop != b[0].source.loop;
  EXPECT(elsewhere > 0 || weft__processors() == 1);
  press_all(b, 0);

  gate g = {0};
  EXPECT(!weft__loop_wait(&g, 1000000)); /* from now on somebody waits for answers here */
  press_all(b, PRESSES);
  button at_home = {0};
  put_up_anywhere(&at_home);
  for (int k = 0; k < MANY; k++) EXPECT(b[k].source.loop == at_home.source.loop);
  for (int k = 0; k < MANY; k++) weft__loop_drop(&b[k].source);
  weft__loop_drop(&at_home.source);
  weft__loop_release();
}

static atomic_int ticks, left;

static bool count_down(ticker *t, int64_t now_ns) {
  (void)t, (void)now_ns;
  atomic_fetch_add(&ticks, 1);
  return atomic_fetch_sub(&left, 1) > 1;
}

TEST_WITHIN(60, a_tick_comes_soon_while_it_is_wanted_and_seldom_else) {
  ticker t = {.tick = count_down};
  EXPECT_OK(weft__loop_retain());
  weft__loop_tick_on(&t);
  usleep(2 * LOOP_TICK_MS * 1000); /* the first, perhaps */
  for (int i = 0; i < 3; i++) {
    atomic_store(&left, 5);
    int before = atomic_load(&ticks);
    int64_t began = weft__now_ns();
    weft__loop_tick_soon();
    while (atomic_load(&left) > 0 && weft__now_ns() - began < INT64_C(1000000000) * FOREVER_S) usleep(1000);
    EXPECT(atomic_load(&ticks) >= before + 5);
    int after = atomic_load(&ticks);
    int64_t rest = weft__now_ns();
    usleep(6 * LOOP_TICK_MS * 1000);
    rest = weft__now_ns() - rest; /* on a busy machine it may be longer */
    EXPECT(atomic_load(&ticks) <= after + 2 + rest / ((int64_t)LOOP_IDLE_MS * 1000000));
  }
  weft__loop_tick_off(&t);
  weft__loop_release();
}
