/* prefetch.h - asks the processor to load memory that a loop uses a few iterations later.
 *
 * Rows of a large table lie anywhere, so that each one is a miss of the caches.  The ids of the next rows are known,
 * and several misses at once take little longer than one. */
#ifndef WEFT_BASE_PREFETCH_H
#define WEFT_BASE_PREFETCH_H

#include <stddef.h>

enum { PREFETCH_ROWS = 8, PREFETCH_LINE = 64, PREFETCH_BYTES = 512 };

/* Loads the bytes at p, or the first PREFETCH_BYTES of them: after those the processor sees that they follow one
 * another. */
static inline void weft__prefetch(const void *p, size_t size) {
  for (size_t i = 0; i < size && i < PREFETCH_BYTES; i += PREFETCH_LINE) __builtin_prefetch((const char *)p + i);
}

#endif
