/* interrupt.c - one counter.  It is the process's because signals are. */
#include "base/interrupt.h"

#include <stdatomic.h>

static atomic_int count;

void weft__interrupt(void) { atomic_fetch_add(&count, 1); }
void weft__interrupt_clear(void) { atomic_store(&count, 0); }
int weft__interrupts(void) { return atomic_load(&count); }
