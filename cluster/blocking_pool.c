/* blocking_pool.c - a queue of jobs, and detached threads that are started when none is idle.
 *
 * One lock guards the queue and the counts.  Jobs run without it; a thread is started under it, so that the counts are
 * exact. */
#include "cluster/blocking_pool.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include <pthread.h>
#include <string.h>

enum { IDLE_SECONDS = 5, MOST_THREADS = 4096 };

typedef struct blocking_job {
  blocking_fn *fn;
  void *arg;
  struct blocking_job *next;
} blocking_job;

struct blocking_pool {
  pthread_mutex_t lock;
  pthread_cond_t work, exited; /* a job was queued or the pool closes; the last thread exited */
  blocking_job *first, **last;
  int threads, idle, queued;
  bool closing;
};

weft_err weft__blocking_pool_create(blocking_pool **out) {
  blocking_pool *p = weft__alloc_zero(1, sizeof *p);
  if (!p) return WEFT_OOM;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->work, NULL);
  pthread_cond_init(&p->exited, NULL);
  p->last = &p->first;
  *out = p;
  return WEFT_OK;
}

/* Returns the next job, or NULL if none came for a while or the pool closes.  The lock is held. */
static blocking_job *blocking_pool_next(blocking_pool *p) {
  WEFT_ASSERT(weft__lock_is_held(&p->lock) && p->idle >= 0 && p->idle <= p->threads);
  struct timespec until = weft__clock_deadline(IDLE_SECONDS * NS_PER_S);
  int late = 0;
  p->idle++;
  while (!p->first && !p->closing && !late) late = pthread_cond_clockwait(&p->work, &p->lock, CLOCK_MONOTONIC, &until);
  p->idle--;
  blocking_job *j = p->first;
  if (j && !(p->first = j->next)) p->last = &p->first;
  if (j) p->queued--;
  return j;
}

static void *blocking_pool_thread(void *arg) {
  blocking_pool *p = arg;
  pthread_mutex_lock(&p->lock);
  for (blocking_job *j; (j = blocking_pool_next(p));) {
    pthread_mutex_unlock(&p->lock);
    j->fn(j->arg);
    weft__free(j);
    pthread_mutex_lock(&p->lock);
  }
  WEFT_ASSERT(p->threads > 0);
  if (--p->threads == 0) pthread_cond_broadcast(&p->exited);
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

/* Returns 0, or an error number.  The lock is held. */
static int blocking_pool_start_thread(blocking_pool *p) {
  WEFT_ASSERT(weft__lock_is_held(&p->lock) && !p->closing);
  pthread_t thread;
  pthread_attr_t detached;
  if (p->threads >= MOST_THREADS) return -1;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  int failed = pthread_create(&thread, &detached, blocking_pool_thread, p);
  pthread_attr_destroy(&detached);
  if (!failed) p->threads++;
  return failed;
}

weft_err weft__blocking_pool_run(blocking_pool *p, blocking_fn *fn, void *arg) {
  blocking_job *j = weft__alloc(sizeof *j);
  if (!j) return WEFT_OOM;
  *j = (blocking_job){fn, arg, NULL};
  pthread_mutex_lock(&p->lock);
  int failed = p->closing || (p->queued >= p->idle && blocking_pool_start_thread(p));
  if (!failed) {
    *p->last = j;
    p->last = &j->next;
    p->queued++;
    pthread_cond_signal(&p->work);
  }
  int threads = p->threads;
  pthread_mutex_unlock(&p->lock);
  if (!failed) return WEFT_OK;
  weft__free(j);
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "Cannot start a thread for a request: %d threads run", threads);
}

int weft__blocking_pool_busy(blocking_pool *p) {
  pthread_mutex_lock(&p->lock);
  int n = p->threads - p->idle + p->queued;
  pthread_mutex_unlock(&p->lock);
  return n;
}

void weft__blocking_pool_destroy(blocking_pool *p) {
  if (!p) return;
  pthread_mutex_lock(&p->lock);
  p->closing = true;
  pthread_cond_broadcast(&p->work);
  while (p->threads) pthread_cond_wait(&p->exited, &p->lock);
  WEFT_ASSERT(!p->first && p->queued == 0 && p->idle == 0);
  pthread_mutex_unlock(&p->lock);
  pthread_cond_destroy(&p->work);
  pthread_cond_destroy(&p->exited);
  pthread_mutex_destroy(&p->lock);
  weft__free(p);
}
