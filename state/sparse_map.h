/* sparse_map.h - stores sparse tensors under numbers, so that queues can pass the numbers.
 *
 * Taking a tensor removes it.  Any thread may call these functions.  A map is a reference-counted resource. */
#ifndef WEFT_STATE_SPARSE_MAP_H
#define WEFT_STATE_SPARSE_MAP_H

#include "state/resource.h"

#define SPARSE_MAP_TYPE "sparse tensors"

typedef struct sparse_map_entry {
  weft_tensor indices, values, dims; /* [n, depth], [n], [depth] */
} sparse_map_entry;
/* Releases the three tensors; s is empty afterwards. */
void weft__sparse_map_entry_clear(sparse_map_entry *s);

typedef struct sparse_map sparse_map;

/* The caller owns the one reference; fails only if memory is short. */
weft_err weft__sparse_map_create(sparse_map **out);
/* Moves the tensors of s, which is empty afterwards, into the map, and stores their number.  On RESOURCE_EXHAUSTED s
 * stays as it was. */
weft_err weft__sparse_map_add(sparse_map *m, sparse_map_entry *s, int64_t *number);
/* Moves the tensors with this number to *out; returns false if there are none. */
bool weft__sparse_map_take(sparse_map *m, int64_t number, sparse_map_entry *out);

#endif
