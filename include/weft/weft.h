/* weft.h - build, place, spread over machines and train TensorFlow 1.x graphs from C.
 *
 * The rules, once:
 *
 *   Names.   Functions are weft_noun_verb; ops read as mathematics (weft_relu).  A variable is
 *            named for its noun: g graph, t tensor, sess session, dx the gradient of x.
 *   Owning.  (1) What comes out through the first argument is yours to destroy.  (2) What a
 *            function returns is borrowed from its argument.  (3) What you pass in is read during
 *            the call and not kept, unless the name says adopt.  (4) Destroy takes NULL.
 *   Errors.  A call that can fail returns weft_err; WEFT_OK is 0; the codes are gRPC's and
 *            TensorFlow's.  weft_error_message() says what, where and with which values; it is
 *            kept per thread until the next failure there.  Building a graph never fails
 *            half-way: a refused call leaves the graph as it was and returns WEFT_NONE, the first
 *            message sticks to the graph (weft_graph_error) until it is cleared, and opening a
 *            session reports it.
 *   Misuse.  A pointer is required unless it is marked WEFT_OPTIONAL.  NULL for a required one and
 *            a negative count are INVALID_ARGUMENT, with the name of the parameter; nothing
 *            crashes.  Where a count is 0, its array may be NULL.
 *   Threads. One object, one thread at a time, except a session: any number of threads may run
 *            one, and any thread may cancel.  Tensors may be shared for reading.
 *   Silence. The library never prints, exits or aborts.  It speaks through weft_log_set's
 *            callback; signals belong to the program, which may call weft_interrupt().
 *
 * Dimensions are int64_t and -1 is unknown; a rank of -1 is an unknown rank.  Arrays are a count
 * and a pointer, never varargs.  Option structs are plain and zero means the default.  Each begins
 * with its size: 0 stands for the layout of version 0.2.0, so initializers need not set it; a program
 * that uses a later field sets it to sizeof.  docs/abi.md says what stays compatible.
 *
 * Read on in this order; a program includes this file alone:
 *   core.h      errors, tensors, graphs, gradients, sessions: everything in one process
 *   cluster.h   clusters, servers and sessions on them
 *   function.h  functions: graphs that ops of another graph call
 *   train.h     optimizers, layers, losses, checkpoints, summaries, input
 *   supervise.h supervisors, monitored sessions, hooks
 *   ops.h       a function for every op, made by the build (include it by name) */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include "weft/core.h"

#include "weft/cluster.h"
#include "weft/function.h"
#include "weft/supervise.h"
#include "weft/train.h"

#ifdef __cplusplus
extern "C" {
#endif
/* The libraries of this build, a line each: name, version or "left out", what for. */
WEFT_API const char *weft_libraries(void);
#ifdef __cplusplus
}
#endif

#endif
