/* memory_pool.h - a caching allocator for memory that is slow to allocate: a card's memory, or pinned host memory.
 *
 * The pool takes regions of growing size from a source and splits them into chunks.  A freed chunk is merged with its
 * free neighbors, which limits fragmentation, and is put on the free list of its size class.  So a step that needs the
 * same sizes as the step before it gets them at once.  Any thread may call these functions. */
#ifndef WEFT_DEVICE_MEMORY_POOL_H
#define WEFT_DEVICE_MEMORY_POOL_H

#include "tensor/tensor.h"

typedef struct memory_pool memory_pool;
typedef struct memory_source { /* where regions come from; called with the pool's lock held */
  void *arg;
  weft_err (*get)(void *arg, size_t bytes, void **out); /* RESOURCE_EXHAUSTED, without a message, if none is left */
  void (*give)(void *arg, void *at);
} memory_source;

/* Creates a pool that takes at most `limit` bytes of the source.  The caller destroys *out. */
weft_err weft__memory_pool_create(memory_pool **out, memory_source source, size_t limit);
/* Gives all regions back.  Every buffer must have been released before.  Does nothing for NULL. */
void weft__memory_pool_destroy(memory_pool *p);
/* Allocates a buffer with one reference, which the caller owns; releasing it puts the memory back.  Returns
 * RESOURCE_EXHAUSTED without a message, so that the caller can try other memory. */
weft_err weft__memory_pool_alloc(memory_pool *p, buffer **out, weft_dtype dtype, size_t bytes);
/* Returns true if the address is in a region of the pool. */
bool weft__memory_pool_contains(memory_pool *p, const void *at);
typedef struct memory_pool_stats {
  size_t limit, taken, in_use, peak, largest_free;
} memory_pool_stats;
memory_pool_stats weft__memory_pool_stats(memory_pool *p);

#endif
