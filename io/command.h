/* command.h - runs another program with bytes as its standard input, and collects what it prints. */
#ifndef WEFT_IO_COMMAND_H
#define WEFT_IO_COMMAND_H

#include "base/cancel.h"
#include <stddef.h>
#include <stdint.h>

typedef struct command_limits {
  const cancel *token; /* NULL: none */
  int64_t deadline_ns; /* on the monotonic clock; 0: none */
} command_limits;

/* Runs args[0], found through PATH; args ends with NULL.  Its standard input is a file of the given bytes that it may
 * also open and seek as /proc/self/fd/0.  *out gets its standard output, and the caller frees it with weft__free.
 * It inherits no other file.  It is killed when the token fires or the deadline has passed.
 *
 * RESOURCE_EXHAUSTED: it printed more than 512 MiB.  NOT_FOUND: there is no such program.  INTERNAL: it failed; the
 * message has the end of its standard error. */
weft_err weft__command_run(const char *const *args, const void *in, size_t in_size, const command_limits *limits,
                           char **out, size_t *out_size);

#endif
