/* image.h - decoded images: the common interface of the decoders of PNG, JPEG, GIF and BMP.
 *
 * The bytes are not trusted.  Whatever they contain, a decoder returns an error or a complete image, never reads
 * past the end, and never allocates more than DECODED_IMAGE_MAX samples.  Its time is bounded by the samples of the
 * result and the bytes of the file.  A JPEG may not announce more pixels, or pass over them more often, than its
 * size can explain (jpeg.c).  A GIF frame has no more pixels than its bytes can hold (gif.c).  Only the needed
 * chunks of a PNG are decompressed (png_decode.c). */
#ifndef WEFT_CODEC_IMAGE_H
#define WEFT_CODEC_IMAGE_H

#include "base/status.h"

#define DECODED_IMAGE_MAX ((int64_t)1 << 29)

typedef struct decoded_image {
  int64_t frames, height, width;
  int channels;
  int bits;     /* 8 or 16; 16-bit samples in the byte order of this machine */
  void *pixels; /* (frames, height, width, channels); weft__free */
} decoded_image;

/* Allocates zeroed memory for the sizes in p.  Returns INVALID_ARGUMENT if they are not positive or too large. */
weft_err weft__decoded_image_alloc(decoded_image *p);

/* channels: 1, 3, 4, or 0 for the number in the file. */
weft_err weft__png_decode(decoded_image *out, const void *data, size_t size, int channels, bool sixteen);

typedef struct jpeg_options {
  int channels; /* 0, 1 or 3 */
  int ratio;    /* 1, 2, 4 or 8: reduce the size by this factor while decoding */
  bool fancy_upscaling, accurate;
  bool recover;     /* fill the rest of a truncated file */
  float acceptable; /* the fraction of the rows that must be present */
} jpeg_options;
/* The caller frees out->pixels; there are none after an error, which is INVALID_ARGUMENT for a damaged file. */
weft_err weft__jpeg_decode(decoded_image *out, const void *data, size_t size, const jpeg_options *o);
/* Reads height, width and components from the header only. */
weft_err weft__jpeg_size(const void *data, size_t size, int64_t *out);

weft_err weft__bmp_decode(decoded_image *out, const void *data, size_t size, int channels); /* 0, 3 or 4 */
/* Returns the frames that are complete, or only the first.  The caller frees out->pixels; there are none after an
 * error. */
weft_err weft__gif_decode(decoded_image *out, const void *data, size_t size, bool first_only);

/* ---- encoding ---- */
typedef struct jpeg_encoding {
  int quality; /* 0 to 100 */
  bool progressive, optimize, downsample_chroma;
  bool per_cm;
  int x_density, y_density;
  const char *xmp; /* size 0: none */
  size_t xmp_size;
} jpeg_encoding;
struct text;
/* Appends the file to out. */
weft_err weft__jpeg_encode(struct text *out, const uint8_t *pixels, int64_t height, int64_t width, int channels,
                           const jpeg_encoding *e);

#endif
