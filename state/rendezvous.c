/* rendezvous.c - a table of meetings: whoever has come and waits for the other.
 *
 * Of one key either values wait or receivers, first in first out.  One lock guards the table; a receiver is called after
 * it is let go. */
#include "state/rendezvous.h"

#include "base/alloc.h"
#include "base/map.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

enum { FEW = 16 };

typedef struct meeting {
  struct meeting *next; /* of its bucket */
  recv_fn *fn;          /* NULL: a value waits */
  void *arg;
  weft_tensor value;
  bool dead;
  uint32_t hash;
  char key[];
} meeting;

struct rendezvous {
  atomic_int refs;
  rendezvous_remote remote; /* task NULL: none */
  cancel token;
  pthread_mutex_t lock;
  uint32_t n_waiting, n_bucket; /* a power of two */
  meeting **bucket, *few[FEW];
  status aborted;
};

weft_err weft__rendezvous_create(rendezvous **out, const rendezvous_remote *remote) {
  rendezvous *r = weft__alloc_zero(1, sizeof *r);
  if (!r) return WEFT_OOM;
  atomic_init(&r->refs, 1);
  if (remote) r->remote = *remote;
  r->bucket = r->few, r->n_bucket = FEW;
  weft__cancel_init(&r->token);
  pthread_mutex_init(&r->lock, NULL);
  *out = r;
  return WEFT_OK;
}

void weft__rendezvous_retain(rendezvous *r) { atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed); }

cancel *weft__rendezvous_token(rendezvous *r) { return &r->token; }

void weft__rendezvous_release(rendezvous *r) {
  if (!r || atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel) != 1) return;
  atomic_store(&r->refs, 1); /* for the abort, which takes one of its own */
  if (r->n_waiting > 0)      /* else the caller's error message stays as it is */
    weft__rendezvous_abort(r, WEFT_ABORTED, "The rendezvous of this step was destroyed");
  if (r->bucket != r->few) weft__free(r->bucket);
  weft__status_finish(&r->aborted);
  weft__cancel_finish(&r->token);
  pthread_mutex_destroy(&r->lock);
  weft__free(r);
}

static meeting **bucket_of(rendezvous *r, uint32_t hash) { return &r->bucket[hash & (r->n_bucket - 1)]; }

/* With the lock held: where the first meeting of this key is that waits, or where another would. */
static meeting **find(rendezvous *r, const char *key, uint32_t hash) {
  meeting **at = bucket_of(r, hash);
  while (*at && ((*at)->hash != hash || strcmp((*at)->key, key) != 0)) at = &(*at)->next;
  return at;
}

static meeting *unlist(rendezvous *r, meeting **at) {
  meeting *m = *at;
  *at = m->next;
  r->n_waiting--;
  return m;
}

/* With the lock held: the first waiting meeting of the other kind, taken off the table; NULL if none. */
static meeting *take(rendezvous *r, const char *key, bool want_value) {
  if (r->n_waiting == 0) return NULL;
  meeting **at = find(r, key, weft__map_hash(key));
  return *at && ((*at)->fn == NULL) == want_value ? unlist(r, at) : NULL;
}

/* Twice as many buckets, each the half of one in its order; without memory they stay as they are, and long. */
static void grow(rendezvous *r) {
  uint32_t n = r->n_bucket;
  meeting **more = weft__alloc_zero(2 * (size_t)n, sizeof *more);
  if (!more) return;
  for (uint32_t i = 0; i < n; i++) {
    meeting **end[2] = {&more[i], &more[i + n]};
    for (meeting *m = r->bucket[i]; m; m = m->next) {
      meeting ***half = &end[(m->hash & n) != 0];
      **half = m;
      *half = &m->next;
    }
    *end[0] = *end[1] = NULL;
  }
  if (r->bucket != r->few) weft__free(r->bucket);
  r->bucket = more, r->n_bucket = 2 * n;
}

/* With the lock held: m waits behind all others. */
static void list(rendezvous *r, meeting *m) {
  if (r->n_waiting >= 2 * r->n_bucket) grow(r);
  meeting **at = bucket_of(r, m->hash);
  while (*at) at = &(*at)->next;
  m->next = NULL;
  *at = m;
  r->n_waiting++;
}

static void meeting_destroy(meeting *m) {
  weft__tensor_clear(&m->value);
  weft__free(m);
}

static weft_err meeting_create(meeting **out, const char *key) {
  size_t size = strlen(key) + 1;
  meeting *m = weft__alloc(sizeof *m + size);
  if (!m) return WEFT_OOM;
  *m = (meeting){.hash = weft__map_hash(key)};
  memcpy(m->key, key, size);
  *out = m;
  return WEFT_OK;
}

/* Takes the receiver that waits for this key or, if there is none and m is given, leaves m for it. */
static weft_err meet(rendezvous *r, const char *key, meeting *m, meeting **receiver) {
  pthread_mutex_lock(&r->lock);
  weft_err err = weft__status_raise(&r->aborted);
  if (err == WEFT_OK && !(*receiver = take(r, key, false)) && m) list(r, m);
  pthread_mutex_unlock(&r->lock);
  return err;
}

/* A value that waits is kept: copied, where it must be, and not under the lock. */
static weft_err leave(rendezvous *r, const char *key, const weft_tensor *t, bool dead, meeting **receiver) {
  meeting *m;
  WEFT_TRY(meeting_create(&m, key));
  weft_err err = t->buf ? weft__tensor_keep(&m->value, t) : WEFT_OK;
  m->dead = dead;
  if (err == WEFT_OK) err = meet(r, key, m, receiver);
  if (err != WEFT_OK || *receiver) meeting_destroy(m);
  return err;
}

weft_err weft__rendezvous_send(rendezvous *r, const char *key, const weft_tensor *t, bool dead) {
  meeting *receiver = NULL;
  WEFT_TRY(meet(r, key, NULL, &receiver));
  if (!receiver) WEFT_TRY(leave(r, key, t, dead, &receiver));
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
  meeting *m = NULL, *sent = NULL;
  weft_err err = meeting_create(&m, key);
  if (m) {
    m->fn = fn;
    m->arg = arg;
    pthread_mutex_lock(&r->lock);
    err = weft__status_raise(&r->aborted);
    if (err == WEFT_OK && !(sent = take(r, key, true))) {
      list(r, m);
      m = NULL;
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

void weft__rendezvous_recv_all(rendezvous *r, int n, const recv_request *want) {
  if (n > 1 && r->remote.fetch_all && is_remote(r, want->key)) {
    r->remote.fetch_all(r->remote.arg, r, n, want);
    return;
  }
  for (int i = 0; i < n; i++) weft__rendezvous_recv(r, want[i].key, want[i].fn, want[i].arg);
}

bool weft__rendezvous_is_empty(rendezvous *r) {
  pthread_mutex_lock(&r->lock);
  bool empty = r->n_waiting == 0;
  pthread_mutex_unlock(&r->lock);
  return empty;
}

bool weft__rendezvous_is_unused(rendezvous *r) { return atomic_load(&r->refs) == 1 && weft__rendezvous_is_empty(r); }

bool weft__rendezvous_cancel_recv(rendezvous *r, const char *key, recv_fn *fn, const void *arg) {
  uint32_t hash = weft__map_hash(key);
  meeting *found = NULL;
  pthread_mutex_lock(&r->lock);
  for (meeting **at = bucket_of(r, hash); *at; at = &(*at)->next)
    if ((*at)->hash == hash && (*at)->fn == fn && (*at)->arg == arg && strcmp((*at)->key, key) == 0) {
      found = unlist(r, at);
      break;
    }
  pthread_mutex_unlock(&r->lock);
  weft__free(found);
  return found != NULL;
}

/* Everything that waits, as one list.  The lock is held. */
static meeting *take_all(rendezvous *r) {
  meeting *all = NULL, **end = &all;
  for (uint32_t i = 0; i < r->n_bucket; i++) {
    *end = r->bucket[i];
    while (*end) end = &(*end)->next;
    r->bucket[i] = NULL;
  }
  r->n_waiting = 0;
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
  if (first) weft__status_update(&r->aborted, abort_error(r, code, message));
  meeting *all = take_all(r);
  pthread_mutex_unlock(&r->lock);
  if (first) weft__cancel_fire(&r->token, code, "%s", r->aborted.message ? r->aborted.message : "");
  for (meeting *m = all, *next; m; m = next) {
    next = m->next;
    if (m->fn) m->fn(m->arg, weft__status_raise(&r->aborted), NULL, false);
    meeting_destroy(m);
  }
  weft__rendezvous_release(r);
}

char *weft__rendezvous_key(const weft_node *n, const char *from_device, const char *to_device, uint64_t frame,
                           int64_t turn) {
  return weft__sprintf("%s;%016" PRIx64 ";%s;%s;%" PRIu64 ":%" PRId64,
                       from_device ? from_device : weft__node_str(n, "send_device").data,
                       (uint64_t)weft__node_int(n, "send_device_incarnation", 0),
                       to_device ? to_device : weft__node_str(n, "recv_device").data,
                       weft__node_str(n, "tensor_name").data, frame, turn);
}
