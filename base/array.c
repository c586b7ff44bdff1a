/* array.c - the growth of arrays: doubling, with every product checked. */
#include "base/array.h"
#include "base/alloc.h"
#include "base/assert.h"
#include <string.h>

enum { FIRST_CAPACITY = 8 };

int64_t weft__array_next_capacity(int64_t capacity, int64_t wanted, int64_t first) {
  int64_t grown = capacity > INT64_MAX / 2 ? wanted : 2 * capacity;
  if (grown < first) grown = first;
  return grown < wanted ? wanted : grown;
}

void *weft__array_grow(void *array, int64_t *capacity, int64_t wanted, size_t size) {
  WEFT_ASSERT(wanted > 0 && size > 0);
  WEFT_ASSERT(*capacity >= 0 && (array || *capacity == 0));
  if (wanted <= *capacity) return array;
  const int64_t grown = weft__array_next_capacity(*capacity, wanted, FIRST_CAPACITY);
  size_t bytes;
  if (__builtin_mul_overflow((size_t)grown, size, &bytes)) bytes = SIZE_MAX; /* the allocator refuses it */
  void *moved = weft__realloc(array, bytes);
  if (moved) *capacity = grown;
  return moved;
}

weft_err weft__array_reserve(void *array, int64_t *capacity, int64_t wanted, size_t size, bool zero) {
  void *elements;
  const int64_t before = *capacity;
  if (wanted <= before) return WEFT_OK;
  memcpy(&elements, array, sizeof elements); /* the pointer has the type of its elements, which is not known here */
  if (!(elements = weft__array_grow(elements, capacity, wanted, size))) return WEFT_OOM;
  if (zero) memset((char *)elements + (size_t)before * size, 0, (size_t)(*capacity - before) * size);
  memcpy(array, &elements, sizeof elements);
  return WEFT_OK;
}
