/* arena.h - an arena: memory that is allocated piece by piece and freed all at once.
 *
 * Graphs, parsed messages and plans are made of many small pieces that live equally long.  An arena belongs to one
 * owner and is not thread safe. */
#ifndef WEFT_BASE_ARENA_H
#define WEFT_BASE_ARENA_H

#include <stddef.h>

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
/* Frees everything that was allocated from the arena, which is empty afterwards and can be used again. */
void weft__arena_finish(arena *a);

#endif
