/* rendezvous.h - the rendezvous of a step: passes tensors from one partition to another.
 *
 * Each key has one value per step.  The first side waits for the other: a value for its receiver, or a receiver for its
 * value.  In a cluster each task has a rendezvous for the step.  A value that another task sends is fetched from that
 * task; a value that is sent here waits until the other task requests it.
 *
 * Any thread may call these functions.  Callbacks run without the lock, on the thread that sends, receives or aborts.
 */
#ifndef WEFT_STATE_RENDEZVOUS_H
#define WEFT_STATE_RENDEZVOUS_H

#include "graph/kernel.h"

/* t is borrowed for the call.  On an error there is no value, and this thread's message is set. */
typedef void recv_fn(void *arg, weft_err err, const weft_tensor *t, bool dead);

typedef struct recv_request {
  const char *key;
  recv_fn *fn;
  void *arg;
} recv_request;

typedef struct rendezvous_remote {
  const char *task; /* this task, "/job:ps/replica:0/task:0"; values of other tasks are fetched.  Borrowed. */
  /* Required.  Calls fn exactly once, now or later.  Until then it holds a reference to r and watches
   * weft__rendezvous_token.  Called without a lock; must not block. */
  void (*fetch)(void *arg, rendezvous *r, const char *key, recv_fn *fn, void *fn_arg);
  /* Optional.  Fetches several values of one task that are needed together; calls each function as fetch does. */
  void (*fetch_all)(void *arg, rendezvous *r, int n, const recv_request *want);
  void *arg;
} rendezvous_remote;

weft_err weft__rendezvous_create(rendezvous **out, const rendezvous_remote *remote); /* NULL: all is local */
/* Adds a reference, for a caller that holds one. */
void weft__rendezvous_retain(rendezvous *r);
void weft__rendezvous_release(rendezvous *r); /* the last reference aborts it first; does nothing for NULL */
/* Passes t to the receiver, or keeps it until one comes: its buffer is shared, or copied if it is transient.  Returns
 * the error of the abort if the rendezvous was aborted. */
weft_err weft__rendezvous_send(rendezvous *r, const char *key, const weft_tensor *t, bool dead);
/* Calls fn exactly once, now or later, with the value of the key or an error. */
void weft__rendezvous_recv(rendezvous *r, const char *key, recv_fn *fn, void *arg);
/* The same for several values of one task that are needed together. */
void weft__rendezvous_recv_all(rendezvous *r, int n, const recv_request *want);
bool weft__rendezvous_is_empty(rendezvous *r);  /* neither a value nor a receiver waits */
bool weft__rendezvous_is_unused(rendezvous *r); /* it is empty and the caller holds the only reference */
/* Removes a receiver that waits here.  Returns false if its function was called or is about to be called. */
bool weft__rendezvous_cancel_recv(rendezvous *r, const char *key, recv_fn *fn, const void *arg);
/* Completes every waiting and future call with the present error.  In a cluster CANCELLED and ABORTED are marked as
 * derived, as TensorFlow does, because the master looks for the error that came first. */
void weft__rendezvous_abort(rendezvous *r, weft_err code);
cancel *weft__rendezvous_token(rendezvous *r); /* fires when it is aborted */
/* Returns "SRC_DEVICE;0123456789abcdef;DST_DEVICE;NAME;FRAME:ITERATION", which the caller frees with weft__free; NULL:
 * no memory.  Frame and iteration are 0 outside of loops. */
char *weft__rendezvous_key(const weft_node *n, const char *from_device, const char *to_device, uint64_t frame,
                           int64_t iteration);

#endif
