/* map.c - entries in insertion order, and an open-addressing index of their numbers.
 *
 * A removed entry keeps its slot in both, with a NULL key, until the map grows next, which packs the entries and
 * rebuilds the index.  So a removal moves nothing, and a loop over the entries may remove. */
#include "base/map.h"
#include "base/alloc.h"
#include "base/assert.h"
#include <string.h>

/* Hashes eight bytes at a time, because the names of devices and tensors are long and most keys of a step have them. */
uint32_t weft__map_hash(const char *key) {
  const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
  size_t left = strlen(key);
  uint64_t h = left * odd, word;
  for (; left >= sizeof word; left -= sizeof word, key += sizeof word) {
    memcpy(&word, key, sizeof word);
    h = (h ^ word) * odd;
    h ^= h >> 32;
  }
  word = 0;
  memcpy(&word, key, left);
  h = (h ^ word) * odd;
  return (uint32_t)(h >> 32);
}

static int *map_slot(const map *m, const char *key) {
  WEFT_ASSERT(m->capacity > 0 && (m->capacity & (m->capacity - 1)) == 0); /* the mask needs a power of two */
  WEFT_ASSERT(m->count <= m->capacity && m->used <= m->capacity);
  uint32_t mask = (uint32_t)m->capacity * 2 - 1;
  for (uint32_t i = weft__map_hash(key) & mask;; i = (i + 1) & mask) {
    int e = m->index[i];
    if (e == 0) return &m->index[i];
    const char *k = m->entries[e - 1].key;
    if (k && strcmp(k, key) == 0) return &m->index[i];
  }
}

void *weft__map_get(const map *m, const char *key) {
  if (m->count == 0) return NULL;
  int e = *map_slot(m, key);
  return e ? m->entries[e - 1].value : NULL;
}

static weft_err map_grow(map *m) {
  int capacity = 8;
  while (capacity < m->count * 2) capacity *= 2;
  map_entry *entries = weft__alloc_zero((size_t)capacity, sizeof *entries);
  int *index = weft__alloc_zero((size_t)capacity * 2, sizeof *index);
  if (!entries || !index) {
    weft__free(entries);
    weft__free(index);
    return WEFT_RESOURCE_EXHAUSTED;
  }
  map old = *m;
  *m = (map){.entries = entries, .index = index, .capacity = capacity, .count = old.count};
  for (int i = 0; i < old.used; i++) {
    if (!old.entries[i].key) continue;
    entries[m->used++] = old.entries[i];
    *map_slot(m, old.entries[i].key) = m->used;
  }
  WEFT_ASSERT(m->used == m->count);
  weft__free(old.entries);
  weft__free(old.index);
  return WEFT_OK;
}

weft_err weft__map_put(map *m, const char *key, void *value) {
  WEFT_ASSERT(value);
  if (m->count > 0) {
    int e = *map_slot(m, key);
    if (e) {
      m->entries[e - 1].value = value;
      return WEFT_OK;
    }
  }
  if (m->used == m->capacity) WEFT_TRY(map_grow(m));
  char *copy = weft__strdup(key);
  if (!copy) return WEFT_RESOURCE_EXHAUSTED;
  m->entries[m->used] = (map_entry){copy, value};
  *map_slot(m, key) = ++m->used;
  m->count++;
  return WEFT_OK;
}

void *weft__map_remove(map *m, const char *key) {
  if (m->count == 0) return NULL;
  int e = *map_slot(m, key);
  if (!e) return NULL;
  void *value = m->entries[e - 1].value;
  weft__free(m->entries[e - 1].key);
  m->entries[e - 1] = (map_entry){0};
  m->count--;
  return value;
}

void weft__map_finish(map *m) {
  for (int i = 0; i < m->used; i++) weft__free(m->entries[i].key);
  weft__free(m->entries);
  weft__free(m->index);
  *m = (map){0};
}
