/* array.h - growing an array on the heap.
 *
 * An array is a pointer, a count and a capacity in its owner's struct.  Appending makes room and then stores:
 *
 *   WEFT_TRY(WEFT_ARRAY_RESERVE(a->item, a->capacity, a->n + 1));
 *   a->item[a->n++] = item;
 *
 * Not thread safe: the owner of the array guards it. */
#ifndef WEFT_BASE_ARRAY_H
#define WEFT_BASE_ARRAY_H

#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

/* Returns the capacity to which an array of this capacity grows for `wanted` elements: at least `first`, and at least
 * twice the old one unless that overflows. */
int64_t weft__array_next_capacity(int64_t capacity, int64_t wanted, int64_t first);
/* Returns the array with a capacity of at least `wanted` (> 0) elements of `size` bytes each, and stores the capacity.
 * The capacity at least doubles when it grows, so that appending takes constant time on average.  The elements keep
 * their values and may move; the new ones are uninitialized.  The caller owns the result and frees it with weft__free.
 * Returns NULL with this thread's message set (RESOURCE_EXHAUSTED) if memory is short; array and capacity then stay as
 * they were. */
void *weft__array_grow(void *array, int64_t *capacity, int64_t wanted, size_t size);
/* The same for the array whose pointer is at `array` (a T **).  Returns RESOURCE_EXHAUSTED if memory is short.  With
 * `zero` the new elements are zero; the elements up to the old capacity keep their values. */
weft_err weft__array_reserve(void *array, int64_t *capacity, int64_t wanted, size_t size, bool zero);

/* Makes room for `wanted` elements.  `array` is a pointer variable and `capacity` an int64_t variable. */
#define WEFT_ARRAY_RESERVE(array, capacity, wanted)                                                                    \
  weft__array_reserve(&(array), &(capacity), (wanted), sizeof *(array), false)
#define WEFT_ARRAY_RESERVE_ZERO(array, capacity, wanted)                                                               \
  weft__array_reserve(&(array), &(capacity), (wanted), sizeof *(array), true)

#endif
