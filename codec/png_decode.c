/* png_decode.c - PNG through libpng. libpng reports errors by longjmp.  So all state is in a struct of the caller,
 * and the function that called setjmp frees it. */
#include "codec/image.h"

#include "base/alloc.h"

#ifdef WEFT_HAVE_PNG
#include <png.h>
#include <string.h>

typedef struct source {
  const unsigned char *at;
  size_t left;
} source;

static void on_read(png_structp png, png_bytep out, size_t n) {
  source *s = png_get_io_ptr(png);
  if (n > s->left) png_error(png, "the file ends early");
  memcpy(out, s->at, n);
  s->at += n;
  s->left -= n;
}

static void png_decode_on_error(png_structp png, png_const_charp message) {
  (void)message;
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
  (void)png;
  (void)message;
}

typedef struct reader {
  png_structp png;
  png_infop info;
  png_bytep *rows;
  decoded_image *out;
  int channels; /* number of channels; 0: as in the file */
  bool sixteen, doubled;
} reader;

/* Skips chunks that do not affect the result. libpng would decompress and keep up to a thousand of them, of up to 8
 * MB each. */
static void skip_chunks(png_structp png) {
  static const png_byte unused[] = "tEXt\0zTXt\0iTXt\0iCCP\0sPLT\0eXIf\0hIST\0pCAL\0sCAL\0tIME";
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, unused, sizeof unused / 5);
}

/* Sets libpng's transformations of the pixels, after the header is known. */
static void set_transforms(reader *r) {
  png_structp png = r->png;
  const int color = png_get_color_type(png, r->info), depth = png_get_bit_depth(png, r->info);
  const bool palette = color == PNG_COLOR_TYPE_PALETTE, trns = png_get_valid(png, r->info, PNG_INFO_tRNS) != 0;
  int channels = r->channels;
  if (channels == 0) channels = palette ? (trns ? 4 : 3) : png_get_channels(png, r->info);
  const bool alpha = channels % 2 == 0, has_alpha = (color & PNG_COLOR_MASK_ALPHA) != 0;
  const bool has_color = (color & PNG_COLOR_MASK_COLOR) != 0;
  if (palette) png_set_palette_to_rgb(png);
  if (!has_color && depth < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (alpha && trns)
    png_set_tRNS_to_alpha(png);
  else if (alpha && !has_alpha)
    png_set_add_alpha(png, (1u << depth) - 1, PNG_FILLER_AFTER);
  else if (!alpha)
    png_set_strip_alpha(png);
  if (depth == 16 && !r->sixteen) png_set_strip_16(png);
  if (depth == 16 && r->sixteen) png_set_swap(png); /* PNG is big-endian; our machines are little-endian */
  if (channels >= 3 && !has_color) png_set_gray_to_rgb(png);
  if (channels < 3 && has_color) png_set_rgb_to_gray(png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  png_set_interlace_handling(png);
  r->channels = channels;
  r->doubled = r->sixteen && depth < 16;
}

/* Widens the bytes at the front of the buffer to 16-bit samples in place: v becomes v * 257. */
static void double_bytes(const decoded_image *p) {
  uint16_t *wide = p->pixels;
  const unsigned char *narrow = p->pixels;
  for (int64_t i = p->height * p->width * p->channels - 1; i >= 0; i--) wide[i] = (uint16_t)(narrow[i] * 257);
}

/* longjmp may leave this function at any call into libpng. */
static weft_err png_decode_read_all(reader *r) {
  png_read_info(r->png, r->info);
  set_transforms(r);
  png_read_update_info(r->png, r->info);
  *r->out = (decoded_image){.frames = 1,
                            .height = png_get_image_height(r->png, r->info),
                            .width = png_get_image_width(r->png, r->info),
                            .channels = r->channels,
                            .bits = r->sixteen ? 16 : 8};
  const size_t row = (size_t)r->out->width * (size_t)r->channels * (r->sixteen && !r->doubled ? 2u : 1u);
  if (png_get_rowbytes(r->png, r->info) != row) png_error(r->png, "unexpected size of a row");
  WEFT_TRY(weft__decoded_image_alloc(r->out));
  r->rows = weft__alloc((size_t)r->out->height * sizeof *r->rows);
  if (!r->rows) return WEFT_OOM;
  for (int64_t y = 0; y < r->out->height; y++) r->rows[y] = (png_bytep)r->out->pixels + (size_t)y * row;
  png_read_image(r->png, r->rows);
  png_read_end(r->png, NULL);
  if (r->doubled) double_bytes(r->out);
  return WEFT_OK;
}

static weft_err png_decode_guarded(reader *r, size_t size) {
  if (setjmp(png_jmpbuf(r->png))) return weft__fail(WEFT_INVALID_ARGUMENT, "Invalid PNG data, size %zu", size);
  return png_decode_read_all(r);
}

weft_err weft__png_decode(decoded_image *out, const void *data, size_t size, int channels, bool sixteen) {
  source s = {data, size};
  *out = (decoded_image){0};
  reader r = {.out = out, .channels = channels, .sixteen = sixteen};
  r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, png_decode_on_error, on_warning);
  r.info = r.png ? png_create_info_struct(r.png) : NULL;
  weft_err err = r.info ? WEFT_OK : weft__fail(WEFT_OOM, "PNG decoding: no memory");
  if (!err) {
    png_set_read_fn(r.png, &s, on_read);
    skip_chunks(r.png);
    err = png_decode_guarded(&r, size);
  }
  if (r.png) png_destroy_read_struct(&r.png, &r.info, NULL);
  weft__free(r.rows);
  if (err) {
    weft__free(out->pixels);
    *out = (decoded_image){0};
  }
  return err;
}

#else

weft_err weft__png_decode(decoded_image *out, const void *data, size_t size, int channels, bool sixteen) {
  (void)data, (void)size, (void)channels, (void)sixteen;
  *out = (decoded_image){0};
  return weft__fail(WEFT_UNIMPLEMENTED, "PNG decoding: this build has no libpng");
}

#endif
