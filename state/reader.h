/* reader.h - readers: read files whose names come from a queue, record by record.
 *
 * A reader has at most one file open, and dequeues the next name from the queue of the request.  Requests are served
 * one after the other.  Each one ends in exactly one call of its function, on any thread, without the reader's lock,
 * possibly before the request returns.  Any thread may call these functions.  A reader is a reference-counted resource.
 */
#ifndef WEFT_STATE_READER_H
#define WEFT_STATE_READER_H

#include "io/input.h"
#include "state/queue.h"

#define READER_TYPE "reader"

typedef enum reader_kind {
  READER_RECORDS,
  READER_LINES,
  READER_WHOLE,
  READER_FIXED,
  READER_IDENTITY,
  READER_LMDB
} reader_kind;

typedef struct reader_spec {
  reader_kind kind;
  compression compression;
  int64_t skip_header_lines;
  int64_t header_bytes, record_bytes, footer_bytes, hop_bytes; /* hop 0: record_bytes */
} reader_spec;

typedef struct reader reader;

/* The name is for messages.  The caller owns the one reference.  Returns INVALID_ARGUMENT or RESOURCE_EXHAUSTED. */
weft_err weft__reader_create(reader **out, const reader_spec *spec, const char *name);
/* n pairs of key and value, borrowed for the call.  On an error n is 0 and this thread's message is set. */
typedef void reader_fn(void *arg, weft_err err, const str *keys, const str *values, int64_t n);
/* Reads at least one and up to n records, all of one file.  The token c (may be NULL) cancels the wait.  `names` is
 * retained until the end of the request. */
void weft__reader_read(reader *r, queue *names, int64_t n, cancel *c, reader_fn *fn, void *arg);
int64_t weft__reader_records(reader *r);          /* produced so far */
int64_t weft__reader_files(reader *r);            /* finished so far */
void weft__reader_reset(reader *r);               /* takes effect after the request that is being served */
weft_err weft__reader_save(reader *r, text *out); /* UNIMPLEMENTED except for WHOLE and IDENTITY */
weft_err weft__reader_restore(reader *r, const void *data, size_t size); /* as above */

#endif
