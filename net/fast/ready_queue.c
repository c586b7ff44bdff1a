/* ready_queue.c - a table of keys, and three doubly linked lists through the sources that are ready.
 *
 * The lists are part of the sources, so that an event costs no allocation.  Lock: the queue's, which is a leaf. */
#include "net/fast/ready_queue.h"
#include "base/assert.h"
#include "base/clock.h"

void weft__ready_queue_init(ready_queue *q) {
  *q = (ready_queue){0};
  weft__list_init(&q->prompt);
  weft__list_init(&q->resting);
  weft__list_init(&q->deferred);
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
  WEFT_ASSERT(weft__lock_is_held(&q->lock) && s->events);
  (void)q;
  weft__list_remove(&s->link);
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
  WEFT_ASSERT(weft__lock_is_held(&q->lock) && !s->events);
  if (s->served + READY_LAG_MAX < q->least_served) s->served = q->least_served - READY_LAG_MAX;
  s->ready_since_ns = now_ns;
  s->list = s->defer_next ? &q->deferred : s->turns >= READY_TURNS ? &q->resting : &q->prompt;
  s->defer_next = false;
  weft__list_append(s->list, &s->link);
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

static source *source_of(list_link *link) { return link ? WEFT_LIST_ITEM(link, source, link) : NULL; }
static source *oldest_source(const linked_list *l) { return source_of(weft__list_first(l)); }

static source *older_source(source *a, source *b) {
  return !b || (a && a->ready_since_ns <= b->ready_since_ns) ? a : b;
}

/* Of equals the one that has waited longest. */
static source *least_served_source(const linked_list *l) {
  source *least = oldest_source(l);
  WEFT_LIST_FOR_EACH(link, l) {
    if (source_of(link)->served < least->served) least = source_of(link);
  }
  return least;
}

/* The source to serve next: the one that has waited longest if that is too long; else the newest, or the first if that
 * lags behind it; else a resting one, which then has turns, or the deferred one that has waited longest; NULL: none.
 * The caller holds the lock. */
static source *ready_queue_next(ready_queue *q, int64_t now_ns) {
  source *rested = older_source(oldest_source(&q->resting), oldest_source(&q->deferred));
  source *oldest = older_source(oldest_source(&q->prompt), rested);
  if (oldest && now_ns - oldest->ready_since_ns > READY_MAX_WAIT_MS * NS_PER_MS) return oldest;
  source *first = oldest_source(&q->prompt), *newest = source_of(weft__list_last(&q->prompt));
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
  bool any =
      !weft__list_is_empty(&q->prompt) || !weft__list_is_empty(&q->resting) || !weft__list_is_empty(&q->deferred);
  pthread_mutex_unlock(&q->lock);
  return any;
}
