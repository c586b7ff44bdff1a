/* pool.c - threads that share loops and run tasks.
 *
 * A loop is published in one of a few slots.  The state word of a slot counts the helpers and says whether more may
 * join.  So a helper joins, and the owner closes the slot, in one atomic operation each, and the arguments of the loop
 * can be on the owner's stack.
 *
 * Idle threads watch `epoch`, which every publication increments.  They spin for a short while, because the next op of
 * a step comes within microseconds, and then sleep on `wake`.  The publisher reads `sleepers` after it has incremented
 * the epoch, and a sleeper reads the epoch after it has incremented `sleepers`.  Both are sequentially consistent, so a
 * wakeup is never lost, and no thread takes the lock while all of them are awake.
 *
 * A thread that is woken up on the processor of the loop's owner leaves it first.  On a host with other work no
 * processor is idle, and then Linux wakes a thread where it ran before.  That can be the owner's processor, again and
 * again, and both would take turns there.
 *
 * `lock` guards the task list and sleeping.  It is a leaf, and no function of a caller runs under it. */
#include "base/pool.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/denormal.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

enum { LOOPS = 16, PIECES_PER_THREAD = 4, SPIN_NS = 40000, THREADS_MAX = 1024 };
enum { LEAVE_NS = 2000000 };   /* a thread leaves a processor at most once in this time */
enum { OPEN = 1, HELPER = 2 }; /* of a slot's state */

typedef struct parallel_loop {
  alignas(64) atomic_uint state; /* HELPER * helpers + OPEN */
  atomic_bool taken;             /* the slot has an owner */
  pool_loop *fn;
  void *arg;
  int64_t n, pieces;
  atomic_int processor;          /* the owner ran there when it published the loop */
  alignas(64) atomic_llong next; /* the next piece that nobody works on */
} parallel_loop;

typedef struct task {
  struct task *next;
  pool_task *fn;
  void *arg;
} task;

struct pool {
  parallel_loop loops[LOOPS];
  alignas(64) atomic_uint epoch;
  atomic_int open_loops;
  atomic_int queued;
  alignas(64) atomic_int sleepers;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  task *first, **last;
  atomic_bool stop;
  int spin_ns; /* 0 if there are more threads than processors */
  int started; /* threads that the pool has created */
  pthread_t *threads;
};

static _Thread_local bool in_loop; /* this thread runs the function of a shared loop */

static inline void cpu_relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

int weft__pool_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  int n = CPU_COUNT(&set);
  return n > 0 ? n : 1;
}

bool weft__pool_leave_processor(int cpu) {
  cpu_set_t may, others;
  if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof may, &may) != 0) return false;
  others = may;
  CPU_CLR((size_t)cpu, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return false;
  return sched_setaffinity(0, sizeof may, &may) == 0; /* it stays where it is now, but may go anywhere later */
}

/* ---- loops ---- */

/* Runs pieces of the loop until none is left. */
static void loop_run_pieces(parallel_loop *l) {
  bool outer = in_loop;
  in_loop = true;
  WEFT_ASSERT(l->pieces > 0 && l->pieces <= l->n);
  const int64_t size = l->n / l->pieces, larger = l->n % l->pieces;
  for (;;) {
    int64_t i = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    if (i >= l->pieces) break;
    int64_t begin = i * size + (i < larger ? i : larger);
    l->fn(l->arg, begin, begin + size + (i < larger ? 1 : 0));
  }
  in_loop = outer;
}

static bool loop_join(parallel_loop *l) {
  unsigned s = atomic_load_explicit(&l->state, memory_order_relaxed);
  while (s & OPEN)
    if (atomic_compare_exchange_weak_explicit(&l->state, &s, s + HELPER, memory_order_acquire, memory_order_relaxed))
      return true;
  return false;
}

/* Leaves the processor if the owner of an open loop runs there too. */
static void loop_leave_owner(const pool *p, parallel_loop *l) {
  static _Thread_local int64_t last;
  if (p->spin_ns == 0 || !(atomic_load_explicit(&l->state, memory_order_relaxed) & OPEN)) return;
  const int cpu = atomic_load_explicit(&l->processor, memory_order_relaxed);
  if (cpu != sched_getcpu()) return;
  const int64_t now = weft__clock_now_ns();
  if (now - last < LEAVE_NS) return;
  last = now;
  (void)weft__pool_leave_processor(cpu); /* if it may not, it helps from here */
}

/* Helps every open loop; returns true if it ran a piece of any. */
static bool pool_help_loops(pool *p) {
  bool helped = false;
  if (atomic_load_explicit(&p->open_loops, memory_order_relaxed) == 0) return false;
  for (int i = 0; i < LOOPS; i++) {
    parallel_loop *l = &p->loops[i];
    loop_leave_owner(p, l); /* before it joins, so that the owner does not wait for the move */
    if (!loop_join(l)) continue;
    if (atomic_load_explicit(&l->next, memory_order_relaxed) < l->pieces) {
      loop_run_pieces(l);
      helped = true;
    }
    const unsigned before = atomic_fetch_sub_explicit(&l->state, HELPER, memory_order_release);
    WEFT_ASSERT(before >= HELPER);
    (void)before;
  }
  return helped;
}

/* Wakes up to `n` idle threads. */
static void pool_wake(pool *p, int64_t n) {
  atomic_fetch_add(&p->epoch, 1);
  int asleep = atomic_load(&p->sleepers);
  if (asleep == 0) return;
  pthread_mutex_lock(&p->lock);
  if (n >= asleep)
    pthread_cond_broadcast(&p->wake);
  else
    for (int64_t i = 0; i < n; i++) pthread_cond_signal(&p->wake);
  pthread_mutex_unlock(&p->lock);
}

static parallel_loop *pool_take_loop_slot(pool *p) {
  for (int i = 0; i < LOOPS; i++)
    if (!atomic_load_explicit(&p->loops[i].taken, memory_order_relaxed) &&
        !atomic_exchange_explicit(&p->loops[i].taken, true, memory_order_acquire))
      return &p->loops[i];
  return NULL;
}

/* Waits until the helpers have finished their last pieces, which is soon unless one was descheduled. */
static void loop_wait_helpers(parallel_loop *l) {
  for (int spins = 0; atomic_load_explicit(&l->state, memory_order_acquire) != 0; spins++) {
    if (spins < 2000)
      cpu_relax();
    else
      sched_yield();
  }
}

void weft__pool_loop(pool *p, int64_t n, int64_t grain, pool_loop *fn, void *arg) {
  if (n <= 0) return;
  if (grain < 1) grain = 1;
  int64_t pieces = p && p->started > 0 && !in_loop ? n / grain : 1;
  int64_t most = p ? (int64_t)(p->started + 1) * PIECES_PER_THREAD : 1;
  if (pieces > most) pieces = most;
  parallel_loop *l = pieces > 1 ? pool_take_loop_slot(p) : NULL;
  if (!l) {
    fn(arg, 0, n);
    return;
  }
  WEFT_ASSERT(atomic_load(&l->state) == 0); /* no helper of the loop before is left */
  l->fn = fn;
  l->arg = arg;
  l->n = n;
  l->pieces = pieces;
  atomic_store_explicit(&l->processor, sched_getcpu(), memory_order_relaxed);
  atomic_store_explicit(&l->next, 0, memory_order_relaxed);
  atomic_fetch_add_explicit(&p->open_loops, 1, memory_order_relaxed);
  atomic_store_explicit(&l->state, OPEN, memory_order_release);
  pool_wake(p, pieces - 1);
  loop_run_pieces(l);
  atomic_fetch_and_explicit(&l->state, ~(unsigned)OPEN, memory_order_acquire);
  atomic_fetch_sub_explicit(&p->open_loops, 1, memory_order_relaxed);
  loop_wait_helpers(l);
  atomic_store_explicit(&l->taken, false, memory_order_release);
}

/* ---- tasks ---- */

static task *pool_take_task(pool *p) {
  if (atomic_load_explicit(&p->queued, memory_order_relaxed) == 0) return NULL;
  pthread_mutex_lock(&p->lock);
  task *t = p->first;
  if (t) {
    p->first = t->next;
    if (!p->first) p->last = &p->first;
    WEFT_ASSERT(atomic_load(&p->queued) > 0);
    atomic_fetch_sub_explicit(&p->queued, 1, memory_order_relaxed);
  }
  pthread_mutex_unlock(&p->lock);
  return t;
}

static bool pool_run_task(pool *p) {
  task *t = pool_take_task(p);
  if (!t) return false;
  pool_task *fn = t->fn;
  void *arg = t->arg;
  weft__free(t);
  fn(arg);
  return true;
}

weft_err weft__pool_submit(pool *p, pool_task *fn, void *arg) {
  if (!p || p->started == 0) {
    fn(arg);
    return WEFT_OK;
  }
  task *t = weft__alloc(sizeof *t);
  if (!t) return WEFT_RESOURCE_EXHAUSTED;
  *t = (task){NULL, fn, arg};
  pthread_mutex_lock(&p->lock);
  *p->last = t;
  p->last = &t->next;
  atomic_fetch_add_explicit(&p->queued, 1, memory_order_relaxed);
  pthread_mutex_unlock(&p->lock);
  pool_wake(p, 1);
  return WEFT_OK;
}

/* ---- threads ---- */

/* Spins until the epoch is past `seen`, and returns false if that took too long.  It yields the processor every
 * microsecond, because another process of this host may need it. */
static bool pool_spin(pool *p, unsigned seen) {
  if (p->spin_ns == 0) return false;
  int64_t until = weft__clock_now_ns() + p->spin_ns;
  do {
    for (int i = 0; i < 64; i++) {
      if (atomic_load_explicit(&p->epoch, memory_order_acquire) != seen) return true;
      cpu_relax();
    }
    sched_yield();
  } while (weft__clock_now_ns() < until);
  return false;
}

static void pool_sleep(pool *p, unsigned seen) {
  pthread_mutex_lock(&p->lock);
  atomic_fetch_add(&p->sleepers, 1);
  while (atomic_load(&p->epoch) == seen) pthread_cond_wait(&p->wake, &p->lock);
  atomic_fetch_sub(&p->sleepers, 1);
  pthread_mutex_unlock(&p->lock);
}

static void *pool_thread_main(void *arg) {
  pool *p = arg;
  weft__denormal_flush();
  for (;;) {
    unsigned seen = atomic_load(&p->epoch);
    bool busy = pool_help_loops(p);
    busy |= pool_run_task(p);
    if (busy) continue;
    if (atomic_load(&p->stop)) return NULL;
    if (!pool_spin(p, seen)) pool_sleep(p, seen);
  }
}

/* Starts the threads with all signals blocked, because signals belong to the program. */
static weft_err pool_start_threads(pool *p, int n) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = 0;
  while (p->started < n && !failed) {
    failed = pthread_create(&p->threads[p->started], NULL, pool_thread_main, p);
    if (!failed) p->started++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed)
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "cannot start thread %d of %d: %s", p->started + 1, n, strerror(failed));
  return WEFT_OK;
}

weft_err weft__pool_create(pool **out, int threads) {
  *out = NULL;
  int cpus = weft__pool_processors();
  if (threads == 0) threads = cpus;
  if (threads < 1 || threads > THREADS_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "cannot create a pool of %d threads: the number must be 1 to %d, or 0 for one per processor",
                      threads, THREADS_MAX);
  pool *p = weft__alloc_aligned(sizeof *p);
  pthread_t *ids = weft__alloc_zero((size_t)threads, sizeof *ids);
  if (!p || !ids) {
    weft__free(p);
    weft__free(ids);
    return WEFT_RESOURCE_EXHAUSTED;
  }
  *p = (pool){.threads = ids, .spin_ns = threads <= cpus ? SPIN_NS : 0};
  p->last = &p->first;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->wake, NULL);
  weft_err err = pool_start_threads(p, threads - 1);
  if (err != WEFT_OK) {
    weft__pool_destroy(p);
    return err;
  }
  *out = p;
  return WEFT_OK;
}

void weft__pool_destroy(pool *p) {
  if (!p) return;
  atomic_store(&p->stop, true);
  pool_wake(p, p->started);
  for (int i = 0; i < p->started; i++) pthread_join(p->threads[i], NULL);
  WEFT_ASSERT(!p->first && atomic_load(&p->queued) == 0); /* the threads ran every task before they ended */
  WEFT_ASSERT(atomic_load(&p->open_loops) == 0);
  pthread_cond_destroy(&p->wake);
  pthread_mutex_destroy(&p->lock);
  weft__free(p->threads);
  weft__free(p);
}

int weft__pool_threads(const pool *p) { return p ? p->started + 1 : 1; }
