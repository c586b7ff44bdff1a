/* rendezvous.c - a table of meetings, one for each key somebody has come to and nobody has left.
 *
 * An entry holds either values that wait or receivers that wait, first in first out, and is removed
 * with its last one.  One lock guards the table; a receiver is called after it is let go. */
#include "state/rendezvous.h"

#include "base/alloc.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

typedef struct meeting {
  struct meeting *next;
  recv_fn *fn; /* NULL: a value waits */
  void *arg;
  weft_tensor value;
  bool dead;
} meeting;

typedef struct entry {
  meeting *first, **last;
} entry;

struct rendezvous {
  atomic_int refs;
  remote_side remote; /* task NULL: none */
  cancel token;
  pthread_mutex_t lock;
  map table; /* key -> entry */
  status aborted;
};

weft_err weft__rendezvous_create(rendezvous **out, const remote_side *remote) {
  rendezvous *r = weft__alloc_zero(1, sizeof *r);
  if (!r) return WEFT_OOM;
  atomic_init(&r->refs, 1);
  if (remote) r->remote = *remote;
  weft__cancel_init(&r->token);
  pthread_mutex_init(&r->lock, NULL);
  *out = r;
  return WEFT_OK;
}

void weft__rendezvous_retain(rendezvous *r) { atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed); }

cancel *weft__rendezvous_token(rendezvous *r) { return &r->token; }

void weft__rendezvous_destroy(rendezvous *r) {
  if (!r || atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel) != 1) return;
  atomic_store(&r->refs, 1); /* for the abort, which takes one of its own */
  if (r->table.count > 0)    /* else the caller's error message stays as it is */
    weft__rendezvous_abort(r, WEFT_ABORTED, "The rendezvous of this step was destroyed");
  weft__map_finish(&r->table);
  weft__status_finish(&r->aborted);
  weft__cancel_finish(&r->token);
  pthread_mutex_destroy(&r->lock);
  weft__free(r);
}

/* With the lock held: the first waiting meeting of the other kind, taken off the table; NULL if none. */
static meeting *take(rendezvous *r, const char *key, bool want_value) {
  entry *e = weft__map_get(&r->table, key);
  if (!e || (e->first->fn == NULL) != want_value) return NULL;
  meeting *m = e->first;
  e->first = m->next;
  if (!e->first) weft__free(weft__map_remove(&r->table, key));
  return m;
}

/* With the lock held: m waits at the end of its entry. */
static weft_err wait_at(rendezvous *r, const char *key, meeting *m) {
  entry *e = weft__map_get(&r->table, key);
  if (!e) {
    if (!(e = weft__alloc_zero(1, sizeof *e))) return WEFT_OOM;
    weft_err err = weft__map_put(&r->table, key, e);
    if (err != WEFT_OK) {
      weft__free(e);
      return err;
    }
    e->last = &e->first;
  }
  m->next = NULL;
  *e->last = m;
  e->last = &m->next;
  return WEFT_OK;
}

static void meeting_destroy(meeting *m) {
  weft__tensor_clear(&m->value);
  weft__free(m);
}

static weft_err meeting_create(meeting **out, const weft_tensor *t, bool dead) {
  meeting *m = weft__alloc_zero(1, sizeof *m);
  if (!m) return WEFT_OOM;
  weft_err err = t->buf ? weft__tensor_keep(&m->value, t) : WEFT_OK;
  m->dead = dead;
  if (err == WEFT_OK)
    *out = m;
  else
    meeting_destroy(m);
  return err;
}

/* Takes the receiver that waits for this key or, if there is none and m is given, leaves m for it. */
static weft_err meet(rendezvous *r, const char *key, meeting *m, meeting **receiver) {
  pthread_mutex_lock(&r->lock);
  weft_err err = weft__status_raise(&r->aborted);
  if (err == WEFT_OK && !(*receiver = take(r, key, false)) && m) err = wait_at(r, key, m);
  pthread_mutex_unlock(&r->lock);
  return err;
}

/* A value is copied, where it must be, only if nobody waits for it yet, and not under the lock. */
weft_err weft__rendezvous_send(rendezvous *r, const char *key, const weft_tensor *t, bool dead) {
  meeting *receiver = NULL, *m = NULL;
  WEFT_TRY(meet(r, key, NULL, &receiver));
  if (!receiver) {
    WEFT_TRY(meeting_create(&m, t, dead));
    weft_err err = meet(r, key, m, &receiver);
    if (err != WEFT_OK || receiver) meeting_destroy(m);
    if (err != WEFT_OK) return err;
  }
  if (receiver) {
    receiver->fn(receiver->arg, WEFT_OK, t, dead);
    meeting_destroy(receiver);
  }
  return WEFT_OK;
}

/* Is it a device of another task that sends under this key? */
static bool is_remote(const rendezvous *r, const char *key) {
  if (!r->remote.task) return false;
  size_t n = strlen(r->remote.task);
  return strncmp(key, r->remote.task, n) != 0 || key[n] != '/';
}

void weft__rendezvous_recv(rendezvous *r, const char *key, recv_fn *fn, void *arg) {
  if (is_remote(r, key)) {
    r->remote.fetch(r->remote.arg, r, key, fn, arg);
    return;
  }
  meeting *m = weft__alloc_zero(1, sizeof *m), *sent = NULL;
  weft_err err = m ? WEFT_OK : WEFT_OOM;
  if (m) {
    m->fn = fn;
    m->arg = arg;
    pthread_mutex_lock(&r->lock);
    err = weft__status_raise(&r->aborted);
    if (err == WEFT_OK && !(sent = take(r, key, true))) {
      err = wait_at(r, key, m);
      if (err == WEFT_OK) m = NULL;
    }
    pthread_mutex_unlock(&r->lock);
    if (!m) return;
  }
  if (sent)
    fn(arg, WEFT_OK, &sent->value, sent->dead);
  else
    fn(arg, err, NULL, false);
  if (sent) meeting_destroy(sent);
  weft__free(m);
}

void weft__rendezvous_recv_all(rendezvous *r, int n, const recv_want *want) {
  if (n > 1 && r->remote.fetch_all && is_remote(r, want->key)) {
    r->remote.fetch_all(r->remote.arg, r, n, want);
    return;
  }
  for (int i = 0; i < n; i++) weft__rendezvous_recv(r, want[i].key, want[i].fn, want[i].arg);
}

bool weft__rendezvous_is_empty(rendezvous *r) {
  pthread_mutex_lock(&r->lock);
  bool empty = r->table.count == 0;
  pthread_mutex_unlock(&r->lock);
  return empty;
}

bool weft__rendezvous_is_unused(rendezvous *r) { return atomic_load(&r->refs) == 1 && weft__rendezvous_is_empty(r); }

bool weft__rendezvous_unrecv(rendezvous *r, const char *key, recv_fn *fn, const void *arg) {
  meeting *found = NULL;
  pthread_mutex_lock(&r->lock);
  entry *e = weft__map_get(&r->table, key);
  for (meeting **at = e ? &e->first : NULL; at && *at && !found; at = &(*at)->next) {
    if ((*at)->fn != fn || (*at)->arg != arg) continue;
    found = *at;
    *at = found->next;
    if (!*at) e->last = at;
    if (!e->first) weft__free(weft__map_remove(&r->table, key));
    break;
  }
  pthread_mutex_unlock(&r->lock);
  weft__free(found);
  return found != NULL;
}

/* Everything that waits, as one list.  The lock is held. */
static meeting *take_all(rendezvous *r) {
  meeting *all = NULL;
  for (int i = 0; i < r->table.used; i++) {
    if (!r->table.entries[i].key) continue;
    entry *e = r->table.entries[i].value;
    *e->last = all;
    all = e->first;
    weft__free(e);
  }
  weft__map_finish(&r->table);
  r->table = (map){0};
  return all;
}

/* Raises the error of an abort, marked as derived where TF marks it. */
static weft_err abort_error(const rendezvous *r, weft_err code, const char *message) {
  bool derived = r->remote.task && (code == WEFT_CANCELLED || code == WEFT_ABORTED) &&
                 strncmp(message, WEFT_DERIVED, strlen(WEFT_DERIVED)) != 0;
  return weft__fail(code, "%s%s", derived ? WEFT_DERIVED : "", message);
}

void weft__rendezvous_abort(rendezvous *r, weft_err code, const char *message) {
  weft__rendezvous_retain(r); /* a callback may let go of the last one */
  pthread_mutex_lock(&r->lock);
  bool first = r->aborted.code == WEFT_OK;
  if (first) weft__status_keep(&r->aborted, abort_error(r, code, message));
  meeting *all = take_all(r);
  pthread_mutex_unlock(&r->lock);
  if (first) weft__cancel_fire(&r->token, code, "%s", r->aborted.message ? r->aborted.message : "");
  for (meeting *m = all, *next; m; m = next) {
    next = m->next;
    if (m->fn) m->fn(m->arg, weft__status_raise(&r->aborted), NULL, false);
    meeting_destroy(m);
  }
  weft__rendezvous_destroy(r);
}

char *weft__rendezvous_key(const weft_node *n, const char *from_device, const char *to_device, uint64_t frame,
                           int64_t turn) {
  return weft__sprintf("%s;%016" PRIx64 ";%s;%s;%" PRIu64 ":%" PRId64,
                       from_device ? from_device : weft__node_str(n, "send_device").data,
                       (uint64_t)weft__node_int(n, "send_device_incarnation", 0),
                       to_device ? to_device : weft__node_str(n, "recv_device").data,
                       weft__node_str(n, "tensor_name").data, frame, turn);
}
