/* interrupt.h - interrupts: the program's request that the library's waits end, usually because of Ctrl-C.
 *
 * The count of interrupts belongs to the process, because signals do.  All functions are atomic operations; any thread
 * may call them, and weft__interrupt_raise may also be called from a signal handler. */
#ifndef WEFT_BASE_INTERRUPT_H
#define WEFT_BASE_INTERRUPT_H

#include "base/status.h"

enum { WEFT_WAIT_SLICE_MS = 50 }; /* a wait checks for interrupts and deadlines this often */

/* Counts one more interrupt.  Waits see it within WEFT_WAIT_SLICE_MS. */
void weft__interrupt_raise(void);
void weft__interrupt_clear(void); /* forgets all interrupts so far */
/* Returns how many interrupts came since the last clear, less the one that is deferred.  Waits end when it is not 0. */
int weft__interrupt_pending(void);

/* Between these two calls the first interrupt does not end waits: a supervised program sees it with
 * weft__interrupt_count, finishes its step, saves a checkpoint and exits.  The second interrupt ends waits as usual.
 * Calls nest; each defer needs its undefer. */
void weft__interrupt_defer(void);
void weft__interrupt_undefer(void);
int weft__interrupt_count(void); /* since the last clear, the deferred one included */

#endif
