/* internal.h - what the two transports share, and gRPC's side of it: a connection to call on, a listener to answer on.
 *
 * Belongs to net/ alone.  Functions may be called on any thread, except where a comment says otherwise. */
#ifndef WEFT_NET_INTERNAL_H
#define WEFT_NET_INTERNAL_H

#include "net/call.h"

/* ---- gRPC: a client's connection to one address ---- */

typedef struct grpc_connection { /* the struct of an implementation begins with it */
  const struct grpc_connection_ops *ops;
} grpc_connection;

typedef struct grpc_connection_ops {
  void (*call)(grpc_connection *c, const char *method, message *request, const call_opts *opts, rpc_callback *fn,
               void *arg);             /* as weft__channel_call */
  void (*destroy)(grpc_connection *c); /* cancels pending calls and waits for their callbacks; not in a callback */
} grpc_connection_ops;

/* Connects when first used, and again after a failure.  INVALID_ARGUMENT: the address is not "host:port". */
weft_err weft__grpc_connection_create(grpc_connection **out, const char *address, const channel_opts *opts);
/* In a callback of a call by gRPC: writes the numeric address of the host that answered ("10.0.0.1", "::1") to buf.
 * Returns false if it is not known. */
bool weft__grpc_response_host(char *buf, size_t room);

/* ---- gRPC: a listener ---- */

typedef struct grpc_listener grpc_listener;
/* Strings of opts->security are borrowed for the listener's life. */
weft_err weft__grpc_listener_create(grpc_listener **out, const listener_opts *opts, rpc_handler *fn, void *arg);
int weft__grpc_listener_port(const grpc_listener *l); /* the one that was bound */
/* As weft__listener_destroy.  Returns false, and frees nothing, if a handler did not answer in time. */
bool weft__grpc_listener_destroy(grpc_listener *l);

/* ---- both transports ---- */

enum {
  ERROR_TEXT_MAX = 3072,     /* longer messages are cut, as TF does; more does not fit a header */
  CLOSE_WAIT_MS = 5000,      /* how long a listener waits for its handlers */
  CALLBACK_SLOW_MS = 150,    /* when a callback takes longer, a second thread polls meanwhile */
  CONNECT_TIMEOUT_MS = 5000, /* of one attempt */
  RETRY_MIN_MS = 20,         /* after the first failed attempt */
  RETRY_MAX_MS = 150,        /* so that a task that appears is used within 0.2 s */
  MESSAGE_LIMIT_MIB = 2048,  /* protobuf's own */
};

/* Returns an error's message as it may travel: at most ERROR_TEXT_MAX bytes, with " ... [truncated]" at the end if
 * it was cut.  The result is `text` itself or buf, which has room for ERROR_TEXT_MAX + 1. */
const char *weft__rpc_error_text(char *buf, const char *text);
/* RESOURCE_EXHAUSTED: the message is too large for any peer to read. */
weft_err weft__rpc_check_size(const char *method, size_t size);
/* Compares secrets, in a time that depends on the size of `got` alone. */
bool weft__rpc_tokens_equal(const void *want, size_t want_size, const void *got, size_t got_size);

#endif
