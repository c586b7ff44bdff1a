/* map.h - a hash map from strings to pointers that keeps the order of insertion.
 *
 * The map copies its keys and borrows its values: the caller frees them.  Not thread safe; the owner guards it. */
#ifndef WEFT_BASE_MAP_H
#define WEFT_BASE_MAP_H

#include "base/status.h"

typedef struct map_entry {
  char *key;
  void *value; /* key and value NULL: a removed entry, which a loop over `entries` skips */
} map_entry;

typedef struct map {
  map_entry *entries; /* in insertion order, `used` of them (removed ones included) */
  int used, count, capacity;
  int *index; /* open addressing, 2*capacity slots, entry number + 1; 0 empty */
} map;        /* {0} is an empty map */

/* The hash that the map uses, for tables that hash strings themselves. */
uint32_t weft__map_hash(const char *key);

/* Returns the value of the key, or NULL if it is absent. */
void *weft__map_get(const map *m, const char *key);
/* Adds the key or replaces its value, which must not be NULL.  On RESOURCE_EXHAUSTED the map stays as it was. */
weft_err weft__map_put(map *m, const char *key, void *value);
/* Removes the key and returns its value, or NULL if it was absent.  A loop over `entries` may remove. */
void *weft__map_remove(map *m, const char *key);
/* Frees the keys and the tables, but not the values; the map is empty afterwards. */
void weft__map_finish(map *m);

#endif
