/* input.h - a file read from front to back, decompressed on the way if need be. */
#ifndef WEFT_IO_INPUT_H
#define WEFT_IO_INPUT_H

#include "io/file.h"

typedef enum compression { COMPRESSION_NONE, COMPRESSION_ZLIB, COMPRESSION_GZIP, COMPRESSION_GUESS } compression;
/* "ZLIB", "GZIP"; anything else is none, as TensorFlow takes it. */
compression weft__compression_of(const char *name);

typedef struct input input;
/* COMPRESSION_GUESS: gzip if the file begins as one.  UNIMPLEMENTED without zlib. */
weft_err weft__input_open(input **out, const char *path, compression c);
void weft__input_close(input *in);
/* Up to size bytes; fewer only at the end. */
weft_err weft__input_read(input *in, void *to, size_t size, size_t *got);
/* The next byte, or -1 at the end or on an error, which weft__input_status tells from the end. */
int weft__input_byte(input *in);
/* After -1: the error that ended the input; WEFT_OK at the end of the file. */
weft_err weft__input_status(const input *in);
/* Returns an upper bound of the bytes left, by the size of the file.  Callers never allocate more. */
uint64_t weft__input_limit(const input *in);
uint64_t weft__input_offset(const input *in); /* of the decompressed bytes */
const char *weft__input_path(const input *in);

#endif
