/* input.h - reads a file sequentially, and decompresses it if necessary. */
#ifndef WEFT_IO_INPUT_H
#define WEFT_IO_INPUT_H

#include "io/file.h"

typedef enum compression {
  COMPRESSION_NONE,
  COMPRESSION_ZLIB,
  COMPRESSION_GZIP,
  COMPRESSION_GUESS,
  COMPRESSION_SNAPPY /* blocks, each behind its length */
} compression;
/* Returns the compression "ZLIB" or "GZIP"; like TensorFlow, takes anything else as none. */
compression weft__compression_of(const char *name);

typedef struct input input;
/* COMPRESSION_GUESS means gzip if the file begins like one.  Returns UNIMPLEMENTED without zlib. */
weft_err weft__input_open(input **out, const char *path, compression c);
void weft__input_close(input *in);
/* A record begins, or what else is kept as a whole.  Of a pipe or a device, which may have no end, at most UNSIZED_MOST
 * bytes (io/file_wait.h) are read for one. */
void weft__input_begin(input *in);
/* Reads up to size bytes; fewer only at the end. */
weft_err weft__input_read(input *in, void *to, size_t size, size_t *got);
/* Returns the next byte, or -1 at the end or after an error; weft__input_status distinguishes the two. */
int weft__input_byte(input *in);
/* After -1: returns the error that ended the input, or WEFT_OK at the end of the file. */
weft_err weft__input_status(const input *in);
/* Returns an upper bound of the bytes left, from the size of the file.  Callers never allocate more. */
uint64_t weft__input_limit(const input *in);
uint64_t weft__input_offset(const input *in); /* counts decompressed bytes */
const char *weft__input_path(const input *in);

#endif
