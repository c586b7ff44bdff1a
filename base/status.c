/* status.c - the thread's message and errors held as values.
 *
 * The message lives in a fixed buffer of the thread, so reporting an error never allocates and
 * works when memory is gone.  Arguments may point into the buffer itself (adding context to the
 * last message), so the text is made on the stack first. */
#include "base/status.h"
#include "base/alloc.h"
#include "base/assert.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_MAX = 8192 };

static _Thread_local char message[MESSAGE_MAX];

/* vsnprintf's answer as the number of bytes it really left in a buffer of `size`. */
static size_t snprintf_length(int n, size_t size) {
  if (n < 0) return 0;
  return (size_t)n < size ? (size_t)n : size - 1;
}

#undef weft__fail
weft_err weft__fail(weft_err code, const char *fmt, ...) {
  WEFT_ASSERT(code != WEFT_OK);
  char made[MESSAGE_MAX];
  va_list args;
  va_start(args, fmt);
  size_t n = snprintf_length(vsnprintf(made, sizeof made, fmt, args), sizeof made);
  va_end(args);
  memcpy(message, made, n);
  message[n] = 0;
  return code;
}

weft_err weft__fail_in(weft_err code, const char *fmt, ...) {
  char made[MESSAGE_MAX];
  va_list args;
  va_start(args, fmt);
  size_t n = snprintf_length(vsnprintf(made, sizeof made, fmt, args), sizeof made);
  va_end(args);
  n += snprintf_length(snprintf(made + n, sizeof made - n, ": %s", message), sizeof made - n);
  memcpy(message, made, n);
  message[n] = 0;
  return code;
}

const char *weft__error_message(void) { return message; }

const char *weft__error_name(weft_err err) {
  switch (err) {
#define NAME_ROW(name, number)                                                                                         \
  case WEFT_##name: return #name;
    WEFT_ERRORS(NAME_ROW)
#undef NAME_ROW
  }
  return "UNKNOWN";
}

void weft__status_update(status *s, weft_err code) {
  if (s->code != WEFT_OK || code == WEFT_OK) return;
  WEFT_ASSERT(!s->message);
  s->code = code;
  s->message = strdup(message); /* not weft__strdup: its failure would replace the message being kept */
}

weft_err weft__status_raise(const status *s) {
  if (s->code == WEFT_OK) return WEFT_OK;
  return weft__fail(s->code, "%s", s->message ? s->message : "(no memory was left to keep the message)");
}

void weft__status_finish(status *s) {
  weft__free(s->message);
  *s = (status){0};
}
