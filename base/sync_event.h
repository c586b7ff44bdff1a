/* sync_event.h - a one-shot event: one thread sets it, and another one waits for it and then frees it.
 *
 * A condition variable would need a mutex, which is a problem here.  If it is signaled with the mutex held, the waiting
 * thread wakes up and blocks on the mutex at once.  If it is signaled afterwards, the memory may be freed already.
 * Setting a sync_event accesses its memory for the last time with the atomic store that sets it.
 *
 * The waiting thread owns the event.  There is no lock. */
#ifndef WEFT_BASE_SYNC_EVENT_H
#define WEFT_BASE_SYNC_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct sync_event {
  _Atomic uint32_t state; /* 0: not set */
} sync_event;

/* Sets the event and wakes its waiting thread; call it once.  Returns true if the event is watched: the caller must
 * then wake the watching thread by that thread's own means.  The event may be freed as soon as it is set. */
bool weft__sync_event_set(sync_event *g);
/* Waits for at most for_ns and returns true if the event is set.  It may return false early, so call it in a loop. */
bool weft__sync_event_wait(sync_event *g, int64_t for_ns);
/* For a thread that waits by other means, such as epoll.  watch: from now on, weft__sync_event_set tells the thread
 * that sets the event to wake the watching thread; unwatch ends this.  Both return true if the event is set already. */
bool weft__sync_event_watch(sync_event *g);
bool weft__sync_event_unwatch(sync_event *g);
bool weft__sync_event_is_set(const sync_event *g);

#endif
