/* mutex.c - MutexV2, MutexLock and ConsumeMutexLock: they let only one step at a time run a part of a graph.
 *
 * MutexLock waits without holding a thread.  Its output is a variant that holds the lock.  The lock is released
 * after ConsumeMutexLock has taken the variant, or when the last reference to the variant is dropped. */
#include "base/alloc.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "state/variant.h"
#include "state/wait_queue.h"
#include <pthread.h>

#define MUTEX_TYPE "mutex"
#define HELD_TYPE "held mutex"

typedef struct mutex {
  resource base;
  pthread_mutex_t lock; /* guards the rest */
  bool taken;
  wait_queue waiting;
} mutex;

typedef struct held_mutex { /* the object inside the variant */
  resource base;
  mutex *m;
  atomic_bool released;
} held_mutex;

typedef struct lock_request {
  waiter base;
  kernel *k;
  mutex *m;
} lock_request;

/* ---- the mutex ---- */

static void mutex_destroy(object *o) {
  mutex *m = (mutex *)o;
  pthread_mutex_destroy(&m->lock);
  weft__free(m);
}

static weft_err mutex_make(resource **out, void *arg) {
  (void)arg;
  mutex *m = weft__alloc_zero(1, sizeof *m);
  if (!m) return WEFT_OOM;
  atomic_init(&m->base.base.refs, 1);
  m->base.base.destroy = mutex_destroy;
  m->base.type = MUTEX_TYPE;
  pthread_mutex_init(&m->lock, NULL);
  weft__wait_queue_init(&m->waiting);
  *out = &m->base;
  return WEFT_OK;
}

static const resource_kind mutex_kind = {MUTEX_TYPE, true, mutex_make};

static weft_err mutex_cpu(kernel *k) { return weft__kernel_in(k, weft__resource_output(k, &mutex_kind, NULL)); }

/* ---- holding it ---- */

static void lock_granted(lock_request *r);

/* Gives the mutex to the request that has waited longest. */
static void mutex_release(mutex *m) {
  pthread_mutex_lock(&m->lock);
  lock_request *next = (lock_request *)m->waiting.first;
  if (next)
    weft__wait_queue_remove(&m->waiting, &next->base);
  else
    m->taken = false;
  pthread_mutex_unlock(&m->lock);
  if (next) lock_granted(next);
}

static void held_release(held_mutex *h) {
  if (!atomic_exchange(&h->released, true)) mutex_release(h->m);
}

static void held_destroy(object *o) {
  held_mutex *h = (held_mutex *)o;
  held_release(h);
  weft__object_release(&h->m->base.base);
  weft__free(h);
}

static weft_err held_create(held_mutex **out, mutex *m) {
  held_mutex *h = weft__alloc_zero(1, sizeof *h);
  if (!h) return WEFT_OOM;
  atomic_init(&h->base.base.refs, 1);
  h->base.base.destroy = held_destroy;
  h->base.type = HELD_TYPE;
  h->m = m;
  weft__object_retain(&m->base.base);
  *out = h;
  return WEFT_OK;
}

/* Called when the request owns the mutex: the kernel's output now holds the lock. */
static void lock_granted(lock_request *r) {
  weft__waiter_stop(&r->base);
  kernel *k = r->k;
  mutex *m = r->m;
  held_mutex *h = NULL;
  weft_err err = held_create(&h, m);
  if (err)
    mutex_release(m);
  else
    err = weft__variant_output(k, 0, &h->base);
  weft__object_release(&m->base.base);
  weft__free(r);
  weft__kernel_done(k, weft__kernel_in(k, err));
}

static void lock_failed(lock_request *r, weft_err err) {
  kernel *k = r->k;
  weft__object_release(&r->m->base.base);
  weft__free(r);
  weft__kernel_done(k, weft__kernel_in(k, err));
}

static void lock_canceled(void *arg) {
  lock_request *r = arg;
  pthread_mutex_lock(&r->m->lock);
  const bool mine = r->base.listed;
  r->base.cancelled = true;
  if (mine) weft__wait_queue_remove(&r->m->waiting, &r->base);
  pthread_mutex_unlock(&r->m->lock);
  if (!mine) return;
  const weft_err err = weft__cancel_raise(r->base.cancel);
  weft__waiter_stop(&r->base);
  lock_failed(r, err);
}

static weft_err lock_cpu(kernel *k) {
  lock_request *r = weft__alloc_zero(1, sizeof *r);
  if (!r) return WEFT_OOM;
  r->k = k;
  const weft_err err = weft__kernel_in(k, weft__kernel_resource(k, 0, MUTEX_TYPE, (resource **)&r->m));
  if (err) {
    weft__free(r);
    return err;
  }
  weft__kernel_defer(k);
  const weft_err fired = weft__waiter_start(&r->base, k->step->cancel, lock_canceled);
  if (fired) {
    lock_failed(r, fired);
    return WEFT_OK;
  }
  pthread_mutex_lock(&r->m->lock);
  const bool mine = !r->m->taken, listed = !mine && weft__wait_queue_enter(&r->m->waiting, &r->base);
  if (mine) r->m->taken = true;
  pthread_mutex_unlock(&r->m->lock);
  if (mine)
    lock_granted(r);
  else if (!listed) {
    weft__waiter_stop(&r->base);
    lock_failed(r, weft__cancel_raise(k->step->cancel));
  }
  return WEFT_OK;
}

static weft_err consume_cpu(kernel *k) {
  held_mutex *h = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__variant_get(k->in[0], HELD_TYPE, (resource **)&h)));
  held_release(h);
  return WEFT_OK;
}

OPS(mutex) = {
    {"MutexV2() -> (resource:resource) | container:string='' shared_name:string='' ; stateful", "A mutex.",
     .infer = weft__resource_infer, .cpu = mutex_cpu, .prepare = weft__resource_prepare,
     .unprepare = weft__resource_unprepare},
    {"MutexLock(mutex:resource) -> (mutex_lock:variant) ; stateful", "Locks a mutex, waiting for it.",
     OP_ASYNC | OP_TAKES, .infer = weft__infer_scalar, .cpu = lock_cpu},
    {"ConsumeMutexLock(mutex_lock:variant) -> () ; stateful", "Keeps a mutex locked until here, and releases it.",
     .infer = weft__infer_none, .cpu = consume_cpu},
    {.scenario = "tests/parity/test_mutexes.py"},
};
