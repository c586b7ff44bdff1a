/* piece.c - a cache of freed small pieces for each thread, with a free list for each size.
 *
 * There is no lock: a thread uses its own lists only, and frees what they have when it ends.  The pieces of a list have
 * room for 24 bytes and a multiple of 16: the sizes that glibc's malloc gives.  Nothing is cached while a memory limit
 * is set, which counts each piece, and in sanitizer builds, where a cache would hide a use after free. */
#include "base/piece.h"
#include "base/alloc.h"
#include "base/memory_limit.h"
#include "base/sanitizer.h"
#include <malloc.h>
#include <pthread.h>

#ifdef WEFT_SANITIZED
void *weft__piece_alloc(size_t size) { return weft__alloc(size); }
void weft__piece_free(void *p) { weft__free(p); }
size_t weft__piece_cached(void) { return 0; }
#else

enum { LISTS = 4, LEAST = 24, STEP = 16, MOST_CACHED = 1 << 20 /* bytes of a thread */ };

typedef struct piece {
  struct piece *next;
} piece;

static _Thread_local struct {
  piece *first[LISTS];
  size_t bytes;
  bool registered; /* piece_cache_free runs when the thread ends */
} cache;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static size_t room_of(size_t list) { return LEAST + list * STEP; }

/* Frees the cached pieces of a thread that ends.  Destructors of other keys may free pieces after it, which registers
 * the cache again.  Then pthreads calls it a second time. */
static void piece_cache_free(void *arg) {
  (void)arg;
  cache.registered = false;
  cache.bytes = 0;
  for (int list = 0; list < LISTS; list++) {
    piece *p = cache.first[list];
    cache.first[list] = NULL;
    for (piece *next; p; p = next) {
      next = p->next;
      weft__free(p);
    }
  }
}

static void make_key(void) { has_key = pthread_key_create(&key, piece_cache_free) == 0; }

/* A program may unload the library before its threads end. */
__attribute__((destructor)) static void forget_key(void) {
  if (has_key) pthread_key_delete(key);
}

static bool has_cache(void) {
  if (cache.registered) return true;
  pthread_once(&once, make_key);
  cache.registered = has_key && pthread_setspecific(key, &cache) == 0;
  return cache.registered;
}

void *weft__piece_alloc(size_t size) {
  const size_t list = size <= LEAST ? 0 : size <= room_of(LISTS - 1) ? (size - LEAST + STEP - 1) / STEP : LISTS;
  if (list == LISTS || weft__memory_limit_is_set() || weft__alloc_must_fail()) return weft__alloc(size);
  piece *p = cache.first[list];
  if (!p) return weft__alloc(room_of(list));
  cache.first[list] = p->next;
  cache.bytes -= room_of(list);
  return p;
}

void weft__piece_free(void *p) {
  if (!p) return;
  const size_t room = malloc_usable_size(p);
  if (room < LEAST || room >= room_of(LISTS) || cache.bytes >= MOST_CACHED || weft__memory_limit_is_set() ||
      !has_cache()) {
    weft__free(p);
    return;
  }
  const size_t list = (room - LEAST) / STEP;
  piece *freed = p;
  freed->next = cache.first[list];
  cache.first[list] = freed;
  cache.bytes += room_of(list);
}

size_t weft__piece_cached(void) { return cache.bytes; }
#endif
