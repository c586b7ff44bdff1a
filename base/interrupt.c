/* interrupt.c - one counter.  It is the process's because signals are. */
#include "base/interrupt.h"

#include <stdatomic.h>

static atomic_int count, holders;

void weft__interrupt(void) { atomic_fetch_add(&count, 1); }
void weft__interrupt_clear(void) { atomic_store(&count, 0); }
void weft__interrupts_hold(void) { atomic_fetch_add(&holders, 1); }
void weft__interrupts_let(void) { atomic_fetch_sub(&holders, 1); }
int weft__interrupts_seen(void) { return atomic_load(&count); }

int weft__interrupts(void) {
  int n = atomic_load(&count);
  return n > 0 && atomic_load(&holders) > 0 ? n - 1 : n;
}
