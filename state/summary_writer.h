/* summary_writer.h - the event file that the Write*Summary ops of a graph append to.
 *
 * A writer is a reference-counted resource.  It exists as soon as its handle does, and has a file from
 * weft__summary_writer_open to weft__summary_writer_close.  Any thread may call these functions. */
#ifndef WEFT_STATE_SUMMARY_WRITER_H
#define WEFT_STATE_SUMMARY_WRITER_H

#include "state/resource.h"

#define SUMMARY_WRITER_TYPE "summary writer"

typedef struct summary_writer summary_writer;

typedef struct summary_writer_spec {
  const char *dir, *suffix;
  int64_t max_queue, flush_ms; /* flushes after more events than max_queue, or after that time */
} summary_writer_spec;

weft_err weft__summary_writer_create(summary_writer **out); /* the caller owns the one reference */
/* Creates the file.  Does nothing if the writer has one. */
weft_err weft__summary_writer_open(summary_writer *w, const summary_writer_spec *spec);
/* Appends a serialized Event.  Returns NOT_FOUND if the writer has no file; so do the functions below. */
weft_err weft__summary_writer_add(summary_writer *w, const void *event, size_t size);
weft_err weft__summary_writer_flush(summary_writer *w);
weft_err weft__summary_writer_close(summary_writer *w);

#endif
