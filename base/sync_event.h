/* sync_event.h - opened once, by one thread, for one that waits and then takes the sync_event's memory away.
 *
 * A condition would do, were its lock not a trap: signalled with the lock held, it wakes a thread that has to wait for
 * the lock at once; signalled after, it may be gone.  Opening a sync_event touches its memory for the last time by the store
 * that opens it. */
#ifndef WEFT_BASE_SYNC_EVENT_H
#define WEFT_BASE_SYNC_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct sync_event {
  _Atomic uint32_t state; /* 0: closed */
} sync_event;

bool weft__sync_event_set(sync_event *g); /* whether somebody watches it, who is then to be called */
/* Waits at most that long; whether it is open.  It may return early, as waits do. */
bool weft__sync_event_wait(sync_event *g, int64_t for_ns);
/* Who waits by other means watches it, and no more when called; whether it is open. */
bool weft__sync_event_watch(sync_event *g, bool on);

#endif
