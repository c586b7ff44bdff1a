/* map.h - a hash map from strings to pointers that remembers the order of insertion.
 *
 * The map copies its keys and borrows its values.  Not thread safe. */
#ifndef WEFT_BASE_MAP_H
#define WEFT_BASE_MAP_H

#include "base/status.h"

typedef struct map_entry {
  char *key;
  void *value; /* NULL in `entries` with key NULL: a removed entry, to be skipped */
} map_entry;

typedef struct map {
  map_entry *entries; /* in insertion order, `used` of them (removed ones included) */
  int used, count, capacity;
  int *index; /* open addressing, 2*capacity slots, entry number + 1; 0 empty */
} map;        /* {0} is an empty map */

uint32_t weft__map_hash(const char *key);

void *weft__map_get(const map *m, const char *key); /* NULL if absent */
/* Adds or replaces.  The value must not be NULL. */
weft_err weft__map_put(map *m, const char *key, void *value);
void *weft__map_remove(map *m, const char *key); /* the value removed, or NULL */
void weft__map_finish(map *m);

#endif
