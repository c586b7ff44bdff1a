/* ready_queue.c - a table of keys, and three doubly linked lists through the sources that are ready.
 *
 * The lists are part of the sources, so that an event costs no allocation.  Lock: the queue's, which is a leaf. */
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
  s->events = 0, s->defer_next = false;
  s->turns = 0;
  pthread_mutex_lock(&q->lock);
  s->served = q->least_served;
  weft_err err = weft__slot_table_add(&q->sources, s, &s->key);
  pthread_mutex_unlock(&q->lock);
  return err;
}

/* Takes a source out of its list.  The caller holds the lock. */
static void ready_queue_unlink(ready_queue *q, source *s) {
  ready_list *l = s->list;
  WEFT_ASSERT(weft__lock_is_held(&q->lock) && s->events && l->newest && l->oldest);
  *(s->newer ? &s->newer->older : &l->newest) = s->older;
  *(s->older ? &s->older->newer : &l->oldest) = s->newer;
  s->events = 0;
}

void weft__ready_queue_unregister(ready_queue *q, source *s) {
  pthread_mutex_lock(&q->lock);
  weft__slot_table_remove(&q->sources, s->key);
  if (s->events) ready_queue_unlink(q, s);
  pthread_mutex_unlock(&q->lock);
}

/* Adds a source as the newest of its list.  One that comes seldom must not be the least served for long when it comes
 * more often, so it falls behind by no more than a bounded number of services.  The caller holds the lock. */
static void ready_queue_link(ready_queue *q, source *s, int64_t now_ns) {
  ready_list *l = s->defer_next ? &q->deferred : s->turns >= READY_TURNS ? &q->resting : &q->prompt;
  WEFT_ASSERT(weft__lock_is_held(&q->lock) && !s->events && !l->newest == !l->oldest);
  if (s->served + READY_LAG_MAX < q->least_served) s->served = q->least_served - READY_LAG_MAX;
  s->defer_next = false;
  s->ready_since_ns = now_ns;
  s->list = l;
  s->newer = NULL;
  s->older = l->newest;
  *(s->older ? &s->older->newer : &l->oldest) = s;
  l->newest = s;
}

void weft__ready_queue_defer(ready_queue *q, source *s) {
  pthread_mutex_lock(&q->lock);
  s->defer_next = true;
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

static source *older_source(source *a, source *b) {
  return !b || (a && a->ready_since_ns <= b->ready_since_ns) ? a : b;
}

/* Of equals the one that has waited longest. */
static source *least_served_source(const ready_list *l) {
  source *least = l->oldest;
  for (source *s = l->oldest; s; s = s->newer)
    if (s->served < least->served) least = s;
  return least;
}

/* The source to serve next: the one that has waited longest if that is too long; else the newest, or the first if that
 * lags behind it; else a resting one, which then has turns, or the deferred one that has waited longest; NULL: none.
 * The caller holds the lock. */
static source *ready_queue_next(ready_queue *q, int64_t now_ns) {
  source *rested = older_source(q->resting.oldest, q->deferred.oldest);
  source *oldest = older_source(q->prompt.oldest, rested);
  if (oldest && now_ns - oldest->ready_since_ns > READY_MAX_WAIT_MS * NS_PER_MS) return oldest;
  source *first = q->prompt.oldest, *newest = q->prompt.newest;
  if (newest) return first->served + READY_LAG < newest->served ? first : newest;
  if (!rested || rested->list == &q->deferred) return rested;
  source *s = least_served_source(&q->resting);
  s->turns = 0;
  q->least_served = s->served;
  return s;
}

source *weft__ready_queue_pop(ready_queue *q, int64_t now_ns, uint32_t *events) {
  pthread_mutex_lock(&q->lock);
  source *s = ready_queue_next(q, now_ns);
  if (s) {
    *events = s->events;
    s->served++;
    if (s->turns < READY_TURNS) s->turns++;
    ready_queue_unlink(q, s);
  }
  pthread_mutex_unlock(&q->lock);
  return s;
}

bool weft__ready_queue_has_ready(ready_queue *q) {
  pthread_mutex_lock(&q->lock);
  bool any = q->prompt.newest || q->resting.newest || q->deferred.newest;
  pthread_mutex_unlock(&q->lock);
  return any;
}
