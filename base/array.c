/* array.c - the growth of arrays: doubling, with every product checked. */
#include "base/array.h"
#include "base/alloc.h"
#include "base/assert.h"
#include <string.h>

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
