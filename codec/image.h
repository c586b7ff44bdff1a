/* image.h - files of pixels, decoded: what the decoders of PNG, JPEG, GIF and BMP have in common.
 *
 * A decoder is given bytes it must not trust.  Whatever they hold, it returns an error or a whole
 * picture; it never reads past them and never asks for more memory than DECODED_IMAGE_MAX samples.  Its time is bounded
 * by the samples of the result and by the bytes of the file: a JPEG may not announce more pixels, or go over them more
 * often, than its bytes can explain (jpeg.c), a GIF's frame has no more pixels than its bytes can hold (gif.c), and of a
 * PNG only the chunks that are used are unpacked (png_decode.c). */
#ifndef WEFT_CODEC_IMAGE_H
#define WEFT_CODEC_IMAGE_H

#include "base/status.h"

#define DECODED_IMAGE_MAX ((int64_t)1 << 29)

typedef struct decoded_image {
  int64_t frames, height, width;
  int channels;
  int bits;     /* 8 or 16; 16-bit samples in this machine's order */
  void *pixels; /* (frames, height, width, channels); weft__free */
} decoded_image;

/* Memory for the sizes set in p, zeroed.  INVALID_ARGUMENT when they are not positive or too large. */
weft_err weft__decoded_image_alloc(decoded_image *p);

/* channels: 1, 3, 4, or 0 for what the file has. */
weft_err weft__png_decode(decoded_image *out, const void *data, size_t size, int channels, bool sixteen);

typedef struct jpeg_options {
  int channels; /* 0, 1 or 3 */
  int ratio;    /* 1, 2, 4 or 8: shrink by that while decoding */
  bool fancy_upscaling, accurate;
  bool recover;     /* a file that ends early is filled up */
  float acceptable; /* the part of the rows that must be there */
} jpeg_options;
weft_err weft__jpeg_decode(decoded_image *out, const void *data, size_t size, const jpeg_options *o);
/* out: height, width and components, from the header alone. */
weft_err weft__jpeg_size(const void *data, size_t size, int64_t *out);

weft_err weft__bmp_decode(decoded_image *out, const void *data, size_t size, int channels); /* 0, 3 or 4 */
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
