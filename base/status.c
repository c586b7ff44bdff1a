/* status.c - the message and the facts of each thread's error, and errors stored as values.
 *
 * The message is in a fixed buffer of the thread, so that reporting an error never allocates and works when memory is
 * exhausted.  Arguments may point into that buffer (to add context to the last message), so the text is formatted on
 * the stack first.  There is no lock. */
#include "base/status.h"
#include "base/alloc.h"
#include "base/assert.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_MAX = 8192 };

static _Thread_local char message[MESSAGE_MAX];
static _Thread_local unsigned facts;

/* Returns how many bytes vsnprintf wrote to a buffer of `size`, from its result. */
static size_t snprintf_length(int n, size_t size) {
  if (n < 0) return 0;
  return (size_t)n < size ? (size_t)n : size - 1;
}

static void set_message(const char *fmt, va_list args) {
  char made[MESSAGE_MAX];
  size_t n = snprintf_length(vsnprintf(made, sizeof made, fmt, args), sizeof made);
  memcpy(message, made, n);
  message[n] = 0;
}

#undef weft__fail
weft_err weft__fail(weft_err code, const char *fmt, ...) {
  WEFT_ASSERT(code != WEFT_OK);
  va_list args;
  va_start(args, fmt);
  set_message(fmt, args);
  va_end(args);
  facts = 0;
  return code;
}

weft_err weft__fail_again(weft_err code, const char *fmt, ...) {
  WEFT_ASSERT(code != WEFT_OK);
  va_list args;
  va_start(args, fmt);
  set_message(fmt, args);
  va_end(args);
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

weft_err weft__error_add_facts(weft_err code, unsigned more) {
  WEFT_ASSERT(code != WEFT_OK);
  facts |= more;
  return code;
}

unsigned weft_error_facts(void) { return facts; }

bool weft__error_has(error_fact fact) { return (facts & (unsigned)fact) != 0; }

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
  s->facts = facts;
  s->message = strdup(message); /* not weft__strdup: its failure would replace the message */
}

weft_err weft__status_raise(const status *s) {
  if (s->code == WEFT_OK) return WEFT_OK;
  (void)weft__fail(s->code, "%s", s->message ? s->message : "(no memory was left to keep the message)");
  return weft__error_add_facts(s->code, s->facts);
}

void weft__status_finish(status *s) {
  weft__free(s->message);
  *s = (status){0};
}
