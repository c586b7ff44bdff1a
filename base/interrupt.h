/* interrupt.h - the program's Ctrl-C, as the library's waits see it. */
#ifndef WEFT_BASE_INTERRUPT_H
#define WEFT_BASE_INTERRUPT_H

#include "base/status.h"

enum { WEFT_WAIT_SLICE_MS = 50 }; /* a wait looks up this often */

void weft__interrupt(void); /* may be called from a signal handler */
void weft__interrupt_clear(void);
int weft__interrupts(void); /* how many since the last clear */

#endif
