/* queue.c - elements in a ring buffer, waiting requests in two queues, and one function that serves both.
 *
 * `lock`, a leaf, guards everything that changes.  The thread that removes a request (an attempt) from its queue under
 * the lock completes it after it has released the lock (state/wait_queue.h).  The kinds of queue differ only in which
 * element is taken next (pop) and in how elements are stacked. */
#include "state/queue.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/philox.h"
#include "base/text.h"
#include "state/wait_queue.h"
#include <pthread.h>
#include <sys/random.h>

typedef enum attempt_kind { ENQUEUE, CLOSE, DEQUEUE } attempt_kind;

typedef struct attempt {
  waiter base;
  queue *q;
  attempt_kind kind;
  bool up_to;
  int64_t wanted, moved; /* elements to move, and moved so far */
  element **item;        /* `wanted` places: to be enqueued, or taken */
  queue_fn *fn;
  void *arg;
  status result;
} attempt;

struct queue {
  resource base;
  char *name;
  queue_spec spec;
  weft_dtype *types;
  shape *shapes;
  pthread_mutex_t lock;
  element **ring; /* `size` elements from `head` on, wrapping at `capacity` */
  int64_t head, size, capacity;
  int64_t arrivals;
  bool closed;
  philox_reader random;
  wait_queue enqueues, dequeues;
};

/* ---- elements ---- */

static void element_destroy(const queue *q, element *e) {
  if (!e) return;
  for (int i = 0; i < q->spec.n_component; i++) weft__tensor_clear(&e->part[i]);
  weft__free(e);
}

static element *element_create(const queue *q) {
  return weft__alloc_zero(1, sizeof(element) + (size_t)q->spec.n_component * sizeof(weft_tensor));
}

static weft_err element_keep(const queue *q, const weft_tensor *const *part, element **out) {
  if (!(*out = element_create(q))) return WEFT_OOM;
  for (int i = 0; i < q->spec.n_component; i++) WEFT_TRY(weft__tensor_keep(&(*out)->part[i], part[i]));
  return WEFT_OK;
}

/* Element `at` of a batch: a copy, so that one element left behind does not hold the whole batch. */
static weft_err element_slice(const queue *q, const weft_tensor *const *part, int64_t at, element **out) {
  if (!(*out = element_create(q))) return WEFT_OOM;
  for (int i = 0; i < q->spec.n_component; i++) {
    weft_tensor *to = &(*out)->part[i];
    shape of = {part[i]->shape.rank - 1, {0}};
    memcpy(of.dim, part[i]->shape.dim + 1, (size_t)of.rank * sizeof *of.dim);
    WEFT_TRY(weft__tensor_init(to, part[i]->dtype, &of));
    int64_t count = weft__shape_count(&of);
    const char *from = (const char *)part[i]->data + (size_t)(at * count) * weft__dtype_size(to->dtype);
    WEFT_TRY(weft__elements_copy(to->dtype, to->data, from, count));
  }
  return WEFT_OK;
}

/* ---- the ring ---- */

static element **queue_slot(const queue *q, int64_t i) {
  WEFT_ASSERT(i >= 0 && i < q->capacity);
  return &q->ring[(q->head + i) % q->capacity];
}

/* Makes sure that `more` elements can be added. */
static weft_err queue_reserve(queue *q, int64_t more) {
  if (q->size + more <= q->capacity) return WEFT_OK;
  int64_t capacity = q->capacity ? q->capacity : 16;
  while (capacity < q->size + more) capacity *= 2;
  element **ring = weft__alloc((size_t)capacity * sizeof *ring);
  if (!ring) return WEFT_OOM;
  for (int64_t i = 0; i < q->size; i++) ring[i] = *queue_slot(q, i);
  weft__free(q->ring);
  q->ring = ring;
  q->head = 0;
  q->capacity = capacity;
  return WEFT_OK;
}

static bool element_before(const element *a, const element *b) { /* priority, then arrival */
  int64_t x = TENSOR_DATA(&a->part[0], int64_t)[0], y = TENSOR_DATA(&b->part[0], int64_t)[0];
  return x != y ? x < y : a->order < b->order;
}

static void element_swap(element **a, element **b) {
  element *e = *a;
  *a = *b;
  *b = e;
}

static void queue_sift_up(queue *q, int64_t i) {
  for (; i > 0 && element_before(*queue_slot(q, i), *queue_slot(q, (i - 1) / 2)); i = (i - 1) / 2)
    element_swap(queue_slot(q, i), queue_slot(q, (i - 1) / 2));
}

static void queue_sift_down(queue *q, int64_t i) {
  for (int64_t child; (child = 2 * i + 1) < q->size; i = child) {
    if (child + 1 < q->size && element_before(*queue_slot(q, child + 1), *queue_slot(q, child))) child++;
    if (!element_before(*queue_slot(q, child), *queue_slot(q, i))) return;
    element_swap(queue_slot(q, i), queue_slot(q, child));
  }
}

/* The caller has reserved the slot. */
static void queue_push(queue *q, element *e) {
  WEFT_ASSERT(q->size < q->capacity);
  *queue_slot(q, q->size) = e;
  q->size++;
  if (q->spec.kind == QUEUE_PRIORITY) queue_sift_up(q, q->size - 1);
}

static element *queue_pop(queue *q) {
  int64_t at = 0;
  WEFT_ASSERT(q->size > 0 && q->size <= q->capacity);
  if (q->spec.kind == QUEUE_FIFO || q->spec.kind == QUEUE_PADDING) {
    element *e = *queue_slot(q, 0);
    q->head = (q->head + 1) % q->capacity;
    q->size--;
    return e;
  }
  if (q->spec.kind == QUEUE_SHUFFLE) at = (int64_t)(weft__philox_word(&q->random) % (uint64_t)q->size);
  element_swap(queue_slot(q, at), queue_slot(q, q->size - 1));
  element *e = *queue_slot(q, --q->size);
  if (q->spec.kind == QUEUE_PRIORITY) queue_sift_down(q, 0);
  return e;
}

/* Puts back what a failed dequeue took, in order; without memory for that, the elements are lost with the request. */
static void queue_put_back(queue *q, attempt *a) {
  if (queue_reserve(q, a->moved) != WEFT_OK) return;
  for (int64_t i = a->moved; i-- > 0;) {
    if (q->spec.kind == QUEUE_FIFO || q->spec.kind == QUEUE_PADDING) {
      q->head = (q->head + q->capacity - 1) % q->capacity;
      q->size++;
      *queue_slot(q, 0) = a->item[i];
    } else {
      queue_push(q, a->item[i]);
    }
    a->item[i] = NULL;
  }
  a->moved = 0;
}

/* ---- serving, with the lock held ---- */

static int64_t queue_capacity(const queue *q) { return q->spec.capacity < 0 ? INT64_MAX : q->spec.capacity; }

static const char *queue_kind_text(const queue *q) { return weft__queue_kind_name(q->spec.kind); }

static weft_err queue_fail_closed(const queue *q) {
  return weft__fail(WEFT_CANCELLED, "%s '%s' is closed.", queue_kind_text(q), q->name);
}

/* Serves a; returns true if it is done and its result is set. */
static bool queue_serve_enqueue(queue *q, attempt *a) {
  if (a->kind == CLOSE) {
    if (q->closed)
      weft__status_update(&a->result, weft__fail(WEFT_CANCELLED, "Queue '%s' is already closed.", q->name));
    q->closed = true;
    return true;
  }
  if (q->closed) {
    weft__status_update(&a->result, queue_fail_closed(q));
    return true;
  }
  while (a->moved < a->wanted && q->size < queue_capacity(q)) {
    if (queue_reserve(q, 1) != WEFT_OK) {
      weft__status_update(&a->result, WEFT_OOM);
      return true;
    }
    element *e = a->item[a->moved];
    a->item[a->moved++] = NULL;
    e->order = q->arrivals++;
    queue_push(q, e);
  }
  return a->moved == a->wanted;
}

static weft_err queue_fail_insufficient(const queue *q, int64_t wanted) {
  weft_err err = weft__fail(WEFT_OUT_OF_RANGE,
                            "%s '%s' is closed and has insufficient elements (requested %lld, current size %lld)",
                            queue_kind_text(q), q->name, (long long)wanted, (long long)q->size);
  return strcmp(q->name, SYNC_TOKEN_QUEUE) == 0 ? weft__error_add_facts(err, ERROR_TOKENS_CLOSED) : err;
}

static bool queue_serve_dequeue(queue *q, attempt *a) {
  int64_t missing = a->wanted - a->moved;
  if (q->closed && q->size < missing) {
    if (a->up_to && q->spec.kind != QUEUE_PRIORITY && a->moved + q->size > 0) {
      a->wanted = a->moved + q->size;
    } else {
      weft__status_update(&a->result, queue_fail_insufficient(q, missing));
      return true;
    }
  }
  int64_t hold = q->spec.kind == QUEUE_SHUFFLE && !q->closed ? q->spec.min_after_dequeue : 0;
  while (a->moved < a->wanted && q->size > hold) a->item[a->moved++] = queue_pop(q);
  WEFT_ASSERT(a->moved <= a->wanted);
  return a->moved == a->wanted;
}

static wait_queue *queue_waiters_of(queue *q, const attempt *a) {
  return a->kind == DEQUEUE ? &q->dequeues : &q->enqueues;
}

/* Removes a from its queue of waiting requests; it is to be completed. */
static void queue_finish_attempt(queue *q, attempt *a, wait_queue *done) {
  weft__wait_queue_remove(queue_waiters_of(q, a), &a->base);
  if (a->kind == DEQUEUE && a->result.code != WEFT_OK) queue_put_back(q, a);
  weft__wait_queue_push(done, &a->base);
}

/* Serves the first waiting request until it makes no progress; returns true if any was done. */
static bool queue_serve_waiters(queue *q, wait_queue *l, bool (*one)(queue *, attempt *), wait_queue *done) {
  bool any = false;
  while (l->first && one(q, (attempt *)l->first)) {
    queue_finish_attempt(q, (attempt *)l->first, done);
    any = true;
  }
  return any;
}

/* Serves enqueues and dequeues until neither side makes progress. */
static void queue_serve(queue *q, wait_queue *done) {
  for (bool again = true; again;) {
    again = queue_serve_waiters(q, &q->enqueues, queue_serve_enqueue, done);
    int64_t size = q->size;
    if (queue_serve_waiters(q, &q->dequeues, queue_serve_dequeue, done)) again = true;
    if (q->size < size && q->enqueues.first) again = true; /* a dequeue freed a slot without being done */
  }
}

/* ---- ending, without the lock ---- */

static void attempt_destroy(attempt *a) {
  for (int64_t i = 0; a->item && i < a->wanted; i++) element_destroy(a->q, a->item[i]);
  weft__free(a->item);
  weft__status_finish(&a->result);
  weft__object_release(&a->q->base.base);
  weft__free(a);
}

static void attempt_complete(attempt *a) {
  weft__waiter_stop(&a->base);
  weft_err err = weft__status_raise(&a->result);
  bool gives = a->kind == DEQUEUE && err == WEFT_OK;
  a->fn(a->arg, err, gives ? a->item : NULL, gives ? a->wanted : 0);
  attempt_destroy(a);
}

static void attempts_complete(wait_queue *done) {
  for (waiter *w = done->first, *next; w; w = next) {
    next = w->next;
    attempt_complete((attempt *)w);
  }
}

static void attempt_set_cancelled(attempt *a) {
  weft__status_update(
      &a->result, weft__fail(WEFT_CANCELLED, "%s operation was cancelled", a->kind == DEQUEUE ? "Dequeue" : "Enqueue"));
}

static void attempt_on_cancel(void *arg) {
  attempt *a = arg;
  queue *q = a->q;
  wait_queue done;
  weft__wait_queue_init(&done);
  weft__object_retain(&q->base.base); /* a may hold the last reference */
  pthread_mutex_lock(&q->lock);
  a->base.cancelled = true;
  if (a->base.listed) {
    attempt_set_cancelled(a);
    queue_finish_attempt(q, a, &done);
    queue_serve(q, &done);
  }
  pthread_mutex_unlock(&q->lock);
  attempts_complete(&done);
  weft__object_release(&q->base.base);
}

/* Lets a wait, and serves the queue; a is completed now or later. */
static void queue_submit(queue *q, attempt *a, cancel *c) {
  wait_queue done;
  weft__wait_queue_init(&done);
  weft_err err = weft__waiter_start(&a->base, c, attempt_on_cancel);
  if (err != WEFT_OK) {
    a->base.cancel = NULL;
    weft__status_update(&a->result, err);
    attempt_complete(a);
    return;
  }
  weft__object_retain(&q->base.base);
  pthread_mutex_lock(&q->lock);
  if (weft__wait_queue_enter(queue_waiters_of(q, a), &a->base)) {
    queue_serve(q, &done);
  } else {
    attempt_set_cancelled(a);
    weft__wait_queue_push(&done, &a->base);
  }
  pthread_mutex_unlock(&q->lock);
  attempts_complete(&done);
  weft__object_release(&q->base.base);
}

/* Creates a request with slots for `wanted` elements; NULL: no memory. */
static attempt *attempt_create(queue *q, attempt_kind kind, int64_t wanted, queue_fn *fn, void *arg) {
  attempt *a = weft__alloc_zero(1, sizeof *a);
  if (!a) return NULL;
  if (wanted && !(a->item = weft__alloc_zero((size_t)wanted, sizeof *a->item))) {
    weft__free(a);
    return NULL;
  }
  a->q = q;
  a->kind = kind;
  a->wanted = wanted;
  a->fn = fn;
  a->arg = arg;
  weft__object_retain(&q->base.base);
  return a;
}

/* ---- requests ---- */

static weft_err queue_shape_mismatch(int i, const shape *want, const shape *got) {
  return weft__fail(WEFT_INVALID_ARGUMENT, "Shape mismatch in tuple component %d. Expected %s, got %s", i,
                    weft__shape_text(want), weft__shape_text(got));
}

static weft_err queue_check_types(const queue *q, const weft_tensor *const *part) {
  for (int i = 0; i < q->spec.n_component; i++)
    if (part[i]->dtype != q->types[i])
      return weft__fail(WEFT_INVALID_ARGUMENT, "Type mismatch in tuple component %d. Expected %s, got %s", i,
                        weft__dtype_short(q->types[i]), weft__dtype_short(part[i]->dtype));
  return WEFT_OK;
}

static weft_err queue_check_element(const queue *q, const weft_tensor *const *part) {
  WEFT_TRY(queue_check_types(q, part));
  for (int i = 0; i < q->spec.n_shape; i++)
    if (!weft__shape_compatible(&q->shapes[i], &part[i]->shape))
      return queue_shape_mismatch(i, &q->shapes[i], &part[i]->shape);
  return WEFT_OK;
}

static weft_err queue_check_batch(const queue *q, const weft_tensor *const *part) {
  WEFT_TRY(queue_check_types(q, part));
  int64_t batch = part[0]->shape.rank > 0 ? part[0]->shape.dim[0] : -1;
  for (int i = 0; i < q->spec.n_component; i++) {
    shape want = q->spec.n_shape ? q->shapes[i] : (shape){.rank = part[i]->shape.rank - 1};
    if (!q->spec.n_shape)
      for (int d = 0; d < want.rank; d++) want.dim[d] = part[i]->shape.dim[d + 1];
    if (want.rank < 0) want.rank = 0;
    if (want.rank >= WEFT_MAX_RANK) return queue_shape_mismatch(i, &want, &part[i]->shape);
    memmove(want.dim + 1, want.dim, (size_t)want.rank * sizeof *want.dim);
    want.dim[0] = batch;
    want.rank++;
    if (part[i]->shape.rank < 1 || !weft__shape_compatible(&want, &part[i]->shape))
      return queue_shape_mismatch(i, &want, &part[i]->shape);
  }
  return WEFT_OK;
}

void weft__queue_enqueue(queue *q, const weft_tensor *const *part, bool many, cancel *c, queue_fn *fn, void *arg) {
  weft_err err = many ? queue_check_batch(q, part) : queue_check_element(q, part);
  if (err != WEFT_OK) {
    fn(arg, err, NULL, 0);
    return;
  }
  attempt *a = attempt_create(q, ENQUEUE, many ? part[0]->shape.dim[0] : 1, fn, arg);
  if (!a) {
    fn(arg, WEFT_OOM, NULL, 0);
    return;
  }
  for (int64_t i = 0; err == WEFT_OK && i < a->wanted; i++)
    err = many ? element_slice(q, part, i, &a->item[i]) : element_keep(q, part, &a->item[i]);
  if (err == WEFT_OK) {
    queue_submit(q, a, c);
  } else {
    fn(arg, err, NULL, 0);
    attempt_destroy(a);
  }
}

void weft__queue_dequeue(queue *q, int64_t n, bool up_to, cancel *c, queue_fn *fn, void *arg) {
  bool fits = n >= 0 && n <= INT32_MAX;
  attempt *a = fits ? attempt_create(q, DEQUEUE, n, fn, arg) : NULL;
  if (!a) {
    fn(arg, fits ? WEFT_OOM : weft__fail(WEFT_INVALID_ARGUMENT, "requested %lld elements", (long long)n), NULL, 0);
    return;
  }
  a->up_to = up_to;
  queue_submit(q, a, c);
}

static void queue_close_now(queue *q, wait_queue *done) {
  q->closed = true;
  while (q->enqueues.first) {
    attempt *a = (attempt *)q->enqueues.first;
    attempt_set_cancelled(a);
    queue_finish_attempt(q, a, done);
  }
  queue_serve(q, done);
}

void weft__queue_close(queue *q, bool cancel_pending, cancel *c, queue_fn *fn, void *arg) {
  if (!cancel_pending) {
    attempt *a = attempt_create(q, CLOSE, 0, fn, arg);
    if (a)
      queue_submit(q, a, c);
    else
      fn(arg, WEFT_OOM, NULL, 0);
    return;
  }
  wait_queue done;
  weft__wait_queue_init(&done);
  pthread_mutex_lock(&q->lock);
  queue_close_now(q, &done);
  pthread_mutex_unlock(&q->lock);
  attempts_complete(&done);
  fn(arg, WEFT_OK, NULL, 0);
}

int64_t weft__queue_size(queue *q) {
  pthread_mutex_lock(&q->lock);
  int64_t size = q->size;
  pthread_mutex_unlock(&q->lock);
  return size;
}

bool weft__queue_is_closed(queue *q) {
  pthread_mutex_lock(&q->lock);
  bool closed = q->closed;
  pthread_mutex_unlock(&q->lock);
  return closed;
}

/* ---- making and comparing ---- */

const queue_spec *weft__queue_spec(const queue *q) { return &q->spec; }
const char *weft__queue_name(const queue *q) { return q->name; }

const char *weft__queue_kind_name(queue_kind kind) {
  static const char *const names[] = {"FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue"};
  return names[kind];
}

static void queue_destroy(object *o) {
  queue *q = (queue *)o;
  WEFT_ASSERT(!q->enqueues.first && !q->dequeues.first); /* a request holds a reference */
  for (int64_t i = 0; i < q->size; i++) element_destroy(q, *queue_slot(q, i));
  weft__free(q->ring);
  weft__free(q->types);
  weft__free(q->shapes);
  weft__free(q->name);
  pthread_mutex_destroy(&q->lock);
  weft__free(q);
}

static element *queue_take_any(queue *q) {
  pthread_mutex_lock(&q->lock);
  element *e = q->size ? *queue_slot(q, --q->size) : NULL;
  pthread_mutex_unlock(&q->lock);
  return e;
}

/* The queue has left the table.  Cancels the waiting requests, and frees the elements, which may contain a handle of
 * this queue itself. */
static void queue_dropped(resource *r) {
  queue *q = (queue *)r;
  wait_queue done;
  weft__wait_queue_init(&done);
  pthread_mutex_lock(&q->lock);
  queue_close_now(q, &done);
  pthread_mutex_unlock(&q->lock);
  attempts_complete(&done);
  for (element *e; (e = queue_take_any(q));) element_destroy(q, e);
}

static weft_err queue_check_spec(const queue_spec *s) {
  if (s->n_shape && s->n_shape != s->n_component)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Shapes must be provided for all components, but received %d dtypes and %d "
                      "shapes.",
                      s->n_component, s->n_shape);
  if (s->kind == QUEUE_PADDING && !s->n_shape)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Shapes must be provided for all components, but received %d dtypes and 0 "
                      "shapes.",
                      s->n_component);
  for (int i = 0; s->kind == QUEUE_PADDING && i < s->n_shape; i++)
    if (s->shapes[i].rank < 0)
      return weft__fail(WEFT_INVALID_ARGUMENT, "shape %s must have known rank.", weft__shape_text(&s->shapes[i]));
  for (int i = 0; s->kind != QUEUE_PADDING && i < s->n_shape; i++)
    if (!weft__shape_known(&s->shapes[i]))
      return weft__fail(WEFT_INVALID_ARGUMENT, "shape %s of component %d must be fully known",
                        weft__shape_text(&s->shapes[i]), i);
  if (s->kind != QUEUE_SHUFFLE) return WEFT_OK;
  if (s->min_after_dequeue < 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "min_after_dequeue %lld must be >= 0", (long long)s->min_after_dequeue);
  if (s->capacity >= 0 && s->min_after_dequeue >= s->capacity)
    return weft__fail(WEFT_INVALID_ARGUMENT, "min_after_dequeue %lld must be < capacity %lld",
                      (long long)s->min_after_dequeue, (long long)s->capacity);
  return WEFT_OK;
}

static weft_err queue_seed(queue *q) {
  uint64_t s[2] = {q->spec.seed, q->spec.seed2};
  if (!s[0] && !s[1] && getrandom(s, sizeof s, 0) != (ssize_t)sizeof s)
    return weft__fail(WEFT_INTERNAL, "the system gave no random seed");
  q->random = weft__philox_reader(weft__philox(s[0], s[1]));
  return WEFT_OK;
}

static void *queue_copy_array(const void *data, size_t size) {
  void *copy = weft__alloc(size + 1);
  if (copy && size) memcpy(copy, data, size);
  return copy;
}

weft_err weft__queue_create(queue **out, const queue_spec *spec, const char *name) {
  WEFT_TRY(queue_check_spec(spec));
  queue *q = weft__alloc_zero(1, sizeof *q);
  if (!q) return WEFT_OOM;
  pthread_mutex_init(&q->lock, NULL);
  atomic_init(&q->base.base.refs, 1);
  q->base = (resource){.base = q->base.base, .type = QUEUE_TYPE, .dropped = queue_dropped};
  q->base.base.destroy = queue_destroy;
  weft__wait_queue_init(&q->enqueues);
  weft__wait_queue_init(&q->dequeues);
  q->spec = *spec;
  q->spec.types = q->types = queue_copy_array(spec->types, (size_t)spec->n_component * sizeof *spec->types);
  q->spec.shapes = q->shapes = queue_copy_array(spec->shapes, (size_t)spec->n_shape * sizeof *spec->shapes);
  q->name = weft__strdup(name);
  weft_err err = q->types && q->shapes && q->name ? queue_seed(q) : WEFT_OOM;
  if (err == WEFT_OK)
    *out = q;
  else
    queue_destroy(&q->base.base);
  return err;
}

static void queue_print_types(text *t, const queue_spec *s) {
  for (int i = 0; i < s->n_component; i++) {
    if (i) weft__text_puts(t, ", ");
    weft__text_puts(t, weft__dtype_short(s->types[i]));
  }
}

static void queue_print_shapes(text *t, const queue_spec *s) {
  weft__text_puts(t, "[");
  for (int i = 0; i < s->n_shape; i++) {
    if (i) weft__text_puts(t, ",");
    weft__text_puts(t, weft__shape_text(&s->shapes[i]));
  }
  weft__text_puts(t, "]");
}

static weft_err queue_fail_differs(const queue *q, const char *what, void (*list)(text *, const queue_spec *),
                                   const queue_spec *spec) {
  text has = {0}, wants = {0};
  list(&has, &q->spec);
  list(&wants, spec);
  weft_err err =
      weft__fail(WEFT_INVALID_ARGUMENT, "Shared queue '%s' has component %s %s but requested component %s were %s",
                 q->name, what, weft__text_get(&has), what, weft__text_get(&wants));
  weft__text_finish(&has);
  weft__text_finish(&wants);
  return err;
}

static weft_err queue_check_number(const queue *q, const char *what, int64_t has, int64_t wants) {
  if (has == wants) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "Shared queue '%s' has %s %lld but requested %s was %lld", q->name, what,
                    (long long)has, what, (long long)wants);
}

weft_err weft__queue_matches(const queue *q, const queue_spec *s, const char *op_name) {
  if (q->spec.kind != s->kind)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Expected %s, found %s", queue_kind_text(q), op_name);
  WEFT_TRY(queue_check_number(q, "capacity", q->spec.capacity, s->capacity));
  bool same = q->spec.n_component == s->n_component;
  for (int i = 0; same && i < s->n_component; i++) same = q->types[i] == s->types[i];
  if (!same) return queue_fail_differs(q, "types", queue_print_types, s);
  same = q->spec.n_shape == s->n_shape;
  for (int i = 0; same && i < s->n_shape; i++) same = weft__shape_equal(&q->shapes[i], &s->shapes[i]);
  if (!same) return queue_fail_differs(q, "shapes", queue_print_shapes, s);
  if (s->kind != QUEUE_SHUFFLE) return WEFT_OK;
  WEFT_TRY(queue_check_number(q, "min_after_dequeue", q->spec.min_after_dequeue, s->min_after_dequeue));
  if (!s->seed && !s->seed2) return WEFT_OK;
  if (q->spec.seed == s->seed && q->spec.seed2 == s->seed2) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT,
                    "Shared queue '%s' has random seeds (%lld, %lld) but requested seeds are (%lld, %lld).", q->name,
                    (long long)q->spec.seed, (long long)q->spec.seed2, (long long)s->seed, (long long)s->seed2);
}

/* ---- several elements as one tensor ---- */

weft_err weft__queue_stacked_shape(const queue *q, element *const *got, int64_t n, int i, shape *out) {
  if (!q->spec.n_shape)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "%s's DequeueMany and DequeueUpTo require the components to have specified shapes.",
                      queue_kind_text(q));
  shape one = q->shapes[i];
  if (one.rank + 1 > WEFT_MAX_RANK) return weft__fail(WEFT_INVALID_ARGUMENT, "rank %d is too high", one.rank + 1);
  out->rank = one.rank + 1;
  out->dim[0] = n;
  for (int d = 0; d < one.rank; d++) {
    int64_t most = one.dim[d] < 0 ? 0 : one.dim[d];
    for (int64_t j = 0; one.dim[d] < 0 && j < n; j++)
      if (got[j]->part[i].shape.dim[d] > most) most = got[j]->part[i].shape.dim[d];
    out->dim[d + 1] = most;
  }
  return WEFT_OK;
}

/* Copies a block into the corner of a larger one, axis by axis; the rest stays as it is. */
static weft_err queue_copy_corner(weft_dtype dtype, char *to, const shape *big, int big_axis, const char *from,
                                  const shape *small, int axis) {
  size_t size = weft__dtype_size(dtype);
  if (weft__shape_product(big, big_axis + 1, big->rank) == weft__shape_product(small, axis + 1, small->rank))
    return weft__elements_copy(dtype, to, from, weft__shape_product(small, axis, small->rank));
  size_t to_row = (size_t)weft__shape_product(big, big_axis + 1, big->rank) * size;
  size_t from_row = (size_t)weft__shape_product(small, axis + 1, small->rank) * size;
  for (int64_t i = 0; i < small->dim[axis]; i++)
    WEFT_TRY(queue_copy_corner(dtype, to + (size_t)i * to_row, big, big_axis + 1, from + (size_t)i * from_row, small,
                               axis + 1));
  return WEFT_OK;
}

weft_err weft__queue_stack(const queue *q, element *const *got, int64_t n, int i, weft_tensor *out) {
  (void)q;
  size_t size = weft__dtype_size(out->dtype);
  int64_t each = weft__shape_product(&out->shape, 1, out->shape.rank);
  bool plain = weft__dtype_is_plain(out->dtype);
  for (int64_t j = 0; j < n; j++) {
    const weft_tensor *t = &got[j]->part[i];
    char *to = (char *)out->data + (size_t)(j * each) * size;
    bool whole = weft__tensor_count(t) == each;
    if (!whole && plain) memset(to, 0, (size_t)each * size);
    WEFT_TRY(whole ? weft__elements_copy(t->dtype, to, t->data, each)
                   : queue_copy_corner(t->dtype, to, &out->shape, 1, t->data, &t->shape, 0));
  }
  return WEFT_OK;
}
