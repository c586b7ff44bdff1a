/* error.c - the public functions of errors, the log and interrupts. */
#include "base/alloc.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/status.h"
#include "net/rpc_error.h"
#include <stdio.h>
#include <stdlib.h>

const char *weft_error_name(weft_err err) { return weft__error_name(err); }

const char *weft_error_message(void) { return weft__error_message(); }

weft_err weft_fail(weft_err err, const char *message) {
  return err == WEFT_OK ? WEFT_OK : weft__rpc_error(weft__fail(err, "%s", message ? message : ""));
}

/* Returns true if the error follows from an interrupt, in this task or in other tasks that end with it. */
static bool is_of_interrupt(weft_err err) {
  return weft__interrupt_count() > 0 && (err == WEFT_CANCELLED || err == WEFT_UNAVAILABLE || err == WEFT_ABORTED);
}

void weft_must(weft_err err) {
  if (err == WEFT_OK) return;
  if (is_of_interrupt(err)) {
    fprintf(stderr, "interrupted\n");
    exit(130); /* the exit status that shells use for a program that Ctrl-C ended */
  }
  fprintf(stderr, "%s: %s\n", weft_error_name(err), weft_error_message());
  exit(1);
}

void weft_log_set(weft_log_fn *fn, void *arg) { weft__log_set_callback(fn, arg); }

/* Applies TensorFlow's variables: TF_CPP_MIN_LOG_LEVEL is the lowest level shown (0: info); TF_CPP_MIN_VLOG_LEVEL >
 * 0 shows debug messages. */
static bool is_shown(int level) {
  const char *least = getenv("TF_CPP_MIN_LOG_LEVEL"), *debugging = getenv("TF_CPP_MIN_VLOG_LEVEL");
  return level > 0 ? level > (least ? atoi(least) : 0) : debugging && atoi(debugging) > 0;
}

void weft_log_stderr(void *arg, int level, const char *file, int line, const char *message) {
  (void)arg;
  if (!is_shown(level)) return;
  fprintf(stderr, "%c %s:%d] %s\n", "DIWE"[level < 0 || level > 3 ? 3 : level], file, line, message);
}

void weft_interrupt(void) { weft__interrupt_raise(); }
void weft_interrupt_clear(void) { weft__interrupt_clear(); }
void weft_free(void *p) { weft__free(p); }
