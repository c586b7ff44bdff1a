/* block.h - memory for tensors: from a cache of freed blocks, or from the heap.
 *
 * A large block fresh from the system costs a page fault per 4 KiB, more than most kernels spend on
 * it; a small one is for malloc an exception, being aligned, and takes longer than what a step does with a scalar.  A
 * step wants the same sizes as the step before, so freed blocks of these sizes are kept by size class up
 * to a bound for the whole process, as malloc's own free lists are.  Thread safe. */
#ifndef WEFT_BASE_BLOCK_H
#define WEFT_BASE_BLOCK_H

#include <stddef.h>

void *weft__block_alloc(size_t size);            /* 64-byte aligned, uninitialised; NULL with the error set */
void weft__block_free(void *block, size_t size); /* the size it was asked with; NULL is fine */
/* More than any single block may have: the machine's memory, or the ceiling of base/memory_limit.h. */
size_t weft__block_limit(void);
/* Bytes kept now, and giving all of them back to the system. */
size_t weft__block_cached(void);
void weft__block_trim(void);
/* The same, and what malloc keeps: after much was freed that will not be needed again soon. */
void weft__block_trim_all(void);
/* Only what malloc keeps, every 10 s at most: after something of many small pieces was freed. */
void weft__block_trim_heap(void);

#endif
