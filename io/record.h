/* record.h - TFRecord files.  A record is its length, the checksum of the length, the bytes, and their checksum. */
#ifndef WEFT_IO_RECORD_H
#define WEFT_IO_RECORD_H

#include "io/input.h"
#include "weft/train.h"

/* ---- reading ---- */
typedef struct record_reader record_reader;
weft_err weft__records_open(record_reader **out, const char *path, compression c);
void weft__records_close(record_reader *r);
/* Replaces *out by the next record; *offset is its position.  Returns DATA_LOSS "corrupted record at N in PATH" or
 * "truncated record at N ..."; later calls return the same error. */
weft_err weft__record_next(record_reader *r, text *out, uint64_t *offset, bool *end);

/* ---- writing ---- */
void weft__record_frame_make(weft_record_frame *out, const void *data, size_t size);
void weft__record_frame(text *out, const void *data, size_t size); /* appends one framed record */
typedef struct record_writer record_writer;
/* Creates or truncates the file.  After a failure, all later calls return it. */
weft_err weft__record_writer_create(record_writer **out, const char *path, compression c);
weft_err weft__record_write(record_writer *w, const void *data, size_t size);
weft_err weft__record_flush(record_writer *w);          /* writes to the file, but does not sync to disk */
weft_err weft__record_writer_destroy(record_writer *w); /* flushes and closes; returns the first error */

#endif
