/* rendezvous.c - a hash table of waiting values and waiting receivers.
 *
 * For one key either values or receivers wait, and are matched first in, first out.  `lock`, a leaf, guards the table.
 * Receivers are called after it is released. */
#include "state/rendezvous.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/map.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

enum { FEW = 16 };

typedef struct rendezvous_entry {
  struct rendezvous_entry *next; /* in its bucket */
  recv_fn *fn;                   /* NULL: a value waits */
  void *arg;
  weft_tensor value;
  bool dead;
  uint32_t hash;
  char key[];
} rendezvous_entry;

struct rendezvous {
  atomic_int refs;
  rendezvous_remote remote; /* task NULL: none */
  cancel token;
  pthread_mutex_t lock;
  uint32_t n_waiting, n_bucket; /* a power of two */
  rendezvous_entry **bucket, *few[FEW];
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

void weft__rendezvous_retain(rendezvous *r) {
  const int before = atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
  WEFT_ASSERT(before > 0);
  (void)before;
}

cancel *weft__rendezvous_token(rendezvous *r) { return &r->token; }

void weft__rendezvous_release(rendezvous *r) {
  if (!r) return;
  const int before = atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel);
  WEFT_ASSERT(before > 0);
  if (before != 1) return;
  atomic_store(&r->refs, 1); /* for the abort, which takes and releases a reference */
  if (r->n_waiting > 0)      /* else do not change this thread's error message */
    weft__rendezvous_abort(r, weft__fail(WEFT_ABORTED, "The rendezvous of this step was destroyed"));
  WEFT_ASSERT(r->n_waiting == 0);
  if (r->bucket != r->few) weft__free(r->bucket);
  weft__status_finish(&r->aborted);
  weft__cancel_finish(&r->token);
  pthread_mutex_destroy(&r->lock);
  weft__free(r);
}

static rendezvous_entry **rendezvous_bucket(rendezvous *r, uint32_t hash) {
  WEFT_ASSERT(r->n_bucket > 0 && (r->n_bucket & (r->n_bucket - 1)) == 0);
  return &r->bucket[hash & (r->n_bucket - 1)];
}

/* Returns the link to the first entry of this key, or the link at the end of the bucket.  The lock is held. */
static rendezvous_entry **rendezvous_find(rendezvous *r, const char *key, uint32_t hash) {
  WEFT_ASSERT(weft__lock_is_held(&r->lock));
  rendezvous_entry **at = rendezvous_bucket(r, hash);
  while (*at && ((*at)->hash != hash || strcmp((*at)->key, key) != 0)) at = &(*at)->next;
  return at;
}

static rendezvous_entry *rendezvous_unlink(rendezvous *r, rendezvous_entry **at) {
  rendezvous_entry *m = *at;
  WEFT_ASSERT(r->n_waiting > 0);
  *at = m->next;
  r->n_waiting--;
  return m;
}

/* Removes and returns the first value (or receiver) of this key; NULL if there is none.  The lock is held. */
static rendezvous_entry *rendezvous_take(rendezvous *r, const char *key, uint32_t hash, bool want_value) {
  WEFT_ASSERT(weft__lock_is_held(&r->lock));
  if (r->n_waiting == 0) return NULL;
  rendezvous_entry **at = rendezvous_find(r, key, hash);
  return *at && ((*at)->fn == NULL) == want_value ? rendezvous_unlink(r, at) : NULL;
}

/* Doubles the number of buckets and keeps the order in each; without memory the buckets stay as they are. */
static void rendezvous_grow(rendezvous *r) {
  uint32_t n = r->n_bucket;
  rendezvous_entry **more = weft__alloc_zero(2 * (size_t)n, sizeof *more);
  if (!more) return;
  for (uint32_t i = 0; i < n; i++) {
    rendezvous_entry **end[2] = {&more[i], &more[i + n]};
    for (rendezvous_entry *m = r->bucket[i]; m; m = m->next) {
      rendezvous_entry ***half = &end[(m->hash & n) != 0];
      **half = m;
      *half = &m->next;
    }
    *end[0] = *end[1] = NULL;
  }
  if (r->bucket != r->few) weft__free(r->bucket);
  r->bucket = more, r->n_bucket = 2 * n;
}

/* Appends m to its bucket.  The lock is held. */
static void rendezvous_insert(rendezvous *r, rendezvous_entry *m) {
  WEFT_ASSERT(weft__lock_is_held(&r->lock));
  if (r->n_waiting >= 2 * r->n_bucket) rendezvous_grow(r);
  rendezvous_entry **at = rendezvous_bucket(r, m->hash);
  while (*at) at = &(*at)->next;
  m->next = NULL;
  *at = m;
  r->n_waiting++;
}

static void rendezvous_entry_destroy(rendezvous_entry *m) {
  weft__tensor_clear(&m->value);
  weft__free(m);
}

static weft_err rendezvous_entry_create(rendezvous_entry **out, const char *key, uint32_t hash) {
  size_t size = strlen(key) + 1;
  rendezvous_entry *m = weft__alloc(sizeof *m + size);
  if (!m) return WEFT_OOM;
  *m = (rendezvous_entry){.hash = hash};
  memcpy(m->key, key, size);
  *out = m;
  return WEFT_OK;
}

/* Takes the receiver that waits for this key.  If there is none, inserts m (may be NULL) for it. */
static weft_err rendezvous_match(rendezvous *r, const char *key, uint32_t hash, rendezvous_entry *m,
                                 rendezvous_entry **receiver) {
  pthread_mutex_lock(&r->lock);
  weft_err err = weft__status_raise(&r->aborted);
  if (err == WEFT_OK && !(*receiver = rendezvous_take(r, key, hash, false)) && m) rendezvous_insert(r, m);
  pthread_mutex_unlock(&r->lock);
  return err;
}

/* Keeps a value that has no receiver yet.  It is copied, if it must be, without the lock. */
static weft_err rendezvous_store(rendezvous *r, const char *key, uint32_t hash, const weft_tensor *t, bool dead,
                                 rendezvous_entry **receiver) {
  rendezvous_entry *m;
  WEFT_TRY(rendezvous_entry_create(&m, key, hash));
  weft_err err = t->buf ? weft__tensor_keep(&m->value, t) : WEFT_OK;
  m->dead = dead;
  if (err == WEFT_OK) err = rendezvous_match(r, key, hash, m, receiver);
  if (err != WEFT_OK || *receiver) rendezvous_entry_destroy(m);
  return err;
}

weft_err weft__rendezvous_send(rendezvous *r, const char *key, const weft_tensor *t, bool dead) {
  rendezvous_entry *receiver = NULL;
  uint32_t hash = weft__map_hash(key);
  WEFT_TRY(rendezvous_match(r, key, hash, NULL, &receiver));
  if (!receiver) WEFT_TRY(rendezvous_store(r, key, hash, t, dead, &receiver));
  if (receiver) {
    receiver->fn(receiver->arg, WEFT_OK, t, dead);
    rendezvous_entry_destroy(receiver);
  }
  return WEFT_OK;
}

/* Returns true if a device of another task sends under this key. */
static bool rendezvous_is_remote(const rendezvous *r, const char *key) {
  if (!r->remote.task) return false;
  size_t n = strlen(r->remote.task);
  return strncmp(key, r->remote.task, n) != 0 || key[n] != '/';
}

void weft__rendezvous_recv(rendezvous *r, const char *key, recv_fn *fn, void *arg) {
  if (rendezvous_is_remote(r, key)) {
    r->remote.fetch(r->remote.arg, r, key, fn, arg);
    return;
  }
  uint32_t hash = weft__map_hash(key);
  rendezvous_entry *m = NULL, *sent = NULL;
  weft_err err = rendezvous_entry_create(&m, key, hash);
  if (m) {
    m->fn = fn;
    m->arg = arg;
    pthread_mutex_lock(&r->lock);
    err = weft__status_raise(&r->aborted);
    if (err == WEFT_OK && !(sent = rendezvous_take(r, key, hash, true))) {
      rendezvous_insert(r, m);
      m = NULL;
    }
    pthread_mutex_unlock(&r->lock);
    if (!m) return;
  }
  if (sent)
    fn(arg, WEFT_OK, &sent->value, sent->dead);
  else
    fn(arg, err, NULL, false);
  if (sent) rendezvous_entry_destroy(sent);
  weft__free(m);
}

void weft__rendezvous_recv_all(rendezvous *r, int n, const recv_request *want) {
  if (n > 1 && r->remote.fetch_all && rendezvous_is_remote(r, want->key)) {
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
  rendezvous_entry *found = NULL;
  pthread_mutex_lock(&r->lock);
  for (rendezvous_entry **at = rendezvous_bucket(r, hash); *at; at = &(*at)->next)
    if ((*at)->hash == hash && (*at)->fn == fn && (*at)->arg == arg && strcmp((*at)->key, key) == 0) {
      found = rendezvous_unlink(r, at);
      break;
    }
  pthread_mutex_unlock(&r->lock);
  weft__free(found);
  return found != NULL;
}

/* Empties the table and returns all entries as one list.  The lock is held. */
static rendezvous_entry *rendezvous_take_all(rendezvous *r) {
  WEFT_ASSERT(weft__lock_is_held(&r->lock));
  rendezvous_entry *all = NULL, **end = &all;
  for (uint32_t i = 0; i < r->n_bucket; i++) {
    *end = r->bucket[i];
    while (*end) end = &(*end)->next;
    r->bucket[i] = NULL;
  }
  r->n_waiting = 0;
  return all;
}

/* Sets the error of an abort, marked as derived where TensorFlow marks it. */
static weft_err rendezvous_abort_error(const rendezvous *r, weft_err code) {
  bool derived = r->remote.task && (code == WEFT_CANCELLED || code == WEFT_ABORTED);
  if (!derived || weft__error_has(ERROR_DERIVED)) return code;
  return weft__error_add_facts(weft__fail_again(code, WEFT_DERIVED "%s", weft__error_message()), ERROR_DERIVED);
}

void weft__rendezvous_abort(rendezvous *r, weft_err code) {
  weft__rendezvous_retain(r); /* a callback may release the last reference */
  pthread_mutex_lock(&r->lock);
  bool first = r->aborted.code == WEFT_OK;
  if (first) weft__status_update(&r->aborted, rendezvous_abort_error(r, code));
  rendezvous_entry *all = rendezvous_take_all(r);
  pthread_mutex_unlock(&r->lock);
  if (first) weft__cancel_fire_error(&r->token, code);
  for (rendezvous_entry *m = all, *next; m; m = next) {
    next = m->next;
    if (m->fn) m->fn(m->arg, weft__status_raise(&r->aborted), NULL, false);
    rendezvous_entry_destroy(m);
  }
  weft__rendezvous_release(r);
}

char *weft__rendezvous_key(const weft_node *n, const char *from_device, const char *to_device, uint64_t frame,
                           int64_t iteration) {
  return weft__sprintf("%s;%016" PRIx64 ";%s;%s;%" PRIu64 ":%" PRId64,
                       from_device ? from_device : weft__node_str(n, "send_device").data,
                       (uint64_t)weft__node_int(n, "send_device_incarnation", 0),
                       to_device ? to_device : weft__node_str(n, "recv_device").data,
                       weft__node_str(n, "tensor_name").data, frame, iteration);
}
