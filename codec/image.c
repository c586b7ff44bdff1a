/* image.c - allocation of decoded images, and the simplest format: BMP. */
#include "codec/image.h"
#include "base/cast.h"

#include "base/alloc.h"
#include <string.h>

weft_err weft__decoded_image_alloc(decoded_image *p) {
  const int64_t sizes[] = {p->frames, p->height, p->width, p->channels};
  int64_t count = 1;
  for (int i = 0; i < 4; i++) {
    if (sizes[i] <= 0 || sizes[i] > DECODED_IMAGE_MAX / count)
      return weft__fail(WEFT_INVALID_ARGUMENT, "an image of %lld x %lld x %lld x %d samples is empty or too large",
                        (long long)p->frames, (long long)p->height, (long long)p->width, p->channels);
    count *= sizes[i];
  }
  p->pixels = weft__alloc_zero((size_t)count, (size_t)p->bits / 8);
  return p->pixels ? WEFT_OK : WEFT_OOM;
}

/* ---- BMP: uncompressed rows, blue before red, the last row first unless the height is negative ---- */

static int64_t image_little(const unsigned char *p, int bytes) {
  uint64_t v = 0;
  for (int i = bytes - 1; i >= 0; i--) v = v << 8 | p[i];
  return bytes == 4 ? (int64_t)(int32_t)(uint32_t)v : (int64_t)v; /* fits: the sign of four bytes */
}

enum { BMP_HEADER = 34 };

typedef struct bmp {
  int64_t offset, width, height, row; /* row: bytes from one row to the next */
  int channels;                       /* number in the file */
  bool top_down;
} bmp;

static weft_err bmp_header(bmp *b, const unsigned char *p, size_t size) {
  if (size < BMP_HEADER) return weft__fail(WEFT_INVALID_ARGUMENT, "Incomplete bmp content. Current size %zu", size);
  const int64_t bits = image_little(p + 28, 2);
  *b = (bmp){.offset = image_little(p + 10, 4), .width = image_little(p + 18, 4), .height = image_little(p + 22, 4)};
  b->top_down = b->height < 0;
  if (b->top_down) b->height = -b->height;
  if (bits != 8 && bits != 24 && bits != 32)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Number of channels inherent in the image must be 1, 3 or 4, was %lld",
                      (long long)(bits / 8));
  b->channels = weft__int_sat(bits / 8);
  if (b->width <= 0 || b->height <= 0 || b->width > INT32_MAX / 4 || b->offset < 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "BMP of width %lld, height %lld, offset %lld", (long long)b->width,
                      (long long)b->height, (long long)b->offset);
  b->row = (b->width * bits + 31) / 32 * 4;
  /* The last row may lack its padding. */
  const int64_t needed = b->offset + b->row * (b->height - 1) + b->width * b->channels;
  if (needed > (int64_t)size)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Incomplete bmp content, should be at least %lld bytes, was %zu bytes",
                      (long long)needed, size);
  return WEFT_OK;
}

static void bmp_pixel(const unsigned char *in, int from, unsigned char *out, int to) {
  static const int order[] = {2, 1, 0, 3}; /* the file has blue, green, red */
  for (int c = 0; c < to; c++) {
    if (from == 1)
      out[c] = c == 3 ? 255 : in[0];
    else
      out[c] = order[c] < from ? in[order[c]] : 255;
  }
}

weft_err weft__bmp_decode(decoded_image *out, const void *data, size_t size, int channels) {
  const unsigned char *p = data;
  bmp b;
  *out = (decoded_image){0};
  WEFT_TRY(bmp_header(&b, p, size));
  *out = (decoded_image){.frames = 1, .height = b.height, .width = b.width, .bits = 8};
  out->channels = channels ? channels : b.channels;
  WEFT_TRY(weft__decoded_image_alloc(out));
  for (int64_t y = 0; y < b.height; y++) {
    const unsigned char *row = p + b.offset + (b.top_down ? y : b.height - 1 - y) * b.row;
    unsigned char *dst = (unsigned char *)out->pixels + y * b.width * out->channels;
    for (int64_t x = 0; x < b.width; x++)
      bmp_pixel(row + x * b.channels, b.channels, dst + x * out->channels, out->channels);
  }
  return WEFT_OK;
}
