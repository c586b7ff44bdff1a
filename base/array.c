/* array.c - the growth of arrays: doubling, with every product checked. */
#include "base/array.h"
#include "base/alloc.h"
#include "base/assert.h"

enum { FIRST_CAPACITY = 8 };

void *weft__array_grow(void *array, int64_t *capacity, int64_t wanted, size_t size) {
  WEFT_ASSERT(wanted > 0 && size > 0);
  WEFT_ASSERT(*capacity >= 0 && (array || *capacity == 0));
  if (wanted <= *capacity) return array;
  int64_t grown = *capacity > FIRST_CAPACITY / 2 ? *capacity : FIRST_CAPACITY / 2;
  grown = grown > INT64_MAX / 2 || 2 * grown < wanted ? wanted : 2 * grown;
  size_t bytes;
  if (__builtin_mul_overflow((size_t)grown, size, &bytes)) bytes = SIZE_MAX; /* the allocator refuses it */
  void *moved = weft__realloc(array, bytes);
  if (moved) *capacity = grown;
  return moved;
}
