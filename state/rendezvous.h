/* rendezvous.h - where one part of a step leaves a tensor for another.
 *
 * Each key carries one value per step.  Whoever comes first waits: a value for its receiver, or a
 * receiver for its value.  Thread safe; callbacks run without its lock. */
#ifndef WEFT_STATE_RENDEZVOUS_H
#define WEFT_STATE_RENDEZVOUS_H

#include "graph/kernel.h"

/* err != WEFT_OK: no value, the thread's message says why.  Otherwise t is borrowed for the call. */
typedef void recv_fn(void *arg, weft_err err, const weft_tensor *t, bool dead);

weft_err weft__rendezvous_create(rendezvous **out);
void weft__rendezvous_destroy(rendezvous *r);                                                    /* aborts first */
weft_err weft__rendezvous_send(rendezvous *r, const char *key, const weft_tensor *t, bool dead); /* keeps t */
void weft__rendezvous_recv(rendezvous *r, const char *key, recv_fn *fn, void *arg);
/* Ends every waiting and future call with this error. */
void weft__rendezvous_abort(rendezvous *r, weft_err code, const char *message);
/* "SRC_DEVICE;0123456789abcdef;DST_DEVICE;NAME;FRAME:TURN", the last two 0 outside of loops; free with weft__free. */
char *weft__rendezvous_key(const weft_node *n, const char *from_device, const char *to_device, uint64_t frame,
                           int64_t turn);

#endif
