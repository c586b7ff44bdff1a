/* ready_queue.c - a table of names, and a list through the sources. */
#include "net/fast/ready_queue.h"
#include "base/alloc.h"
#include <string.h>

void weft__sources_init(sources *t) {
  *t = (sources){0};
  pthread_mutex_init(&t->lock, NULL);
}

void weft__sources_finish(sources *t) {
  weft__free(t->slot);
  pthread_mutex_destroy(&t->lock);
}

weft_err weft__source_name(sources *t, source *s) {
  uint32_t at = 0;
  s->events = 0, s->patient = false;
  pthread_mutex_lock(&t->lock);
  while (at < t->n_slot && t->slot[at]) at++;
  if (at == t->n_slot) {
    uint32_t n = t->n_slot ? 2 * t->n_slot : 16;
    source **more = weft__realloc(t->slot, n * sizeof *more);
    if (more) memset(more + t->n_slot, 0, (n - t->n_slot) * sizeof *more);
    if (more) t->slot = more, t->n_slot = n;
  }
  bool found = at < t->n_slot;
  if (found) {
    s->key = (uint64_t)(++t->turn & INT32_MAX) << 32 | at;
    t->slot[at] = s;
  }
  pthread_mutex_unlock(&t->lock);
  return found ? WEFT_OK : WEFT_OOM;
}

static void unlist(sources *t, source *s) {
  *(s->newer ? &s->newer->older : &t->newest) = s->older;
  *(s->older ? &s->older->newer : &t->oldest) = s->newer;
  s->events = 0;
}

void weft__source_unname(sources *t, source *s) {
  pthread_mutex_lock(&t->lock);
  t->slot[(uint32_t)s->key] = NULL;
  if (s->events) unlist(t, s);
  pthread_mutex_unlock(&t->lock);
}

static void list(sources *t, source *s, int64_t now_ns) {
  bool last = s->patient && t->oldest;
  s->since_ns = last ? t->oldest->since_ns : now_ns; /* or it would stand before one that has waited too long */
  s->newer = last ? t->oldest : NULL;
  s->older = last ? NULL : t->newest;
  *(s->newer ? &s->newer->older : &t->newest) = s;
  *(s->older ? &s->older->newer : &t->oldest) = s;
  s->patient = false;
}

void weft__ready_later(sources *t, source *s) {
  pthread_mutex_lock(&t->lock);
  s->patient = true;
  pthread_mutex_unlock(&t->lock);
}

void weft__ready_note(sources *t, uint64_t key, uint32_t events, int64_t now_ns) {
  pthread_mutex_lock(&t->lock);
  source *s = t->slot[(uint32_t)key];
  if (s && s->key == key) {
    if (!s->events) list(t, s, now_ns);
    s->events |= events;
  }
  pthread_mutex_unlock(&t->lock);
}

source *weft__ready_next(sources *t, int64_t now_ns, uint32_t *events) {
  pthread_mutex_lock(&t->lock);
  bool late = t->oldest && now_ns - t->oldest->since_ns > (int64_t)READY_WAIT_MS * 1000000;
  source *s = late ? t->oldest : t->newest;
  if (s) {
    *events = s->events;
    unlist(t, s);
  }
  pthread_mutex_unlock(&t->lock);
  return s;
}

bool weft__ready_any(sources *t) {
  pthread_mutex_lock(&t->lock);
  bool any = t->newest;
  pthread_mutex_unlock(&t->lock);
  return any;
}
