/* status.h - errors: a function returns a code, and its message is kept per thread.
 *
 * weft__fail sets the message and returns the code, so that a failure is one line:
 *   return weft__fail(WEFT_INVALID_ARGUMENT, "MatMul '%s': ...", name);
 * Work that finishes on another thread stores its code and its message in a `status`.
 *
 * The library makes decisions by the code and the facts of an error, and never by its text.  An error that arrives
 * from another process has only a code and a text; weft__rpc_error (net/rpc.h) finds its facts.
 *
 * The message is a fixed buffer of the thread, so that reporting an error never allocates.  A `status` is a plain
 * value; its owner guards it. */
#ifndef WEFT_BASE_STATUS_H
#define WEFT_BASE_STATUS_H

#include "weft/core.h"
#include <stdbool.h>

#define WEFT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* What is known of an error beside its code: bits. */
typedef enum error_fact { /* those that programs may ask for are WEFT_FACT_* in weft/core.h */
                          ERROR_UNINITIALIZED = WEFT_FACT_UNINITIALIZED,
                          ERROR_NAMES_NODE = 1 << 1, /* the message names the node that failed, as "{{node NAME}}" */
                          ERROR_DERIVED =
                              1 << 2, /* a consequence of an error in another part of the step; it has WEFT_DERIVED */
                          ERROR_JOB_OVER = WEFT_FACT_JOB_OVER, /* the message has WEFT_JOB_OVER */
                          ERROR_TOKENS_CLOSED =
                              1 << 4 /* the chief has closed the token queue of a synchronous training job */
} error_fact;
#define WEFT_DERIVED "[_Derived_]" /* TensorFlow's mark */
#define WEFT_JOB_OVER "The job is over: "

/* Sets this thread's message and returns `code`, which is not WEFT_OK.  Arguments may point into the present message.
 * The new error has no facts. */
weft_err weft__fail(weft_err code, const char *fmt, ...) WEFT_PRINTF(2, 3);
/* Shows the compiler which code is returned, so that it does not warn of variables that are set only on success. */
static inline weft_err weft__code(weft_err code) { return code; }
#define weft__fail(code, ...) (weft__fail((code), __VA_ARGS__), weft__code(code))
/* Replaces the message of the present error, and returns `code`.  The facts stay. */
weft_err weft__fail_again(weft_err code, const char *fmt, ...) WEFT_PRINTF(2, 3);
/* Puts "context: " in front of this thread's message and returns `code` unchanged.  The facts stay. */
weft_err weft__fail_in(weft_err code, const char *fmt, ...) WEFT_PRINTF(2, 3);
/* Adds facts (bits of error_fact) to the present error and returns `code` unchanged:
 *   return weft__error_add_facts(weft__fail(...), ERROR_UNINITIALIZED); */
weft_err weft__error_add_facts(weft_err code, unsigned facts);
/* As weft__fail, with facts (bits of error_fact and weft_error_fact). */
#define weft__fail_fact(code, facts, ...) weft__error_add_facts(weft__fail((code), __VA_ARGS__), (facts))
/* As weft__fail, with a message that names a node as "{{node NAME}}". */
#define weft__fail_node(code, ...) weft__fail_fact((code), ERROR_NAMES_NODE, __VA_ARGS__)
/* Returns true if the present error of this thread has the fact. */
bool weft__error_has(error_fact fact);
/* This thread's last message, borrowed; the next failure on this thread changes it. */
const char *weft__error_message(void);
/* "INVALID_ARGUMENT" for WEFT_INVALID_ARGUMENT; "UNKNOWN" for a number that is no code. */
const char *weft__error_name(weft_err err);

/* Returns from the function with the code of expr if that failed. */
#define WEFT_TRY(expr)                                                                                                 \
  do {                                                                                                                 \
    weft_err try_err_ = (expr);                                                                                        \
    if (try_err_ != WEFT_OK) return try_err_;                                                                          \
  } while (0)

/* An error held as a value.  {0} is OK; a failed one owns its message. */
typedef struct status {
  weft_err code;
  unsigned facts; /* bits of error_fact */
  char *message;
} status;

/* Stores `code` and this thread's message and facts in *s.  Does nothing if *s has failed already or if code is
 * WEFT_OK, so *s keeps the first failure. */
void weft__status_update(status *s, weft_err code);
/* Sets this thread's message and facts to those of *s and returns its code; WEFT_OK changes nothing. */
weft_err weft__status_raise(const status *s);
void weft__status_finish(status *s); /* frees the message; *s is OK afterwards */

#endif
