/* png_encode.c - PNG through libpng. libpng reports errors by longjmp, so the function that called setjmp frees
 * everything. */
#include "codec/png_encode.h"

#ifdef WEFT_HAVE_PNG
#include <png.h>
#include <stdio.h>

typedef struct sink {
  text *out;
  char why[100];
} sink;

static void png_encode_on_error(png_structp png, png_const_charp message) {
  sink *s = png_get_error_ptr(png);
  snprintf(s->why, sizeof s->why, "%s", message);
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
  (void)png;
  (void)message;
}

static void on_write(png_structp png, png_bytep data, size_t size) {
  sink *s = png_get_io_ptr(png);
  weft__text_add(s->out, (const char *)data, size);
}

static void on_flush(png_structp png) { (void)png; }

static void write_picture(png_structp png, png_infop info, const png_picture *p) {
  static const int colors[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                               PNG_COLOR_TYPE_RGB_ALPHA};
  png_set_IHDR(png, info, (png_uint_32)p->width, (png_uint_32)p->height, p->bits, colors[p->channels],
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(png, p->compression);
  png_write_info(png, info);
  if (p->bits == 16) png_set_swap(png); /* PNG is big-endian; our machines are little-endian */
  const size_t row = (size_t)p->width * (size_t)p->channels * (size_t)(p->bits / 8);
  for (int64_t y = 0; y < p->height; y++) png_write_row(png, (png_const_bytep)p->pixels + (size_t)y * row);
  png_write_end(png, NULL);
}

weft_err weft__png_encode(text *out, const png_picture *p) {
  if (p->channels < 1 || p->channels > 4 || (p->bits != 8 && p->bits != 16) || p->width < 1 || p->height < 1 ||
      p->width > INT32_MAX || p->height > INT32_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "PNG encoding failed: %lld x %lld pixels of %d channels of %d bits",
                      (long long)p->height, (long long)p->width, p->channels, p->bits);
  sink s = {.out = out};
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &s, png_encode_on_error, on_warning);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  weft_err err = WEFT_OK;
  if (!info)
    err = weft__fail(WEFT_RESOURCE_EXHAUSTED, "PNG encoding failed: no memory");
  else if (setjmp(png_jmpbuf(png)))
    err = weft__fail(WEFT_INTERNAL, "PNG encoding failed: %s", s.why);
  else {
    png_set_write_fn(png, &s, on_write, on_flush);
    write_picture(png, info, p);
  }
  if (png) png_destroy_write_struct(&png, &info);
  return err;
}

#else

weft_err weft__png_encode(text *out, const png_picture *p) {
  (void)out;
  (void)p;
  return weft__fail(WEFT_UNIMPLEMENTED, "PNG encoding: this build has no libpng");
}

#endif
