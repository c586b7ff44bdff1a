/* png_encode.h - encodes pixels as a PNG file in memory. */
#ifndef WEFT_CODEC_PNG_ENCODE_H
#define WEFT_CODEC_PNG_ENCODE_H

#include "base/status.h"
#include "base/text.h"

typedef struct png_picture {
  const void *pixels; /* rows from the top, channels interleaved; 16-bit samples in the byte order of this machine */
  int64_t width, height;
  int channels;    /* 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA */
  int bits;        /* 8 or 16 */
  int compression; /* zlib's level; -1: its default */
} png_picture;

/* Appends the file to out.  UNIMPLEMENTED in a build without libpng. */
weft_err weft__png_encode(text *out, const png_picture *p);

#endif
