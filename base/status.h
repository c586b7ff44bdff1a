/* status.h - how an error travels: a code returned, a message kept for the thread.
 *
 * weft__fail writes the message and returns the code, so a failing function is one line:
 *   return weft__fail(WEFT_INVALID_ARGUMENT, "MatMul '%s': ...", name);
 * Work that finishes on another thread captures its code and message in a `status`. */
#ifndef WEFT_BASE_STATUS_H
#define WEFT_BASE_STATUS_H

#include "weft/core.h"

#define WEFT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Sets this thread's message and returns `code` (never WEFT_OK). */
weft_err weft__fail(weft_err code, const char *fmt, ...) WEFT_PRINTF(2, 3);
/* The compiler sees which code comes back, and so what is set when none does. */
static inline weft_err weft__code(weft_err code) { return code; }
#define weft__fail(code, ...) (weft__fail((code), __VA_ARGS__), weft__code(code))
/* Puts "context: " in front of this thread's message and returns `code` unchanged. */
weft_err weft__fail_in(weft_err code, const char *fmt, ...) WEFT_PRINTF(2, 3);
const char *weft__error_message(void);
/* "INVALID_ARGUMENT" for WEFT_INVALID_ARGUMENT; "UNKNOWN" for a number that is no code. */
const char *weft__error_name(weft_err err);

/* Returns early when nothing needs undoing. */
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

/* Keeps the first failure: does nothing if *s already failed or code is WEFT_OK. */
void weft__status_update(status *s, weft_err code);
/* Makes *s this thread's message and returns its code. */
weft_err weft__status_raise(const status *s);
void weft__status_finish(status *s);

#endif
