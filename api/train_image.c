/* train_image.c - the public functions for images of input pipelines. */
#include "api/argument.h"
#include "train/model/image.h"
#include "weft/train.h"

weft_out weft_image_convert(weft_graph *g, weft_out x, weft_dtype to, bool saturate) {
  API_NEED_OUT(NULL, g);

  return weft__named_given(g, "image_convert", 1, &x) ? weft__image_convert(g, NULL, x, to, saturate) : WEFT_NONE;
}

weft_out weft_image_resize(weft_graph *g, weft_out x, int64_t height, int64_t width, const char *method,
                           bool align_corners) {
  API_NEED_OUT(NULL, g);

  if (!weft__named_given(g, "image_resize", 1, &x)) return WEFT_NONE;
  weft_tensor *size = NULL;
  if (!weft__named_keep(g, weft__tensor_ints(&size, WEFT_INT32, (int64_t[]){height, width}, 2))) return WEFT_NONE;
  x = weft__image_resize(g, x, NULL, (term){WEFT_NONE, 0, size}, method, align_corners);
  weft_tensor_destroy(size);
  return x;
}

weft_out weft_image_crop(weft_graph *g, weft_out x, int64_t top, int64_t left, int64_t height, int64_t width) {
  API_NEED_OUT(NULL, g);

  if (!weft__named_given(g, "image_crop", 1, &x)) return WEFT_NONE;
  return weft__image_crop(g, x, NULL,
                          &(image_box){NUM((double)top), NUM((double)left), NUM((double)height), NUM((double)width)});
}

weft_out weft_image_pad(weft_graph *g, weft_out x, int64_t top, int64_t left, int64_t height, int64_t width) {
  API_NEED_OUT(NULL, g);

  if (!weft__named_given(g, "image_pad", 1, &x)) return WEFT_NONE;
  return weft__image_pad(g, x, NULL,
                         &(image_box){NUM((double)top), NUM((double)left), NUM((double)height), NUM((double)width)});
}

weft_out weft_image_crop_or_pad(weft_graph *g, weft_out x, int64_t height, int64_t width) {
  API_NEED_OUT(NULL, g);

  if (!weft__named_given(g, "image_crop_or_pad", 1, &x)) return WEFT_NONE;
  return weft__image_crop_or_pad(g, x, NULL, NUM((double)height), NUM((double)width));
}

weft_out weft_image_central_crop(weft_graph *g, weft_out x, double fraction) {
  API_NEED_OUT(NULL, g);

  return weft__named_given(g, "image_central_crop", 1, &x) ? weft__image_central_crop(g, x, NULL, NUM(fraction))
                                                           : WEFT_NONE;
}

weft_out weft_image_random_crop(weft_graph *g, weft_out x, int n, const int64_t *sizes, const int64_t *seed) {
  API_NEED_OUT(NULL, g);
  API_ARRAY_OUT(g, n, sizes);

  if (!weft__named_given(g, "image_random_crop", 1, &x)) return WEFT_NONE;
  const int rank = weft__shape_of(g, x)->rank;
  if (rank >= 0 && rank != n) {
    weft__named_keep(g, weft__fail(WEFT_INVALID_ARGUMENT, "random_crop: got %d sizes for shape %s", n,
                                   weft__shape_text(weft__shape_of(g, x))));
    return WEFT_NONE;
  }
  weft_tensor *size = NULL;
  if (!weft__named_keep(g, weft__tensor_ints(&size, WEFT_INT32, sizes, n))) return WEFT_NONE;
  x = weft__image_random_crop(g, x, NULL, (term){WEFT_NONE, 0, size}, seed);
  weft_tensor_destroy(size);
  return x;
}

weft_out weft_image_flip(weft_graph *g, weft_out x, bool up_down) {
  API_NEED_OUT(NULL, g);

  return weft__named_given(g, "image_flip", 1, &x) ? weft__image_flip(g, x, NULL, up_down) : WEFT_NONE;
}

weft_out weft_image_random_flip(weft_graph *g, weft_out x, bool up_down, const int64_t *seed) {
  API_NEED_OUT(NULL, g);

  return weft__named_given(g, "image_random_flip", 1, &x) ? weft__image_random_flip(g, x, up_down, seed) : WEFT_NONE;
}

weft_out weft_image_brightness(weft_graph *g, weft_out x, double delta) {
  API_NEED_OUT(NULL, g);

  if (!weft__named_given(g, "image_brightness", 1, &x)) return WEFT_NONE;
  return weft__image_brightness(g, x, NULL, NUM(delta));
}

weft_out weft_image_random_brightness(weft_graph *g, weft_out x, double max_delta, const int64_t *seed) {
  API_NEED_OUT(NULL, g);

  if (!weft__named_given(g, "image_random_brightness", 1, &x)) return WEFT_NONE;
  return weft__image_brightness(g, x, NULL, OUT(weft__image_draw(g, WEFT_NONE, -max_delta, max_delta, seed)));
}

weft_out weft_image_contrast(weft_graph *g, weft_out x, double factor) {
  API_NEED_OUT(NULL, g);

  if (!weft__named_given(g, "image_contrast", 1, &x)) return WEFT_NONE;
  return weft__image_contrast(g, x, NULL, NUM(factor));
}

weft_out weft_image_random_contrast(weft_graph *g, weft_out x, double lower, double upper, const int64_t *seed) {
  API_NEED_OUT(NULL, g);

  if (!weft__named_given(g, "image_random_contrast", 1, &x)) return WEFT_NONE;
  return weft__image_contrast(g, x, NULL, OUT(weft__image_draw(g, WEFT_NONE, lower, upper, seed)));
}

weft_out weft_image_saturation(weft_graph *g, weft_out x, double factor) {
  API_NEED_OUT(NULL, g);

  return weft__named_given(g, "image_saturation", 1, &x) ? weft__image_saturation(g, x, NULL, NUM(factor)) : WEFT_NONE;
}

weft_out weft_image_random_saturation(weft_graph *g, weft_out x, double lower, double upper, const int64_t *seed) {
  API_NEED_OUT(NULL, g);

  if (!weft__named_given(g, "image_random_saturation", 1, &x)) return WEFT_NONE;
  return weft__image_saturation(g, x, NULL, OUT(weft__image_draw(g, WEFT_NONE, lower, upper, seed)));
}

weft_out weft_image_hue(weft_graph *g, weft_out x, double delta) {
  API_NEED_OUT(NULL, g);

  return weft__named_given(g, "image_hue", 1, &x) ? weft__image_hue(g, x, NULL, NUM(delta)) : WEFT_NONE;
}

weft_out weft_image_random_hue(weft_graph *g, weft_out x, double max_delta, const int64_t *seed) {
  API_NEED_OUT(NULL, g);

  if (!weft__named_given(g, "image_random_hue", 1, &x)) return WEFT_NONE;
  return weft__image_hue(g, x, NULL, OUT(weft__image_draw(g, WEFT_NONE, -max_delta, max_delta, seed)));
}

weft_out weft_image_standardize(weft_graph *g, weft_out x) {
  API_NEED_OUT(NULL, g);

  return weft__named_given(g, "image_standardize", 1, &x) ? weft__image_standardize(g, x, NULL) : WEFT_NONE;
}
