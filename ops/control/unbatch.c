/* unbatch.c - Unbatch and UnbatchGrad: the ways of rows from the step that Batch joined them in, and back to it.
 *
 * Tensors wait in a store, each under the id of a step.  Unbatch takes the one with its own id; UnbatchGrad of the step
 * with the batch takes those of all ids of the batch. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/list.h"
#include "graph/op.h"
#include "state/batch_queue.h"
#include "state/dataset.h"
#include <pthread.h>

#define STORE_TYPE "unbatched tensors"

typedef struct parcel {
  list_link link;
  int64_t id, end_ns; /* end_ns: dropped after this time */
  weft_tensor *t;
} parcel;

typedef struct parcel_store {
  resource base;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  linked_list parcels; /* guarded by the lock */
} parcel_store;

static void parcel_destroy(parcel *p) {
  weft__list_remove(&p->link);
  weft_tensor_destroy(p->t);
  weft__free(p);
}

static void parcel_store_destroy(object *o) {
  parcel_store *s = (parcel_store *)o;
  for (list_link *l; (l = weft__list_first(&s->parcels));) parcel_destroy(WEFT_LIST_ITEM(l, parcel, link));
  pthread_cond_destroy(&s->changed);
  pthread_mutex_destroy(&s->lock);
  weft__free(s);
}

static weft_err parcel_store_make(resource **out, void *arg) {
  (void)arg;
  parcel_store *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  atomic_init(&s->base.base.refs, 1);
  s->base.base.destroy = parcel_store_destroy;
  s->base.type = STORE_TYPE;
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->changed, NULL);
  weft__list_init(&s->parcels);
  *out = &s->base;
  return WEFT_OK;
}

static weft_err store_of_node(kernel *k, parcel_store **out) {
  char *container = NULL, *name = NULL;
  WEFT_TRY(weft__resource_name(k, true, &container, &name));
  const weft_err err =
      weft__resource_get(k->step->resources, container, STORE_TYPE, name, parcel_store_make, NULL, (resource **)out);
  weft__free(container);
  weft__free(name);
  return weft__kernel_in(k, err);
}

/* ---- the lock is held ---- */

static parcel *parcel_find(const parcel_store *s, int64_t id) {
  WEFT_LIST_FOR_EACH(l, &s->parcels) {
    parcel *p = WEFT_LIST_ITEM(l, parcel, link);
    if (p->id == id) return p;
  }
  return NULL;
}

/* Takes over t, also on failure. */
static weft_err parcel_put(parcel_store *s, int64_t id, int64_t end_ns, weft_tensor *t) {
  parcel *p = weft__alloc_zero(1, sizeof *p);
  if (!p) {
    weft_tensor_destroy(t);
    return WEFT_OOM;
  }
  p->id = id, p->end_ns = end_ns, p->t = t;
  weft__list_append(&s->parcels, &p->link);
  pthread_cond_broadcast(&s->changed);
  return WEFT_OK;
}

static void parcels_drop_late(parcel_store *s) {
  const int64_t now = weft__clock_now_ns();
  for (list_link *l = s->parcels.head.next, *next; l != &s->parcels.head; l = next) {
    next = l->next;
    if (WEFT_LIST_ITEM(l, parcel, link)->end_ns < now) parcel_destroy(WEFT_LIST_ITEM(l, parcel, link));
  }
}

/* Waits for a change, at most until end_ns.  Returns the error of a step that was canceled or interrupted, or is over
 * its deadline. */
static weft_err store_wait(parcel_store *s, const kernel *k, int64_t end_ns) {
  const int64_t left = end_ns - weft__clock_now_ns();
  if (left > WEFT_WAIT_SLICE_MS * NS_PER_MS) return weft__step_wait(k->step, &s->changed, &s->lock);
  if (left <= 0) return WEFT_OK;
  const struct timespec at = weft__clock_deadline(left);
  pthread_cond_clockwait(&s->changed, &s->lock, CLOCK_MONOTONIC, &at);
  return weft__step_check(k->step);
}

/* ---- kernels ---- */

static weft_err index_check(const kernel *k, int at, int64_t rows) {
  const shape *s = &k->in[at]->shape;
  if (s->rank != 2 || s->dim[1] != 3)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Wrong shape for index tensor. Expected a matrix with 3 columns; Got: %s",
                             weft__shape_text(s));
  if (s->dim[0] > rows)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Wrong shape for index tensor. Expected 0th dimension size to be no greater than %lld; "
                             "Got: %lld.",
                             (long long)rows, (long long)s->dim[0]);
  for (int64_t i = 0; i < s->dim[0]; i++) {
    const int64_t *row = TENSOR_DATA(k->in[at], int64_t) + 3 * i;
    if (row[1] < 0 || row[2] < row[1] || row[2] > rows)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "row %lld of batch_index has [%lld, %lld), but there are %lld rows", (long long)i,
                               (long long)row[1], (long long)row[2], (long long)rows);
  }
  return WEFT_OK;
}

/* Deals the rows of the batch out, if this step has it. */
static weft_err unbatch_deal(kernel *k, parcel_store *s, int64_t end_ns) {
  for (int64_t i = 0; i < k->in[1]->shape.dim[0]; i++) {
    const int64_t *row = TENSOR_DATA(k->in[1], int64_t) + 3 * i;
    weft_tensor *t = NULL;
    const weft_err err = weft__batch_rows(k->in[0], row[1], row[2], &t);
    if (err) weft_tensor_destroy(t);
    WEFT_TRY(err);
    WEFT_TRY(parcel_put(s, row[0], end_ns, t));
  }
  return WEFT_OK;
}

static weft_err unbatch_locked(kernel *k, parcel_store *s, int64_t end_ns) {
  const int64_t id = weft__tensor_int(k->in[2], 0);
  parcel *p = NULL;
  parcels_drop_late(s);
  WEFT_TRY(unbatch_deal(k, s, end_ns));
  while (!(p = parcel_find(s, id)) && weft__clock_now_ns() < end_ns)
    WEFT_TRY(weft__kernel_in(k, store_wait(s, k, end_ns)));
  if (!p)
    return weft__kernel_fail(k, WEFT_DEADLINE_EXCEEDED,
                             "Batched data did not arrive within timeout window. (timeout_micros is %lld)",
                             (long long)weft__node_int(k->node, "timeout_micros", 0));
  const weft_err err = weft__out_share(k, 0, p->t);
  parcel_destroy(p);
  return err;
}

/* Joins the tensors of all ids of the index to output 0. */
static weft_err grad_join(kernel *k, parcel_store *s) {
  const int64_t n = k->in[1]->shape.dim[0], *index = TENSOR_DATA(k->in[1], int64_t);
  weft_tensor *out = weft__out(k, 0, &k->in[0]->shape);
  if (!out) return WEFT_OOM;
  const int64_t row = weft__shape_product(&out->shape, 1, out->shape.rank);
  const size_t size = weft__dtype_size(out->dtype);
  if (weft__dtype_is_plain(out->dtype)) memset(out->data, 0, weft__tensor_bytes(out));
  for (int64_t i = 0; i < n; i++) {
    parcel *p = parcel_find(s, index[3 * i]);
    const int64_t rows = index[3 * i + 2] - index[3 * i + 1];
    if (!p || weft__tensor_count(p->t) != rows * row)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the gradient of id %lld has shape %s, but %lld rows are due",
                               (long long)index[3 * i], p ? weft__shape_text(&p->t->shape) : "[]", (long long)rows);
    WEFT_TRY(weft__elements_copy(out->dtype, (char *)out->data + (size_t)(index[3 * i + 1] * row) * size, p->t->data,
                                 rows * row));
    parcel_destroy(p);
  }
  return WEFT_OK;
}

static weft_err grad_locked(kernel *k, parcel_store *s) {
  weft_tensor *mine = NULL;
  WEFT_TRY(weft__tensor_create_like(&mine, k->in[2]));
  WEFT_TRY(parcel_put(s, weft__tensor_int(k->in[3], 0), INT64_MAX, mine));
  const int64_t n = k->in[1]->shape.dim[0];
  if (n == 0) {
    shape none = k->in[0]->shape;
    none.dim[0] = 0;
    return weft__out(k, 0, &none) ? WEFT_OK : WEFT_OOM;
  }
  for (int64_t i = 0; i < n; i++)
    while (!parcel_find(s, TENSOR_DATA(k->in[1], int64_t)[3 * i]))
      WEFT_TRY(weft__kernel_in(k, store_wait(s, k, INT64_MAX)));
  return grad_join(k, s);
}

static void unbatch_on_cancel(void *arg) {
  parcel_store *s = arg;
  pthread_mutex_lock(&s->lock);
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
}

static weft_err unbatch_run(kernel *k, bool grad) {
  parcel_store *s = NULL;
  cancel_watch watch = {0};
  cancel *c = k->step->cancel;
  WEFT_TRY(store_of_node(k, &s));
  const int64_t us = weft__node_int(k->node, "timeout_micros", 0), end_ns = weft__clock_after_ms(us / 1000);
  weft_err err = c ? weft__cancel_watch_add(c, &watch, unbatch_on_cancel, s) : WEFT_OK;
  if (!err) {
    pthread_mutex_lock(&s->lock);
    err = grad ? grad_locked(k, s) : unbatch_locked(k, s, end_ns);
    pthread_mutex_unlock(&s->lock);
    if (c) weft__cancel_watch_remove(c, &watch);
  }
  weft__object_release((object *)s);
  return err;
}

static weft_err unbatch_check(const kernel *k, int id) {
  WEFT_TRY(weft__kernel_scalar(k, id, "id"));
  if (k->in[0]->shape.rank == 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must have at least one dimension, but is a scalar",
                             id == 2 ? "batched_tensor" : "original_input");
  return index_check(k, 1, k->in[0]->shape.dim[0]);
}

static weft_err unbatch_cpu(kernel *k) {
  WEFT_TRY(unbatch_check(k, 2));
  return unbatch_run(k, false);
}

static weft_err unbatch_grad_cpu(kernel *k) {
  WEFT_TRY(unbatch_check(k, 3));
  return unbatch_run(k, true);
}

/* Only the number of rows differs. */
static weft_err unbatch_infer(infer *s) {
  s->out[0] = s->in[0];
  if (s->out[0].rank > 0) s->out[0].dim[0] = -1;
  return WEFT_OK;
}

static weft_err unbatch_grad_infer(infer *s) {
  s->out[0] = s->in[2];
  for (int d = 0; d < s->out[0].rank; d++) s->out[0].dim[d] = -1;
  return WEFT_OK;
}

OPS(unbatch) = {
    {"Unbatch(batched_tensor:T, batch_index:int64, id:int64) -> (unbatched_tensor:T) | timeout_micros:int "
     "container:string='' shared_name:string='' T:type",
     "The rows of this step out of a batch that perhaps another step has.", .flags = OP_BLOCKING | OP_NO_FOLD,
     .infer = unbatch_infer, .cpu = unbatch_cpu, .narrow = NARROW_ALL},
    {"UnbatchGrad(original_input:T, batch_index:int64, grad:T, id:int64) -> (batched_grad:T) | container:string='' "
     "shared_name:string='' T:type",
     "The gradients of all steps of a batch, in the step that has it.", .flags = OP_BLOCKING | OP_NO_FOLD,
     .infer = unbatch_grad_infer, .cpu = unbatch_grad_cpu, .narrow = NARROW_ALL},
    {.scenario = "tests/parity/test_batching.py"},
};
