/* image_test.c - tests that images survive encoding and decoding, and that broken files only give errors. */
#include "base/alloc.h"
#include "base/memory_limit.h"
#include "base/text.h"
#include "codec/image.h"
#include "codec/png_encode.h"
#include "tests/check.h"
#include <stdlib.h>
#include <sys/resource.h>
#if WEFT_HAVE_ZLIB
#include <zlib.h>
#endif

enum { H = 13, W = 17 };

#if WEFT_HAVE_PNG || WEFT_HAVE_JPEG
static void fill(uint8_t *p, int n) {
  uint32_t state = 7;
  for (int i = 0; i < n; i++) p[i] = (uint8_t)((state = state * 1664525u + 1013904223u) >> 24);
}
#endif

#if WEFT_HAVE_PNG
TEST(a_png_is_read_as_it_was_written) {
  uint8_t pixels[H * W * 4 * 2];
  fill(pixels, (int)sizeof pixels);
  for (int channels = 1; channels <= 4; channels++)
    for (int bits = 8; bits <= 16; bits += 8) {
      text file = {0};
      decoded_image p;
      EXPECT_OK(weft__png_encode(&file, &(png_picture){pixels, W, H, channels, bits, -1}));
      EXPECT_OK(weft__png_decode(&p, file.data, file.size, 0, bits == 16));
      EXPECT_EQ_INT(p.height, H);
      EXPECT_EQ_INT(p.width, W);
      EXPECT_EQ_INT(p.channels, channels);
      EXPECT_EQ_MEM(p.pixels, pixels, (size_t)(H * W * channels * bits / 8));
      weft__free(p.pixels);
      weft__text_finish(&file);
    }
}
#endif

#if WEFT_HAVE_JPEG
static const jpeg_options plain = {.ratio = 1, .fancy_upscaling = true, .acceptable = 1};

static void smooth_jpeg(text *file) {
  uint8_t pixels[H * W * 3];
  for (int i = 0; i < H * W * 3; i++) pixels[i] = (uint8_t)(i % (W * 3) * 4 + i / (W * 3));
  const jpeg_encoding e = {.quality = 95, .downsample_chroma = true, .x_density = 300, .y_density = 300};
  EXPECT_OK(weft__jpeg_encode(file, pixels, H, W, 3, &e));
}

TEST(a_jpeg_is_read_near_what_was_written) {
  text file = {0};
  decoded_image p;
  smooth_jpeg(&file);
  EXPECT_OK(weft__jpeg_decode(&p, file.data, file.size, &plain));
  EXPECT_EQ_INT(p.height, H);
  EXPECT_EQ_INT(p.width, W);
  EXPECT_EQ_INT(p.channels, 3);
  for (int i = 0; i < H * W * 3; i++)
    EXPECT_NEAR(((uint8_t *)p.pixels)[i], (uint8_t)(i % (W * 3) * 4 + i / (W * 3)), 12.0);
  weft__free(p.pixels);
  weft__text_finish(&file);
}

TEST(a_jpeg_that_ends_early_is_refused_or_filled_up) {
  text file = {0};
  decoded_image p;
  smooth_jpeg(&file);
  jpeg_options o = plain;
  EXPECT_ERR(weft__jpeg_decode(&p, file.data, file.size - 40, &o), WEFT_INVALID_ARGUMENT, "Invalid JPEG data");
  EXPECT(p.pixels == NULL);
  o.recover = true;
  EXPECT_OK(weft__jpeg_decode(&p, file.data, file.size - 40, &o));
  EXPECT_EQ_INT(p.height, H);
  weft__free(p.pixels);
  weft__text_finish(&file);
}
#endif

#if WEFT_HAVE_JPEG
/* Makes a progressive file of 16 x 16 gray pixels that announces another size and repeats its first scan `times`
 * times. */
static void make_progressive(text *out, int height, int width, int times) {
  const uint8_t pixels[16 * 16] = {0};
  text file = {0};
  EXPECT_OK(weft__jpeg_encode(&file, pixels, 16, 16, 1, &(jpeg_encoding){.quality = 90, .progressive = true}));
  unsigned char *p = (unsigned char *)file.data;
  size_t scan = 0, end = 0;
  for (size_t i = 2; i < file.size && end == 0; i++) {
    if (p[i] != 0xff || p[i + 1] == 0) continue;
    if (p[i + 1] == 0xc2) { /* the frame's header */
      p[i + 5] = (unsigned char)(height >> 8), p[i + 6] = (unsigned char)height;
      p[i + 7] = (unsigned char)(width >> 8), p[i + 8] = (unsigned char)width;
    }
    if (scan) end = i;
    if (p[i + 1] == 0xda) scan = i;
    if (!scan) i += 1 + (size_t)(p[i + 2] << 8 | p[i + 3]);
  }
  weft__text_add(out, file.data, end);
  for (int i = 0; i < times; i++) weft__text_add(out, file.data + scan, end - scan);
  weft__text_add(out, file.data + end, file.size - end);
  weft__text_finish(&file);
}

TEST(a_jpeg_that_announces_more_pixels_than_its_bytes_hold_is_refused) {
  text file = {0};
  decoded_image p;
  make_progressive(&file, 20000, 20000, 0);
  EXPECT_ERR(weft__jpeg_decode(&p, file.data, file.size, &plain), WEFT_INVALID_ARGUMENT, "cannot hold 20000 x 20000");
  weft__text_finish(&file);
  make_progressive(&file, 65000, 65000, 0);
  EXPECT_ERR(weft__jpeg_decode(&p, file.data, file.size, &plain), WEFT_INVALID_ARGUMENT, "65000 x 65000 x 1 samples");
  weft__text_finish(&file);
}

TEST(a_jpeg_of_many_short_scans_is_refused) {
  text file = {0};
  decoded_image p;
  make_progressive(&file, 4096, 4096, 300);
  EXPECT_ERR(weft__jpeg_decode(&p, file.data, file.size, &plain), WEFT_INVALID_ARGUMENT, "Invalid JPEG data");
  weft__text_finish(&file);
  make_progressive(&file, 16, 16, 300); /* these cost nothing */
  EXPECT_OK(weft__jpeg_decode(&p, file.data, file.size, &plain));
  weft__free(p.pixels);
  weft__text_finish(&file);
}
#endif

#if WEFT_HAVE_PNG && WEFT_HAVE_ZLIB
static void add_word(text *out, uint32_t v) {
  const char b[4] = {(char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v};
  weft__text_add(out, b, 4);
}

/* Adds a compressed text chunk of 7 MB. */
static void add_long_text(text *out) {
  enum { LONG = 7 << 20 };
  text chunk = {0};
  char *letters = malloc(LONG), *packed = malloc(compressBound(LONG));
  uLongf size = compressBound(LONG);
  memset(letters, 'x', LONG);
  EXPECT_EQ_INT(compress((Bytef *)packed, &size, (Bytef *)letters, LONG), Z_OK);
  weft__text_add(&chunk, "zTXtComment\0\0", 13);
  weft__text_add(&chunk, packed, size);
  add_word(out, (uint32_t)chunk.size - 4);
  weft__text_add(out, chunk.data, chunk.size);
  add_word(out, (uint32_t)crc32(0, (const Bytef *)chunk.data, (uInt)chunk.size));
  weft__text_finish(&chunk);
  free(letters);
  free(packed);
}

static long peak_kilobytes(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return u.ru_maxrss;
}

TEST(text_in_a_png_is_not_unpacked) {
  enum { CHUNKS = 24, HEADER = 33 }; /* the signature and IHDR */
  const uint8_t pixels[H * W] = {0};
  text file = {0}, chunk = {0}, bomb = {0};
  decoded_image p;
  EXPECT_OK(weft__png_encode(&file, &(png_picture){pixels, W, H, 1, 8, -1}));
  add_long_text(&chunk);
  weft__text_add(&bomb, file.data, HEADER);
  for (int i = 0; i < CHUNKS; i++) weft__text_add(&bomb, chunk.data, chunk.size);
  weft__text_add(&bomb, file.data + HEADER, file.size - HEADER);
  const long before = peak_kilobytes();
  EXPECT_OK(weft__png_decode(&p, bomb.data, bomb.size, 0, false));
  EXPECT_EQ_MEM(p.pixels, pixels, sizeof pixels);
  EXPECT(peak_kilobytes() - before < 16 * 1024);
  weft__free(p.pixels);
  weft__text_finish(&file), weft__text_finish(&chunk), weft__text_finish(&bomb);
}
#endif

/* A GIF with one frame of 2 x 2 pixels and a BMP of 2 x 1, byte by byte. */
static const char gif[] = "GIF89a\x02\0\x02\0\xf1\0\0\0\0\0\xff\0\0\0\xff\0\x09\x08\x07,\0\0\0\0\x02\0\x02\0\0"
                          "\x02\x03\x44\x34\x05\0;";
static const char bmp[] = "BM\x3e\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\0\0\0\x01\0\0\0\x01\0\x18\0\0\0\0\0\x08\0\0\0"
                          "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x02\x03\x04\x05\x06\0";

TEST(a_gif_gives_its_colors) {
  static const uint8_t want[] = {0, 0, 0, 255, 0, 0, 0, 255, 0, 9, 8, 7};
  decoded_image p;
  EXPECT_OK(weft__gif_decode(&p, gif, sizeof gif - 1, false));
  EXPECT_EQ_INT(p.frames * p.height * p.width * p.channels, 12);
  EXPECT_EQ_MEM(p.pixels, want, sizeof want);
  weft__free(p.pixels);
}

TEST(a_gif_takes_no_memory_for_a_frame_that_its_bytes_cannot_hold) {
  char file[sizeof gif - 2 + 15]; /* without the trailer, and with a frame of 65535 x 8000 */
  memcpy(file, gif, sizeof gif - 2);
  memcpy(file + sizeof gif - 2, ",\0\0\0\0\xff\xff\x40\x1f\0\x02\x03\x44\x34\x05", 15);
  decoded_image p;
  EXPECT_OK(weft__memory_limit_set("64M"));
  EXPECT_OK(weft__gif_decode(&p, file, sizeof file, false));
  EXPECT_EQ_INT(p.frames, 1); /* like any truncated file */
  weft__free(p.pixels);
}

TEST(a_bmp_gives_red_before_blue) {
  static const uint8_t want[] = {3, 2, 1, 6, 5, 4};
  decoded_image p;
  EXPECT_OK(weft__bmp_decode(&p, bmp, sizeof bmp, 0));
  EXPECT_EQ_MEM(p.pixels, want, sizeof want);
  weft__free(p.pixels);
}

/* Decodes with every decoder.  Any result is fine; the sanitizers check memory accesses. */
static void read_as_all(const char *data, size_t size) {
  decoded_image p;
  (void)weft__png_decode(&p, data, size, 0, false);
  weft__free(p.pixels);
  (void)weft__gif_decode(&p, data, size, false);
  weft__free(p.pixels);
  (void)weft__bmp_decode(&p, data, size, 4);
  weft__free(p.pixels);
  const jpeg_options o = {.channels = 3, .ratio = 1, .recover = true, .acceptable = 0.5f};
  (void)weft__jpeg_decode(&p, data, size, &o);
  weft__free(p.pixels);
}

static void break_file(const char *data, size_t size) {
  char *copy = malloc(size);
  uint32_t state = 1;
  for (size_t cut = 0; cut < size; cut += 1 + size / 40) {
    memcpy(copy, data, cut); /* an exact copy, so that a sanitizer sees a read past the cut */
    read_as_all(copy, cut);
  }
  for (int i = 0; i < 400; i++) {
    memcpy(copy, data, size);
    for (int flips = 1 + i % 4; flips > 0; flips--) {
      state = state * 1664525u + 1013904223u;
      copy[(state >> 8) % size] ^= (char)(1 << (state & 7));
    }
    read_as_all(copy, size);
  }
  free(copy);
}

TEST_WITHIN(60, broken_files_cost_an_error_at_most) {
  break_file(gif, sizeof gif - 1);
  break_file(bmp, sizeof bmp);
  text file = {0};
#if WEFT_HAVE_PNG
  uint8_t pixels[H * W * 3];
  fill(pixels, (int)sizeof pixels);
  EXPECT_OK(weft__png_encode(&file, &(png_picture){pixels, W, H, 3, 8, -1}));
  break_file(file.data, file.size);
  weft__text_finish(&file);
  file = (text){0};
#endif
#if WEFT_HAVE_JPEG
  smooth_jpeg(&file);
  break_file(file.data, file.size);
#endif
  weft__text_finish(&file);
  decoded_image p;
  EXPECT_ERR(weft__bmp_decode(&p, "BM", 2, 0), WEFT_INVALID_ARGUMENT, "Incomplete bmp");
}
