/* summary_image.c - ImageSummary: images as PNG files in a Summary.
 *
 * Bytes are written unchanged.  Other types are scaled image by image.  If no value is negative, the largest becomes
 * 255.  Otherwise zero becomes 128 and the values stay in [1, 255].  A pixel with a channel that is not finite gets
 * the bad color. */
#include "graph/op.h"
#include "base/cast.h"
#include "codec/png_encode.h"
#include "ops/summary/summary.h"
#include <math.h>

typedef struct picture_set {
  const weft_tensor *images;
  int64_t height, width, depth;
  const uint8_t *bad; /* at least `depth` bytes */
} picture_set;

static bool finite_pixel(const weft_tensor *t, int64_t at, int64_t depth) {
  for (int64_t c = 0; c < depth; c++)
    if (!isfinite(weft__tensor_double(t, at + c))) return false;
  return true;
}

typedef struct scaling {
  float scale, offset;
} scaling;

static scaling find_scaling(const picture_set *s, int64_t first) {
  float min = INFINITY, max = -INFINITY;
  for (int64_t p = 0; p < s->height * s->width; p++) {
    const int64_t at = first + p * s->depth;
    if (!finite_pixel(s->images, at, s->depth)) continue;
    for (int64_t c = 0; c < s->depth; c++) {
      const float v = (float)weft__tensor_double(s->images, at + c);
      min = fminf(min, v);
      max = fmaxf(max, v);
    }
  }
  const float most = min < 0 ? fmaxf(fabsf(min), fabsf(max)) : max, range = min < 0 ? 127 : 255;
  return (scaling){most < 1e-6f ? 0 : range / most, min < 0 ? 128 : 0};
}

static float as_half(float v) { return weft__half_to_float(weft__half_from_float(v)); }

/* Scales in the precision of the type, because the fraction is truncated. */
static uint8_t summary_image_scaled(weft_dtype type, double v, scaling by) {
  if (type == WEFT_DOUBLE) return (uint8_t)(int)(v * (double)by.scale + (double)by.offset);
  if (type == WEFT_HALF) return (uint8_t)(int)as_half(as_half((float)v * as_half(by.scale)) + by.offset);
  return (uint8_t)(int)((float)v * by.scale + by.offset);
}

static void scale_picture(const picture_set *s, int64_t first, uint8_t *out) {
  const scaling by = find_scaling(s, first);
  for (int64_t p = 0; p < s->height * s->width; p++, out += s->depth) {
    const int64_t at = first + p * s->depth;
    if (!finite_pixel(s->images, at, s->depth)) {
      memcpy(out, s->bad, (size_t)s->depth);
      continue;
    }
    for (int64_t c = 0; c < s->depth; c++)
      out[c] = summary_image_scaled(s->images->dtype, weft__tensor_double(s->images, at + c), by);
  }
}

static weft_err put_picture(text *summary, const picture_set *s, const str *tag, int64_t i, int64_t most,
                            uint8_t *room) {
  const int64_t pixels = s->height * s->width * s->depth;
  png_picture png = {
      .pixels = room, .width = s->width, .height = s->height, .channels = weft__int_sat(s->depth), .bits = 8};
  png.compression = -1;
  if (s->images->dtype == WEFT_UINT8)
    png.pixels = TENSOR_DATA(s->images, const uint8_t) + i * pixels;
  else
    scale_picture(s, i * pixels, room);
  text one = {0}, image = {0}, file = {0};
  const weft_err err = weft__png_encode(&file, &png);
  weft__put_number(&image, 1, (uint64_t)s->height);
  weft__put_number(&image, 2, (uint64_t)s->width);
  weft__put_number(&image, 3, (uint64_t)s->depth);
  weft__put_message(&image, 4, &file);
  weft__put_numbered_tag(&one, tag, "image", most, i);
  weft__put_message(&one, 4, &image);
  weft__put_message(summary, 1, &one);
  weft__text_finish(&one);
  weft__text_finish(&image);
  weft__text_finish(&file);
  return err;
}

static weft_err summary_image_check(const kernel *k, picture_set *set, const weft_tensor *images,
                                    const weft_tensor *color) {
  const shape *s = &images->shape;
  const bool right = s->rank == 4 && (s->dim[3] == 1 || s->dim[3] == 3 || s->dim[3] == 4);
  if (!right)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Tensor must be 4-D with last dim 1, 3, or 4, not %s",
                             weft__shape_text(s));
  *set = (picture_set){.images = images, .height = s->dim[1], .width = s->dim[2], .depth = s->dim[3]};
  if (s->dim[0] > 0 && set->height * set->width == 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input tensor must have non-zero dims. Found: %s.",
                             weft__shape_text(s));
  if (!color || color->dtype != WEFT_UINT8)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "bad_color must be uint8");
  if (weft__tensor_count(color) < set->depth)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "expected depth <= bad_color.size, got depth = %lld, bad_color.size = %lld",
                             (long long)set->depth, (long long)weft__tensor_count(color));
  set->bad = color->data;
  return WEFT_OK;
}

weft_err weft__summary_put_images(const kernel *k, text *summary, const str *tag, const weft_tensor *x,
                                  const weft_tensor *bad_color) {
  picture_set set;
  WEFT_TRY(summary_image_check(k, &set, x, bad_color));
  const int64_t most = weft__node_int(k->node, "max_images", 3), batch = x->shape.dim[0];
  uint8_t *room = weft__alloc((size_t)(set.height * set.width * set.depth) + 1);
  if (!room) return WEFT_OOM;
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < batch && i < most && err == WEFT_OK; i++)
    err = put_picture(summary, &set, tag, i, most, room);
  weft__free(room);
  return err;
}

static weft_err image_cpu(kernel *k) {
  const str *tag = NULL;
  const attr *bad = weft__node_attr(k->node, "bad_color");
  text summary = {0};
  WEFT_TRY(weft__summary_tag(k, 0, &tag));
  weft_err err =
      weft__summary_put_images(k, &summary, tag, k->in[1], bad && bad->kind == ATTR_TENSOR ? bad->tensor : NULL);
  if (err == WEFT_OK) err = weft__summary_out(k, &summary);
  weft__text_finish(&summary);
  return err;
}

static const op_case image_cases[] = {
    {"str[] \"im\"; u8[1,2,2,3] seq", NULL, NULL, CASE_FIXED_TYPE},
    {"str[] \"im\"; f32[1,2,2,1] 0 1 2 4", NULL, NULL, CASE_FIXED_TYPE},
    {"str[] \"im\"; f32[2,3,3,3] rand", NULL, NULL, CASE_FIXED_TYPE},
    {"str[] \"im\"; f32[1,1,3,4] rand", NULL, "max_images=1", CASE_FIXED_TYPE},
    {"str[] \"im\"; f32[1,2,2,3] nan 10 2 0 1 2 1", NULL, NULL, CASE_FIXED_TYPE},
    {"str[] \"im\"; f64[5,1,4,1] rand", NULL, "max_images=2", CASE_FIXED_TYPE},
    {"str[] \"im\"; f16[2,3,4,1] rand", NULL, NULL, CASE_FIXED_TYPE},
    {"str[] \"im\"; f16[2,3,4,1] pos", NULL, NULL, CASE_FIXED_TYPE},
    {"str[] \"im\"; f32[0,2,2,1]", "str[] \"\"", NULL, CASE_FIXED_TYPE},
    {"str[] \"im\"; f32[1,2,2,2] 0", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"str[] \"im\"; f32[2,2,1] 0", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};

OPS(summary_image) = {
    {"ImageSummary(tag:string, tensor:T) -> (summary:string) | max_images:int>=1=3 "
     "T:type{uint8,float,half,double}=float bad_color:tensor=tensor(uint8,[4],255 0 0 255)",
     "A Summary with pictures, at most max_images of them.", .infer = weft__infer_scalar, .cpu = image_cpu,
     .no_grad = true, .cases = image_cases},
    {0},
};
