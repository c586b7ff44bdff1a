/* file_wait.h - reading what is no regular file: a pipe may have nothing to read yet, and a device may have no end.
 *
 * A reader opens such a file without waiting, and waits here before each read.  The wait ends with the token or at the
 * deadline that the thread has named for its reads, with an interrupt, or after a minute without any byte.  Whoever
 * keeps what it reads stops after UNSIZED_MOST bytes. */
#ifndef WEFT_IO_FILE_WAIT_H
#define WEFT_IO_FILE_WAIT_H

#include "base/cancel.h"

#define UNSIZED_MOST (UINT64_C(256) << 20)

typedef struct file_wait {
  cancel *cancel;      /* or NULL */
  int64_t deadline_ns; /* on the monotonic clock; 0: none */
} file_wait;

/* Names what ends the waits of this thread from now on, or NULL.  Returns what was named before, which the caller names
 * again at the end of its reads. */
const file_wait *weft__file_wait_set(const file_wait *w);
/* Returns OK once fd has bytes to read or is at its end; else an error that names the path. */
weft_err weft__file_wait(int fd, const char *path);
/* The error of a file without an end. */
weft_err weft__file_endless(const char *path);

#endif
