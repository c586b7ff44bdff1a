/* sync_token.h - records which worker holds a token of a synchronous training job.
 *
 * In such a job (TensorFlow's SyncReplicasOptimizer) a worker ends its step by taking a token from a queue, and takes
 * the next one after it has applied its gradients.  If a worker dies in between, the others would wait for its
 * gradients forever.  So the task with the queue records which task got a token, by the device to which the token is
 * sent.  When that task is lost, the token is put back, and another worker computes in its place.
 *
 * The table is a resource of the task; without it nothing is recorded.  Any thread may call these functions. */
#ifndef WEFT_STATE_SYNC_TOKEN_H
#define WEFT_STATE_SYNC_TOKEN_H

#include "state/queue.h"

/* Called when a task gets its first token (holds) and when it has none left; without a lock, and it must not block. */
typedef void sync_token_fn(void *arg, const char *task, bool holds);
/* Adds the table to the resources of this task, and removes it.  fn and arg must stay valid until it is removed. */
weft_err weft__sync_tokens_create(resources *r, sync_token_fn *fn, void *arg);
void weft__sync_tokens_destroy(resources *r);
/* A dequeue from q starts: the task that will get its result has used its former token. */
void weft__sync_token_requested(const kernel *k, const queue *q);
void weft__sync_token_taken(const kernel *k, const element *e); /* the dequeue took e */
/* The task died or left: puts its token back into the queue.  Returns the number of tokens put back. */
int weft__sync_tokens_return(resources *r, const char *task);

#endif
