/* batch_queue.h - joins the rows of concurrent steps to batches, for Batch and BatchFunction.
 *
 * Each caller blocks until its batch was processed.  The first task of a batch waits until the batch is full or its
 * time is over, and processes it for all, so no thread is started.  Any thread may call these functions. */
#ifndef WEFT_STATE_BATCH_QUEUE_H
#define WEFT_STATE_BATCH_QUEUE_H

#include "state/resource.h"

typedef struct batch_queue batch_queue;

typedef struct batch_task {
  kernel *k;
  int n;             /* the first n inputs of the kernel are joined */
  int64_t rows, id;  /* rows: their dimension 0; id: a random number */
  weft_tensor **out; /* of the kernel, NULL at first.  The thread that processes the batch creates the tensors; the
                      * owner of the task destroys them. */
  struct batch_task *next;
} batch_task;

typedef struct batch {
  batch_task *first, *last;
  int64_t rows, padded; /* padded: the rows of the joined tensors */
  bool closed, done;    /* this and the rest are guarded by the queue's lock */
  int users;
  status why;
} batch;

/* Processes the batch for all of its tasks: creates their outputs.  Called without a lock, on the thread of the first
 * task.  If it fails, every task of the batch fails with this error. */
typedef weft_err batch_fn(batch *b);

/* Finds or creates the queue of the node, which the caller releases.  The node's attributes are the options.  Returns
 * INVALID_ARGUMENT if they are wrong. */
weft_err weft__batch_queue_of_node(kernel *k, batch_queue **out);
/* Fills the task for the first n inputs of a kernel and checks them. */
weft_err weft__batch_task_init(batch_task *t, kernel *k, int n);
/* Adds the task to a batch and blocks until that was processed.  Returns UNAVAILABLE if too many batches wait. */
weft_err weft__batch_queue_run(batch_queue *q, batch_task *t, batch_fn *fn);
/* Joins input i of all tasks along dimension 0; rows of padding repeat the first row.  The caller destroys *out. */
weft_err weft__batch_join(const batch *b, int i, weft_tensor **out);
/* Copies rows [begin, end) of t to a tensor that the caller destroys. */
weft_err weft__batch_rows(const weft_tensor *t, int64_t begin, int64_t end, weft_tensor **out);

#endif
