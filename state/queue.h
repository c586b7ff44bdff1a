/* queue.h - the four kinds of TensorFlow's queues.
 *
 * Elements are tuples of tensors.  Enqueues are served in the order in which they came, and so are dequeues.  A dequeue
 * that cannot be served yet takes the elements that there are, and puts them back if it fails.  Every request ends in
 * exactly one call of its function, on any thread, without the queue's lock, possibly before the request returns.
 *
 * Any thread may call these functions.  A queue is a reference-counted resource; a waiting request holds a reference.
 */
#ifndef WEFT_STATE_QUEUE_H
#define WEFT_STATE_QUEUE_H

#include "state/resource.h"

#define QUEUE_TYPE "queue"
#define SYNC_TOKEN_QUEUE "sync_token_q" /* the queue of a synchronous training job: TensorFlow's name */

typedef enum queue_kind { QUEUE_FIFO, QUEUE_SHUFFLE, QUEUE_PADDING, QUEUE_PRIORITY } queue_kind;

typedef struct queue_spec {
  queue_kind kind;
  int n_component;
  const weft_dtype *types; /* n_component; a priority queue's first is int64 */
  int n_shape;             /* 0: elements of any shape, else n_component */
  const shape *shapes;
  int64_t capacity; /* < 0: unlimited */
  int64_t min_after_dequeue;
  uint64_t seed, seed2; /* both 0: seeded from the system */
} queue_spec;

typedef struct queue queue;

/* An element: n_component tensors. */
typedef struct element {
  int64_t order; /* priority queues: order of arrival */
  weft_tensor part[];
} element;

/* The caller owns the one reference; the spec is copied.  Returns INVALID_ARGUMENT in TensorFlow's words. */
weft_err weft__queue_create(queue **out, const queue_spec *spec, const char *name);
const queue_spec *weft__queue_spec(const queue *q);
const char *weft__queue_name(const queue *q);
const char *weft__queue_kind_name(queue_kind kind); /* "FIFOQueue" */
/* Returns INVALID_ARGUMENT in TensorFlow's words if a node of this op with this spec may not share q. */
weft_err weft__queue_matches(const queue *q, const queue_spec *spec, const char *op_name);

/* The elements are borrowed for the call.  On an error this thread's message is set and n is 0. */
typedef void queue_fn(void *arg, weft_err err, element *const *got, int64_t n);

/* Enqueues one element, or with `many` a batch of them along axis 0.  part: n_component tensors, borrowed for this
 * call. The token c (may be NULL) cancels the wait. */
void weft__queue_enqueue(queue *q, const weft_tensor *const *part, bool many, cancel *c, queue_fn *fn, void *arg);
/* Dequeues n elements; with up_to fewer, but at least one, once the queue is closed. */
void weft__queue_dequeue(queue *q, int64_t n, bool up_to, cancel *c, queue_fn *fn, void *arg);
/* Closes the queue after the enqueues that wait, or, with cancel_pending, cancels these and closes at once. */
void weft__queue_close(queue *q, bool cancel_pending, cancel *c, queue_fn *fn, void *arg);
int64_t weft__queue_size(queue *q);
bool weft__queue_is_closed(queue *q);

/* Stacks component i of n elements into one tensor: first its shape (padded to the largest), then its values. */
weft_err weft__queue_stacked_shape(const queue *q, element *const *got, int64_t n, int i, shape *out);
weft_err weft__queue_stack(const queue *q, element *const *got, int64_t n, int i, weft_tensor *out);

#endif
