/* core.h - the gRPC C core, as clients and servers share it: one completion queue, the threads that poll it, and
 * conversions between messages and its byte buffers.
 *
 * Functions may be called on any thread.  Callbacks of tags run on a polling thread and must not block. */
#ifndef WEFT_NET_GRPC_CORE_H
#define WEFT_NET_GRPC_CORE_H

#include "net/internal.h"

#ifdef WEFT_HAVE_GRPC
#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <stdatomic.h>

/* The callback of an event.  The owner of a batch keeps a tag in its struct until `done` was called.  ok is false if
 * gRPC could not do what the batch asked for. */
typedef struct tag {
  void (*done)(void *arg, bool ok);
  void *arg;
  atomic_bool posted; /* only for ThreadSanitizer (weft__core_post) */
} tag;
/* Returns the tag in the form that gRPC takes.  Call it after everything was read or written that the event may touch
 * or free.  gRPC orders the two as well, but ThreadSanitizer cannot see it. */
static inline void *weft__core_post(tag *t) {
  atomic_store_explicit(&t->posted, true, memory_order_release);
  return t;
}
/* Starts a batch of operations on a call.  t->done is called exactly once, on a polling thread, perhaps before this
 * returns.  What the operations point at must stay until then.  If the result is not GRPC_CALL_OK, nothing was started
 * and t->done is not called. */
grpc_call_error weft__core_start_batch(grpc_call *on, const grpc_op *ops, size_t n, tag *t);

/* Retains the process's completion queue, which is started with the first user and stopped with the last.
 * FAILED_PRECONDITION: it was started before this process was forked; RESOURCE_EXHAUSTED: no thread, or gRPC did not
 * stop. */
weft_err weft__core_retain(grpc_completion_queue **out);
void weft__core_release(void); /* not in a callback */

/* Makes a byte buffer that refers to the pieces, without copying; the message becomes empty. */
weft_err weft__core_from_message(grpc_byte_buffer **out, message *m);
/* Makes a message that refers to the buffer's slices.  Takes the buffer over: it is freed with the last of them, or at
 * once on failure. */
weft_err weft__core_to_message(message *out, grpc_byte_buffer *b);

/* Returns "Bearer TOKEN", as a call's metadata carries it, or an empty slice without a token; the caller unrefs it. */
grpc_slice weft__core_bearer(const char *token);

enum { CORE_ARGS_MAX = 24 };
typedef struct core_args {
  grpc_arg arg[CORE_ARGS_MAX];
  grpc_channel_args all;
  grpc_resource_quota *quota; /* NULL: none */
} core_args;
void weft__core_args_common(core_args *a); /* initializes with what clients and servers share */
/* Adds a number; the key is a literal.  There is room for CORE_ARGS_MAX of them. */
void weft__core_args_add(core_args *a, const char *key, int value);
/* For a server with a memory limit: gRPC's own buffers may take half of it.  A message that does not fit is refused
 * with RESOURCE_EXHAUSTED while it arrives. */
void weft__core_args_quota(core_args *a);
void weft__core_args_finish(core_args *a); /* once a server or channel was created with them */
#endif

#endif
