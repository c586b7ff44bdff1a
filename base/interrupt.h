/* interrupt.h - the program's Ctrl-C, as the library's waits see it. */
#ifndef WEFT_BASE_INTERRUPT_H
#define WEFT_BASE_INTERRUPT_H

#include "base/status.h"

enum { WEFT_WAIT_SLICE_MS = 50 }; /* a wait looks up this often */

void weft__interrupt_raise(void); /* may be called from a signal handler */
void weft__interrupt_clear(void);
int weft__interrupt_pending(void); /* how many since the last clear; waits end when there are any */

/* While somebody holds interrupts back, waits take no notice of the first one: a supervised program sees it with
 * weft__interrupt_count, finishes its step, saves and leaves.  The second ends waits as ever. */
void weft__interrupt_defer(void);
void weft__interrupt_undefer(void);
int weft__interrupt_count(void);

#endif
