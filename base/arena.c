/* arena.c - a list of blocks that double in size; memory is taken from the front of the first block. */
#include "base/arena.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { FIRST_BLOCK = 1024, LAST_BLOCK = 256 * 1024, ALIGN = 16, FIRST_CAPACITY = 4 };

struct arena_block {
  arena_block *next;
  size_t size, used;
  alignas(ALIGN) unsigned char data[];
};

/* Adds a block with at least `need` free bytes.  A large request gets a block of its own behind the current one, so
 * that the free space of the current one is not lost. */
static arena_block *arena_grow(arena *a, size_t need) {
  size_t size = a->blocks ? a->blocks->size * 2 : FIRST_BLOCK;
  if (size > LAST_BLOCK) size = LAST_BLOCK;
  bool alone = need > size / 4 && a->blocks;
  if (alone || need > size) size = need;
  arena_block *b = weft__alloc_zero(1, sizeof *b + size);
  if (!b) return NULL;
  b->size = size;
  arena_block **at = alone ? &a->blocks->next : &a->blocks;
  b->next = *at;
  *at = b;
  return b;
}

void *weft__arena_alloc(arena *a, size_t size) {
  if (size > SIZE_MAX / 2) return weft__alloc(size); /* fails with its message */
  size = size ? (size + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
  arena_block *b = a->blocks;
  if (!b || b->size - b->used < size) b = arena_grow(a, size);
  if (!b) return NULL;
  WEFT_ASSERT(b->used <= b->size && b->size - b->used >= size);
  void *p = b->data + b->used;
  b->used += size;
  return p;
}

void *weft__arena_copy(arena *a, const void *data, size_t size) {
  void *p = weft__arena_alloc(a, size);
  if (p && size) memcpy(p, data, size);
  return p;
}

char *weft__arena_strndup(arena *a, const char *s, size_t n) {
  char *p = weft__arena_alloc(a, n + 1);
  if (p && n) memcpy(p, s, n);
  return p;
}

char *weft__arena_strdup(arena *a, const char *s) { return weft__arena_strndup(a, s, strlen(s)); }

weft_err weft__arena_reserve(arena *a, void *array, int64_t *capacity, int64_t wanted, size_t size) {
  if (wanted <= *capacity) return WEFT_OK;
  WEFT_ASSERT(*capacity >= 0 && size > 0);
  void *elements; /* the pointer at `array` has the type of its elements, which is not known here */
  const int64_t grown = weft__array_next_capacity(*capacity, wanted, FIRST_CAPACITY);
  size_t bytes;
  if (__builtin_mul_overflow((size_t)grown, size, &bytes)) bytes = SIZE_MAX; /* the allocator refuses it */
  void *moved = weft__arena_alloc(a, bytes);
  if (!moved) return WEFT_OOM;
  memcpy(&elements, array, sizeof elements);
  if (*capacity) memcpy(moved, elements, (size_t)*capacity * size);
  memcpy(array, &moved, sizeof moved);
  *capacity = grown;
  return WEFT_OK;
}

void weft__arena_finish(arena *a) {
  for (arena_block *b = a->blocks, *next; b; b = next) {
    next = b->next;
    weft__free(b);
  }
  a->blocks = NULL;
}
