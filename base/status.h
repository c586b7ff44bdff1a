/* status.h - errors: a function returns a code, and its message is kept per thread.
 *
 * weft__fail sets the message and returns the code, so that a failure is one line:
 *   return weft__fail(WEFT_INVALID_ARGUMENT, "MatMul '%s': ...", name);
 * Work that finishes on another thread stores its code and its message in a `status`.
 *
 * The message is a fixed buffer of the thread, so that reporting an error never allocates.  A `status` is a plain value;
 * its owner guards it. */
#ifndef WEFT_BASE_STATUS_H
#define WEFT_BASE_STATUS_H

#include "weft/core.h"

#define WEFT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Sets this thread's message and returns `code`, which is not WEFT_OK.  Arguments may point into the present message. */
weft_err weft__fail(weft_err code, const char *fmt, ...) WEFT_PRINTF(2, 3);
/* Shows the compiler which code is returned, so that it does not warn of variables that are set only on success. */
static inline weft_err weft__code(weft_err code) { return code; }
#define weft__fail(code, ...) (weft__fail((code), __VA_ARGS__), weft__code(code))
/* Puts "context: " in front of this thread's message and returns `code` unchanged. */
weft_err weft__fail_in(weft_err code, const char *fmt, ...) WEFT_PRINTF(2, 3);
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
  char *message;
} status;

/* Stores `code` and this thread's message in *s.  Does nothing if *s has failed already or if code is WEFT_OK, so *s keeps
 * the first failure. */
void weft__status_update(status *s, weft_err code);
/* Sets this thread's message to that of *s and returns its code; WEFT_OK changes nothing. */
weft_err weft__status_raise(const status *s);
void weft__status_finish(status *s); /* frees the message; *s is OK afterwards */

#endif
