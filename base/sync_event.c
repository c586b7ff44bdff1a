/* sync_event.c - the kernel's futex: to wake at an address whose memory is gone wakes nobody, or somebody who looks again. */
#include "base/sync_event.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CLOSED, OPEN, AWAITED, WATCHED };

/* Unless it is open, the state becomes that; whether it is open. */
static bool note(sync_event *g, uint32_t state) {
  uint32_t was = atomic_load_explicit(&g->state, memory_order_acquire);
  while (was != OPEN &&
         !atomic_compare_exchange_weak_explicit(&g->state, &was, state, memory_order_acq_rel, memory_order_acquire))
    continue;
  return was == OPEN;
}

bool weft__sync_event_set(sync_event *g) {
  uint32_t was = atomic_exchange_explicit(&g->state, OPEN, memory_order_acq_rel);
  if (was == AWAITED) syscall(SYS_futex, g, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  return was == WATCHED;
}

bool weft__sync_event_wait(sync_event *g, int64_t for_ns) {
  struct timespec limit = {for_ns / 1000000000, for_ns % 1000000000};
  if (note(g, AWAITED)) return true;
  if (for_ns > 0) syscall(SYS_futex, g, FUTEX_WAIT_PRIVATE, AWAITED, &limit, NULL, 0);
  return atomic_load_explicit(&g->state, memory_order_acquire) == OPEN;
}

bool weft__sync_event_watch(sync_event *g, bool on) { return note(g, on ? WATCHED : CLOSED); }
