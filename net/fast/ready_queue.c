/* ready_queue.c - a table of keys, and a doubly linked list through the sources that are ready.
 *
 * The list is part of the sources, so that an event costs no allocation.  Lock: the queue's, which is a leaf. */
#include "net/fast/ready_queue.h"
#include "base/alloc.h"
#include <string.h>

void weft__ready_queue_init(ready_queue *q) {
  *q = (ready_queue){0};
  pthread_mutex_init(&q->lock, NULL);
}

void weft__ready_queue_finish(ready_queue *q) {
  weft__free(q->slot);
  pthread_mutex_destroy(&q->lock);
}

weft_err weft__ready_queue_register(ready_queue *q, source *s) {
  uint32_t at = 0;
  s->events = 0, s->deferred = false;
  pthread_mutex_lock(&q->lock);
  while (at < q->n_slot && q->slot[at]) at++;
  if (at == q->n_slot) {
    uint32_t n = q->n_slot ? 2 * q->n_slot : 16;
    source **more = weft__realloc(q->slot, n * sizeof *more);
    if (more) memset(more + q->n_slot, 0, (n - q->n_slot) * sizeof *more);
    if (more) q->slot = more, q->n_slot = n;
  }
  bool found = at < q->n_slot;
  if (found) {
    s->key = (uint64_t)(++q->generation & INT32_MAX) << 32 | at;
    q->slot[at] = s;
  }
  pthread_mutex_unlock(&q->lock);
  return found ? WEFT_OK : WEFT_OOM;
}

/* Takes a source out of the list.  The caller holds the lock. */
static void ready_queue_unlink(ready_queue *q, source *s) {
  *(s->newer ? &s->newer->older : &q->newest) = s->older;
  *(s->older ? &s->older->newer : &q->oldest) = s->newer;
  s->events = 0;
}

void weft__ready_queue_unregister(ready_queue *q, source *s) {
  pthread_mutex_lock(&q->lock);
  q->slot[(uint32_t)s->key] = NULL;
  if (s->events) ready_queue_unlink(q, s);
  pthread_mutex_unlock(&q->lock);
}

/* Adds a source as the newest, or as the oldest if it was deferred.  The caller holds the lock. */
static void ready_queue_link(ready_queue *q, source *s, int64_t now_ns) {
  bool last = s->deferred && q->oldest;
  /* A deferred source takes the time of the oldest: with a later time it would hide that one's long wait. */
  s->ready_since_ns = last ? q->oldest->ready_since_ns : now_ns;
  s->newer = last ? q->oldest : NULL;
  s->older = last ? NULL : q->newest;
  *(s->newer ? &s->newer->older : &q->newest) = s;
  *(s->older ? &s->older->newer : &q->oldest) = s;
  s->deferred = false;
}

void weft__ready_queue_defer(ready_queue *q, source *s) {
  pthread_mutex_lock(&q->lock);
  s->deferred = true;
  pthread_mutex_unlock(&q->lock);
}

void weft__ready_queue_push(ready_queue *q, uint64_t key, uint32_t events, int64_t now_ns) {
  pthread_mutex_lock(&q->lock);
  source *s = q->slot[(uint32_t)key];
  if (s && s->key == key) {
    if (!s->events) ready_queue_link(q, s, now_ns);
    s->events |= events;
  }
  pthread_mutex_unlock(&q->lock);
}

source *weft__ready_queue_pop(ready_queue *q, int64_t now_ns, uint32_t *events) {
  pthread_mutex_lock(&q->lock);
  bool late = q->oldest && now_ns - q->oldest->ready_since_ns > (int64_t)READY_MAX_WAIT_MS * 1000000;
  source *s = late ? q->oldest : q->newest;
  if (s) {
    *events = s->events;
    ready_queue_unlink(q, s);
  }
  pthread_mutex_unlock(&q->lock);
  return s;
}

bool weft__ready_queue_has_ready(ready_queue *q) {
  pthread_mutex_lock(&q->lock);
  bool any = q->newest;
  pthread_mutex_unlock(&q->lock);
  return any;
}
