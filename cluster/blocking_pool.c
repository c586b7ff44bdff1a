/* blocking_pool.c - a queue of jobs and a set of threads that grows when nobody is idle. */
#include "cluster/blocking_pool.h"

#include "base/alloc.h"
#include "base/clock.h"
#include <pthread.h>
#include <string.h>

enum { IDLE_SECONDS = 5, MOST_THREADS = 4096 };

typedef struct job {
  errand_fn *fn;
  void *arg;
  struct job *next;
} job;

struct errands {
  pthread_mutex_t lock;
  pthread_cond_t work, gone;
  job *first, **last;
  int threads, idle, queued;
  bool ending;
};

weft_err weft__errands_create(errands **out) {
  errands *e = weft__alloc_zero(1, sizeof *e);
  if (!e) return WEFT_OOM;
  pthread_mutex_init(&e->lock, NULL);
  pthread_cond_init(&e->work, NULL);
  pthread_cond_init(&e->gone, NULL);
  e->last = &e->first;
  *out = e;
  return WEFT_OK;
}

/* With the lock held: the next job, or NULL when none came for a while or all is ending. */
static job *next_job(errands *e) {
  struct timespec until = weft__clock_deadline((int64_t)IDLE_SECONDS * 1000000000);
  int late = 0;
  e->idle++;
  while (!e->first && !e->ending && !late) late = pthread_cond_clockwait(&e->work, &e->lock, CLOCK_MONOTONIC, &until);
  e->idle--;
  job *j = e->first;
  if (j && !(e->first = j->next)) e->last = &e->first;
  if (j) e->queued--;
  return j;
}

static void *run(void *arg) {
  errands *e = arg;
  pthread_mutex_lock(&e->lock);
  for (job *j; (j = next_job(e));) {
    pthread_mutex_unlock(&e->lock);
    j->fn(j->arg);
    weft__free(j);
    pthread_mutex_lock(&e->lock);
  }
  if (--e->threads == 0) pthread_cond_broadcast(&e->gone);
  pthread_mutex_unlock(&e->lock);
  return NULL;
}

static int start_thread(errands *e) {
  pthread_t thread;
  pthread_attr_t detached;
  if (e->threads >= MOST_THREADS) return -1;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  int failed = pthread_create(&thread, &detached, run, e);
  pthread_attr_destroy(&detached);
  if (!failed) e->threads++;
  return failed;
}

weft_err weft__errand_run(errands *e, errand_fn *fn, void *arg) {
  job *j = weft__alloc(sizeof *j);
  if (!j) return WEFT_OOM;
  *j = (job){fn, arg, NULL};
  pthread_mutex_lock(&e->lock);
  int failed = e->ending || (e->queued >= e->idle && start_thread(e));
  if (!failed) {
    *e->last = j;
    e->last = &j->next;
    e->queued++;
    pthread_cond_signal(&e->work);
  }
  int threads = e->threads;
  pthread_mutex_unlock(&e->lock);
  if (!failed) return WEFT_OK;
  weft__free(j);
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "Cannot start a thread for a request: %d are at work", threads);
}

int weft__errands_busy(errands *e) {
  pthread_mutex_lock(&e->lock);
  int n = e->threads - e->idle + e->queued;
  pthread_mutex_unlock(&e->lock);
  return n;
}

void weft__errands_destroy(errands *e) {
  if (!e) return;
  pthread_mutex_lock(&e->lock);
  e->ending = true;
  pthread_cond_broadcast(&e->work);
  while (e->threads) pthread_cond_wait(&e->gone, &e->lock);
  pthread_mutex_unlock(&e->lock);
  pthread_cond_destroy(&e->work);
  pthread_cond_destroy(&e->gone);
  pthread_mutex_destroy(&e->lock);
  weft__free(e);
}
