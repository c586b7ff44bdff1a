/* queue.h - the four queues of TensorFlow, with one waiting discipline.
 *
 * Elements are tuples of tensors.  Requests are served first come first served on each side; one that
 * cannot be served waits, takes what it can get meanwhile, and gives back what it took when it fails.
 * Every request ends in exactly one call of its function, on any thread, without the queue's lock,
 * possibly before the request returns.  Thread safe. */
#ifndef WEFT_STATE_QUEUE_H
#define WEFT_STATE_QUEUE_H

#include "state/resource.h"

#define QUEUE_TYPE "queue"

typedef enum queue_kind { QUEUE_FIFO, QUEUE_SHUFFLE, QUEUE_PADDING, QUEUE_PRIORITY } queue_kind;

typedef struct queue_spec {
  queue_kind kind;
  int n_component;
  const weft_dtype *types; /* n_component; a priority queue's first is int64 */
  int n_shape;             /* 0: elements of any shape, else n_component */
  const shape *shapes;
  int64_t capacity; /* < 0: none */
  int64_t min_after_dequeue;
  uint64_t seed, seed2; /* both 0: seeded from the system */
} queue_spec;

typedef struct queue queue;

/* An element: n_component tensors. */
typedef struct element {
  int64_t order; /* priority queues: when it came */
  weft_tensor part[];
} element;

weft_err weft__queue_create(queue **out, const queue_spec *spec, const char *name);
const queue_spec *weft__queue_spec(const queue *q);
const char *weft__queue_name(const queue *q);
const char *weft__queue_kind_name(queue_kind kind); /* "FIFOQueue" */
/* INVALID_ARGUMENT in TF's words if a node of this op with this spec may not share q. */
weft_err weft__queue_matches(const queue *q, const queue_spec *spec, const char *op_name);

/* err != WEFT_OK: the thread's message says why, n is 0.  The elements are borrowed for the call. */
typedef void queue_fn(void *arg, weft_err err, element *const *got, int64_t n);

/* part: n_component tensors, read during the call; `many`: each is a batch along axis 0.  c may be NULL. */
void weft__queue_enqueue(queue *q, const weft_tensor *const *part, bool many, cancel *c, queue_fn *fn, void *arg);
/* n elements; up_to: fewer, but at least one, once the queue is closed. */
void weft__queue_dequeue(queue *q, int64_t n, bool up_to, cancel *c, queue_fn *fn, void *arg);
/* Waits for the enqueues before it, or, cancel_pending, ends them and closes at once. */
void weft__queue_close(queue *q, bool cancel_pending, cancel *c, queue_fn *fn, void *arg);
int64_t weft__queue_size(queue *q);
bool weft__queue_is_closed(queue *q);

/* Component i of n elements as one tensor: its shape (padded to the largest), then its contents. */
weft_err weft__queue_stacked_shape(const queue *q, element *const *got, int64_t n, int i, shape *out);
weft_err weft__queue_stack(const queue *q, element *const *got, int64_t n, int i, weft_tensor *out);

#endif
