/* call.h - a call on the server side, as a transport makes it for its handler.
 *
 * Owner: the transport, which frees the call once the handler has responded and its token is not being fired.  rpc.h
 * says what a handler may do with it, and on which thread. */
#ifndef WEFT_NET_CALL_H
#define WEFT_NET_CALL_H

#include "net/rpc.h"

/* A transport's own struct begins with it. */
struct call {
  const struct call_ops *ops;
  const char *method;
  message request;
  cancel cancel;
  int64_t deadline_ns;
};

typedef struct call_ops {
  void (*respond)(call *c, weft_err err, message *response); /* any thread, once; c may be gone when it returns */
  const char *(*peer)(call *c);                              /* borrowed from the call; one thread at a time */
} call_ops;

#endif
