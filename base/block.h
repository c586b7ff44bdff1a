/* block.h - memory for tensors: from a cache of freed blocks, or from the heap.
 *
 * A large block fresh from the system costs a page fault per 4 KiB, which is more than most kernels spend on it.  A
 * small aligned block is slow in malloc, and takes longer than a step's work on a scalar.  A step needs the same
 * sizes as the step before it.  So freed blocks of these sizes are cached by size class, up to a bound for the whole
 * process, as malloc's own free lists are.
 *
 * The cache belongs to the process.  Any thread may call these functions. */
#ifndef WEFT_BASE_BLOCK_H
#define WEFT_BASE_BLOCK_H

#include <stddef.h>

/* Returns `size` uninitialized bytes, 64-byte aligned, which the caller frees with weft__block_free.  Returns NULL with
 * this thread's message set if memory is short, after the cache was emptied. */
void *weft__block_alloc(size_t size);
/* Frees a block; `size` is the size it was allocated with.  Does nothing for NULL. */
void weft__block_free(void *block, size_t size);
/* Returns the largest possible size of a block: the machine's memory, or the limit of base/memory_limit.h. */
size_t weft__block_limit(void);
/* Returns how many bytes are cached now. */
size_t weft__block_cached(void);
/* Gives all cached blocks back to malloc. */
void weft__block_trim(void);
/* Gives all cached blocks and malloc's free memory back to the system.  Call it after much was freed that will not be
 * needed soon. */
void weft__block_trim_all(void);
/* Gives malloc's free memory back to the system, at most once in 10 s.  Call it after many small pieces were freed. */
void weft__block_trim_heap(void);

#endif
