/* piece.h - small pieces of memory that a thread frees and allocates by the thousand, such as the strings of a tensor.
 *
 * malloc has a cache for each thread too, but of a few pieces of each size: beyond those every call takes a lock.  A
 * piece is memory of weft__alloc, so that weft__free may free it, and weft__piece_free takes any memory of
 * weft__alloc.  Any thread may free a piece; it stays in the cache of that thread. */
#ifndef WEFT_BASE_PIECE_H
#define WEFT_BASE_PIECE_H

#include <stddef.h>

void *weft__piece_alloc(size_t size); /* as weft__alloc */
void weft__piece_free(void *p);       /* as weft__free */
size_t weft__piece_cached(void);      /* bytes that the cache of this thread has */

#endif
