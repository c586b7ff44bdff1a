/* slot_table.c - an array of slots that grows when all of them are taken. */
#include "base/slot_table.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"

/* Stores the next free slot; with no free slot, the first of those that growing adds. */
static weft_err slot_table_find_free(slot_table *t, uint32_t *at) {
  const int64_t before = t->capacity;
  for (int64_t i = 0; i < before; i++, t->next++)
    if (!t->slot[t->next % before].item) {
      *at = (uint32_t)(t->next++ % before); /* fits: below the capacity */
      return WEFT_OK;
    }
  if (before > INT32_MAX) return weft__fail(WEFT_RESOURCE_EXHAUSTED, "a table has %lld slots", (long long)before);
  WEFT_TRY(WEFT_ARRAY_RESERVE_ZERO(t->slot, t->capacity, before + 1));
  *at = (uint32_t)before; /* fits: checked */
  t->next = *at + 1;
  return WEFT_OK;
}

weft_err weft__slot_table_add(slot_table *t, void *item, uint64_t *key) {
  WEFT_ASSERT(item);
  uint32_t at;
  WEFT_TRY(slot_table_find_free(t, &at));
  t->generation = (t->generation + 1) & INT32_MAX;
  if (!t->generation) t->generation = 1; /* no key is 0 */
  *key = (uint64_t)t->generation << 32 | at;
  WEFT_ASSERT(!t->slot[at].item);
  t->slot[at] = (slot_entry){item, *key};
  return WEFT_OK;
}

static slot_entry *slot_table_find(const slot_table *t, uint64_t key) {
  const uint32_t at = (uint32_t)key; /* the low half */
  if (at >= t->capacity || !t->slot[at].item || t->slot[at].key != key) return NULL;
  return &t->slot[at];
}

void *weft__slot_table_get(const slot_table *t, uint64_t key) {
  const slot_entry *s = slot_table_find(t, key);
  return s ? s->item : NULL;
}

void *weft__slot_table_remove(slot_table *t, uint64_t key) {
  slot_entry *s = slot_table_find(t, key);
  if (!s) return NULL;
  void *item = s->item;
  s->item = NULL;
  return item;
}

void weft__slot_table_finish(slot_table *t) {
  weft__free(t->slot);
  *t = (slot_table){0};
}
