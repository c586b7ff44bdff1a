/* ready_queue.h - the sources of one loop: their names, and which of them are ready.
 *
 * Of those that are ready, who came last is called first.  Where more callers want an answer than the machine has cores,
 * a few of them are then at work at a time and find in the caches what they left there, and not all in turn, each cold
 * when it is its turn again.  But whoever has waited for READY_WAIT_MS is called before all others; and who was called and
 * has more than it takes in one go is called again after them. */
#ifndef WEFT_NET_FAST_READY_QUEUE_H
#define WEFT_NET_FAST_READY_QUEUE_H

#include "base/status.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { READY_WAIT_MS = 50 };

/* Something with a descriptor.  The first two are its owner's to say. */
typedef struct source {
  int fd;
  void (*ready)(struct source *s, uint32_t events); /* epoll's */
  struct loop *loop;                                /* whose it is; NULL: nobody's */
  uint64_t key;                                     /* the loop's name for it */
  uint32_t events;                                  /* it is to be called for; 0: none, and it is not listed */
  int64_t since_ns;                                 /* it is listed */
  bool patient;                                     /* to be listed behind the others next time */
  struct source *newer, *older;
} source;

typedef struct sources {
  pthread_mutex_t lock;
  source **slot; /* a key's low half is its place here, the high half makes it new */
  uint32_t n_slot, turn;
  source *newest, *oldest; /* of those that are ready */
} sources;

void weft__sources_init(sources *t);
void weft__sources_finish(sources *t);
weft_err weft__source_name(sources *t, source *s);
void weft__source_unname(sources *t, source *s);
void weft__ready_note(sources *t, uint64_t key, uint32_t events, int64_t now_ns); /* of one that is gone: nothing */
void weft__ready_later(sources *t, source *s);                          /* it is patient, the next time it is noted */
source *weft__ready_next(sources *t, int64_t now_ns, uint32_t *events); /* taken off the list; NULL: none */
bool weft__ready_any(sources *t);

#endif
