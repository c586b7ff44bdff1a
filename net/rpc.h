/* rpc.h - calls between tasks: one request, one response, asynchronous.
 *
 * Guarantee: every call that was started gets exactly one response, on any thread.  Destroying a channel or a
 * listener waits for all of its calls.  Callbacks and handlers run on the transport's threads and must not block;
 * they may start further calls and answer others.  An error is a weft_err with its message as the thread's message
 * (weft__error_message), in both directions.
 *
 * The interface hides how bytes travel: by gRPC to any peer, and between two Weft tasks by the fast transport where
 * both sides offer it.  Methods are gRPC paths ("/tensorflow.WorkerService/RunGraph").  Functions may be called on
 * any thread, except where a comment says otherwise. */
#ifndef WEFT_NET_RPC_H
#define WEFT_NET_RPC_H

#include "base/cancel.h"
#include "base/sync_event.h"
#include "net/message.h"
#include "net/rpc_error.h"

typedef struct security {  /* zero: none.  Strings are borrowed for the life of the listener or channel. */
  const char *token;       /* sent with every call, and required of every call */
  const char *certificate; /* PEM texts: mutual TLS when all three are given */
  const char *key;
  const char *ca;
} security;

/* ---- the server side ---- */

typedef struct call call; /* one that was received; the handler's until it responds */
typedef void rpc_handler(void *arg, call *c);

/* What these return is borrowed from c, until the handler responds. */
const char *weft__call_method(const call *c);
message *weft__call_request(call *c); /* the handler may take it (weft__message_move), or read it until it responds */
cancel *weft__call_cancel(call *c);   /* fired when the caller gave up or its connection was lost */
const char *weft__call_peer(call *c); /* "ipv4:127.0.0.1:40312", for messages */
int64_t weft__call_deadline_ns(const call *c); /* on the monotonic clock; 0: none */
/* Responds, once; c is gone afterwards.  err is the gRPC status, and its message is this thread's.  (Some requests
 * want the error of a step in the body instead, which is up to the handler.)  response may be NULL, which is an
 * empty message; it is emptied. */
void weft__call_respond(call *c, weft_err err, message *response);

typedef struct listener listener;
typedef struct listener_opts {
  const char *host; /* "0.0.0.0", "127.0.0.1", "[::]" */
  int port;         /* 0: any free one */
  security security;
  bool only_grpc; /* without the fast transport */
} listener_opts;
/* Listens, and calls fn for each call.  UNKNOWN: the address cannot be used; RESOURCE_EXHAUSTED: no thread or
 * descriptor; INVALID_ARGUMENT: the certificate cannot be read; UNIMPLEMENTED: this build has no gRPC. */
weft_err weft__listener_create(listener **out, const listener_opts *opts, rpc_handler *fn, void *arg);
int weft__listener_port(const listener *l);
/* Refuses new calls, fires the tokens of pending ones, and waits for their responses, at most 5 s.  NULL is fine.
 * Not in a callback. */
void weft__listener_destroy(listener *l);

/* ---- the client side ---- */

typedef struct channel channel; /* to one address; connects when first used, and again after a failure */
typedef struct channel_opts {
  security security;
  bool fast; /* the fast transport where the peer has it: only for peers known to be Weft */
} channel_opts;
/* address: "host:port"; copied.  INVALID_ARGUMENT: it is not that, or the certificate cannot be read. */
weft_err weft__channel_create(channel **out, const char *address, const channel_opts *opts);
/* Cancels pending calls and waits for their callbacks.  NULL is fine.  Not in a callback. */
void weft__channel_destroy(channel *c);
bool weft__channel_is_fast(channel *c); /* is it connected by the fast transport now? */

typedef struct call_opts {
  int64_t timeout_ms;  /* 0: none */
  bool wait_for_ready; /* waits until connected, instead of failing with UNAVAILABLE */
  bool more;           /* another call to this peer, or a flush, follows at once: both may be sent together */
  bool only_grpc;      /* by gRPC even if the fast transport is connected: not behind other calls */
  cancel *cancel;      /* or NULL; when fired, the call ends with its code; must outlive the call */
} call_opts;
/* The callback may read or take the response, which is NULL on error. */
typedef void rpc_callback(void *arg, weft_err err, message *response);
/* Starts a call.  The request is emptied.  fn is called exactly once, also if the call could not be started, and
 * perhaps before this returns. */
void weft__channel_call(channel *c, const char *method, message *request, const call_opts *opts, rpc_callback *fn,
                        void *arg);
void weft__channel_flush(channel *c); /* sends calls that wait for another (call_opts.more) */
/* As weft__channel_call, but waits for the response; ends with CANCELLED on weft_interrupt.  response must be
 * empty.  Not in a callback. */
weft_err weft__channel_call_wait(channel *c, const char *method, message *request, const call_opts *opts,
                                 message *response);

/* ---- waiting (transport.c) ---- */

/* As weft__sync_event_wait and weft__sync_event_set, for a sync_event that a callback sets.  The thread that waits may
 * poll the event loop itself and run callbacks, also those of other calls.  Must not be waited for in a callback. */
bool weft__rpc_event_wait(sync_event *g, int64_t for_ns);
void weft__rpc_event_set(sync_event *g);

#endif
