/* ready_queue.h - the event sources of one event loop: their keys, and the queue of those that are ready.
 *
 * The queue is last in, first out.  Where more callers wait for a response than the machine has cores, a few of them
 * then work at a time and find their data in the caches; served first in, first out, each would find a cold cache.
 * Four rules give the others their share:
 * - A source that has been ready for READY_MAX_WAIT_MS is popped before all others, for a single callback.
 * - A source that was popped READY_TURNS times rests.  When no other source is ready, the resting source that was
 *   served least gets the next turns.  So callers that never pause are served equally often in the long run.
 * - Of those that do not rest, the one that has waited longest comes before the newest if it was served READY_LAG times
 *   less often.
 * - A source that had more input than one callback reads is deferred: it waits in a list of its own, first in, first
 *   out, and is popped when only resting sources are ready that became ready later.
 * The time limit holds for all three lists, so that neither a flood of small requests nor a few connections with
 * endless input keep the rest waiting.
 *
 * An epoll event carries the key of its source, not its address, since the source may be gone when the event is read:
 * an event for a source that is gone finds nothing (base/slot_table.h).
 *
 * Owner: the loop (loop.c).  Any thread may call any function here; each takes `lock`, which is a leaf. */
#ifndef WEFT_NET_FAST_READY_QUEUE_H
#define WEFT_NET_FAST_READY_QUEUE_H

#include "base/list.h"
#include "base/slot_table.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum {
  READY_MAX_WAIT_MS = 50,
  READY_TURNS = 1024, /* with more, the shares over 10 s differ; with fewer, caches are colder */
  READY_LAG = READY_TURNS,
  READY_LAG_MAX = 2 * READY_TURNS,
};

/* A descriptor that a loop watches.  The struct belongs to its owner, who sets the first two fields and keeps the
 * struct until it is unregistered; the rest belongs to the loop and its queue. */
typedef struct source {
  int fd; /* Non-blocking: events are edge-triggered, so on_ready reads until EAGAIN, or rearms. */
  void (*on_ready)(struct source *s, uint32_t events); /* events are epoll's; runs with the loop's dispatch lock */
  struct loop *loop;                                   /* the loop it is registered with; NULL: none */
  uint64_t key;                                        /* below 2^63 */
  uint32_t events;                                     /* pending; 0: the source is not in the queue */
  int64_t ready_since_ns;                              /* while it is in the queue */
  uint64_t served;                                     /* how often it was popped, or more: see ready_queue_link */
  int turns;                                           /* pops since it last rested */
  bool defer_next;                                     /* the next push puts it into the deferred list */
  list_link link;                                      /* of `list`, one of the queue's, while it is in the queue */
  linked_list *list;
} source;

typedef struct ready_queue {
  pthread_mutex_t lock;                  /* guards what follows, and the queue's fields of every source */
  slot_table sources;                    /* the registered sources by their keys */
  linked_list prompt, resting, deferred; /* ready sources, those that became ready first in front */
  uint64_t least_served;                 /* of the sources that rested, when one was last given turns */
} ready_queue;

/* Makes an empty queue; cannot fail. */
void weft__ready_queue_init(ready_queue *q);
void weft__ready_queue_finish(ready_queue *q); /* every source was unregistered, or is not used any more */

/* Gives the source a key.  Fails only when out of memory. */
weft_err weft__ready_queue_register(ready_queue *q, source *s);
/* Takes the key back and the source out of the queue.  A callback that runs is not waited for. */
void weft__ready_queue_unregister(ready_queue *q, source *s);

/* Adds events to the source with this key and queues it, unless it is queued already.  An unknown key is ignored. */
void weft__ready_queue_push(ready_queue *q, uint64_t key, uint32_t events, int64_t now_ns);
/* The next push of this source queues it as deferred. */
void weft__ready_queue_defer(ready_queue *q, source *s);
/* Takes the next source out of the queue, with its events; NULL: the queue is empty. */
source *weft__ready_queue_pop(ready_queue *q, int64_t now_ns, uint32_t *events);
bool weft__ready_queue_has_ready(ready_queue *q);

#endif
