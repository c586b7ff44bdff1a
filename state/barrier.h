/* barrier.h - barriers: tuples of tensors whose components arrive one by one, each under the key of its tuple.
 *
 * A tuple is ready once it has all components.  Ready tuples are taken in the order in which their keys were first
 * inserted; those of one insertion in the order in which they became ready.  A take that cannot be served waits without
 * a thread.  Any thread may call these functions; a barrier is a reference-counted resource. */
#ifndef WEFT_STATE_BARRIER_H
#define WEFT_STATE_BARRIER_H

#include "state/queue.h"

#define BARRIER_TYPE "barrier"

typedef struct barrier_spec {
  int n; /* components of a tuple */
  const weft_dtype *types;
  const shape *shapes; /* n, fully known */
} barrier_spec;

typedef struct barrier barrier;

/* The caller owns the one reference; the spec is copied. */
weft_err weft__barrier_create(barrier **out, const barrier_spec *spec, const char *name);
const barrier_spec *weft__barrier_spec(const barrier *b);
const char *weft__barrier_name(const barrier *b);
/* Gives component i of the tuples with these keys the rows of `values`.  Returns CANCELLED for a new key if the barrier
 * is closed, and INVALID_ARGUMENT for a component that is there already; the keys before it have theirs then. */
weft_err weft__barrier_insert(barrier *b, int i, const weft_tensor *keys, const weft_tensor *values);

typedef struct barrier_take {
  int64_t n;
  bool allow_small;         /* give fewer tuples, but at least one, if the barrier is closed */
  bool wait_for_incomplete; /* with allow_small, wait for tuples that are not complete */
} barrier_take;
/* Takes tuples.  The elements have an insertion number, the key and the components; weft__queue_stack stacks them. */
void weft__barrier_take(barrier *b, const barrier_take *t, cancel *c, queue_fn *fn, void *arg);
queue *weft__barrier_queue(barrier *b); /* of the ready tuples, borrowed */
/* No new keys will come; with cancel_pending, tuples that are not complete are dropped. */
weft_err weft__barrier_close(barrier *b, bool cancel_pending);
int64_t weft__barrier_size(barrier *b, bool incomplete); /* tuples that are ready, or those that are not complete */

#endif
