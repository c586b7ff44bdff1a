/* arena.h - memory that is freed all at once.  Not thread safe; one owner. */
#ifndef WEFT_BASE_ARENA_H
#define WEFT_BASE_ARENA_H

#include <stddef.h>

typedef struct arena_block arena_block;
typedef struct arena {
  arena_block *blocks;
} arena; /* {0} is an empty arena */

void *weft__arena_alloc(arena *a, size_t size); /* zeroed, 16-byte aligned; NULL on failure */
char *weft__arena_strdup(arena *a, const char *s);
char *weft__arena_strndup(arena *a, const char *s, size_t n);
void *weft__arena_copy(arena *a, const void *data, size_t size);
void weft__arena_finish(arena *a);

#endif
