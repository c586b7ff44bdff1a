/* gate.c - the kernel's futex: to wake at an address whose memory is gone wakes nobody, or somebody who looks again. */
#include "base/gate.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CLOSED, OPEN, AWAITED };

void weft__gate_open(gate *g) {
  if (atomic_exchange_explicit(&g->state, OPEN, memory_order_acq_rel) == AWAITED)
    syscall(SYS_futex, g, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool weft__gate_wait(gate *g, int64_t for_ns) {
  struct timespec limit = {for_ns / 1000000000, for_ns % 1000000000};
  uint32_t was = CLOSED;
  atomic_compare_exchange_strong_explicit(&g->state, &was, AWAITED, memory_order_acq_rel, memory_order_acquire);
  if (was == OPEN) return true;
  if (for_ns > 0) syscall(SYS_futex, g, FUTEX_WAIT_PRIVATE, AWAITED, &limit, NULL, 0);
  return atomic_load_explicit(&g->state, memory_order_acquire) == OPEN;
}
