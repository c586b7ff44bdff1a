/* sparse_map.h - sparse tensors kept under numbers, so that queues can carry the numbers.
 *
 * Whoever takes a tensor removes it.  Thread safe. */
#ifndef WEFT_STATE_SPARSE_MAP_H
#define WEFT_STATE_SPARSE_MAP_H

#include "state/resource.h"

#define SPARSE_MAP_TYPE "sparse tensors"

typedef struct sparse_map_entry {
  weft_tensor indices, values, dims; /* [n, depth], [n], [depth] */
} sparse_map_entry;
void weft__sparse_map_entry_clear(sparse_map_entry *s);

typedef struct sparse_map sparse_map;

weft_err weft__sparse_map_create(sparse_map **out);
/* Takes over what s holds, which is empty then. */
weft_err weft__sparse_map_add(sparse_map *m, sparse_map_entry *s, int64_t *number);
/* False if nothing is kept under this number. */
bool weft__sparse_map_take(sparse_map *m, int64_t number, sparse_map_entry *out);

#endif
