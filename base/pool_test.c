/* pool_test.c - a loop runs every index exactly once: from threads of the pool and from others, and nested in other
 * loops.  Every task that is submitted runs. */
#include "base/pool.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "tests/check.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { N = 10000 };

typedef struct tally {
  atomic_int *hits;
  atomic_llong smallest, calls;
} tally;

static void hit(void *arg, int64_t begin, int64_t end) {
  tally *t = arg;
  atomic_fetch_add(&t->calls, 1);
  long long size = end - begin, least = atomic_load(&t->smallest);
  while (size < least && !atomic_compare_exchange_weak(&t->smallest, &least, size)) {}
  for (int64_t i = begin; i < end; i++) atomic_fetch_add(&t->hits[i], 1);
}

static void expect_each_once(pool *p, int64_t n, int64_t grain) {
  atomic_int *hits = weft__alloc_zero((size_t)n + 1, sizeof *hits);
  tally t = {.hits = hits, .smallest = INT64_MAX};
  weft__pool_loop(p, n, grain, hit, &t);
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; i++) wrong += hits[i] != 1;
  EXPECT_EQ_INT(wrong, 0);
  if (n > 0) EXPECT(t.smallest >= (grain < n ? grain : n));
  weft__free(hits);
}

TEST(a_loop_covers_every_index_once_in_pieces_of_at_least_the_grain) {
  for (int threads = 1; threads <= 5; threads += 2) {
    pool *p;
    EXPECT_OK(weft__pool_create(&p, threads));
    EXPECT_EQ_INT(weft__pool_threads(p), threads);
    static const int64_t sizes[] = {0, 1, 2, 7, 100, 1001, N};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
      for (int64_t grain = 1; grain < 2000; grain *= 7) expect_each_once(p, sizes[i], grain);
    weft__pool_destroy(p);
  }
  expect_each_once(NULL, 100, 3);
}

typedef struct nest {
  pool *p;
  atomic_llong sum;
} nest;

static void add(void *arg, int64_t begin, int64_t end) {
  nest *n = arg;
  for (int64_t i = begin; i < end; i++) atomic_fetch_add(&n->sum, i);
}

static void outer(void *arg, int64_t begin, int64_t end) {
  nest *n = arg;
  for (int64_t i = begin; i < end; i++) weft__pool_loop(n->p, 100, 1, add, n);
}

TEST(a_nested_loop_runs_to_its_end) {
  nest n = {0};
  EXPECT_OK(weft__pool_create(&n.p, 3));
  for (int i = 0; i < 50; i++) {
    atomic_store(&n.sum, 0);
    weft__pool_loop(n.p, 40, 1, outer, &n);
    EXPECT_EQ_INT(n.sum, 40 * 4950);
  }
  weft__pool_destroy(n.p);
}

static void *loop_often(void *arg) {
  for (int i = 0; i < 300; i++) expect_each_once(arg, 500, 10);
  return NULL;
}

TEST_WITHIN(60, many_threads_may_loop_on_one_pool) {
  pool *p;
  pthread_t ids[20];
  EXPECT_OK(weft__pool_create(&p, 3));
  for (int i = 0; i < 20; i++) EXPECT_EQ_INT(pthread_create(&ids[i], NULL, loop_often, p), 0);
  for (int i = 0; i < 20; i++) pthread_join(ids[i], NULL);
  weft__pool_destroy(p);
}

typedef struct chain {
  pool *p;
  atomic_int ran;
} chain;

static void one_more(void *arg) {
  chain *c = arg;
  nest n = {.p = c->p};
  weft__pool_loop(c->p, 64, 1, add, &n);
  EXPECT_EQ_INT(n.sum, 64 * 63 / 2);
  if (atomic_fetch_add(&c->ran, 1) < 1000) EXPECT_OK(weft__pool_submit(c->p, one_more, c));
}

TEST_WITHIN(60, destroy_waits_for_tasks_and_the_tasks_they_queue) {
  chain c = {0};
  EXPECT_OK(weft__pool_create(&c.p, 4));
  for (int i = 0; i < 3; i++) EXPECT_OK(weft__pool_submit(c.p, one_more, &c));
  weft__pool_destroy(c.p);
  EXPECT_EQ_INT(c.ran, 1003);
}

static void bump(void *arg) { atomic_fetch_add((atomic_int *)arg, 1); }

TEST(a_pool_of_one_runs_tasks_on_the_caller) {
  pool *p;
  atomic_int ran = 0;
  EXPECT_OK(weft__pool_create(&p, 1));
  EXPECT_OK(weft__pool_submit(p, bump, &ran));
  EXPECT_EQ_INT(ran, 1);
  EXPECT_OK(weft__pool_submit(NULL, bump, &ran));
  EXPECT_EQ_INT(ran, 2);
  weft__pool_destroy(p);
}

TEST(sleeping_threads_wake_for_a_loop_and_for_a_task) {
  pool *p;
  atomic_int ran = 0;
  EXPECT_OK(weft__pool_create(&p, 2));
  for (int i = 0; i < 20; i++) {
    int64_t until = weft__clock_now_ns() + 300000; /* longer than the threads spin */
    while (weft__clock_now_ns() < until) {}
    expect_each_once(p, 1000, 1);
    EXPECT_OK(weft__pool_submit(p, bump, &ran));
  }
  weft__pool_destroy(p);
  EXPECT_EQ_INT(ran, 20);
}

TEST(a_pool_reports_what_it_cannot_have) {
  pool *p;
  EXPECT_ERR(weft__pool_create(&p, -1), WEFT_INVALID_ARGUMENT, "-1 threads");
  EXPECT(p == NULL);
  for (long n = 1; n <= 2; n++) {
    weft__alloc_fail_after(n);
    weft_err err = weft__pool_create(&p, 2);
    weft__alloc_fail_after(0);
    EXPECT_EQ_INT(err, WEFT_RESOURCE_EXHAUSTED);
  }
  EXPECT_OK(weft__pool_create(&p, 2));
  atomic_int ran = 0;
  weft__alloc_fail_after(1);
  weft_err err = weft__pool_submit(p, bump, &ran);
  weft__alloc_fail_after(0);
  EXPECT_EQ_INT(err, WEFT_RESOURCE_EXHAUSTED);
  weft__pool_destroy(p);
  EXPECT_EQ_INT(ran, 0);
}

TEST(a_thread_leaves_a_processor_and_may_return_to_it) {
  cpu_set_t before, after;
  EXPECT_EQ_INT(sched_getaffinity(0, sizeof before, &before), 0);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET((size_t)cpu, &before)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    EXPECT_EQ_INT(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT(!weft__pool_leave_processor(cpu)); /* there is no other */
    EXPECT_EQ_INT(sched_setaffinity(0, sizeof before, &before), 0);
    const bool left = weft__pool_leave_processor(cpu);
    EXPECT_EQ_INT(left, CPU_COUNT(&before) > 1);
    EXPECT_EQ_INT(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT(CPU_EQUAL(&before, &after));
  }
}
