/* core.h - the gRPC C core as the client and the server side share it: one queue of events, the threads that
 * read it, and messages to and from its byte buffers. */
#ifndef WEFT_NET_GRPC_CORE_H
#define WEFT_NET_GRPC_CORE_H

#include "net/internal.h"

#ifdef WEFT_HAVE_GRPC
#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <stdatomic.h>

/* What an event calls; a batch's struct has one for each batch it starts.  ok is gRPC's. */
typedef struct tag {
  void (*done)(void *arg, bool ok);
  void *arg;
  atomic_bool posted;
} tag;
/* The tag as gRPC is given it, after everything else was read or written that its event may touch or free.  gRPC
 * orders the two as well, but out of sight of the thread sanitizer. */
static inline void *weft__core_post(tag *t) {
  atomic_store_explicit(&t->posted, true, memory_order_release);
  return t;
}
grpc_call_error weft__core_start(grpc_call *on, const grpc_op *ops, size_t n, tag *t); /* a batch */

/* The process's queue, started with the first user and stopped with the last. */
weft_err weft__core_retain(grpc_completion_queue **out);
void weft__core_release(void);

/* A byte buffer that refers to the pieces; the message becomes empty. */
weft_err weft__core_from_message(grpc_byte_buffer **out, message *m);
/* A message that refers to the buffer's slices, which is freed with the last of them (at once, on failure). */
weft_err weft__core_to_message(message *out, grpc_byte_buffer *b);

/* "Bearer TOKEN", as a call's metadata carries it; empty without a token. */
grpc_slice weft__core_bearer(const char *token);

enum { CORE_ARGS_MAX = 24 };
typedef struct core_args {
  grpc_arg arg[CORE_ARGS_MAX];
  grpc_channel_args all;
  grpc_resource_quota *quota; /* NULL: none */
} core_args;
void weft__core_args_common(core_args *a); /* of both sides */
void weft__core_args_add(core_args *a, const char *key, int value);
/* Of a server under a memory ceiling: gRPC's own buffers may take half of it; a message that does not fit is refused
 * with RESOURCE_EXHAUSTED while it arrives. */
void weft__core_args_quota(core_args *a);
void weft__core_args_finish(core_args *a); /* once a server or channel was made with them */
#endif

#endif
