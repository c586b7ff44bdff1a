/* ready_queue.c - a table of keys, and a doubly linked list through the sources that are ready.
 *
 * The list is part of the sources, so that an event costs no allocation.  Lock: the queue's, which is a leaf. */
#include "net/fast/ready_queue.h"
#include "base/assert.h"
#include "base/clock.h"

void weft__ready_queue_init(ready_queue *q) {
  *q = (ready_queue){0};
  pthread_mutex_init(&q->lock, NULL);
}

void weft__ready_queue_finish(ready_queue *q) {
  weft__slot_table_finish(&q->sources);
  pthread_mutex_destroy(&q->lock);
}

weft_err weft__ready_queue_register(ready_queue *q, source *s) {
  s->events = 0, s->deferred = false;
  pthread_mutex_lock(&q->lock);
  weft_err err = weft__slot_table_add(&q->sources, s, &s->key);
  pthread_mutex_unlock(&q->lock);
  return err;
}

/* Takes a source out of the list.  The caller holds the lock. */
static void ready_queue_unlink(ready_queue *q, source *s) {
  WEFT_ASSERT(weft__lock_is_held(&q->lock) && s->events && q->newest && q->oldest);
  *(s->newer ? &s->newer->older : &q->newest) = s->older;
  *(s->older ? &s->older->newer : &q->oldest) = s->newer;
  s->events = 0;
}

void weft__ready_queue_unregister(ready_queue *q, source *s) {
  pthread_mutex_lock(&q->lock);
  weft__slot_table_remove(&q->sources, s->key);
  if (s->events) ready_queue_unlink(q, s);
  pthread_mutex_unlock(&q->lock);
}

/* Adds a source as the newest, or as the oldest if it was deferred.  The caller holds the lock. */
static void ready_queue_link(ready_queue *q, source *s, int64_t now_ns) {
  WEFT_ASSERT(weft__lock_is_held(&q->lock) && !s->events && !q->newest == !q->oldest);
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
  source *s = weft__slot_table_get(&q->sources, key);
  if (s) {
    if (!s->events) ready_queue_link(q, s, now_ns);
    s->events |= events;
  }
  pthread_mutex_unlock(&q->lock);
}

source *weft__ready_queue_pop(ready_queue *q, int64_t now_ns, uint32_t *events) {
  pthread_mutex_lock(&q->lock);
  bool late = q->oldest && now_ns - q->oldest->ready_since_ns > READY_MAX_WAIT_MS * NS_PER_MS;
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
