/* interrupt.c - the count of interrupts and how many callers defer them: two atomics of the process, no lock. */
#include "base/interrupt.h"
#include "base/assert.h"

#include <stdatomic.h>

static atomic_int count, holders;

void weft__interrupt_raise(void) { atomic_fetch_add(&count, 1); }
void weft__interrupt_clear(void) { atomic_store(&count, 0); }
void weft__interrupt_defer(void) { atomic_fetch_add(&holders, 1); }
void weft__interrupt_undefer(void) {
  const int before = atomic_fetch_sub(&holders, 1);
  WEFT_ASSERT(before > 0);
  (void)before;
}
int weft__interrupt_count(void) { return atomic_load(&count); }

int weft__interrupt_pending(void) {
  int n = atomic_load(&count);
  return n > 0 && atomic_load(&holders) > 0 ? n - 1 : n;
}
