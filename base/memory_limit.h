/* memory_limit.h - a ceiling on the heap memory of this process: WEFT_MEMORY, --memory.
 *
 * An allocation that would pass the ceiling fails with RESOURCE_EXHAUSTED, so that a step that asks for too much costs
 * its caller an error and not the process, as the kernel's OOM killer would.  Counted is what weft__alloc and its
 * siblings hand out: tensors, arenas, receive buffers, graphs and plans, and freed blocks that are kept for reuse
 * (base/block.h), which are given back before an allocation fails.  Not counted: thread stacks, the shared memory of
 * net/fast/shm.c and what libraries allocate by themselves, so leave them some room.
 *
 * Off unless set: then nothing is counted and an allocation costs what malloc costs.  Thread safe. */
#ifndef WEFT_BASE_MEMORY_LIMIT_H
#define WEFT_BASE_MEMORY_LIMIT_H

#include "base/status.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets the ceiling of the process.  The text is a number of bytes with an optional K, M, G or T (powers of 1024), "auto"
 * (90 % of the cgroup's limit, or of the machine's memory where there is none), or "0", "" or NULL for no ceiling.
 * INVALID_ARGUMENT names the text. */
weft_err weft__memory_limit_set(const char *text);
/* Sets it once for the process: to the text given, else as WEFT_MEMORY says; later calls find it set. */
weft_err weft__memory_limit_init(const char *given);
size_t weft__memory_limit(void);      /* bytes; 0: none */
size_t weft__memory_limit_used(void); /* bytes counted now; 0 without a ceiling */
/* For error messages: "" without a ceiling, else " (WEFT_MEMORY: 3 of 4 bytes are in use)".  Valid until this thread's next
 * call. */
const char *weft__memory_limit_text(void);

/* ---- for base/alloc.c ---- */
extern atomic_size_t weft__memory_limit_bytes; /* 0: none */
static inline bool weft__memory_limit_is_set(void) {
  return __builtin_expect(atomic_load_explicit(&weft__memory_limit_bytes, memory_order_relaxed) != 0, 0);
}
/* False, with this thread's message set, if size more bytes would pass the ceiling; else they are counted. */
bool weft__memory_limit_reserve(size_t size);
void weft__memory_limit_release(int64_t size); /* negative: counts more, without a look at the ceiling */

#endif
