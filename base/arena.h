/* arena.h - an arena: memory that is allocated piece by piece and freed all at once.
 *
 * Graphs, parsed messages and plans are made of many small pieces that live equally long.  An arena belongs to one
 * owner and is not thread safe. */
#ifndef WEFT_BASE_ARENA_H
#define WEFT_BASE_ARENA_H

#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

typedef struct arena_block arena_block;
typedef struct arena {
  arena_block *blocks;
} arena; /* {0} is an empty arena */

/* These return memory of the arena, 16-byte aligned and zeroed, that is valid until weft__arena_finish.  They return
 * NULL with this thread's message set if memory is short; the arena then stays usable. */
void *weft__arena_alloc(arena *a, size_t size);
char *weft__arena_strdup(arena *a, const char *s);
char *weft__arena_strndup(arena *a, const char *s, size_t n);
void *weft__arena_copy(arena *a, const void *data, size_t size);
/* Makes room for `wanted` elements of `size` bytes in the array whose pointer is at `array` (a T **), and stores the
 * capacity, which at least doubles when it grows.  The elements up to the old capacity keep their values and move; the
 * new ones are zero.  The arena keeps the old array too, until weft__arena_finish.  Returns RESOURCE_EXHAUSTED if
 * memory is short; array and capacity then stay as they were. */
weft_err weft__arena_reserve(arena *a, void *array, int64_t *capacity, int64_t wanted, size_t size);
/* `array` is a pointer variable and `capacity` an int64_t variable, as for WEFT_ARRAY_RESERVE (base/array.h). */
#define WEFT_ARENA_RESERVE(a, array, capacity, wanted)                                                                 \
  weft__arena_reserve((a), &(array), &(capacity), (wanted), sizeof *(array))
/* Frees everything that was allocated from the arena, which is empty afterwards and can be used again. */
void weft__arena_finish(arena *a);

#endif
