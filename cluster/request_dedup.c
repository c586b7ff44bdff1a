/* request_dedup.c - a ring of ids in the order of their arrival, and an open-addressed hash set of the same ids.
 *
 * Both arrays double while they are small and then grow to the limit at once: a process whose memory grows slowly for
 * hours looks as if it leaked.  An array of base/array.h would double beyond the limit.  Once the ring is full, a new
 * id replaces the oldest.  One lock guards everything; it is held for a few lines, so it is an adaptive mutex. */
#include "cluster/request_dedup.h"

#include "base/alloc.h"
#include "base/adaptive_mutex.h"
#include "base/assert.h"
#include <pthread.h>
#include <string.h>

enum { FIRST_CAPACITY = 256, SMALL_CAPACITY = 1024 };

struct request_dedup {
  pthread_mutex_t lock;
  int limit, capacity, count, oldest;
  int64_t *ring; /* `capacity` ids */
  int64_t *set;  /* a power of two of slots, at least twice the capacity; 0: free */
  size_t mask;
};

weft_err weft__request_dedup_create(request_dedup **out, int limit) {
  request_dedup *d = weft__alloc_zero(1, sizeof *d);
  if (!d) return WEFT_OOM;
  weft__adaptive_mutex_init(&d->lock);
  d->limit = limit;
  *out = d;
  return WEFT_OK;
}

void weft__request_dedup_destroy(request_dedup *d) {
  if (!d) return;
  pthread_mutex_destroy(&d->lock);
  weft__free(d->ring);
  weft__free(d->set);
  weft__free(d);
}

void weft__request_dedup_clear(request_dedup *d) {
  pthread_mutex_lock(&d->lock);
  weft__free(d->ring);
  weft__free(d->set);
  d->ring = d->set = NULL;
  d->capacity = d->count = d->oldest = 0;
  d->mask = 0;
  pthread_mutex_unlock(&d->lock);
}

/* Returns the slot of the id, or the free slot where it belongs. */
static size_t request_dedup_slot(const request_dedup *d, int64_t id) {
  WEFT_ASSERT(d->mask > 0 && (size_t)d->count <= d->mask);
  size_t i = (size_t)((uint64_t)id * UINT64_C(0x9E3779B97F4A7C15) >> 20) & d->mask;
  while (d->set[i] && d->set[i] != id) i = (i + 1) & d->mask;
  return i;
}

/* Removes the id from the set, and moves the ids behind it whose slots a search would no longer reach. */
static void request_dedup_remove(request_dedup *d, int64_t id) {
  WEFT_ASSERT(d->set[request_dedup_slot(d, id)] == id);
  size_t i = request_dedup_slot(d, id);
  d->set[i] = 0;
  for (size_t j = (i + 1) & d->mask; d->set[j]; j = (j + 1) & d->mask) {
    int64_t moved = d->set[j];
    d->set[j] = 0;
    d->set[request_dedup_slot(d, moved)] = moved;
  }
}

/* Makes room for more ids.  Called only before the ring has wrapped around: its ids are ring[0 .. count). */
static weft_err request_dedup_grow(request_dedup *d) {
  WEFT_ASSERT(d->oldest == 0 && d->count == d->capacity);
  int capacity = d->capacity ? 2 * d->capacity : FIRST_CAPACITY;
  if (capacity > d->limit || capacity > SMALL_CAPACITY) capacity = d->limit;
  size_t slots = 2 * FIRST_CAPACITY;
  while (slots < 2 * (size_t)capacity) slots *= 2;
  int64_t *ring = weft__realloc(d->ring, sizeof *ring * (size_t)capacity);
  if (ring) d->ring = ring;
  int64_t *set = ring ? weft__alloc_zero(slots, sizeof *set) : NULL;
  if (!set) return WEFT_OOM;
  weft__free(d->set);
  d->set = set;
  d->mask = slots - 1;
  d->capacity = capacity;
  memset(d->ring + d->count, 0, sizeof *ring * (size_t)(capacity - d->count)); /* touches its pages now */
  for (int i = 0; i < d->count; i++) d->set[request_dedup_slot(d, d->ring[i])] = d->ring[i];
  return WEFT_OK;
}

static weft_err request_dedup_add(request_dedup *d, const char *method, int64_t id) {
  WEFT_ASSERT(weft__lock_is_held(&d->lock) && d->count <= d->capacity && d->capacity <= d->limit);
  if (d->count == d->capacity && d->capacity < d->limit) WEFT_TRY(request_dedup_grow(d));
  size_t at = request_dedup_slot(d, id);
  if (d->set[at])
    return weft__fail(WEFT_ABORTED, "The same %s request was received twice. request_id: %lld", method, (long long)id);
  int next = d->count;
  if (d->count == d->capacity) {
    next = d->oldest;
    d->oldest = (d->oldest + 1) % d->capacity;
    request_dedup_remove(d, d->ring[next]);
    at = request_dedup_slot(d, id);
  } else {
    d->count++;
  }
  d->ring[next] = id;
  d->set[at] = id;
  return WEFT_OK;
}

weft_err weft__request_dedup_check(request_dedup *d, const char *method, int64_t id) {
  if (id == 0) return WEFT_OK;
  pthread_mutex_lock(&d->lock);
  weft_err err = request_dedup_add(d, method, id);
  pthread_mutex_unlock(&d->lock);
  return err;
}
