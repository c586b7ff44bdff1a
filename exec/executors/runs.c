/* runs.c - the runs in flight as a circular list of entries, each with its cancel token. */
#include "exec/executors/runs.h"

#include "base/assert.h"

void weft__runs_init(runs *r) {
  *r = (runs){.n = 0};
  r->ring.next = r->ring.prev = &r->ring;
  pthread_cond_init(&r->none, NULL);
}

void weft__runs_finish(runs *r) {
  WEFT_ASSERT(r->n == 0 && r->ring.next == &r->ring);
  pthread_cond_destroy(&r->none);
}

void weft__runs_add(runs *r, run_entry *e) {
  e->next = &r->ring;
  e->prev = r->ring.prev;
  e->prev->next = r->ring.prev = e;
  r->n++;
}

void weft__runs_remove(runs *r, run_entry *e) {
  WEFT_ASSERT(r->n > 0 && e->next->prev == e && e->prev->next == e);
  e->prev->next = e->next;
  e->next->prev = e->prev;
  if (--r->n == 0 && r->closed) pthread_cond_broadcast(&r->none); /* nobody waits before it is closed */
}

bool weft__runs_stop(runs *r, weft_err code, const char *message) {
  bool first = !r->closed;
  r->closed = true;
  for (run_entry *e = r->ring.next; e != &r->ring && first; e = e->next)
    weft__cancel_fire(&e->cancel, code, "%s", message);
  return first;
}

bool weft__runs_close(runs *r, pthread_mutex_t *lock, const char *message) {
  WEFT_ASSERT(weft__lock_is_held(lock));
  bool first = weft__runs_stop(r, WEFT_CANCELLED, message);
  while (r->n) pthread_cond_wait(&r->none, lock);
  return first;
}
