/* memory_pool.c - regions that are split into chunks, and free lists by size class.
 *
 * The chunks of a region form a list in address order; neighbors that are both free are always merged.  One lock guards
 * everything of a pool; the source is called under it. */
#include "device/memory_pool.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/list.h"
#include <pthread.h>
#include <string.h>

enum { GRAIN = 256, CLASSES = 40 };
#define FIRST_REGION ((size_t)4 << 20)
#define LAST_REGION ((size_t)1 << 30)

typedef struct chunk chunk;
struct chunk {
  buffer buffer; /* what the caller gets */
  memory_pool *pool;
  size_t bytes;
  bool free;
  chunk *before, *after; /* neighbors in the region */
  list_link link;        /* of the list of its class, while free */
};

typedef struct region {
  char *at;
  size_t bytes;
  struct region *next;
} region;

struct memory_pool {
  pthread_mutex_t lock;
  memory_source source;
  size_t limit, taken, in_use, peak, next_region;
  region *regions;
  linked_list free[CLASSES];
};

static int chunk_class(size_t bytes) {
  int c = 63 - __builtin_clzll((unsigned long long)(bytes / GRAIN));
  return c < CLASSES ? c : CLASSES - 1;
}

static void free_list_add(memory_pool *p, chunk *c) {
  WEFT_ASSERT(!c->free && c->bytes % GRAIN == 0);
  c->free = true;
  weft__list_prepend(&p->free[chunk_class(c->bytes)], &c->link);
}

static void free_list_remove(chunk *c) {
  weft__list_remove(&c->link);
  c->free = false;
}

/* Returns the smallest sufficient free chunk of the first class that has one; NULL if there is none. */
static chunk *pool_find_chunk(memory_pool *p, size_t bytes) {
  for (int k = chunk_class(bytes); k < CLASSES; k++) {
    chunk *best = NULL;
    WEFT_LIST_FOR_EACH(link, &p->free[k]) {
      chunk *c = WEFT_LIST_ITEM(link, chunk, link);
      if (c->bytes >= bytes && (!best || c->bytes < best->bytes)) best = c;
    }
    if (best) return best;
  }
  return NULL;
}

static void chunk_release(buffer *b);

static chunk *chunk_create(memory_pool *p, void *at, size_t bytes) {
  chunk *c = weft__alloc_zero(1, sizeof *c);
  if (!c) return NULL;
  c->pool = p;
  c->bytes = bytes;
  c->buffer.data = at;
  c->buffer.release = chunk_release;
  return c;
}

/* Splits off the unneeded end of a chunk; without memory for a header the chunk stays whole. */
static void chunk_split(memory_pool *p, chunk *c, size_t bytes) {
  if (c->bytes - bytes < GRAIN) return;
  chunk *rest = chunk_create(p, (char *)c->buffer.data + bytes, c->bytes - bytes);
  if (!rest) return;
  c->bytes = bytes;
  rest->before = c;
  rest->after = c->after;
  if (c->after) c->after->before = rest;
  c->after = rest;
  free_list_add(p, rest);
}

/* Merges c with the neighbor behind it. */
static void chunk_merge_next(chunk *c) {
  chunk *gone = c->after;
  WEFT_ASSERT(gone->before == c && (char *)c->buffer.data + c->bytes == (char *)gone->buffer.data);
  if (gone->free) free_list_remove(gone);
  c->bytes += gone->bytes;
  c->after = gone->after;
  if (c->after) c->after->before = c;
  weft__free(gone);
}

static void chunk_put_back(memory_pool *p, chunk *c) {
  if (c->after && c->after->free) chunk_merge_next(c);
  if (c->before && c->before->free) {
    c = c->before;
    free_list_remove(c);
    chunk_merge_next(c);
  }
  free_list_add(p, c);
}

static void chunk_release(buffer *b) {
  chunk *c = (chunk *)b;
  memory_pool *p = c->pool;
  pthread_mutex_lock(&p->lock);
  WEFT_ASSERT(!c->free && p->in_use >= c->bytes);
  p->in_use -= c->bytes;
  chunk_put_back(p, c);
  pthread_mutex_unlock(&p->lock);
}

/* ---- regions ----------------------------------------------------------------------------------- */

static weft_err pool_add_region(memory_pool *p, size_t bytes) {
  void *at;
  if (bytes > p->limit - p->taken) return WEFT_RESOURCE_EXHAUSTED;
  weft_err err = p->source.get(p->source.arg, bytes, &at);
  if (err) return err;
  chunk *c = chunk_create(p, at, bytes);
  region *r = weft__alloc(sizeof *r);
  if (!c || !r) {
    weft__free(c);
    weft__free(r);
    p->source.give(p->source.arg, at);
    return WEFT_RESOURCE_EXHAUSTED;
  }
  *r = (region){at, bytes, p->regions};
  p->regions = r;
  p->taken += bytes;
  WEFT_ASSERT(p->taken <= p->limit);
  free_list_add(p, c);
  return WEFT_OK;
}

static void pool_drop_region(memory_pool *p, const void *at) {
  region **link = &p->regions;
  while ((*link)->at != at) link = &(*link)->next;
  region *gone = *link;
  *link = gone->next;
  weft__free(gone);
}

/* Gives back the regions that are free as a whole. */
static void pool_trim(memory_pool *p) {
  for (int k = 0; k < CLASSES; k++)
    for (list_link *link = p->free[k].head.next, *next; link != &p->free[k].head; link = next) {
      chunk *c = WEFT_LIST_ITEM(link, chunk, link);
      next = link->next;
      if (c->before || c->after) continue;
      free_list_remove(c);
      WEFT_ASSERT(p->taken >= c->bytes);
      p->taken -= c->bytes;
      pool_drop_region(p, c->buffer.data);
      p->source.give(p->source.arg, c->buffer.data);
      weft__free(c);
    }
}

/* Adds a region that is larger than needed, or else one that just fits. */
static weft_err pool_grow(memory_pool *p, size_t bytes) {
  size_t want = p->next_region;
  while (want < bytes) want *= 2;
  if (want > p->limit - p->taken) want = bytes;
  weft_err err = pool_add_region(p, want);
  if (err == WEFT_RESOURCE_EXHAUSTED && want > bytes) err = pool_add_region(p, bytes);
  if (err == WEFT_RESOURCE_EXHAUSTED) {
    pool_trim(p);
    err = pool_add_region(p, bytes);
  }
  if (!err && p->next_region < LAST_REGION) p->next_region *= 2;
  return err;
}

weft_err weft__memory_pool_create(memory_pool **out, memory_source source, size_t limit) {
  memory_pool *p = weft__alloc_zero(1, sizeof *p);
  if (!p) return WEFT_RESOURCE_EXHAUSTED;
  pthread_mutex_init(&p->lock, NULL);
  p->source = source;
  p->limit = limit;
  p->next_region = FIRST_REGION;
  for (int k = 0; k < CLASSES; k++) weft__list_init(&p->free[k]);
  *out = p;
  return WEFT_OK;
}

void weft__memory_pool_destroy(memory_pool *p) {
  if (!p) return;
  WEFT_ASSERT(p->in_use == 0);
  pool_trim(p);
  WEFT_ASSERT(p->taken == 0 && !p->regions);
  pthread_mutex_destroy(&p->lock);
  weft__free(p);
}

weft_err weft__memory_pool_alloc(memory_pool *p, buffer **out, weft_dtype dtype, size_t bytes) {
  size_t rounded = bytes ? (bytes + GRAIN - 1) / GRAIN * GRAIN : GRAIN;
  if (rounded < bytes) return WEFT_RESOURCE_EXHAUSTED;
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&p->lock);
  chunk *c = pool_find_chunk(p, rounded);
  if (!c && !(err = pool_grow(p, rounded))) c = pool_find_chunk(p, rounded);
  if (c) {
    free_list_remove(c);
    chunk_split(p, c, rounded);
    p->in_use += c->bytes;
    WEFT_ASSERT(c->bytes >= rounded && p->in_use <= p->taken);
    if (p->in_use > p->peak) p->peak = p->in_use;
    atomic_init(&c->buffer.refs, 1);
    c->buffer.dtype = weft__dtype_base(dtype);
    c->buffer.size = bytes;
    *out = &c->buffer;
  }
  pthread_mutex_unlock(&p->lock);
  return err;
}

bool weft__memory_pool_contains(memory_pool *p, const void *at) {
  pthread_mutex_lock(&p->lock);
  const region *r = p->regions;
  while (r && ((const char *)at < r->at || (const char *)at >= r->at + r->bytes)) r = r->next;
  pthread_mutex_unlock(&p->lock);
  return r != NULL;
}

memory_pool_stats weft__memory_pool_stats(memory_pool *p) {
  memory_pool_stats s = {0};
  pthread_mutex_lock(&p->lock);
  s = (memory_pool_stats){.limit = p->limit, .taken = p->taken, .in_use = p->in_use, .peak = p->peak};
  for (int k = 0; k < CLASSES; k++) WEFT_LIST_FOR_EACH(link, &p->free[k]) {
      const chunk *c = WEFT_LIST_ITEM(link, chunk, link);
      if (c->bytes > s.largest_free) s.largest_free = c->bytes;
    }
  pthread_mutex_unlock(&p->lock);
  return s;
}
