/* summary_writer.h - the event file or database that the Write*Summary ops of a graph append to.
 *
 * A writer is a reference-counted resource.  It exists as soon as its handle does, and has a file from
 * weft__summary_writer_open or weft__summary_writer_open_db to weft__summary_writer_close.  Any thread may call
 * these functions. */
#ifndef WEFT_STATE_SUMMARY_WRITER_H
#define WEFT_STATE_SUMMARY_WRITER_H

#include "state/resource.h"
#include "state/summary_db.h"

#define SUMMARY_WRITER_TYPE "summary writer"

typedef struct summary_writer summary_writer;

typedef struct summary_writer_spec {
  const char *dir, *suffix;
  int64_t max_queue, flush_ms; /* flushes after more events than max_queue, or after that time */
} summary_writer_spec;

weft_err weft__summary_writer_create(summary_writer **out); /* the caller owns the one reference */
/* Creates the file.  Does nothing if the writer has one. */
weft_err weft__summary_writer_open(summary_writer *w, const summary_writer_spec *spec);
weft_err weft__summary_writer_open_db(summary_writer *w, const summary_db_spec *spec);
/* Appends a serialized Event.  Returns NOT_FOUND if the writer has no file; so do the functions below. */
weft_err weft__summary_writer_add(summary_writer *w, const void *event, size_t size);
/* Writes a tensor if the file is a database, and sets *done.  Does nothing if it is an event file. */
weft_err weft__summary_writer_add_tensor(summary_writer *w, const summary_tag *tag, int64_t at, const weft_tensor *x,
                                         bool *done);
weft_err weft__summary_writer_flush(summary_writer *w);
weft_err weft__summary_writer_close(summary_writer *w);

#endif
