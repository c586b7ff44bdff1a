/* image_file.c - decodes and encodes images: PNG, JPEG, GIF and BMP.
 *
 * Like TensorFlow's, the decoding ops look at the first bytes of the file, not at their own name: DecodePng also
 * reads a JPEG.  Samples of 8 bits are converted to 16 bits or floats if the op's dtype asks for it. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "codec/image.h"
#include "codec/png_encode.h"
#include <string.h>

/* ---- decoding ---- */

typedef enum format { UNKNOWN, PNG, JPEG, GIF, BMP } format;

static format image_file_format_of(const str *s) {
  if (s->size >= 3 && memcmp(s->data, "\xff\xd8\xff", 3) == 0) return JPEG;
  if (s->size >= 4 && memcmp(s->data, "\x89PNG", 4) == 0) return PNG;
  if (s->size >= 4 && memcmp(s->data, "GIF8", 4) == 0) return GIF;
  if (s->size >= 2 && memcmp(s->data, "BM", 2) == 0) return BMP;
  return UNKNOWN;
}

static weft_err check_channels(const kernel *k, format f, int64_t channels) {
  if (f == JPEG && channels == 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "JPEG does not support 4 channels");
  if (f == GIF && channels != 0 && channels != 3)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "channels must be 0 or 3 for GIF, got %lld",
                             (long long)channels);
  if (f == BMP && channels == 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "`channels` must be 0, 3 or 4 for BMP, but got 1");
  if (channels == 0 || channels == 1 || channels == 3 || channels == 4) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "`channels` must be 0, 1, 3 or 4 but got %lld",
                           (long long)channels);
}

static weft_err read_jpeg_options(const kernel *k, jpeg_options *o) {
  const weft_node *n = k->node;
  *o = (jpeg_options){.channels = weft__int_sat(weft__node_int(n, "channels", 0)),
                      .ratio = weft__int_sat(weft__node_int(n, "ratio", 1)),
                      .fancy_upscaling = weft__node_bool(n, "fancy_upscaling", true),
                      .accurate = weft__node_str_is(n, "dct_method", "INTEGER_ACCURATE"),
                      .recover = weft__node_bool(n, "try_recover_truncated", false),
                      .acceptable = weft__node_float(n, "acceptable_fraction", 1)};
  if (o->ratio != 1 && o->ratio != 2 && o->ratio != 4 && o->ratio != 8)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "ratio must be 1, 2, 4, or 8, got %d", o->ratio);
  if (!o->accurate && weft__node_str(n, "dct_method").size && !weft__node_str_is(n, "dct_method", "INTEGER_FAST"))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}");
  return WEFT_OK;
}

static bool is_op(const kernel *k, const char *name) { return strcmp(k->node->op_name, name) == 0; }

static weft_err decode_jpeg(const kernel *k, const str *s, decoded_image *p) {
  jpeg_options o;
  WEFT_TRY(read_jpeg_options(k, &o));
  if (is_op(k, "DecodeGif")) o.channels = 3;
  return weft__jpeg_decode(p, s->data, s->size, &o);
}

static weft_err decode_gif(const kernel *k, const str *s, bool animated, decoded_image *p) {
  const bool all = animated && weft__node_bool(k->node, "expand_animations", true);
  WEFT_TRY(weft__gif_decode(p, s->data, s->size, animated && !all));
  if (animated || p->frames == 1) return WEFT_OK;
  return weft__kernel_fail(
      k, WEFT_INVALID_ARGUMENT,
      "Got %lld frames, but animated gifs can only be decoded by tf.io.decode_gif or tf.io.decode_image",
      (long long)p->frames);
}

static weft_err image_file_decode(const kernel *k, const str *s, decoded_image *p) {
  const int channels = is_op(k, "DecodeGif") ? 3 : weft__int_sat(weft__node_int(k->node, "channels", 0));
  const format f = image_file_format_of(s);
  const bool any = is_op(k, "DecodeImage");
  if (s->size == 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input is empty.");
  if (f == UNKNOWN)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Unknown image file format. One of JPEG, PNG, GIF, BMP required.");
  if (f == BMP ? !any && !is_op(k, "DecodeBmp") : is_op(k, "DecodeBmp"))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Trying to decode %s format using a wrong op. Use `decode_bmp` or `decode_image` instead. "
                             "Op used: %s",
                             f == BMP ? "BMP" : "non-BMP", k->node->op_name);
  WEFT_TRY(check_channels(k, f, channels));
  const weft_dtype type = k->node->out_type[0];
  switch (f) {
  case JPEG: return decode_jpeg(k, s, p);
  case GIF: return decode_gif(k, s, any || is_op(k, "DecodeGif"), p);
  case BMP: return weft__bmp_decode(p, s->data, s->size, channels);
  default: return weft__png_decode(p, s->data, s->size, channels, type != WEFT_UINT8);
  }
}

/* Converts 8 or 16 bit samples to the output's type.  Only PNG has 16 bits. */
static void image_file_convert(const decoded_image *p, weft_tensor *out) {
  const int64_t n = weft__tensor_count(out);
  const uint8_t *narrow = p->pixels;
  const uint16_t *wide = p->pixels;
  if (out->dtype == WEFT_FLOAT)
    for (int64_t i = 0; i < n; i++) TENSOR_DATA(out, float)
  [i] = p->bits == 16 ? (float)wide[i] * (1.0f / 65535.0f) : (float)narrow[i] * (1.0f / 255.0f);
  else if (out->dtype == WEFT_UINT16 && p->bits == 8) for (int64_t i = 0; i < n; i++) TENSOR_DATA(out, uint16_t)[i] =
      (uint16_t)(narrow[i] * 256);
  else memcpy(out->data, p->pixels, weft__tensor_bytes(out));
}

static weft_err image_file_decode_cpu(kernel *k) {
  if (k->in[0]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "`contents` must be scalar but got shape%s",
                             weft__shape_text(&k->in[0]->shape));
  decoded_image p = {0};
  weft_err err = image_file_decode(k, TENSOR_DATA(k->in[0], str), &p);
  if (!err) {
    const bool film =
        is_op(k, "DecodeGif") || (is_op(k, "DecodeImage") && weft__node_bool(k->node, "expand_animations", true) &&
                                  image_file_format_of(TENSOR_DATA(k->in[0], str)) == GIF);
    const shape s = film ? SHAPE4(p.frames, p.height, p.width, p.channels) : SHAPE3(p.height, p.width, p.channels);
    weft_tensor *out = weft__out(k, 0, &s);
    if (out)
      image_file_convert(&p, out);
    else
      err = WEFT_OOM;
  }
  weft__free(p.pixels);
  return err;
}

static weft_err image_file_decode_infer(infer *s) {
  const int64_t channels = weft__node_int(s->node, "channels", 0);
  WEFT_TRY(weft__infer_rank(s, 0, 0, NULL));
  if (channels < 0) return weft__infer_fail(s, "channels must be non-negative, got %lld", (long long)channels);
  s->out[0] = SHAPE3(-1, -1, channels == 0 ? -1 : channels);
  return WEFT_OK;
}

static weft_err decode_gif_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 0, NULL));
  s->out[0] = SHAPE4(-1, -1, -1, 3);
  return WEFT_OK;
}

/* The shape for a GIF has one axis more. */
static weft_err decode_image_infer(infer *s) {
  WEFT_TRY(image_file_decode_infer(s));
  if (weft__node_bool(s->node, "expand_animations", true)) s->out[0] = SHAPE_UNKNOWN;
  return WEFT_OK;
}

/* ---- a part of a JPEG, and the size of a JPEG ---- */

/* Input 1 is (top, left, height, width). */
static weft_err read_crop(const kernel *k, const decoded_image *p, int64_t *crop) {
  const shape *s = &k->in[1]->shape;
  if (s->rank != 1 || s->dim[0] != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "crop_window must have four elements, got shape%s",
                             weft__shape_text(s));
  for (int i = 0; i < 4; i++) crop[i] = weft__tensor_int(k->in[1], i);
  if (crop[0] >= 0 && crop[1] >= 0 && crop[2] > 0 && crop[3] > 0 && crop[0] + crop[2] <= p->height &&
      crop[1] + crop[3] <= p->width)
    return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "Invalid JPEG data or crop window: rows %lld + %lld and columns %lld + %lld are not in an "
                           "image of %lld x %lld",
                           (long long)crop[0], (long long)crop[2], (long long)crop[1], (long long)crop[3],
                           (long long)p->height, (long long)p->width);
}

static weft_err crop_out(kernel *k, const decoded_image *p) {
  int64_t crop[4];
  WEFT_TRY(read_crop(k, p, crop));
  weft_tensor *out = weft__out(k, 0, &SHAPE3(crop[2], crop[3], p->channels));
  if (!out) return WEFT_OOM;
  const size_t row = (size_t)(crop[3] * p->channels);
  for (int64_t i = 0; i < crop[2]; i++)
    memcpy(TENSOR_DATA(out, uint8_t) + (size_t)i * row,
           (const uint8_t *)p->pixels + ((crop[0] + i) * p->width + crop[1]) * p->channels, row);
  return WEFT_OK;
}

/* Returns input 0, the file; fails if it is not a JPEG. */
static weft_err jpeg_input(const kernel *k, const str **out) {
  WEFT_TRY(weft__kernel_scalar(k, 0, "contents"));
  *out = TENSOR_DATA(k->in[0], str);
  if (image_file_format_of(*out) == JPEG) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Invalid JPEG data, size %zu", (*out)->size);
}

static weft_err decode_crop_cpu(kernel *k) {
  const str *file;
  WEFT_TRY(jpeg_input(k, &file));
  WEFT_TRY(check_channels(k, JPEG, weft__node_int(k->node, "channels", 0)));
  decoded_image p = {0};
  weft_err err = decode_jpeg(k, file, &p);
  if (!err) err = crop_out(k, &p);
  weft__free(p.pixels);
  return err;
}

static weft_err decode_crop_infer(infer *s) {
  shape window, crop;
  WEFT_TRY(image_file_decode_infer(s));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &window));
  if (window.dim[0] >= 0 && window.dim[0] != 4)
    return weft__infer_fail(s, "Dimension must be 4 but is %lld", (long long)window.dim[0]);
  WEFT_TRY(weft__infer_shape_value(s, 1, &crop));
  if (crop.rank == 4) s->out[0].dim[0] = crop.dim[2], s->out[0].dim[1] = crop.dim[3];
  return WEFT_OK;
}

static weft_err jpeg_shape_cpu(kernel *k) {
  const str *file;
  int64_t size[3];
  WEFT_TRY(jpeg_input(k, &file));
  WEFT_TRY(weft__kernel_in(k, weft__jpeg_size(file->data, file->size, size)));
  weft_tensor *out = weft__out(k, 0, &SHAPE1(3));
  if (!out) return WEFT_OOM;
  for (int i = 0; i < 3; i++)
    if (out->dtype == WEFT_INT64)
      TENSOR_DATA(out, int64_t)[i] = size[i];
    else
      TENSOR_DATA(out, int32_t)[i] = weft__int_sat(size[i]);
  return WEFT_OK;
}

static weft_err jpeg_shape_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 0, NULL));
  s->out[0] = SHAPE1(3);
  return WEFT_OK;
}

/* ---- encoding ---- */

static weft_err take_text(text *t, str *out) {
  weft_err err = t->failed ? weft__fail(WEFT_OOM, "an encoded picture: no memory") : WEFT_OK;
  if (!err) err = weft__str_set(out, t->data, t->size);
  weft__text_finish(t);
  return err;
}

static weft_err encode_png_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  const shape *s = &x->shape;
  const int64_t level = weft__node_int(k->node, "compression", -1);
  if (s->rank < 3)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "images must be at least rank 3%s", weft__shape_text(s));
  const int64_t *d = s->dim + s->rank - 3, size = d[0] * d[1] * d[2];
  if (level < -1 || level > 9)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "compression should be in [-1,9], got %lld", (long long)level);
  if (d[2] < 1 || d[2] > 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "image must have 1, 2, 3, or 4 channels, got %lld",
                             (long long)d[2]);
  shape batch = *s;
  batch.rank -= 3;
  weft_tensor *out = weft__out(k, 0, &batch);
  if (!out) return WEFT_OOM;
  const size_t sample = weft__dtype_size(x->dtype);
  for (int64_t i = 0; i < weft__tensor_count(out); i++) {
    text t = {0};
    const png_picture p = {(const char *)x->data + (size_t)(i * size) * sample,
                           d[1],
                           d[0],
                           weft__int_sat(d[2]),
                           weft__int_sat(sample) * 8,
                           (int)level};
    weft_err err = weft__png_encode(&t, &p);
    if (err) weft__text_finish(&t);
    if (!err) err = take_text(&t, &TENSOR_DATA(out, str)[i]);
    if (err) return err;
  }
  return WEFT_OK;
}

static weft_err encode_png_infer(infer *s) {
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 3));
  s->out[0] = s->in[0];
  if (s->out[0].rank >= 0) s->out[0].rank -= 3;
  return WEFT_OK;
}

static weft_err check_jpeg(const kernel *k, int64_t quality, int64_t channels) {
  const shape *s = &k->in[0]->shape;
  if (quality < 0 || quality > 100)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "quality must be in [0,100], got %lld", (long long)quality);
  if (channels != 1 && channels != 3)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "image must have 1 or 3 channels, got %s", weft__shape_text(s));
  if (weft__node_str_is(k->node, "format", "grayscale") && channels != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "format grayscale expects 1 channels, got %s",
                             weft__shape_text(s));
  if (weft__node_str_is(k->node, "format", "rgb") && channels != 3)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "format rgb expects 3 channels, got %s", weft__shape_text(s));
  return WEFT_OK;
}

static weft_err encode_jpeg_cpu(kernel *k) {
  const weft_node *n = k->node;
  const weft_tensor *x = k->in[0];
  const shape *s = &x->shape;
  const int64_t quality = weft__node_int(n, "quality", 95);
  const attr_str xmp = weft__node_str(n, "xmp_metadata");
  if (s->rank != 3)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "image must be 3-dimensional%s", weft__shape_text(s));
  WEFT_TRY(check_jpeg(k, quality, s->dim[2]));
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  const jpeg_encoding e = {.quality = weft__int_sat(quality),
                           .progressive = weft__node_bool(n, "progressive", false),
                           .optimize = weft__node_bool(n, "optimize_size", false),
                           .downsample_chroma = weft__node_bool(n, "chroma_downsampling", true),
                           .per_cm = weft__node_str_is(n, "density_unit", "cm"),
                           .x_density = weft__int_sat(weft__node_int(n, "x_density", 300)),
                           .y_density = weft__int_sat(weft__node_int(n, "y_density", 300)),
                           .xmp = xmp.data,
                           .xmp_size = xmp.size};
  text t = {0};
  const weft_err err = weft__jpeg_encode(&t, x->data, s->dim[0], s->dim[1], weft__int_sat(s->dim[2]), &e);
  if (err) {
    weft__text_finish(&t);
    return err;
  }
  return take_text(&t, out->data);
}

/* Encodes with the quality in input 1. */
static weft_err encode_quality_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  const shape *s = &x->shape;
  if (s->rank != 3)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "image must be 3-dimensional%s", weft__shape_text(s));
  WEFT_TRY(weft__kernel_scalar(k, 1, "quality"));
  const int64_t quality = weft__tensor_int(k->in[1], 0);
  WEFT_TRY(check_jpeg(k, quality, s->dim[2]));
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  const jpeg_encoding e = {
      .quality = weft__int_sat(quality), .downsample_chroma = true, .x_density = 300, .y_density = 300, .xmp = ""};
  text t = {0};
  const weft_err err = weft__jpeg_encode(&t, x->data, s->dim[0], s->dim[1], weft__int_sat(s->dim[2]), &e);
  if (err) {
    weft__text_finish(&t);
    return err;
  }
  return take_text(&t, out->data);
}

static weft_err encode_jpeg_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 3, NULL));
  return weft__infer_scalar(s);
}

/* ---- cases: the smallest files of each kind ---- */

/* clang-format off */
#define GRAY_PNG \
  "\\x89\\x50\\x4e\\x47\\x0d\\x0a\\x1a\\x0a\\x00\\x00\\x00\\x0d\\x49\\x48\\x44\\x52\\x00\\x00\\x00\\x02" \
  "\\x00\\x00\\x00\\x02\\x08\\x00\\x00\\x00\\x00\\x57\\xdd\\x52\\xf8\\x00\\x00\\x00\\x0e\\x49\\x44\\x41" \
  "\\x54\\x78\\x9c\\x63\\x60\\x64\\x62\\x60\\xfe\\x05\\x00\\x01\\x13\\x01\\x01\\x01\\xef\\xba\\x7b\\x00" \
  "\\x00\\x00\\x00\\x49\\x45\\x4e\\x44\\xae\\x42\\x60\\x82"
#define RGB_PNG \
  "\\x89\\x50\\x4e\\x47\\x0d\\x0a\\x1a\\x0a\\x00\\x00\\x00\\x0d\\x49\\x48\\x44\\x52\\x00\\x00\\x00\\x02" \
  "\\x00\\x00\\x00\\x01\\x08\\x02\\x00\\x00\\x00\\x7b\\x40\\xe8\\xdd\\x00\\x00\\x00\\x0f\\x49\\x44\\x41" \
  "\\x54\\x78\\x9c\\x63\\xe0\\x12\\x91\\x3b\\x91\\x62\\x04\\x00\\x04\\x71\\x01\\x9b\\x77\\x31\\x51\\x82" \
  "\\x00\\x00\\x00\\x00\\x49\\x45\\x4e\\x44\\xae\\x42\\x60\\x82"
#define BMP24 \
  "\\x42\\x4d\\x3e\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x36\\x00\\x00\\x00\\x28\\x00\\x00\\x00\\x02\\x00" \
  "\\x00\\x00\\x01\\x00\\x00\\x00\\x01\\x00\\x18\\x00\\x00\\x00\\x00\\x00\\x08\\x00\\x00\\x00\\x00\\x00" \
  "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01\\x02\\x03\\x04\\x05\\x06" \
  "\\x00\\x00"
#define ONE_GIF \
  "\\x47\\x49\\x46\\x38\\x39\\x61\\x02\\x00\\x02\\x00\\xf1\\x00\\x00\\x00\\x00\\x00\\xff\\x00\\x00\\x00" \
  "\\xff\\x00\\x09\\x08\\x07\\x2c\\x00\\x00\\x00\\x00\\x02\\x00\\x02\\x00\\x00\\x02\\x03\\x44\\x34\\x05" \
  "\\x00\\x3b"
/* clang-format on */

static const op_case decode_cases[] = {
    {"str[] \"" GRAY_PNG "\"", "u8[2,2,1] 1 2 3 250", NULL, CASE_NO_GRAD},
    {"str[] \"" GRAY_PNG "\"", NULL, "channels=3", CASE_NO_GRAD},
    {"str[] \"" RGB_PNG "\"", "u8[1,2,3] 10 20 30 200 100 50", NULL, CASE_NO_GRAD},
    {"str[] \"" RGB_PNG "\"", NULL, "channels=1", CASE_NO_GRAD},
    {"str[] \"" RGB_PNG "\"", NULL, "channels=4", CASE_NO_GRAD},
    {"str[] \"" ONE_GIF "\"", "u8[2,2,3] 0 0 0 255 0 0 0 255 0 9 8 7", NULL, CASE_NO_GRAD},
    {"str[] \"abc\"", "error INVALID_ARGUMENT", NULL, 0},
    {"str[] \"\"", "error INVALID_ARGUMENT", NULL, 0},
    {"str[] \"\\x89PNG\\x0d\\x0a\"", "error INVALID_ARGUMENT", NULL, 0},
    {"str[] \"\\xff\\xd8\\xff\\xe0\"", "error INVALID_ARGUMENT", NULL, 0},
    {"str[] \"" BMP24 "\"", "error INVALID_ARGUMENT", NULL, 0},
    {"str[] \"" RGB_PNG "\"", "error INVALID_ARGUMENT", "channels=2", 0},
    {0},
};

static const op_case decode_png_cases[] = {
    {"str[] \"" GRAY_PNG "\"", "u8[2,2,1] 1 2 3 250", NULL, CASE_NO_GRAD},
    {"str[] \"" RGB_PNG "\"", NULL, "channels=1 dtype=uint16", CASE_NO_GRAD},
    {"str[] \"" RGB_PNG "\"", "u16[1,2,3] 2570 5140 7710 51400 25700 12850", "dtype=uint16", CASE_NO_GRAD},
    {"str[] \"" RGB_PNG "\"", NULL, "channels=4", CASE_NO_GRAD},
    {"str[] \"abc\"", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case decode_image_cases[] = {
    {"str[] \"" GRAY_PNG "\"", "u8[2,2,1] 1 2 3 250", NULL, CASE_NO_GRAD},
    {"str[] \"" RGB_PNG "\"", NULL, "dtype=float", CASE_NO_GRAD},
    {"str[] \"" RGB_PNG "\"", NULL, "dtype=uint16", CASE_NO_GRAD},
    {"str[] \"" ONE_GIF "\"", "u8[1,2,2,3] 0 0 0 255 0 0 0 255 0 9 8 7", NULL, CASE_NO_GRAD},
    {"str[] \"" ONE_GIF "\"", "u8[2,2,3] 0 0 0 255 0 0 0 255 0 9 8 7", "expand_animations=false", CASE_NO_GRAD},
    {"str[] \"" BMP24 "\"", "u8[1,2,3] 3 2 1 6 5 4", NULL, CASE_NO_GRAD},
    {"str[] \"" BMP24 "\"", NULL, "channels=4 dtype=float", CASE_NO_GRAD},
    {"str[] \"abc\"", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case decode_bmp_cases[] = {
    {"str[] \"" BMP24 "\"", "u8[1,2,3] 3 2 1 6 5 4", NULL, CASE_NO_GRAD},
    {"str[] \"" BMP24 "\"", "u8[1,2,4] 3 2 1 255 6 5 4 255", "channels=4", CASE_NO_GRAD},
    {"str[] \"BMabc\"", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case decode_gif_cases[] = {
    {"str[] \"" ONE_GIF "\"", "u8[1,2,2,3] 0 0 0 255 0 0 0 255 0 9 8 7", NULL, CASE_NO_GRAD},
    {"str[] \"GIF89a\"", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

/* The bytes depend on the version of the libraries. image_file_test.c checks that they decode to the same pixels. */
static const op_case encode_png_cases[] = {
    {"u8[2,3] 1", "error INVALID_ARGUMENT", NULL, 0},
    {"u8[2,3,5] 1", "error INVALID_ARGUMENT", NULL, 0},
    {"u8[2,3,1] 1", "error INVALID_ARGUMENT", "compression=11", 0},
    {"u8[0,2,3,1] 1", "str[0] \"\"", NULL, CASE_NO_GRAD},
    {0},
};

static const op_case encode_jpeg_cases[] = {
    {"u8[8,8,3] seq", NULL, NULL, CASE_NO_GRAD},
    {"u8[9,17,1] seq", NULL, "quality=50 progressive=true optimize_size=true", CASE_NO_GRAD},
    {"u8[9,17,3] seq", NULL, "chroma_downsampling=false density_unit='cm' x_density=10 y_density=20", CASE_NO_GRAD},
    {"u8[2,3] 1", "error INVALID_ARGUMENT", NULL, 0},
    {"u8[2,3,2] 1", "error INVALID_ARGUMENT", NULL, 0},
    {"u8[2,3,3] 1", "error INVALID_ARGUMENT", "format='grayscale'", 0},
    {"u8[2,3,3] 1", "error INVALID_ARGUMENT", "quality=101", 0},
    {0},
};

static const op_case decode_crop_cases[] = {
    {"str[] \"abc\"; i32[4] 0 0 1 1", "error INVALID_ARGUMENT", NULL, 0},
    {"str[] \"" GRAY_PNG "\"; i32[4] 0 0 1 1", "error INVALID_ARGUMENT", NULL, 0},
    {"str[] \"\\xff\\xd8\\xff\\xe0\"; i32[4] 0 0 1 1", "error INVALID_ARGUMENT", NULL, 0},
    {"str[] \"abc\"; i32[3] 0 0 1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case jpeg_shape_cases[] = {
    {"str[] \"abc\"", "error INVALID_ARGUMENT", NULL, 0},
    {"str[] \"\\xff\\xd8\\xff\\xe0\"", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case encode_quality_cases[] = {
    {"u8[8,8,3] seq; i32[] 50", NULL, NULL, CASE_NO_GRAD},
    {"u8[9,17,1] seq; i32[] 95", NULL, NULL, CASE_NO_GRAD},
    {"u8[8,8,3] seq; i32[] 101", "error INVALID_ARGUMENT", NULL, 0},
    {"u8[8,8,2] seq; i32[] 50", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(image_file) = {
    {"DecodePng(contents:string) -> (image:dtype) | channels:int=0 dtype:type{uint8,uint16}=uint8",
     "The pixels of a PNG file.", .infer = image_file_decode_infer, .cpu = image_file_decode_cpu,
     .cases = decode_png_cases},
    {"DecodeJpeg(contents:string) -> (image:uint8) | channels:int=0 ratio:int=1 fancy_upscaling:bool=true "
     "try_recover_truncated:bool=false acceptable_fraction:float=1 dct_method:string=''",
     "The pixels of a JPEG file.", .infer = image_file_decode_infer, .cpu = image_file_decode_cpu,
     .cases = decode_cases},
    {"DecodeImage(contents:string) -> (image:dtype) | channels:int=0 dtype:type{uint8,uint16,float}=uint8 "
     "expand_animations:bool=true",
     "The pixels of a PNG, JPEG, GIF or BMP file.", .infer = decode_image_infer, .cpu = image_file_decode_cpu,
     .cases = decode_image_cases},
    {"DecodeBmp(contents:string) -> (image:uint8) | channels:int=0", "The pixels of a BMP file.",
     .infer = image_file_decode_infer, .cpu = image_file_decode_cpu, .cases = decode_bmp_cases},
    {"DecodeGif(contents:string) -> (image:uint8)", "The frames of a GIF file.", .infer = decode_gif_infer,
     .cpu = image_file_decode_cpu, .cases = decode_gif_cases},
    {"EncodePng(image:T) -> (contents:string) | compression:int=-1 T:type{uint8,uint16}=uint8", "Pixels as a PNG file.",
     .infer = encode_png_infer, .cpu = encode_png_cpu, .cases = encode_png_cases},
    {"EncodeJpeg(image:uint8) -> (contents:string) | format:string{'','grayscale','rgb'}='' quality:int=95 "
     "progressive:bool=false optimize_size:bool=false chroma_downsampling:bool=true "
     "density_unit:string{'in','cm'}='in' "
     "x_density:int=300 y_density:int=300 xmp_metadata:string=''",
     "Pixels as a JPEG file.", .infer = encode_jpeg_infer, .cpu = encode_jpeg_cpu, .cases = encode_jpeg_cases},
    {"DecodeAndCropJpeg(contents:string, crop_window:int32) -> (image:uint8) | channels:int=0 ratio:int=1 "
     "fancy_upscaling:bool=true try_recover_truncated:bool=false acceptable_fraction:float=1 dct_method:string=''",
     "The pixels of a part of a JPEG file.", .infer = decode_crop_infer, .cpu = decode_crop_cpu,
     .cases = decode_crop_cases},
    {"ExtractJpegShape(contents:string) -> (image_shape:output_type) | output_type:type{int32,int64}=int32",
     "Height, width and channels of a JPEG file.", .infer = jpeg_shape_infer, .cpu = jpeg_shape_cpu,
     .cases = jpeg_shape_cases},
    {"EncodeJpegVariableQuality(images:uint8, quality:int32) -> (contents:string)",
     "Pixels as a JPEG file of a quality that is known when it runs.", .infer = encode_jpeg_infer,
     .cpu = encode_quality_cpu, .cases = encode_quality_cases},
    {0},
};
