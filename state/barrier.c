/* barrier.c - a map of incomplete tuples, and a priority queue of ready ones.
 *
 * `lock` guards the map and the flags.  A tuple that becomes complete leaves the map under the lock and enters the
 * queue without it, since the queue completes takes.  `moving` counts the tuples in between: the queue is closed only
 * when none can come any more. */
#include "state/barrier.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "base/map.h"
#include "base/text.h"
#include <pthread.h>
#include <string.h>

enum { INDEX_PART, KEY_PART, FIRST_VALUE }; /* of an element of the queue */

typedef struct barrier_tuple {
  struct barrier_tuple *next; /* in a list of complete ones */
  int64_t index;
  int have;
  str key;
  weft_tensor part[]; /* an empty slot: not there yet */
} barrier_tuple;

struct barrier {
  resource base;
  barrier_spec spec;
  char *name;
  weft_dtype *types; /* of the queue: FIRST_VALUE more than the spec's, which point into these */
  shape *shapes;
  queue *ready;
  pthread_mutex_t lock;
  map incomplete; /* key in hexadecimal -> barrier_tuple: keys are any bytes, those of a map are C strings */
  int64_t next_index, moving;
  bool closed, cancelled, queue_closed;
};

const barrier_spec *weft__barrier_spec(const barrier *b) { return &b->spec; }
const char *weft__barrier_name(const barrier *b) { return b->name; }
queue *weft__barrier_queue(barrier *b) { return b->ready; }

/* ---- making ---- */

static void tuple_destroy(const barrier *b, barrier_tuple *u) {
  for (int i = 0; u && i < b->spec.n; i++) weft__tensor_clear(&u->part[i]);
  if (u) weft__free(u->key.data);
  weft__free(u);
}

static void drop_incomplete(const barrier *b, map *m) {
  for (int i = 0; i < m->used; i++) tuple_destroy(b, m->entries[i].value);
  weft__map_finish(m);
}

static void barrier_destroy(object *o) {
  barrier *b = (barrier *)o;
  drop_incomplete(b, &b->incomplete);
  weft__object_release((object *)b->ready);
  pthread_mutex_destroy(&b->lock);
  weft__free(b->types);
  weft__free(b->shapes);
  weft__free(b->name);
  weft__free(b);
}

static void queue_ended(void *arg, weft_err err, element *const *got, int64_t n) {
  (void)arg, (void)err, (void)got, (void)n;
}

/* Called when the barrier leaves the table of resources.  Ends the waiting takes, which nothing would serve any more.
 */
static void barrier_dropped(resource *r) { weft__queue_close(((barrier *)r)->ready, true, NULL, queue_ended, NULL); }

static weft_err barrier_make_queue(barrier *b, const barrier_spec *spec) {
  const size_t n = (size_t)spec->n + FIRST_VALUE;
  b->types = weft__alloc_zero(n, sizeof *b->types);
  b->shapes = weft__alloc_zero(n, sizeof *b->shapes);
  if (!b->types || !b->shapes) return WEFT_OOM;
  b->types[INDEX_PART] = WEFT_INT64;
  b->types[KEY_PART] = WEFT_STRING;
  b->shapes[INDEX_PART] = b->shapes[KEY_PART] = SHAPE_SCALAR;
  memcpy(b->types + FIRST_VALUE, spec->types, (size_t)spec->n * sizeof *b->types);
  memcpy(b->shapes + FIRST_VALUE, spec->shapes, (size_t)spec->n * sizeof *b->shapes);
  b->spec = (barrier_spec){spec->n, b->types + FIRST_VALUE, b->shapes + FIRST_VALUE};
  const queue_spec q = {.kind = QUEUE_PRIORITY,
                        .n_component = spec->n + FIRST_VALUE,
                        .types = b->types,
                        .n_shape = spec->n + FIRST_VALUE,
                        .shapes = b->shapes,
                        .capacity = -1};
  return weft__queue_create(&b->ready, &q, b->name);
}

weft_err weft__barrier_create(barrier **out, const barrier_spec *spec, const char *name) {
  barrier *b = weft__alloc_zero(1, sizeof *b);
  if (!b) return WEFT_OOM;
  atomic_init(&b->base.base.refs, 1);
  b->base.base.destroy = barrier_destroy;
  b->base.type = BARRIER_TYPE;
  b->base.dropped = barrier_dropped;
  b->next_index = INT64_MIN;
  pthread_mutex_init(&b->lock, NULL);
  const weft_err err = (b->name = weft__strdup(name)) ? barrier_make_queue(b, spec) : WEFT_OOM;
  if (err)
    barrier_destroy(&b->base.base);
  else
    *out = b;
  return err;
}

/* ---- inserting ---- */

static char *hex_of(const str *key) {
  text t = {0};
  weft__text_puts(&t, "");
  for (size_t i = 0; i < key->size; i++) weft__text_printf(&t, "%02x", (unsigned char)key->data[i]);
  if (!key->size) weft__text_puts(&t, "-");
  return weft__text_take(&t);
}

/* Finds the tuple of a key, or makes it, and then sets *any_new.  The lock is held. */
static weft_err tuple_of(barrier *b, const str *key, const char *hex, bool *any_new, barrier_tuple **out) {
  WEFT_ASSERT(weft__lock_is_held(&b->lock));
  *out = weft__map_get(&b->incomplete, hex);
  if (*out) return WEFT_OK;
  if (b->closed)
    return weft__fail(WEFT_CANCELLED, "Barrier %s is closed, but attempted to insert a brand new key: %.*s", b->name,
                      weft__int_sat(key->size > 100 ? 100 : key->size), key->size ? key->data : "");
  barrier_tuple *u = weft__alloc_zero(1, sizeof *u + (size_t)b->spec.n * sizeof *u->part);
  if (!u) return WEFT_OOM;
  u->index = b->next_index;
  weft_err err = weft__str_set(&u->key, key->data, key->size);
  if (!err) err = weft__map_put(&b->incomplete, hex, u);
  if (err) {
    tuple_destroy(b, u);
    return err;
  }
  *any_new = true;
  *out = u;
  return WEFT_OK;
}

/* Copies row `at` of the values into a new tensor. */
static weft_err copy_row(const weft_tensor *values, int64_t at, const shape *s, weft_tensor *out) {
  const int64_t count = weft__shape_count(s);
  WEFT_TRY(weft__tensor_init(out, values->dtype, s));
  const char *from = (const char *)values->data + (size_t)(at * count) * weft__dtype_size(values->dtype);
  return weft__elements_copy(values->dtype, out->data, from, count);
}

/* Gives one key its component; a complete tuple goes to the end of the list.  The lock is held. */
static weft_err insert_one(barrier *b, int i, const str *key, const weft_tensor *values, int64_t at, bool *any_new,
                           barrier_tuple ***last) {
  char *hex = hex_of(key);
  barrier_tuple *u = NULL;
  weft_err err = hex ? tuple_of(b, key, hex, any_new, &u) : WEFT_OOM;
  if (!err && u->part[i].buf)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "Key %.*s already has a value for component %d in barrier %s",
                     weft__int_sat(key->size > 100 ? 100 : key->size), key->size ? key->data : "", i, b->name);
  if (!err) err = copy_row(values, at, &b->spec.shapes[i], &u->part[i]);
  WEFT_ASSERT(err || u->have < b->spec.n); /* a complete tuple is not in the map */
  if (!err && ++u->have == b->spec.n) {
    weft__map_remove(&b->incomplete, hex);
    **last = u;
    *last = &u->next;
    b->moving++;
  }
  weft__free(hex);
  return err;
}

static weft_err insert_all(barrier *b, int i, const weft_tensor *keys, const weft_tensor *values,
                           barrier_tuple **done) {
  barrier_tuple **last = done;
  bool any_new = false;
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&b->lock);
  if (b->cancelled) err = weft__fail(WEFT_CANCELLED, "Barrier %s is closed.", b->name);
  for (int64_t at = 0, n = weft__tensor_count(keys); at < n && !err; at++)
    err = insert_one(b, i, &TENSOR_DATA(keys, str)[at], values, at, &any_new, &last);
  if (any_new) b->next_index++;
  pthread_mutex_unlock(&b->lock);
  return err;
}

static void barrier_enqueued(void *arg, weft_err err, element *const *got, int64_t n) {
  (void)got, (void)n;
  *(weft_err *)arg = err;
}

/* Moves one complete tuple to the queue, which has room for any number: this never waits. */
static weft_err enqueue_tuple(barrier *b, barrier_tuple *u) {
  weft_tensor *index = NULL, *key = NULL;
  const weft_tensor **part = weft__alloc_zero((size_t)b->spec.n + FIRST_VALUE, sizeof *part);
  weft_err err = part ? weft__tensor_create(&index, WEFT_INT64, &SHAPE_SCALAR) : WEFT_OOM;
  if (!err) err = weft__tensor_string(&key, u->key.data, u->key.size);
  if (!err) {
    TENSOR_DATA(index, int64_t)[0] = u->index;
    part[INDEX_PART] = index;
    part[KEY_PART] = key;
    for (int i = 0; i < b->spec.n; i++) part[FIRST_VALUE + i] = &u->part[i];
    weft__queue_enqueue(b->ready, part, false, NULL, barrier_enqueued, &err);
  }
  weft_tensor_destroy(index);
  weft_tensor_destroy(key);
  weft__free(part);
  return err;
}

/* Closes the queue if no tuple can become ready any more. */
static void close_if_done(barrier *b, int64_t moved) {
  pthread_mutex_lock(&b->lock);
  b->moving -= moved;
  WEFT_ASSERT(b->moving >= 0);
  const bool close = b->closed && !b->moving && !b->incomplete.count && !b->queue_closed;
  b->queue_closed |= close;
  pthread_mutex_unlock(&b->lock);
  if (close) weft__queue_close(b->ready, false, NULL, queue_ended, NULL);
}

weft_err weft__barrier_insert(barrier *b, int i, const weft_tensor *keys, const weft_tensor *values) {
  barrier_tuple *done = NULL;
  weft_err err = insert_all(b, i, keys, values, &done);
  int64_t moved = 0;
  for (barrier_tuple *u = done, *next; u; u = next, moved++) {
    next = u->next;
    const weft_err one = enqueue_tuple(b, u);
    if (!err) err = one;
    tuple_destroy(b, u);
  }
  close_if_done(b, moved);
  return err;
}

/* ---- taking and closing ---- */

void weft__barrier_take(barrier *b, const barrier_take *t, cancel *c, queue_fn *fn, void *arg) {
  int64_t n = t->n;
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&b->lock);
  if (b->closed) {
    int64_t size = weft__queue_size(b->ready) + b->moving;
    if (!t->allow_small || t->wait_for_incomplete) size += b->incomplete.count;
    if (t->allow_small && n > size) n = size;
    if (n <= 0 || n > size)
      err = weft__fail(WEFT_OUT_OF_RANGE,
                       "Barrier '%s' is closed and has insufficient elements (requested %lld, total size %lld)",
                       b->name, (long long)n, (long long)size);
  }
  pthread_mutex_unlock(&b->lock);
  if (err)
    fn(arg, err, NULL, 0);
  else
    weft__queue_dequeue(b->ready, n, t->allow_small, c, fn, arg);
}

weft_err weft__barrier_close(barrier *b, bool cancel_pending) {
  map dropped = {0};
  pthread_mutex_lock(&b->lock);
  const bool twice = b->closed && (b->cancelled || !cancel_pending);
  b->closed = true;
  b->cancelled |= cancel_pending;
  if (cancel_pending) dropped = b->incomplete, b->incomplete = (map){0};
  pthread_mutex_unlock(&b->lock);
  drop_incomplete(b, &dropped);
  if (twice) return weft__fail(WEFT_CANCELLED, "Barrier '%s' is already closed.", b->name);
  close_if_done(b, 0);
  return WEFT_OK;
}

int64_t weft__barrier_size(barrier *b, bool incomplete) {
  if (!incomplete) return weft__queue_size(b->ready);
  pthread_mutex_lock(&b->lock);
  const int64_t n = b->incomplete.count;
  pthread_mutex_unlock(&b->lock);
  return n;
}
