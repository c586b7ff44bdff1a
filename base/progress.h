/* progress.h - work that takes long says how far it is: a line in the log every few seconds, none if it is soon done. */
#ifndef WEFT_BASE_PROGRESS_H
#define WEFT_BASE_PROGRESS_H

#include <stdint.h>

typedef struct progress {
  int64_t next; /* when the next line is due; 0: it begins now */
} progress;

/* "PATH: 12 of 40 images read"; a total of 0 is not known.  Cheap enough for every record of a file. */
void weft__progress_log(progress *p, const char *path, uint64_t done, uint64_t total, const char *what);

#endif
