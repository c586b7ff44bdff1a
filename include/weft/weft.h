/* weft.h - build, differentiate, place and run TensorFlow 1.x graphs from C.
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
 *   Threads. One object, one thread at a time, except a session: any number of threads may run
 *            one, and any thread may cancel.  Tensors may be shared for reading.
 *   Silence. The library never prints, exits or aborts.  It speaks through weft_log_set's
 *            callback; signals belong to the program, which may call weft_interrupt().
 *
 * Dimensions are int64_t and -1 is unknown; a rank of -1 is an unknown rank.  Arrays are a count
 * and a pointer, never varargs.  Option structs are plain and zero means the default. */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_API __attribute__((visibility("default")))

/* The library's version, "0.1.0". */
WEFT_API const char *weft_version(void);

/* ---- errors ------------------------------------------------------------------------------ */

/* One list makes the enum, the names and the texts; the numbers are gRPC's. */
/* clang-format off */
#define WEFT_ERRORS(X) \
  X(OK, 0) \
  X(CANCELLED, 1) \
  X(UNKNOWN, 2) \
  X(INVALID_ARGUMENT, 3) \
  X(DEADLINE_EXCEEDED, 4) \
  X(NOT_FOUND, 5) \
  X(ALREADY_EXISTS, 6) \
  X(PERMISSION_DENIED, 7) \
  X(RESOURCE_EXHAUSTED, 8) \
  X(FAILED_PRECONDITION, 9) \
  X(ABORTED, 10) \
  X(OUT_OF_RANGE, 11) \
  X(UNIMPLEMENTED, 12) \
  X(INTERNAL, 13) \
  X(UNAVAILABLE, 14) \
  X(DATA_LOSS, 15) \
  X(UNAUTHENTICATED, 16)
/* clang-format on */

typedef enum weft_err {
#define WEFT_ERR_ROW(name, number) WEFT_##name = number,
  WEFT_ERRORS(WEFT_ERR_ROW)
#undef WEFT_ERR_ROW
} weft_err;

/* "INVALID_ARGUMENT" for WEFT_INVALID_ARGUMENT; never NULL. */
WEFT_API const char *weft_error_name(weft_err err);
/* The message of this thread's last failure; "" if none.  Valid until the next failure here. */
WEFT_API const char *weft_error_message(void);
/* For programs: prints the message and exits when err is not WEFT_OK.  The library never calls it. */
WEFT_API void weft_must(weft_err err);

/* ---- types ------------------------------------------------------------------------------- */

/* TensorFlow's DataType numbers.  A reference type is the base plus 100. */
typedef enum weft_dtype {
  WEFT_INVALID = 0,
  WEFT_FLOAT = 1,
  WEFT_DOUBLE = 2,
  WEFT_INT32 = 3,
  WEFT_UINT8 = 4,
  WEFT_INT16 = 5,
  WEFT_INT8 = 6,
  WEFT_STRING = 7,
  WEFT_COMPLEX64 = 8,
  WEFT_INT64 = 9,
  WEFT_BOOL = 10,
  WEFT_QINT8 = 11,
  WEFT_QUINT8 = 12,
  WEFT_QINT32 = 13,
  WEFT_BFLOAT16 = 14,
  WEFT_QINT16 = 15,
  WEFT_QUINT16 = 16,
  WEFT_UINT16 = 17,
  WEFT_COMPLEX128 = 18,
  WEFT_HALF = 19,
  WEFT_RESOURCE = 20,
  WEFT_VARIANT = 21,
  WEFT_UINT32 = 22,
  WEFT_UINT64 = 23,
  WEFT_DTYPE_COUNT = 24
} weft_dtype;

typedef struct weft_tensor weft_tensor;
typedef struct weft_graph weft_graph;
typedef struct weft_node weft_node;
typedef struct weft_session weft_session;

/* Output `slot` of node `node` of some graph.  node < 0 is "no output". */
typedef struct weft_out {
  int32_t node, slot;
} weft_out;
#define WEFT_NONE ((weft_out){-1, 0})

/* ---- tensors ----------------------------------------------------------------------------- */

/* Tensors are counted: retain adds a holder and returns t, destroy takes one away (NULL is fine). */
WEFT_API weft_tensor *weft_tensor_retain(weft_tensor *t);
WEFT_API void weft_tensor_destroy(weft_tensor *t);

#ifdef __cplusplus
}
#endif
#endif
