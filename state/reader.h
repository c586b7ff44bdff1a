/* reader.h - readers: files named by a queue, record by record.
 *
 * A reader has at most one file open and takes the next name from the queue it is asked with.  Requests
 * are served one after the other; each ends in exactly one call of its function, on any thread, without
 * the reader's lock, possibly before the request returns.  Thread safe. */
#ifndef WEFT_STATE_READER_H
#define WEFT_STATE_READER_H

#include "io/input.h"
#include "state/queue.h"

#define READER_TYPE "reader"

typedef enum reader_kind { READER_RECORDS, READER_LINES, READER_WHOLE, READER_FIXED, READER_IDENTITY } reader_kind;

typedef struct reader_spec {
  reader_kind kind;
  compression compression;
  int64_t skip_header_lines;
  int64_t header_bytes, record_bytes, footer_bytes, hop_bytes; /* hop 0: record_bytes */
} reader_spec;

typedef struct reader reader;

/* The name is for messages. */
weft_err weft__reader_create(reader **out, const reader_spec *spec, const char *name);
/* n pairs of key and value, borrowed for the call; err: n is 0 and the thread's message says why. */
typedef void reader_fn(void *arg, weft_err err, const str *keys, const str *values, int64_t n);
/* Up to n records, all of one file; at least one. */
void weft__reader_read(reader *r, queue *names, int64_t n, cancel *c, reader_fn *fn, void *arg);
int64_t weft__reader_records(reader *r);          /* produced so far */
int64_t weft__reader_files(reader *r);            /* finished so far */
void weft__reader_reset(reader *r);               /* as new, once the request being served has ended */
weft_err weft__reader_save(reader *r, text *out); /* UNIMPLEMENTED but for whole and identity */
weft_err weft__reader_restore(reader *r, const void *data, size_t size); /* as above */

#endif
