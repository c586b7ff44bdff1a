/* memo.cuh - a cache of decisions about problems, such as the fastest algorithm for a matrix product, by key.
 *
 * The table has a fixed size.  If too many keys collide, a new problem replaces an old one.  An entry has a `key`,
 * compared as bytes, and a flag `known`, which says that it is in use. */
#pragma once

#include <stdint.h>
#include <string.h>

enum { MEMO_PROBES = 8 };

/* Returns the entry of the key; or, with *hit false, an entry that may be overwritten for it. */
template <class E, class K, int size> E *memo_find(E (&table)[size], const K &key, bool *hit) {
  const unsigned char *bytes = (const unsigned char *)&key;
  uint64_t h = 1469598103934665603u;
  for (size_t i = 0; i < sizeof key; i++) h = (h ^ bytes[i]) * 1099511628211u;
  E *free = nullptr;
  for (unsigned i = 0; i < MEMO_PROBES; i++) {
    E *e = &table[((unsigned)(h >> 20) + i) % size];
    *hit = e->known && memcmp(&e->key, &key, sizeof key) == 0;
    if (*hit) return e;
    if (!e->known && !free) free = e;
  }
  return free ? free : &table[(unsigned)(h >> 20) % size];
}
