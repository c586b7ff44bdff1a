/* alloc.h - the heap, with failures reported as errors and a test hook that makes allocations fail.
 *
 * All memory of the library comes from here, so that a limit (base/memory_limit.h) covers it and tests can make any
 * allocation fail.  Every function that returns memory returns NULL on failure, with this thread's message set
 * (RESOURCE_EXHAUSTED).  The caller owns what is returned and frees it with weft__free.  Any thread may call these
 * functions; there is no lock besides malloc's own. */
#ifndef WEFT_BASE_ALLOC_H
#define WEFT_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

void *weft__alloc(size_t size);                    /* uninitialized */
void *weft__alloc_zero(size_t count, size_t size); /* zeroed; a product that overflows is a failure */
void *weft__alloc_aligned(size_t size);            /* 64-byte aligned, uninitialized */
void *weft__realloc(void *p, size_t size);         /* on failure p stays valid and stays the caller's */
/* The caller frees these copies with weft__free; NULL with this thread's message set if memory is short. */
char *weft__strdup(const char *s);
char *weft__strndup(const char *s, size_t n); /* copies exactly n bytes and adds a NUL */
char *weft__sprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void weft__free(void *p); /* does nothing for NULL */

/* For tests: the n-th allocation of this thread from now on (the first is 1) and all later ones fail.  0 turns it off.
 */
void weft__alloc_fail_after(long n);
/* For tests: every allocation of more than `size` bytes fails, on every thread.  Call it before other threads exist. */
void weft__alloc_fail_above(size_t size);
/* For allocators that keep memory of their own: returns true if this thread's next allocation is to fail.  It does not
 * count as an allocation. */
bool weft__alloc_must_fail(void);

#define WEFT_OOM WEFT_RESOURCE_EXHAUSTED

#endif
