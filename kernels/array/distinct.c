/* distinct.c - a hash table from integers to their numbers.
 *
 * A slot has 32 bits of an integer and its number, so that the table of a batch of ids stays in the cache.  If all
 * integers of the list have equal upper halves, as ids do, these 32 bits decide; else a slot that seems equal is
 * compared with the integer itself.  The table is large enough for distinct integers from the start, unless the list is
 * long. */
#include "kernels/array/distinct.h"
#include "base/assert.h"
#include "kernels/work/long_work.h"
#include <string.h>

enum { FIRST_BITS = 17 }; /* at most so many for the first table: 1 MiB */

typedef struct slot {
  uint32_t tag, number; /* numbers begin with 1; 0: the slot is empty */
} slot;

typedef struct table {
  weft_tensor room;
  slot *slots; /* 1 << bits, at most half of them used */
  int bits;
} table;

typedef struct list {
  const char *x;
  char *distinct;
  void *idx;
  int64_t n, found;
} list;

static inline uint64_t list_at(const char *x, size_t bytes, int64_t i) {
  uint64_t made = 0;
  memcpy(&made, x + (size_t)i * bytes, bytes);
  return made;
}

/* Returns the slot of the key, or the empty one for it.  `same_upper`: keys of equal lower halves are equal. */
static inline slot *table_find(const table *t, const list *l, size_t bytes, bool same_upper, uint64_t key) {
  WEFT_ASSERT(2 * l->found <= (INT64_C(1) << t->bits) + 1); /* so that an empty slot ends the search */
  const uint64_t hash = key * 0x9E3779B97F4A7C15u, mask = (UINT64_C(1) << t->bits) - 1;
  const uint32_t tag = same_upper ? (uint32_t)key : (uint32_t)(hash >> 8);
  for (uint64_t at = hash >> (64 - t->bits);; at = (at + 1) & mask) {
    slot *s = &t->slots[at];
    if (s->number == 0) {
      s->tag = tag;
      return s;
    }
    if (s->tag == tag && (same_upper || list_at(l->distinct, bytes, s->number - 1) == key)) return s;
  }
}

static weft_err table_make(kernel *k, table *t, int bits) {
  weft__tensor_clear(&t->room);
  WEFT_TRY(weft__scratch(k, &t->room, WEFT_INT64, &SHAPE1(INT64_C(1) << bits)));
  t->slots = t->room.data;
  t->bits = bits;
  memset(t->slots, 0, sizeof *t->slots << bits);
  return WEFT_OK;
}

/* bytes, same_upper and long_idx are constants where it is called. */
static inline __attribute__((always_inline)) weft_err list_number(kernel *k, table *t, list *l, size_t bytes,
                                                                  bool same_upper, bool long_idx) {
  for (int64_t i = 0; i < l->n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const uint64_t key = list_at(l->x, bytes, i);
    slot *s = table_find(t, l, bytes, same_upper, key);
    if (s->number == 0) {
      memcpy(l->distinct + (size_t)l->found * bytes, l->x + (size_t)i * bytes, bytes);
      s->number = (uint32_t)++l->found;
    }
    if (long_idx)
      ((int64_t *)l->idx)[i] = (int64_t)s->number - 1;
    else
      ((int32_t *)l->idx)[i] = (int32_t)(s->number - 1); /* fits: at most DISTINCT_MAX */
    if (2 * l->found > INT64_C(1) << t->bits) {
      WEFT_TRY(table_make(k, t, t->bits + 2));
      for (int64_t j = 0; j < l->found; j++)
        table_find(t, l, bytes, same_upper, list_at(l->distinct, bytes, j))->number = (uint32_t)j + 1;
    }
  }
  return WEFT_OK;
}

/* Returns true if the upper halves of all elements are equal. */
static bool list_same_upper(const list *l) {
  const uint64_t *x = (const uint64_t *)(const void *)l->x;
  uint64_t different = 0;
  for (int64_t i = 0; i < l->n; i++) different |= x[i] ^ x[0];
  return different >> 32 == 0;
}

weft_err weft__distinct_integers(kernel *k, const weft_tensor *x, void *distinct, weft_tensor *idx, int64_t *found) {
  WEFT_ASSERT(weft__tensor_count(idx) == weft__tensor_count(x));
  const size_t bytes = weft__dtype_size(x->dtype);
  const bool long_idx = idx->dtype == WEFT_INT64;
  list l = {.x = x->data, .distinct = distinct, .idx = idx->data, .n = weft__tensor_count(x)};
  table t = {.bits = 4};
  while (t.bits < FIRST_BITS && INT64_C(1) << t.bits < 2 * l.n) t.bits++;
  weft_err err = table_make(k, &t, t.bits);
  if (err == WEFT_OK) {
    if (bytes == 8 && list_same_upper(&l))
      err = long_idx ? list_number(k, &t, &l, 8, true, true) : list_number(k, &t, &l, 8, true, false);
    else if (bytes == 8)
      err = long_idx ? list_number(k, &t, &l, 8, false, true) : list_number(k, &t, &l, 8, false, false);
    else if (bytes == 4)
      err = long_idx ? list_number(k, &t, &l, 4, true, true) : list_number(k, &t, &l, 4, true, false);
    else
      err = list_number(k, &t, &l, bytes, true, long_idx);
  }
  weft__tensor_clear(&t.room);
  *found = l.found;
  return err;
}
