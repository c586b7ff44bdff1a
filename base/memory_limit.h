/* memory_limit.h - a limit on the heap memory of this process: WEFT_MEMORY, --memory.
 *
 * An allocation that would exceed the limit fails with RESOURCE_EXHAUSTED.  So a step that needs too much memory costs
 * its caller an error, and the kernel's OOM killer does not end the process.  The limit counts what base/alloc.h
 * returns: tensors, arenas, receive buffers, graphs and plans.  It also counts freed blocks that are cached
 * (base/block.h), which are given back before an allocation fails.  It does not count thread stacks, shared memory and
 * what libraries allocate by themselves, so leave them some room.
 *
 * Without a limit nothing is counted, and an allocation costs what malloc costs.  The limit and the count belong to the
 * process and are atomic; any thread may call these functions. */
#ifndef WEFT_BASE_MEMORY_LIMIT_H
#define WEFT_BASE_MEMORY_LIMIT_H

#include "base/status.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets the limit of the process.  The text is a number of bytes with an optional K, M, G or T (powers of 1024), "auto"
 * (90 % of the cgroup's limit, or of the machine's memory where there is none), or "0", "" or NULL for no limit.
 * Returns INVALID_ARGUMENT with the text if it is none of these. */
weft_err weft__memory_limit_set(const char *text);
/* Sets the limit if no call has set it yet: to `given`, or to the value of WEFT_MEMORY if `given` is NULL. */
weft_err weft__memory_limit_init(const char *given);
size_t weft__memory_limit(void);      /* bytes; 0: no limit */
size_t weft__memory_limit_used(void); /* bytes counted now; 0 without a limit */
/* Text for error messages: "" without a limit, else " (WEFT_MEMORY: 3 of 4 bytes are in use)".  It is valid until this
 * thread's next call. */
const char *weft__memory_limit_text(void);

/* ---- for base/alloc.c ---- */
extern atomic_size_t weft__memory_limit_bytes; /* 0: no limit */
static inline bool weft__memory_limit_is_set(void) {
  return __builtin_expect(atomic_load_explicit(&weft__memory_limit_bytes, memory_order_relaxed) != 0, 0);
}
/* Counts `size` more bytes and returns true.  If they would exceed the limit, counts nothing and returns false with
 * this thread's message set. */
bool weft__memory_limit_reserve(size_t size);
void weft__memory_limit_release(int64_t size); /* a negative size counts more, without a check of the limit */

#endif
