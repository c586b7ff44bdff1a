/* progress.h - logs the progress of long work: one line every few seconds, and none if the work is done before that.
 *
 * A progress belongs to the thread that does the work. */
#ifndef WEFT_BASE_PROGRESS_H
#define WEFT_BASE_PROGRESS_H

#include <stdint.h>

typedef struct progress {
  int64_t next; /* monotonic: when the next line is due; 0: not started */
} progress;

/* Logs "PATH: 12 of 40 images read" if a line is due.  A total of 0 means that it is unknown.  Cheap enough to be
 * called for every record of a file. */
void weft__progress_log(progress *p, const char *path, uint64_t done, uint64_t total, const char *what);

#endif
