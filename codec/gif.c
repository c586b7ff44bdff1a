/* gif.c - GIF files: frames of palette indices, compressed with LZW, each drawn over the previous one.
 *
 * The first frame determines the size of the result.  Later frames are placed inside it and cut off at its edges.  A
 * truncated file gives the frames that are complete. */
#include "codec/image.h"

#include "base/alloc.h"
#include "base/assert.h"
#include <string.h>

typedef struct bytes {
  const unsigned char *at;
  size_t left;
} bytes;

/* Returns the next n bytes, or NULL at the end. */
static const unsigned char *gif_take(bytes *b, size_t n) {
  if (n > b->left) return NULL;
  const unsigned char *p = b->at;
  b->at += n;
  b->left -= n;
  return p;
}

static int gif_word(const unsigned char *p) { return p[0] | p[1] << 8; }

/* ---- LZW: codes of increasing width from sub-blocks of at most 255 bytes ---- */

enum {
  CODES = 4096,
  /* at most: a code of 12 bits stands for 4096 indices; a code of w < 12 bits for 2^w or fewer */
  INDICES_PER_BYTE = 2731
};

typedef struct lzw {
  bytes *in;
  int block; /* bytes left of the current sub-block */
  uint32_t bits;
  int count; /* valid bits in `bits` */
  uint16_t prefix[CODES];
  unsigned char suffix[CODES], stack[CODES];
} lzw;

static int next_byte(lzw *z) {
  WEFT_ASSERT(z->block >= 0 && z->block <= 255);
  if (z->block == 0) {
    const unsigned char *n = gif_take(z->in, 1);
    if (!n || *n == 0) return -1;
    z->block = *n;
  }
  const unsigned char *p = gif_take(z->in, 1);
  if (!p) return -1;
  z->block--;
  return *p;
}

static int next_code(lzw *z, int width) {
  WEFT_ASSERT(width >= 2 && width <= 12 && z->count >= 0 && z->count < 8 + width);
  while (z->count < width) {
    const int byte = next_byte(z);
    if (byte < 0) return -1;
    z->bits |= (uint32_t)byte << z->count;
    z->count += 8;
  }
  const int code = (int)(z->bits & ((1u << width) - 1)); /* fits: at most 12 bits */
  z->bits >>= width;
  z->count -= width;
  WEFT_ASSERT(code < CODES && z->count >= 0);
  return code;
}

/* Writes the string of `code` to out.  Returns its length and, in *first, its first index. */
static int64_t gif_expand(lzw *z, int code, int clear, unsigned char *out, int64_t room, unsigned char *first) {
  WEFT_ASSERT(code >= 0 && code < CODES && room > 0);
  int depth = 0;
  while (code >= clear + 2 && depth < CODES - 1) {
    z->stack[depth++] = z->suffix[code];
    code = z->prefix[code];
  }
  z->stack[depth++] = (unsigned char)code;
  *first = (unsigned char)code;
  int64_t n = 0;
  while (depth > 0 && n < room) out[n++] = z->stack[--depth];
  return n;
}

/* Reads exactly `count` indices.  Returns false if the data is truncated or invalid. */
static bool lzw_read(bytes *in, unsigned char *out, int64_t count, lzw *z) {
  const unsigned char *least = gif_take(in, 1);
  if (!least || *least < 1 || *least > 8) return false;
  *z = (lzw){.in = in};
  const int clear = 1 << *least;
  int width = *least + 1, next = clear + 2, previous = -1;
  unsigned char first = 0;
  int64_t done = 0;
  while (done < count) {
    const int code = next_code(z, width);
    if (code < 0 || code == clear + 1) return false;
    if (code == clear) {
      width = *least + 1, next = clear + 2, previous = -1;
      continue;
    }
    if (code > next || (code == next && previous < 0)) return false;
    WEFT_ASSERT(next <= CODES && width <= 12);
    if (previous >= 0 && next < CODES) {
      z->prefix[next] = (uint16_t)previous;
      /* the string that is being defined: it ends with its own first index */
      if (code == next) z->suffix[next] = first;
    }
    const int64_t at = done;
    done += gif_expand(z, code, clear, out + done, count - done, &first);
    if (previous >= 0 && next < CODES) z->suffix[next++] = out[at];
    if (next == 1 << width && width < 12) width++;
    previous = code;
  }
  return gif_take(in, (size_t)z->block) != NULL; /* skips the rest of the sub-block */
}

static bool skip_blocks(bytes *in) {
  for (;;) {
    const unsigned char *n = gif_take(in, 1);
    if (!n) return false;
    if (*n == 0) return true;
    if (!gif_take(in, *n)) return false;
  }
}

/* ---- frames ---- */

typedef struct frame {
  int left, top, width, height;
  bool interlaced;
  const unsigned char *palette;
  int colors, transparent; /* -1: none */
  unsigned char *indices;
} frame;

typedef struct gif {
  bytes in;
  int64_t room;                 /* frames allocated */
  const unsigned char *palette; /* the global palette, or NULL */
  int colors;
  int transparent; /* of the next frame */
  lzw *lzw;
} gif;

static bool gif_start(gif *g) {
  const unsigned char *p = gif_take(&g->in, 13);
  if (!p || memcmp(p, "GIF8", 4) != 0) return false;
  g->transparent = -1;
  g->colors = 2 << (p[10] & 7);
  if (p[10] & 0x80) g->palette = gif_take(&g->in, (size_t)g->colors * 3);
  return !(p[10] & 0x80) || g->palette;
}

static bool gif_extension(gif *g) {
  const unsigned char *label = gif_take(&g->in, 1);
  if (!label) return false;
  if (*label == 0xf9 && g->in.left >= 6 && g->in.at[0] == 4) /* graphic control */
    g->transparent = g->in.at[1] & 1 ? g->in.at[4] : -1;
  return skip_blocks(&g->in);
}

/* Reads the next frame and decodes its indices, which the caller frees (weft__free). */
static weft_err gif_frame(gif *g, frame *f, bool *whole) {
  const unsigned char *p = gif_take(&g->in, 9);
  *whole = false;
  if (!p) return WEFT_OK;
  *f = (frame){gif_word(p),     gif_word(p + 2),    gif_word(p + 4),
               gif_word(p + 6), (p[8] & 0x40) != 0, g->palette,
               g->colors,       g->transparent,     NULL};
  if (p[8] & 0x80) {
    f->colors = 2 << (p[8] & 7);
    f->palette = gif_take(&g->in, (size_t)f->colors * 3);
  }
  if (!f->palette || f->width == 0 || f->height == 0) return WEFT_OK;
  const int64_t count = (int64_t)f->width * f->height;
  if ((size_t)(count / INDICES_PER_BYTE) > g->in.left) return WEFT_OK; /* so many pixels cannot be in so few bytes */
  if (count > DECODED_IMAGE_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Invalid GIF data: a frame of %d x %d", f->width, f->height);
  f->indices = weft__alloc((size_t)count);
  if (!f->indices) return WEFT_OOM;
  *whole = lzw_read(&g->in, f->indices, count, g->lzw) && skip_blocks(&g->in);
  g->transparent = -1;
  return WEFT_OK;
}

/* Returns the row of the image for row `i` of an interlaced frame, in file order. */
static int64_t interlaced_row(int64_t i, int64_t height) {
  WEFT_ASSERT(i >= 0 && i < height);
  static const int start[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
  for (int pass = 0; pass < 4; pass++) {
    const int64_t rows = height > start[pass] ? (height - start[pass] + step[pass] - 1) / step[pass] : 0;
    if (i < rows) return start[pass] + i * step[pass];
    i -= rows;
  }
  return height - 1;
}

static void gif_draw(const frame *f, int left, int top, unsigned char *pixels, int64_t height, int64_t width) {
  WEFT_ASSERT(f->indices && f->palette && left >= 0 && top >= 0);
  for (int64_t i = 0; i < f->height; i++) {
    const int64_t y = top + (f->interlaced ? interlaced_row(i, f->height) : i);
    for (int64_t x = 0; x < f->width && y < height && left + x < width; x++) {
      const int index = f->indices[i * f->width + x];
      if (index == f->transparent || index >= f->colors) continue;
      memcpy(pixels + (y * width + left + x) * 3, f->palette + 3 * index, 3);
    }
  }
}

/* Adds the frame to the image: a copy of the previous one, with the frame drawn over it. */
static weft_err add_frame(gif *g, decoded_image *out, const frame *f) {
  WEFT_ASSERT(f->width > 0 && f->height > 0 && (!out->pixels || out->frames <= g->room));
  if (!out->pixels) {
    *out = (decoded_image){.frames = 1, .height = f->height, .width = f->width, .channels = 3, .bits = 8};
    WEFT_TRY(weft__decoded_image_alloc(out));
    gif_draw(f, f->left, f->top, out->pixels, out->height, out->width);
    g->room = 1;
    return WEFT_OK;
  }
  const int64_t size = out->height * out->width * 3;
  if (size > DECODED_IMAGE_MAX / (out->frames + 1))
    return weft__fail(WEFT_INVALID_ARGUMENT, "Invalid GIF data: over %lld frames of %lld x %lld",
                      (long long)out->frames, (long long)out->height, (long long)out->width);
  if (out->frames == g->room) { /* doubles as base/array.h does, but not beyond DECODED_IMAGE_MAX bytes */
    const int64_t most = DECODED_IMAGE_MAX / size, room = g->room < most / 2 ? 2 * g->room : most;
    unsigned char *larger = weft__realloc(out->pixels, (size_t)(size * room));
    if (!larger) return WEFT_OOM;
    out->pixels = larger;
    g->room = room;
  }
  unsigned char *more = out->pixels;
  memcpy(more + size * out->frames, more + size * (out->frames - 1), (size_t)size);
  gif_draw(f, f->left, f->top, more + size * out->frames, out->height, out->width);
  out->frames++;
  return WEFT_OK;
}

static weft_err read_frames(gif *g, decoded_image *out, bool first_only) {
  const unsigned char *kind;
  while ((kind = gif_take(&g->in, 1)) && *kind != ';') {
    if (*kind == '!') {
      if (!gif_extension(g)) return WEFT_OK;
      continue;
    }
    if (*kind != ',') return WEFT_OK;
    frame f = {0};
    bool whole;
    weft_err err = gif_frame(g, &f, &whole);
    if (!err && whole) err = add_frame(g, out, &f);
    weft__free(f.indices);
    if (err) return err;
    if (!whole || first_only) return WEFT_OK;
  }
  return WEFT_OK;
}

weft_err weft__gif_decode(decoded_image *out, const void *data, size_t size, bool first_only) {
  gif g = {.in = {data, size}, .lzw = weft__alloc(sizeof(lzw))};
  *out = (decoded_image){0};
  if (!g.lzw) return WEFT_OOM;
  weft_err err = WEFT_OK;
  if (gif_start(&g)) err = read_frames(&g, out, first_only);
  weft__free(g.lzw);
  if (!err && !out->pixels)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "Invalid GIF data (size %zu), failed to slurp gif file", size);
  if (err) {
    weft__free(out->pixels);
    *out = (decoded_image){0};
  }
  return err;
}
