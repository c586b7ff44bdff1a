/* memo.cuh - what was found out about problems, by their keys.
 *
 * A table of fixed size, in which a new problem takes the place of an old one where too many fall together.  An entry
 * has a `key`, compared as bytes, and says with `known` whether it is in use. */
#pragma once

#include <stdint.h>
#include <string.h>

enum { MEMO_PROBES = 8 };

/* The entry of the key; or, with *hit false, the one that may be used for it. */
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
