/* interrupt.h - the program's Ctrl-C, as the library's waits see it. */
#ifndef WEFT_BASE_INTERRUPT_H
#define WEFT_BASE_INTERRUPT_H

#include "base/status.h"

enum { WEFT_WAIT_SLICE_MS = 50 }; /* a wait looks up this often */

void weft__interrupt(void); /* may be called from a signal handler */
void weft__interrupt_clear(void);
int weft__interrupts(void); /* how many since the last clear; waits end when there are any */

/* While somebody holds interrupts back, waits take no notice of the first one: a supervised program sees it with
 * weft__interrupts_seen, finishes its step, saves and leaves.  The second ends waits as ever. */
void weft__interrupts_hold(void);
void weft__interrupts_let(void);
int weft__interrupts_seen(void);

#endif
