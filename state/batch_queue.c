/* batch_queue.c - joins the rows of concurrent steps to batches.
 *
 * The first task of a batch leads it: its thread waits until the batch is full or its time is over, runs the function,
 * and wakes the threads of the other tasks, which wait for `done`.  `lock` guards the queue and its batches, but the
 * function runs without it.  The last thread that leaves a batch frees it. */
#include "state/batch_queue.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "state/dataset.h"
#include <pthread.h>
#include <sys/random.h>

#define BATCH_QUEUE_TYPE "batch queue"

struct batch_queue {
  resource base;
  int64_t max_rows, timeout_ns, max_waiting, threads;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  batch *open; /* the batch that may still grow; this and the rest are guarded by the lock */
  int64_t waiting, running;
};

/* ---- options ---- */

static weft_err options_check(const kernel *k) {
  const attr *sizes = weft__node_attr(k->node, "allowed_batch_sizes");
  const int64_t max = weft__node_int(k->node, "max_batch_size", 0);
  const int n = sizes && sizes->is_list ? sizes->n : 0;
  for (int i = 1; i < n; i++)
    if (sizes->is[i] <= sizes->is[i - 1])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "allowed_batch_sizes entries must be monotonically increasing: %lld follows %lld",
                               (long long)sizes->is[i], (long long)sizes->is[i - 1]);
  if (n > 0 && sizes->is[n - 1] != max)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "final entry in allowed_batch_sizes must equal max_batch_size: %lld is not %lld",
                             (long long)sizes->is[n - 1], (long long)max);
  if (weft__node_int(k->node, "num_batch_threads", 0) > 0) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "num_batch_threads must be positive; was %lld",
                           (long long)weft__node_int(k->node, "num_batch_threads", 0));
}

static void batch_queue_destroy(object *o) {
  batch_queue *q = (batch_queue *)o;
  pthread_cond_destroy(&q->changed);
  pthread_mutex_destroy(&q->lock);
  weft__free(q);
}

static weft_err batch_queue_make(resource **out, void *arg) {
  const weft_node *n = arg;
  batch_queue *q = weft__alloc_zero(1, sizeof *q);
  if (!q) return WEFT_OOM;
  atomic_init(&q->base.base.refs, 1);
  q->base.base.destroy = batch_queue_destroy;
  q->base.type = BATCH_QUEUE_TYPE;
  q->max_rows = weft__node_int(n, "max_batch_size", 1);
  const int64_t us = weft__node_int(n, "batch_timeout_micros", 0);
  q->timeout_ns = us < 0 ? 0 : us > INT64_MAX / NS_PER_US / 2 ? INT64_MAX / 2 : us * NS_PER_US;
  q->max_waiting = weft__node_int(n, "max_enqueued_batches", 10);
  if (q->max_waiting < 1) q->max_waiting = 1; /* as in TensorFlow, one batch may always form */
  q->threads = weft__node_int(n, "num_batch_threads", 1);
  pthread_mutex_init(&q->lock, NULL);
  pthread_cond_init(&q->changed, NULL);
  *out = &q->base;
  return WEFT_OK;
}

weft_err weft__batch_queue_of_node(kernel *k, batch_queue **out) {
  char *container = NULL, *name = NULL;
  WEFT_TRY(options_check(k));
  WEFT_TRY(weft__resource_name(k, true, &container, &name));
  const weft_err err = weft__resource_get(k->step->resources, container, BATCH_QUEUE_TYPE, name, batch_queue_make,
                                          (void *)k->node, (resource **)out);
  weft__free(container);
  weft__free(name);
  return weft__kernel_in(k, err);
}

/* ---- tasks ---- */

static weft_err inputs_fail(const kernel *k, int n, const char *what) {
  text t = {0};
  for (int i = 0; i < n; i++)
    weft__text_printf(&t, "\n - input %d has shape %s", i, weft__shape_text(&k->in[i]->shape));
  const weft_err err =
      weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s\nBelow are the input tensors: %s", what, weft__text_get(&t));
  weft__text_finish(&t);
  return err;
}

weft_err weft__batch_task_init(batch_task *t, kernel *k, int n) {
  *t = (batch_task){.k = k, .n = n};
  for (int i = 0; i < n; i++)
    if (k->in[i]->shape.rank == 0) return inputs_fail(k, n, "Batching input tensors must have at least one dimension.");
  t->rows = n ? k->in[0]->shape.dim[0] : 0;
  for (int i = 0; i < n; i++)
    if (k->in[i]->shape.dim[0] != t->rows)
      return inputs_fail(
          k, n, "Batching input tensors supplied in a given op invocation must have equal 0th-dimension size.");
  const int64_t max = weft__node_int(k->node, "max_batch_size", 0);
  if (t->rows > max)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Task size %lld is larger than maximum input batch size %lld",
                             (long long)t->rows, (long long)max);
  if (getrandom(&t->id, sizeof t->id, 0) != sizeof t->id)
    return weft__kernel_fail(k, WEFT_INTERNAL, "getrandom gave no numbers");
  return WEFT_OK;
}

static bool task_fits(const batch *b, const batch_task *t) {
  for (int i = 0; i < t->n; i++) {
    const shape *a = &b->first->k->in[i]->shape, *o = &t->k->in[i]->shape;
    bool same = a->rank == o->rank;
    for (int d = 1; same && d < a->rank; d++) same = a->dim[d] == o->dim[d];
    if (!same) return false;
  }
  return b->first->n == t->n;
}

/* ---- forming batches; the lock is held ---- */

static void batch_close(batch_queue *q, batch *b) {
  WEFT_ASSERT(weft__lock_is_held(&q->lock) && !b->closed);
  b->closed = true;
  if (q->open == b) q->open = NULL;
  pthread_cond_broadcast(&q->changed);
}

/* Adds the task to the open batch, or to a new one.  Tasks whose rows have other shapes are in other batches. */
static weft_err batch_add(batch_queue *q, batch_task *t, batch **out) {
  batch *b = q->open;
  if (b && (b->rows + t->rows > q->max_rows || !task_fits(b, t))) b = NULL;
  if (!b) {
    if (q->waiting >= q->max_waiting)
      return weft__kernel_fail(t->k, WEFT_UNAVAILABLE,
                               "The batch scheduling queue to which this task was submitted is full; currently %lld "
                               "batches enqueued and max_enqueued_batches is %lld",
                               (long long)q->waiting, (long long)q->max_waiting);
    if (!(b = weft__alloc_zero(1, sizeof *b))) return WEFT_OOM;
    if (q->open) batch_close(q, q->open);
    q->open = b;
    q->waiting++;
  }
  WEFT_ASSERT(!b->closed && !b->done);
  if (b->last)
    b->last->next = t;
  else
    b->first = t;
  b->last = t;
  b->rows += t->rows;
  b->users++;
  if (b->rows >= q->max_rows) batch_close(q, b);
  *out = b;
  return WEFT_OK;
}

static int64_t batch_padded(const batch *b) {
  const attr *sizes = weft__node_attr(b->first->k->node, "allowed_batch_sizes");
  for (int i = 0; sizes && sizes->is_list && i < sizes->n; i++)
    if (sizes->is[i] >= b->rows) return sizes->is[i];
  return b->rows;
}

/* Forms and runs a batch on the thread of its first task.  The lock is held, except while the function runs. */
static void batch_lead(batch_queue *q, batch *b, batch_fn *fn) {
  const step *st = b->first->k->step;
  const int64_t end = weft__clock_now_ns() + q->timeout_ns, slice = WEFT_WAIT_SLICE_MS * NS_PER_MS;
  /* A step that must not wait any longer processes the batch at once: others are in it. */
  for (int64_t left; !b->closed && !weft__step_check(st) && (left = end - weft__clock_now_ns()) > 0;) {
    const struct timespec at = weft__clock_deadline(left < slice ? left : slice);
    pthread_cond_clockwait(&q->changed, &q->lock, CLOCK_MONOTONIC, &at);
  }
  if (!b->closed) batch_close(q, b);
  while (q->running >= q->threads) pthread_cond_wait(&q->changed, &q->lock);
  q->running++;
  q->waiting--;
  WEFT_ASSERT(q->running <= q->threads && q->waiting >= 0);
  b->padded = batch_padded(b);
  pthread_mutex_unlock(&q->lock);
  const weft_err err = fn(b);
  pthread_mutex_lock(&q->lock);
  weft__status_update(&b->why, err);
  q->running--;
  b->done = true;
  pthread_cond_broadcast(&q->changed);
}

static void on_cancel(void *arg) {
  batch_queue *q = arg;
  pthread_mutex_lock(&q->lock);
  pthread_cond_broadcast(&q->changed);
  pthread_mutex_unlock(&q->lock);
}

weft_err weft__batch_queue_run(batch_queue *q, batch_task *t, batch_fn *fn) {
  cancel *c = t->k->step->cancel;
  cancel_watch watch = {0};
  batch *b = NULL;
  if (c) WEFT_TRY(weft__cancel_watch_add(c, &watch, on_cancel, q));
  pthread_mutex_lock(&q->lock);
  weft_err err = batch_add(q, t, &b);
  if (!err) {
    if (b->first == t) batch_lead(q, b, fn);
    while (!b->done) pthread_cond_wait(&q->changed, &q->lock);
    err = weft__status_raise(&b->why);
    WEFT_ASSERT(b->users > 0);
    if (--b->users == 0) {
      weft__status_finish(&b->why);
      weft__free(b);
    }
  }
  pthread_mutex_unlock(&q->lock);
  if (c) weft__cancel_watch_remove(c, &watch);
  return err;
}

/* ---- rows ---- */

static int64_t batch_queue_row_size(const weft_tensor *t) { return weft__shape_product(&t->shape, 1, t->shape.rank); }

static weft_err rows_copy(const weft_tensor *from, int64_t begin, int64_t n, weft_tensor *to, int64_t at) {
  const size_t size = weft__dtype_size(from->dtype);
  const int64_t row = batch_queue_row_size(from);
  return weft__elements_copy(from->dtype, (char *)to->data + (size_t)(at * row) * size,
                             (const char *)from->data + (size_t)(begin * row) * size, n * row);
}

weft_err weft__batch_join(const batch *b, int i, weft_tensor **out) {
  const weft_tensor *first = b->first->k->in[i];
  shape s = first->shape;
  s.dim[0] = b->padded;
  WEFT_TRY(weft__tensor_create(out, first->dtype, &s));
  int64_t at = 0;
  weft_err err = WEFT_OK;
  for (const batch_task *t = b->first; t && !err; at += t->rows, t = t->next)
    err = rows_copy(t->k->in[i], 0, t->rows, *out, at);
  for (; at < b->padded && b->rows > 0 && !err; at++) err = rows_copy(*out, 0, 1, *out, at);
  return err;
}

weft_err weft__batch_rows(const weft_tensor *t, int64_t begin, int64_t end, weft_tensor **out) {
  shape s = t->shape;
  s.dim[0] = end - begin;
  WEFT_TRY(weft__tensor_create(out, t->dtype, &s));
  return rows_copy(t, begin, end - begin, *out, 0);
}
