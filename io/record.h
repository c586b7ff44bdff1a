/* record.h - TFRecord files: length, its checksum, the bytes, theirs. */
#ifndef WEFT_IO_RECORD_H
#define WEFT_IO_RECORD_H

#include "io/input.h"

/* ---- reading ---- */
typedef struct record_reader record_reader;
weft_err weft__records_open(record_reader **out, const char *path, compression c);
void weft__records_close(record_reader *r);
/* The next record replaces *out; *offset is where it begins.  DATA_LOSS "corrupted record at N in PATH", "truncated
 * record at N ..."; the same again if asked again. */
weft_err weft__record_next(record_reader *r, text *out, uint64_t *offset, bool *end);

/* ---- writing ---- */
void weft__record_frame(text *out, const void *data, size_t size); /* appends one framed record */
typedef struct record_writer record_writer;
/* Makes or truncates the file.  The first failure sticks. */
weft_err weft__record_writer_create(record_writer **out, const char *path, compression c);
weft_err weft__record_write(record_writer *w, const void *data, size_t size);
weft_err weft__record_flush(record_writer *w);          /* to the file, not to the disk */
weft_err weft__record_writer_destroy(record_writer *w); /* flushes and closes; the sticky error */

#endif
