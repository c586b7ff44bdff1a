/* sync_event.c - a futex.
 *
 * The thread that sets the event may call FUTEX_WAKE for an address that was freed meanwhile.  That is harmless: it
 * wakes no thread, or one that checks its own condition again. */
#include "base/sync_event.h"
#include "base/clock.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { UNSET, SET, HAS_WAITER, HAS_WATCHER };

/* Stores `state` unless the event is set; returns true if it is set. */
static bool sync_event_store(sync_event *g, uint32_t state) {
  uint32_t was = atomic_load_explicit(&g->state, memory_order_acquire);
  while (was != SET &&
         !atomic_compare_exchange_weak_explicit(&g->state, &was, state, memory_order_acq_rel, memory_order_acquire))
    continue;
  return was == SET;
}

bool weft__sync_event_set(sync_event *g) {
  uint32_t was = atomic_exchange_explicit(&g->state, SET, memory_order_acq_rel);
  if (was == HAS_WAITER) syscall(SYS_futex, g, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  return was == HAS_WATCHER;
}

bool weft__sync_event_wait(sync_event *g, int64_t for_ns) {
  struct timespec limit = {for_ns / NS_PER_S, for_ns % NS_PER_S};
  if (sync_event_store(g, HAS_WAITER)) return true;
  if (for_ns > 0) syscall(SYS_futex, g, FUTEX_WAIT_PRIVATE, HAS_WAITER, &limit, NULL, 0);
  return weft__sync_event_is_set(g);
}

bool weft__sync_event_watch(sync_event *g) { return sync_event_store(g, HAS_WATCHER); }
bool weft__sync_event_unwatch(sync_event *g) { return sync_event_store(g, UNSET); }
bool weft__sync_event_is_set(const sync_event *g) {
  return atomic_load_explicit(&g->state, memory_order_acquire) == SET;
}
