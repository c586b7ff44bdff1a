/* fast.h - the fast transport: Weft's own, between two tasks that are both Weft.
 *
 * A listener has a second, private entrance: a unix socket for its own host and a TCP port for others.  A channel asks
 * for this endpoint over gRPC (FAST_METHOD), so that only a peer that may call can come this way: the response has a
 * key, which the greeting must show.  When the connection is lost, its calls fail with UNAVAILABLE; new ones go by gRPC
 * until the channel has connected again.
 *
 * Both sides borrow the loop group, which must outlive them.  Functions may be called on any thread. */
#ifndef WEFT_NET_FAST_FAST_H
#define WEFT_NET_FAST_FAST_H

#include "net/fast/loop.h"
#include "net/internal.h"

#define FAST_METHOD "/weft.Net/Fast"

/* ---- the server side ---- */

typedef struct fast_listener fast_listener;
/* Listens where it can; handlers are called in dispatch.  Strings of opts are not kept. */
weft_err weft__fast_listener_create(fast_listener **out, loop_group *loops, const listener_opts *opts, rpc_handler *fn,
                                    void *arg);
weft_err weft__fast_listener_endpoint(const fast_listener *l, message *out); /* the response to FAST_METHOD */
/* As weft__listener_destroy.  Returns false, and frees nothing, if a handler did not answer in time: then the loop
 * group must stay as well.  Not in a callback. */
bool weft__fast_listener_destroy(fast_listener *l);

/* ---- the client side ---- */

typedef struct fast_client fast_client;
/* Called in dispatch when the connection can be used (true, at most once) and when it is lost (false, once, also if it
 * could never be used). */
typedef void fast_client_changed(void *arg, fast_client *client, bool usable);
/* Starts to connect.  endpoint: the peer's response to FAST_METHOD; address: its "host:port", for messages; host: its
 * numeric address ("": unknown, so only a unix socket is tried).  UNAVAILABLE: no socket of it can be reached. */
weft_err weft__fast_client_create(fast_client **out, loop_group *loops, const char *address, const char *host,
                                  message *endpoint, fast_client_changed *on_change, void *arg);
/* As weft__channel_call.  Returns false, and does nothing, if the connection is lost. */
bool weft__fast_client_call(fast_client *client, const char *method, message *request, const call_opts *opts,
                            rpc_callback *fn, void *arg);
void weft__fast_client_flush(fast_client *client); /* as weft__channel_flush */
/* Fails pending calls with CANCELLED, waits for their callbacks and frees the client.  Not in a callback. */
void weft__fast_client_destroy(fast_client *client);

#endif
