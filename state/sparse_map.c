/* sparse_map.c - an array of entries in the order of their numbers.
 *
 * Numbers only grow, so an entry is found by binary search.  A taken entry leaves a gap.  Gaps at the front are
 * skipped, and removed when they are half of the array.  `lock`, a leaf, guards everything. */
#include "state/sparse_map.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include <pthread.h>
#include <string.h>

typedef struct sparse_slot {
  int64_t number;
  bool taken;
  sparse_map_entry kept;
} sparse_slot;

struct sparse_map {
  resource base;
  pthread_mutex_t lock;
  int64_t next;     /* the number of the next entry */
  sparse_slot *row; /* [first, n) of `capacity` */
  int64_t first, n, capacity;
};

void weft__sparse_map_entry_clear(sparse_map_entry *s) {
  weft__tensor_clear(&s->indices);
  weft__tensor_clear(&s->values);
  weft__tensor_clear(&s->dims);
}

/* Makes sure that one more entry fits: removes gaps at the front, or grows the array. */
static weft_err sparse_map_reserve(sparse_map *m) {
  WEFT_ASSERT(m->first <= m->n && m->n <= m->capacity);
  if (m->n < m->capacity) return WEFT_OK;
  if (m->first > 0 && 2 * m->first >= m->capacity) {
    memmove(m->row, m->row + m->first, (size_t)(m->n - m->first) * sizeof *m->row);
    m->n -= m->first;
    m->first = 0;
    return WEFT_OK;
  }
  sparse_slot *row = weft__array_grow(m->row, &m->capacity, m->n + 1, sizeof *row);
  if (!row) return WEFT_OOM;
  m->row = row;
  return WEFT_OK;
}

weft_err weft__sparse_map_add(sparse_map *m, sparse_map_entry *s, int64_t *number) {
  pthread_mutex_lock(&m->lock);
  const weft_err err = sparse_map_reserve(m);
  if (!err) {
    WEFT_ASSERT(m->n < m->capacity);
    WEFT_ASSERT(m->n == m->first || m->row[m->n - 1].number < m->next); /* the binary search needs sorted numbers */
    *number = m->next++;
    m->row[m->n++] = (sparse_slot){*number, false, *s};
    *s = (sparse_map_entry){0};
  }
  pthread_mutex_unlock(&m->lock);
  return err;
}

static sparse_slot *sparse_map_find(const sparse_map *m, int64_t number) {
  int64_t low = m->first, high = m->n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (m->row[middle].number < number)
      low = middle + 1;
    else
      high = middle;
  }
  return low < m->n && m->row[low].number == number && !m->row[low].taken ? &m->row[low] : NULL;
}

bool weft__sparse_map_take(sparse_map *m, int64_t number, sparse_map_entry *out) {
  pthread_mutex_lock(&m->lock);
  sparse_slot *p = sparse_map_find(m, number);
  if (p) {
    *out = p->kept;
    p->taken = true;
    p->kept = (sparse_map_entry){0};
  }
  while (m->first < m->n && m->row[m->first].taken) m->first++;
  if (m->first == m->n) m->first = m->n = 0;
  pthread_mutex_unlock(&m->lock);
  return p != NULL;
}

static void sparse_map_destroy(object *o) {
  sparse_map *m = (sparse_map *)o;
  for (int64_t i = m->first; i < m->n; i++) weft__sparse_map_entry_clear(&m->row[i].kept);
  weft__free(m->row);
  pthread_mutex_destroy(&m->lock);
  weft__free(m);
}

weft_err weft__sparse_map_create(sparse_map **out) {
  sparse_map *m = weft__alloc_zero(1, sizeof *m);
  if (!m) return WEFT_OOM;
  atomic_init(&m->base.base.refs, 1);
  m->base.base.destroy = sparse_map_destroy;
  m->base.type = SPARSE_MAP_TYPE;
  pthread_mutex_init(&m->lock, NULL);
  *out = m;
  return WEFT_OK;
}
