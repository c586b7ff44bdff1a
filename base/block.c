/* block.c - a cache of freed blocks by size class, for small and for large blocks.
 *
 * Size classes are an eighth of a power of two apart, so a block wastes at most an eighth.  The free lists are linked
 * through the blocks themselves.  A block that would exceed the bound of the cache (an eighth of the memory) is freed
 * at once.  One adaptive mutex, a leaf, guards the cache of the process.
 *
 * Sanitizer builds cache nothing and round nothing, because that would hide a use after free or a read past the end. */
#include "base/block.h"
#include "base/alloc.h"
#include "base/adaptive_mutex.h"
#include "base/clock.h"
#include "base/sanitizer.h"
#include "base/memory_limit.h"
#include "base/status.h"
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { SHIFT_MIN = 6, SHIFT_MAX = 40, STEPS = 8, CLASSES = (SHIFT_MAX - SHIFT_MIN) * STEPS };
#define TRIM_EVERY_NS (10 * NS_PER_S)
static const size_t small_to = 4 << 10, large_from = 256 << 10;

typedef struct free_block {
  struct free_block *next;
} free_block;

static struct {
  pthread_mutex_t lock;
  free_block *lists[CLASSES];
  size_t kept;
} cache = {.lock = WEFT_ADAPTIVE_MUTEX};

size_t weft__block_limit(void) {
  static atomic_size_t memory;
  size_t known = atomic_load_explicit(&memory, memory_order_relaxed);
  if (known == 0) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    known = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : (size_t)1 << 40;
    atomic_store_explicit(&memory, known, memory_order_relaxed);
  }
  const size_t limit = weft__memory_limit();
  return limit && limit < known ? limit : known;
}

/* Returns the class of a size and stores in *rounded the size of every block of that class; -1: such blocks are not
 * cached. */
static int block_class(size_t size, size_t *rounded) {
#ifdef WEFT_SANITIZED
  return *rounded = size, -1;
#endif
  if (size < (size_t)1 << SHIFT_MIN || (size > small_to && size < large_from)) return -1;
  int shift = 63 - __builtin_clzll((unsigned long long)size);
  size_t step = ((size_t)1 << shift) / STEPS;
  size_t over = (size - ((size_t)1 << shift) + step - 1) / step; /* 0..STEPS */
  *rounded = ((size_t)1 << shift) + over * step;
  int class = (shift - SHIFT_MIN) * STEPS + (int)over; /* fits: 0..STEPS */
  return class < CLASSES ? class : -1;
}

static void *block_cache_take(int class, size_t size) {
  pthread_mutex_lock(&cache.lock);
  free_block *b = cache.lists[class];
  if (b) {
    cache.lists[class] = b->next;
    cache.kept -= size;
  }
  pthread_mutex_unlock(&cache.lock);
  return b;
}

static bool block_cache_put(int class, void *block, size_t size) {
#ifdef WEFT_SANITIZED
  return (void)class, (void)block, (void)size, false;
#else
  free_block *b = block;
  pthread_mutex_lock(&cache.lock);
  bool room = cache.kept + size <= weft__block_limit() / 8;
  if (room) {
    b->next = cache.lists[class];
    cache.lists[class] = b;
    cache.kept += size;
  }
  pthread_mutex_unlock(&cache.lock);
  return room;
#endif
}

void *weft__block_alloc(size_t size) {
  size_t rounded;
  int class = block_class(size, &rounded);
  if (class < 0) return weft__alloc_aligned(size);
  void *b = weft__alloc_must_fail() ? NULL : block_cache_take(class, rounded);
  if (b) return b;
  b = weft__alloc_aligned(rounded);
  if (b || weft__block_cached() == 0) return b;
  weft__block_trim();
  return weft__alloc_aligned(rounded);
}

void weft__block_free(void *block, size_t size) {
  size_t rounded;
  if (!block) return;
  int class = block_class(size, &rounded);
  if (class < 0 || !block_cache_put(class, block, rounded)) weft__free(block);
}

size_t weft__block_cached(void) {
  pthread_mutex_lock(&cache.lock);
  size_t kept = cache.kept;
  pthread_mutex_unlock(&cache.lock);
  return kept;
}

void weft__block_trim(void) {
  for (int class = 0; class < CLASSES; class ++) {
    pthread_mutex_lock(&cache.lock);
    free_block *b = cache.lists[class];
    cache.lists[class] = NULL;
    for (free_block *each = b; each; each = each->next) {
      size_t size = ((size_t)1 << (class / STEPS + SHIFT_MIN)) / STEPS * (size_t)(STEPS + class % STEPS);
      cache.kept -= size;
    }
    pthread_mutex_unlock(&cache.lock);
    for (free_block *next; b; b = next) {
      next = b->next;
      weft__free(b);
    }
  }
}

static void heap_trim(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void weft__block_trim_all(void) {
  weft__block_trim();
  heap_trim();
}

void weft__block_trim_heap(void) {
  static atomic_llong last_ns;
  const int64_t now = weft__clock_now_ns();
  long long last = atomic_load(&last_ns);
  if (last && now - last < TRIM_EVERY_NS) return;
  if (atomic_compare_exchange_strong(&last_ns, &last, now)) heap_trim();
}
