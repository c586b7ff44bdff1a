/* request_dedup.c - a ring of ids in the order they came, and an open-addressed set of the same.
 *
 * Ids are random numbers, so their low bits are their hash.  Both arrays double while they are small and then have room for
 * as many ids as the limit says: a process whose memory creeps up for hours looks as if it leaked.  Once they are full, a
 * new id takes the place of the oldest. */
#include "cluster/request_dedup.h"

#include "base/alloc.h"
#include "base/adaptive_mutex.h"
#include <pthread.h>
#include <string.h>

enum { FIRST_ROOM = 256, SMALL_ROOM = 1024 };

struct once {
  pthread_mutex_t lock;
  int limit, room, count, oldest;
  int64_t *ring; /* room of them */
  int64_t *set;  /* a power of two, at least twice room; 0: free */
  size_t mask;
};

weft_err weft__once_create(once **out, int limit) {
  once *o = weft__alloc_zero(1, sizeof *o);
  if (!o) return WEFT_OOM;
  weft__adaptive_mutex_init(&o->lock);
  o->limit = limit;
  *out = o;
  return WEFT_OK;
}

void weft__once_destroy(once *o) {
  if (!o) return;
  pthread_mutex_destroy(&o->lock);
  weft__free(o->ring);
  weft__free(o->set);
  weft__free(o);
}

void weft__once_clear(once *o) {
  pthread_mutex_lock(&o->lock);
  weft__free(o->ring);
  weft__free(o->set);
  o->ring = o->set = NULL;
  o->room = o->count = o->oldest = 0;
  o->mask = 0;
  pthread_mutex_unlock(&o->lock);
}

/* Where id is, or where it would go. */
static size_t place_of(const once *o, int64_t id) {
  size_t i = (size_t)((uint64_t)id * UINT64_C(0x9E3779B97F4A7C15) >> 20) & o->mask;
  while (o->set[i] && o->set[i] != id) i = (i + 1) & o->mask;
  return i;
}

/* Takes id out and moves those behind it that are no longer where they would be looked for. */
static void forget(once *o, int64_t id) {
  size_t i = place_of(o, id);
  o->set[i] = 0;
  for (size_t j = (i + 1) & o->mask; o->set[j]; j = (j + 1) & o->mask) {
    int64_t moved = o->set[j];
    o->set[j] = 0;
    o->set[place_of(o, moved)] = moved;
  }
}

/* Only while the ring has not gone round: its ids are ring[0 .. count). */
static weft_err grow(once *o) {
  int room = o->room ? 2 * o->room : FIRST_ROOM;
  if (room > o->limit || room > SMALL_ROOM) room = o->limit;
  size_t slots = 2 * FIRST_ROOM;
  while (slots < 2 * (size_t)room) slots *= 2;
  int64_t *ring = weft__realloc(o->ring, sizeof *ring * (size_t)room);
  if (ring) o->ring = ring;
  int64_t *set = ring ? weft__alloc_zero(slots, sizeof *set) : NULL;
  if (!set) return WEFT_OOM;
  weft__free(o->set);
  o->set = set;
  o->mask = slots - 1;
  o->room = room;
  memset(o->ring + o->count, 0, sizeof *ring * (size_t)(room - o->count)); /* so that its pages are there, too */
  for (int i = 0; i < o->count; i++) o->set[place_of(o, o->ring[i])] = o->ring[i];
  return WEFT_OK;
}

static weft_err add(once *o, const char *method, int64_t id) {
  if (o->count == o->room && o->room < o->limit) WEFT_TRY(grow(o));
  size_t at = place_of(o, id);
  if (o->set[at])
    return weft__fail(WEFT_ABORTED, "The same %s request was received twice. request_id: %lld", method, (long long)id);
  int next = o->count;
  if (o->count == o->room) {
    next = o->oldest;
    o->oldest = (o->oldest + 1) % o->room;
    forget(o, o->ring[next]);
    at = place_of(o, id);
  } else {
    o->count++;
  }
  o->ring[next] = id;
  o->set[at] = id;
  return WEFT_OK;
}

weft_err weft__once_check(once *o, const char *method, int64_t id) {
  if (id == 0) return WEFT_OK;
  pthread_mutex_lock(&o->lock);
  weft_err err = add(o, method, id);
  pthread_mutex_unlock(&o->lock);
  return err;
}
