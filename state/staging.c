/* staging.c - a list of tuples, and a queue of requests that wait for it to change.
 *
 * `lock`, a leaf, guards everything that changes.  After every change all waiting requests are tried in the order of
 * arrival; the thread that removes one from the queue completes it after it has released the lock (state/wait_queue.h).
 */
#include "state/staging.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "state/wait_queue.h"
#include <pthread.h>

typedef struct tuple {
  struct tuple *next;
  int64_t key;
  size_t bytes;
  weft_tensor t[]; /* an empty slot: not there */
} tuple;

typedef struct staging_pending {
  waiter base;
  staging *s;
  staging_act act;
  int64_t key;
  int n;
  int32_t *index;
  weft_tensor *t; /* n: to be put, or taken */
  staging_fn *fn;
  void *arg;
  status result;
} staging_pending;

struct staging {
  resource base;
  staging_spec spec;
  pthread_mutex_t lock;
  tuple *complete, *incomplete;
  int64_t size, waiting; /* tuples in the two lists */
  size_t bytes;          /* of the complete ones */
  wait_queue requests;
};

const staging_spec *weft__staging_spec(const staging *s) { return &s->spec; }

weft_err weft__staging_set_size(staging *s, int n) {
  pthread_mutex_lock(&s->lock);
  if (!s->spec.n) s->spec.n = n;
  const int is = s->spec.n;
  pthread_mutex_unlock(&s->lock);
  if (is == n) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "a tuple of this staging area has %d tensors, not %d", is, n);
}

static void tuple_destroy(const staging *s, tuple *u) {
  for (int i = 0; u && i < s->spec.n; i++) weft__tensor_clear(&u->t[i]);
  weft__free(u);
}

static void staging_pending_destroy(staging_pending *a) {
  for (int i = 0; a->t && i < a->n; i++) weft__tensor_clear(&a->t[i]);
  weft__status_finish(&a->result);
  weft__free(a->t);
  weft__free(a->index);
  weft__free(a);
}

/* ---- finding tuples; the lock is held ---- */

static tuple **staging_place_of(tuple **list, int64_t key) {
  while (*list && (*list)->key != key) list = &(*list)->next;
  return list;
}

/* Returns the link at which a complete tuple is inserted: at the end, or by key. */
static tuple **place_for(staging *s, int64_t key) {
  tuple **at = &s->complete;
  while (*at && (s->spec.kind != STAGING_ORDERED_MAP || (*at)->key < key)) at = &(*at)->next;
  return at;
}

static tuple **wanted_place(staging *s, const staging_pending *a) {
  if (a->act == STAGING_TAKE_ANY) return &s->complete;
  if (s->spec.kind != STAGING_FIFO) return staging_place_of(&s->complete, a->key);
  tuple **at = &s->complete;
  for (int64_t i = 0; *at && i < a->key; i++) at = &(*at)->next;
  return at;
}

/* ---- serving one request; the lock is held.  Returns false if it must wait. ---- */

static bool is_full(const tuple *u, int n) {
  for (int i = 0; i < n; i++)
    if (!u->t[i].buf) return false;
  return true;
}

static bool is_bare(const tuple *u, int n) {
  for (int i = 0; i < n; i++)
    if (u->t[i].buf) return false;
  return true;
}

static weft_err check_bounds(const staging *s, const staging_pending *a) {
  for (int i = 0; i < a->n; i++)
    if (a->index[i] < 0 || a->index[i] >= s->spec.n)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Tensor index '%d' out of bounds of a tuple of '%d' tensors",
                        a->index[i], s->spec.n);
  return WEFT_OK;
}

/* Tuples are made for spec.n tensors, which must be known by then and does not change any more. */
static weft_err check_put(const staging *s, const staging_pending *a, const tuple *u) {
  if (!s->spec.n) return weft__fail(WEFT_INVALID_ARGUMENT, "a tuple of this staging area has no tensors");
  WEFT_TRY(check_bounds(s, a));
  for (int i = 0; i < a->n; i++)
    if (u && u->t[a->index[i]].buf)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Tensor index '%d' for key '%lld' was already initialized '%d'.",
                        a->index[i], (long long)a->key, s->spec.n);
  return WEFT_OK;
}

/* Returns true if a complete tuple of so many bytes may be added. */
static bool room_for(const staging *s, size_t bytes) {
  if (s->spec.capacity > 0 && s->size >= s->spec.capacity) return false;
  return s->spec.memory_limit <= 0 || s->bytes + bytes <= (size_t)s->spec.memory_limit;
}

static size_t staging_bytes_of(const weft_tensor *t, int n) {
  size_t sum = 0;
  for (int i = 0; i < n; i++) sum += t[i].buf ? weft__tensor_bytes(&t[i]) : 0;
  return sum;
}

/* Returns true if the request completes its tuple. */
static bool staging_completes(const staging *s, const staging_pending *a, const tuple *u) {
  int have = a->n;
  for (int i = 0; u && i < s->spec.n; i++) have += u->t[i].buf != NULL;
  return have == s->spec.n;
}

static bool serve_put(staging *s, staging_pending *a) {
  tuple **at = s->spec.kind == STAGING_FIFO ? NULL : staging_place_of(&s->incomplete, a->key), *u = at ? *at : NULL;
  const size_t mine = staging_bytes_of(a->t, a->n);
  if (s->spec.memory_limit > 0 && mine > (size_t)s->spec.memory_limit) {
    weft__status_update(&a->result,
                        weft__fail(WEFT_RESOURCE_EXHAUSTED,
                                   "Attempted to insert tensors with combined size of '%zu' bytes into Staging "
                                   "Area with a memory limit of '%lld'.",
                                   mine, (long long)s->spec.memory_limit));
    return true;
  }
  weft_err err = check_put(s, a, u);
  if (!err && staging_completes(s, a, u) && !room_for(s, mine + (u ? u->bytes : 0))) return false;
  if (!err && !u && !(u = weft__alloc_zero(1, sizeof *u + (size_t)s->spec.n * sizeof *u->t))) err = WEFT_OOM;
  if (err) {
    weft__status_update(&a->result, err);
    return true;
  }
  WEFT_ASSERT(weft__lock_is_held(&s->lock) && s->size >= 0 && s->waiting >= 0);
  const bool fresh = !at || !*at;
  u->key = a->key;
  u->bytes += mine;
  for (int i = 0; i < a->n; i++) weft__tensor_share(&u->t[a->index[i]], &a->t[i]);
  if (!is_full(u, s->spec.n)) {
    if (fresh) *at = u, s->waiting++;
    return true;
  }
  if (!fresh) *at = u->next, s->waiting--;
  if (s->spec.kind != STAGING_FIFO && *staging_place_of(&s->complete, u->key)) {
    tuple_destroy(s, u); /* the first tuple of a key stays */
    return true;
  }
  tuple **to = place_for(s, u->key);
  u->next = *to;
  *to = u;
  s->size++;
  s->bytes += u->bytes;
  return true;
}

static weft_err copy_wanted(const staging *s, const staging_pending *a, const tuple *u) {
  WEFT_TRY(check_bounds(s, a));
  for (int i = 0; i < a->n; i++)
    if (!u->t[a->index[i]].buf)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Tensor at index '%d' for key '%lld' has already been removed.",
                        a->index[i], (long long)u->key);
  for (int i = 0; i < a->n; i++) weft__tensor_share(&a->t[i], &u->t[a->index[i]]);
  return WEFT_OK;
}

static bool serve_take(staging *s, staging_pending *a) {
  tuple **at = wanted_place(s, a), *u = *at;
  if (!u) return false;
  const weft_err err = copy_wanted(s, a, u);
  weft__status_update(&a->result, err);
  a->key = u->key;
  if (err || a->act == STAGING_PEEK) return true;
  for (int i = 0; i < a->n; i++) weft__tensor_clear(&u->t[a->index[i]]);
  const size_t left = staging_bytes_of(u->t, s->spec.n);
  WEFT_ASSERT(weft__lock_is_held(&s->lock) && s->size > 0 && u->bytes >= left && s->bytes >= u->bytes - left);
  s->bytes -= u->bytes - left;
  u->bytes = left;
  if (!is_bare(u, s->spec.n)) return true;
  *at = u->next;
  s->size--;
  tuple_destroy(s, u);
  return true;
}

static bool staging_serve(staging *s, staging_pending *a) {
  return a->act == STAGING_PUT ? serve_put(s, a) : serve_take(s, a);
}

/* ---- waiting ---- */

static void staging_complete(staging_pending *a) {
  weft__waiter_stop(&a->base);
  const weft_err err = weft__status_raise(&a->result);
  a->fn(a->arg, err, a->t, a->key);
  staging *s = a->s;
  staging_pending_destroy(a);
  weft__object_release(&s->base.base);
}

/* Tries the waiting requests until none can be served; the served ones go to `done`. */
static void serve_waiting(staging *s, wait_queue *done) {
  WEFT_ASSERT(weft__lock_is_held(&s->lock));
  for (bool again = true; again;) {
    again = false;
    for (waiter *w = s->requests.first, *next; w; w = next) {
      next = w->next;
      if (!staging_serve(s, (staging_pending *)w)) continue;
      weft__wait_queue_remove(&s->requests, w);
      weft__wait_queue_push(done, w);
      again = true;
    }
  }
}

static void complete_all(wait_queue *done) {
  for (waiter *w = done->first, *next; w; w = next) {
    next = w->next;
    staging_complete((staging_pending *)w);
  }
}

static void request_canceled(void *arg) {
  staging_pending *a = arg;
  staging *s = a->s;
  pthread_mutex_lock(&s->lock);
  const bool mine = a->base.listed;
  a->base.cancelled = true;
  if (mine) weft__wait_queue_remove(&s->requests, &a->base);
  pthread_mutex_unlock(&s->lock);
  if (!mine) return;
  weft__status_update(&a->result, weft__cancel_raise(a->base.cancel));
  staging_complete(a);
}

static staging_pending *staging_pending_create(staging *s, const staging_request *r, staging_fn *fn, void *arg) {
  staging_pending *a = weft__alloc_zero(1, sizeof *a);
  if (!a) return NULL;
  *a = (staging_pending){.s = s, .act = r->act, .key = r->key, .n = r->n, .fn = fn, .arg = arg};
  a->index = weft__alloc_zero((size_t)r->n + 1, sizeof *a->index);
  a->t = weft__alloc_zero((size_t)r->n + 1, sizeof *a->t);
  bool fine = a->index && a->t;
  for (int i = 0; fine && i < r->n; i++) {
    a->index[i] = r->index ? r->index[i] : i;
    if (r->act == STAGING_PUT) fine = weft__tensor_keep(&a->t[i], r->part[i]) == WEFT_OK;
  }
  if (fine) return a;
  staging_pending_destroy(a);
  return NULL;
}

void weft__staging_submit(staging *s, const staging_request *r, cancel *c, staging_fn *fn, void *arg) {
  staging_pending *a = staging_pending_create(s, r, fn, arg);
  if (!a) {
    fn(arg, WEFT_OOM, NULL, 0);
    return;
  }
  weft__object_retain(&s->base.base);
  const weft_err fired = weft__waiter_start(&a->base, c, request_canceled);
  if (fired) {
    a->base.cancel = NULL;
    weft__status_update(&a->result, fired);
    staging_complete(a);
    return;
  }
  wait_queue done;
  weft__wait_queue_init(&done);
  pthread_mutex_lock(&s->lock);
  const bool served = staging_serve(s, a);
  if (served) serve_waiting(s, &done);
  const bool listed = !served && weft__wait_queue_enter(&s->requests, &a->base);
  pthread_mutex_unlock(&s->lock);
  if (!served && !listed) weft__status_update(&a->result, weft__cancel_raise(c));
  if (!listed) staging_complete(a);
  complete_all(&done);
}

/* ---- the rest ---- */

int64_t weft__staging_size(staging *s, bool incomplete) {
  pthread_mutex_lock(&s->lock);
  const int64_t n = incomplete ? s->waiting : s->size;
  pthread_mutex_unlock(&s->lock);
  return n;
}

static void drop_all(staging *s, tuple *list) {
  for (tuple *u = list, *next; u; u = next) {
    next = u->next;
    tuple_destroy(s, u);
  }
}

void weft__staging_clear(staging *s) {
  wait_queue done;
  weft__wait_queue_init(&done);
  pthread_mutex_lock(&s->lock);
  tuple *complete_ones = s->complete, *others = s->incomplete;
  s->complete = s->incomplete = NULL;
  s->size = s->waiting = 0;
  s->bytes = 0;
  serve_waiting(s, &done);
  pthread_mutex_unlock(&s->lock);
  drop_all(s, complete_ones);
  drop_all(s, others);
  complete_all(&done);
}

/* Called when the area leaves the table of resources.  Ends the waiting requests, which nothing would serve any more.
 */
static void staging_dropped(resource *r) {
  staging *s = (staging *)r;
  wait_queue done;
  weft__wait_queue_init(&done);
  pthread_mutex_lock(&s->lock);
  for (waiter *w = s->requests.first, *next; w; w = next) {
    next = w->next;
    weft__wait_queue_remove(&s->requests, w);
    weft__wait_queue_push(&done, w);
    weft__status_update(&((staging_pending *)w)->result, weft__fail(WEFT_CANCELLED, "the staging area was deleted"));
  }
  pthread_mutex_unlock(&s->lock);
  complete_all(&done);
}

static void staging_destroy(object *o) {
  staging *s = (staging *)o;
  WEFT_ASSERT(!s->requests.first); /* each has a reference */
  drop_all(s, s->complete);
  drop_all(s, s->incomplete);
  pthread_mutex_destroy(&s->lock);
  weft__free(s);
}

weft_err weft__staging_create(staging **out, const staging_spec *spec) {
  staging *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  atomic_init(&s->base.base.refs, 1);
  s->base.base.destroy = staging_destroy;
  s->base.type = STAGING_TYPE;
  s->base.dropped = staging_dropped;
  s->spec = *spec;
  pthread_mutex_init(&s->lock, NULL);
  weft__wait_queue_init(&s->requests);
  *out = s;
  return WEFT_OK;
}
