/* array.h - growing an array on the heap.
 *
 * An array is a pointer, a count and a capacity in its owner's struct; this function is what such owners share:
 *
 *   slot *grown = weft__array_grow(a->slot, &a->capacity, a->n + 1, sizeof *grown);
 *   if (!grown) return WEFT_OOM;
 *   a->slot = grown;
 *
 * Not thread safe: the owner of the array guards it. */
#ifndef WEFT_BASE_ARRAY_H
#define WEFT_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* Returns the array with a capacity of at least `wanted` (> 0) elements of `size` bytes each, and stores the capacity.
 * The capacity at least doubles when it grows, so that appending takes constant time on average.  The elements keep their
 * values and may move; the new ones are uninitialized.  The caller owns the result and frees it with weft__free.
 * Returns NULL with this thread's message set (RESOURCE_EXHAUSTED) if memory is short; array and capacity then stay as
 * they were. */
void *weft__array_grow(void *array, int64_t *capacity, int64_t wanted, size_t size);

#endif
