/* sync_token.h - who holds a token of a synchronous job.
 *
 * In such a job (TF's SyncReplicasOptimizer) a worker ends its step by taking a token from a queue, and
 * takes the next one when it has applied its gradients.  One that dies in between would freeze the
 * others: they wait for its gradients.  So the task with the queue notes who was given a token, by the
 * device the token is sent to, and puts it back when that task is lost; another worker then computes in
 * its place.  The table is a resource of the task; where there is none, nothing is noted. */
#ifndef WEFT_STATE_SYNC_TOKEN_H
#define WEFT_STATE_SYNC_TOKEN_H

#include "state/queue.h"

#define SYNC_TOKEN_QUEUE "sync_token_q" /* what TF calls the queue */

/* task holds a token now, or does no more; called without a lock, must not block. */
typedef void sync_token_fn(void *arg, const char *task, bool holds);
weft_err weft__sync_tokens_create(resources *r, sync_token_fn *fn, void *arg);
void weft__sync_tokens_destroy(resources *r);
/* The kernel, a dequeue from q, begins: whoever gets what it takes has used what he had. */
void weft__sync_token_requested(const kernel *k, const queue *q);
void weft__sync_token_taken(const kernel *k, const element *e); /* it took e */
/* The task died or left: what it holds goes back.  How many tokens did. */
int weft__sync_tokens_return(resources *r, const char *task);

#endif
