/* slot_table.h - items under keys that the table gives out and that do not come back soon.
 *
 * A key is a number below 2^63 and not 0.  Its low half is the slot of the item and its high half a generation, so that
 * finding and removing take constant time.  A key is not reused before 2^31 others, so that a late message that carries
 * the key of an item that is gone finds nothing.  Free slots are taken in turn.
 *
 * The table borrows its items.  Not thread safe: the owner guards it. */
#ifndef WEFT_BASE_SLOT_TABLE_H
#define WEFT_BASE_SLOT_TABLE_H

#include "base/status.h"

typedef struct slot_entry {
  void *item; /* NULL: free */
  uint64_t key;
} slot_entry;

typedef struct slot_table {
  slot_entry *slot; /* `capacity` of them; a loop over the items skips those that are free, and may remove */
  int64_t capacity;
  uint32_t next, generation;
} slot_table; /* {0} is an empty table */

/* Adds the item, which is not NULL, and stores its key.  On RESOURCE_EXHAUSTED the table stays as it was. */
weft_err weft__slot_table_add(slot_table *t, void *item, uint64_t *key);
/* Returns the item with this key, or NULL if there is none.  Any number may be asked for. */
void *weft__slot_table_get(const slot_table *t, uint64_t key);
/* Removes the item with this key and returns it, or NULL if there is none. */
void *weft__slot_table_remove(slot_table *t, uint64_t key);
/* Frees the slots, but not the items; the table is empty afterwards. */
void weft__slot_table_finish(slot_table *t);

#endif
