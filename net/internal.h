/* internal.h - what a transport is to the rest of net/: a line to call on, a port to answer on. */
#ifndef WEFT_NET_INTERNAL_H
#define WEFT_NET_INTERNAL_H

#include "net/call.h"

/* One way to reach an address. */
typedef struct line {
  const struct line_kind *kind;
} line;

typedef struct line_kind {
  void (*call)(line *l, const char *method, message *request, const call_opts *opts, rpc_callback *fn, void *arg);
  void (*destroy)(line *l); /* cancels what runs and waits for it */
} line_kind;

/* One way to be reached. */
typedef struct port {
  const struct port_kind *kind;
  int number; /* bound */
} port;

typedef struct port_kind {
  bool (*destroy)(port *p); /* as weft__listener_destroy; false: a handler did not end in time */
} port_kind;

weft_err weft__grpc_listen(port **out, const listener_opts *opts, rpc_handler *fn, void *arg);
weft_err weft__grpc_connect(line **out, const char *address, const channel_opts *opts);
/* In a reply by gRPC: the numeric address of the host that answered ("10.0.0.1", "::1"), as far as it is known. */
bool weft__grpc_host(char *buf, size_t room);

enum {
  ERROR_TEXT_MAX = 3072,    /* longer messages are cut, as TF does; more does not fit a header */
  CLOSE_WAIT_MS = 5000,     /* how long a listener waits for its handlers */
  DEAD_AFTER_MS = 1000,     /* an answer to a ping */
  HELD_UP_MS = 150,         /* a callback this long has its thread relieved */
  PING_EVERY_MS = 700,      /* together under the 2 s in which a death is noticed */
  ATTEMPT_MS = 5000,        /* to connect once */
  RETRY_FIRST_MS = 20,      /* after a failed connection */
  RETRY_LAST_MS = 150,      /* a task that appears is used within 0.2 s */
  MESSAGE_LIMIT_MIB = 2048, /* protobuf's own */
};

/* An error's message as it may travel: at most ERROR_TEXT_MAX bytes, " ... [truncated]" at the end if cut.  buf has room
 * for ERROR_TEXT_MAX + 1. */
const char *weft__error_text(char *buf, const char *text);
/* RESOURCE_EXHAUSTED for what no peer could read. */
weft_err weft__check_size(const char *method, size_t size);
/* In constant time. */
bool weft__tokens_equal(const void *want, size_t want_size, const void *got, size_t got_size);

#endif
