/* call.h - a call that came in, as a transport makes it. */
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
  void (*answer)(call *c, weft_err err, message *answer); /* any thread, once; c may be gone when it returns */
  const char *(*peer)(call *c);                           /* borrowed from the call */
} call_ops;

#endif
