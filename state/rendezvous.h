/* rendezvous.h - where one part of a step leaves a tensor for another.
 *
 * Each key carries one value per step.  Whoever comes first waits: a value for its receiver, or a
 * receiver for its value.  In a cluster the step's rendezvous exists once per task: what another task
 * sends is fetched from it, and what is sent here waits for that task to ask.  Thread safe; callbacks
 * run without its lock. */
#ifndef WEFT_STATE_RENDEZVOUS_H
#define WEFT_STATE_RENDEZVOUS_H

#include "graph/kernel.h"

/* err != WEFT_OK: no value, the thread's message says why.  Otherwise t is borrowed for the call. */
typedef void recv_fn(void *arg, weft_err err, const weft_tensor *t, bool dead);

typedef struct recv_request {
  const char *key;
  recv_fn *fn;
  void *arg;
} recv_request;

typedef struct rendezvous_remote {
  const char *task; /* "/job:ps/replica:0/task:0": what devices of another send is fetched.  Borrowed. */
  /* Calls fn exactly once, now or later; until then it keeps a reference to r and watches weft__rendezvous_token. */
  void (*fetch)(void *arg, rendezvous *r, const char *key, recv_fn *fn, void *fn_arg);
  /* Of many from one task, wanted together: each one's function is called as by fetch.  NULL: one by one. */
  void (*fetch_all)(void *arg, rendezvous *r, int n, const recv_request *want);
  void *arg;
} rendezvous_remote;

weft_err weft__rendezvous_create(rendezvous **out, const rendezvous_remote *remote); /* NULL: everything is local */
void weft__rendezvous_retain(rendezvous *r);
void weft__rendezvous_release(rendezvous *r); /* lets go of one reference; the last aborts first */
/* Keeps t: its buffer is shared, not copied, unless it is a running step's own. */
weft_err weft__rendezvous_send(rendezvous *r, const char *key, const weft_tensor *t, bool dead);
void weft__rendezvous_recv(rendezvous *r, const char *key, recv_fn *fn, void *arg);
/* The same for several that one task sends and that are of use only together. */
void weft__rendezvous_recv_all(rendezvous *r, int n, const recv_request *want);
bool weft__rendezvous_is_empty(rendezvous *r);  /* no value and no receiver waits */
bool weft__rendezvous_is_unused(rendezvous *r); /* and nobody else holds it */
/* Takes back a recv that waits here.  False: its function has been called or is about to be. */
bool weft__rendezvous_cancel_recv(rendezvous *r, const char *key, recv_fn *fn, const void *arg);
/* Ends every waiting and future call with this error.  Where there are other tasks, CANCELLED and ABORTED are marked
 * as derived, as TF does: the master looks for the error that came first. */
void weft__rendezvous_abort(rendezvous *r, weft_err code, const char *message);
cancel *weft__rendezvous_token(rendezvous *r); /* fires when it is aborted */
#define WEFT_DERIVED "[_Derived_]"
/* "SRC_DEVICE;0123456789abcdef;DST_DEVICE;NAME;FRAME:TURN", the last two 0 outside of loops; free with weft__free. */
char *weft__rendezvous_key(const weft_node *n, const char *from_device, const char *to_device, uint64_t frame,
                           int64_t turn);

#endif
