/* rpc.h - calls between tasks: one request, one answer, asynchronous.
 *
 * The law: a call that was begun is answered exactly once, on any thread, unless the whole
 * transport is destroyed first, which waits for all of them.  Callbacks run on the transport's
 * threads and must not block; they may begin further calls and answer others.  An error travels
 * as weft_err with its message as the thread's message (weft__error_message), in both directions.
 *
 * The interface hides how bytes travel: gRPC towards anybody, and between two Weft tasks a faster
 * transport where both sides offer one.  Methods are gRPC paths ("/tensorflow.WorkerService/RunGraph"). */
#ifndef WEFT_NET_RPC_H
#define WEFT_NET_RPC_H

#include "base/cancel.h"
#include "base/gate.h"
#include "net/message.h"

typedef struct security {  /* zero: none.  Strings are borrowed for the life of what is made with it. */
  const char *token;       /* sent with, and asked of, every call */
  const char *certificate; /* PEM texts: mutual TLS when all three are given */
  const char *key;
  const char *ca;
} security;

/* ---- answering ---- */

typedef struct call call; /* one that came in */
typedef void rpc_handler(void *arg, call *c);

const char *weft__call_method(const call *c);
message *weft__call_request(call *c); /* the handler may take it (weft__message_move) or read it until it answers */
cancel *weft__call_cancel(call *c);   /* fired when the caller gave up or its connection is gone */
const char *weft__call_peer(call *c); /* "ipv4:127.0.0.1:40312", for messages */
int64_t weft__call_deadline_ns(const call *c); /* on the monotonic clock; 0: none */
/* The caller asked for the errors of a step in the body is the handler's business; this is the gRPC status.
 * answer may be NULL (an empty message); it is emptied.  err's message is this thread's. */
void weft__call_respond(call *c, weft_err err, message *answer);

typedef struct listener listener;
typedef struct listener_opts {
  const char *host; /* "0.0.0.0", "127.0.0.1", "[::]" */
  int port;         /* 0: any free one */
  security security;
  bool only_grpc; /* no way in for Weft's own transport */
} listener_opts;
weft_err weft__listener_create(listener **out, const listener_opts *opts, rpc_handler *fn, void *arg);
int weft__listener_port(const listener *l);
/* Refuses what comes, fires the cancel of what is being answered, waits (at most 5 s) for the answers. */
void weft__listener_destroy(listener *l);

/* ---- calling ---- */

typedef struct channel channel; /* to one address; connects when first used and again after a failure */
typedef struct channel_opts {
  security security;
  bool keepalive; /* pings, and Weft's own transport where the peer has it: only towards peers known to be Weft */
} channel_opts;
weft_err weft__channel_create(channel **out, const char *address, const channel_opts *opts);
void weft__channel_destroy(channel *c); /* cancels what runs and waits for it; not on a thread of the transport */
bool weft__channel_is_fast(channel *c); /* now by Weft's own transport */

typedef struct call_opts {
  int64_t timeout_ms;  /* 0: none */
  bool wait_for_ready; /* until connected, instead of failing with UNAVAILABLE */
  bool more;           /* another call to this peer follows at once, or a flush: both may travel together */
  bool only_grpc;      /* not behind other calls' work: by gRPC, also where there is a faster way */
  cancel *cancel;      /* or NULL; fired: the call ends with its code; must outlive the call */
} call_opts;
typedef void rpc_callback(void *arg, weft_err err,
                          message *reply); /* reply is the callback's to read or take; NULL on error */
/* The request is emptied.  fn is called exactly once, also when the call could not be begun. */
void weft__channel_call(channel *c, const char *method, message *request, const call_opts *opts, rpc_callback *fn,
                        void *arg);
void weft__channel_flush(channel *c); /* sends calls that expect another */
/* As weft__channel_call, waiting on the calling thread (never one of the transport's); ends on weft_interrupt.  reply was empty. */
weft_err weft__channel_call_wait(channel *c, const char *method, message *request, const call_opts *opts,
                                 message *reply);

/* ---- waiting ---- */

/* As weft__gate_wait and weft__gate_open, for a gate that opens when calls are answered: the thread that waits may read
 * the answers itself, and run the callbacks of whatever else comes.  Not to be waited for in a callback. */
bool weft__rpc_event_wait(gate *g, int64_t for_ns);
void weft__rpc_event_set(gate *g);

#endif
