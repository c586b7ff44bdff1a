/* memory_pool.h - a caching allocator over memory that is slow to get: a card's, or pinned host memory.
 *
 * Regions are taken from below in growing sizes and cut into chunks; a freed chunk joins its free neighbours and
 * waits in a list of its size class, so that memory is not broken into useless pieces and a step that asks for what
 * the step before asked for gets it at once.  Thread safe. */
#ifndef WEFT_DEVICE_MEMORY_POOL_H
#define WEFT_DEVICE_MEMORY_POOL_H

#include "tensor/tensor.h"

typedef struct memory_pool memory_pool;
typedef struct memory_source { /* where regions come from */
  void *arg;
  weft_err (*get)(void *arg, size_t bytes, void **out); /* RESOURCE_EXHAUSTED, without a message: none left */
  void (*give)(void *arg, void *at);
} memory_source;

/* At most `limit` bytes are taken. */
weft_err weft__memory_pool_create(memory_pool **out, memory_source source, size_t limit);
/* Every buffer has been released. */
void weft__memory_pool_destroy(memory_pool *p);
/* RESOURCE_EXHAUSTED without a message. */
weft_err weft__memory_pool_alloc(memory_pool *p, buffer **out, weft_dtype dtype, size_t bytes);
/* Is the address in one of its regions? */
bool weft__memory_pool_contains(memory_pool *p, const void *at);
typedef struct memory_pool_stats {
  size_t limit, taken, in_use, peak, largest_free;
} memory_pool_stats;
memory_pool_stats weft__memory_pool_stats(memory_pool *p);

#endif
