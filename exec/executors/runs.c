/* runs.c - the runs in flight as a list of entries, each with its cancel token. */
#include "exec/executors/runs.h"

#include "base/assert.h"

void weft__runs_init(runs *r) {
  *r = (runs){.n = 0};
  weft__list_init(&r->list);
  pthread_cond_init(&r->none, NULL);
}

void weft__runs_finish(runs *r) {
  WEFT_ASSERT(r->n == 0 && weft__list_is_empty(&r->list));
  pthread_cond_destroy(&r->none);
}

void weft__runs_add(runs *r, run_entry *e) {
  e->link = (list_link){0}; /* entries are on the stacks of their runs */
  weft__list_append(&r->list, &e->link);
  r->n++;
}

void weft__runs_remove(runs *r, run_entry *e) {
  WEFT_ASSERT(r->n > 0);
  weft__list_remove(&e->link);
  if (--r->n == 0 && r->closed) pthread_cond_broadcast(&r->none); /* nobody waits before it is closed */
}

bool weft__runs_stop(runs *r, weft_err code, const char *message) {
  bool first = !r->closed;
  r->closed = true;
  if (!first) return false;
  WEFT_LIST_FOR_EACH(link, &r->list) {
    weft__cancel_fire(&WEFT_LIST_ITEM(link, run_entry, link)->cancel, code, "%s", message);
  }
  return true;
}

bool weft__runs_close(runs *r, pthread_mutex_t *lock, const char *message) {
  WEFT_ASSERT(weft__lock_is_held(lock));
  bool first = weft__runs_stop(r, WEFT_CANCELLED, message);
  while (r->n) pthread_cond_wait(&r->none, lock);
  return first;
}
